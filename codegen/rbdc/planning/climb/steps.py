"""Steps and loops over the path from a frame to the root. Their arrays:

path: the bodies from the frame to the root, `path[i]`.
columns: the frame's LOCAL Jacobian, a column for each degree of freedom k (in pairs k and j) of these bodies.
world: the frame's placement in the world.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from rbdc.algorithms.frames import REFERENCES, expressed
from rbdc.ir.indices import Index, TableEntry, Variable, plus
from rbdc.ir.loops import Loop, Statement, Switch
from rbdc.model import Problem
from rbdc.planning.climb.columns import frame_dofs
from rbdc.planning.loops.recording import StepRecorder
from rbdc.spatial import Motion, Placement, Scalar, Scalars
from rbdc.spatial.scalars import is_zero


class PathStep(StepRecorder):
    """Recorder of one step: for a degree of freedom of the path, for a body, or for the frame."""

    def __init__(self, model: Problem, reference: str) -> None:
        super().__init__("")
        self.model, self.reference = model, reference
        self.coupled = any(factor != 1.0 for _, factor, _, order in frame_dofs(model) if order == 0)

    @property
    def world(self) -> Placement:
        """The frame's placement in the world."""
        return Placement.of(self.read("world", 12))

    @property
    def column(self) -> Motion:
        """The LOCAL column of the degree of freedom k."""
        return self.motion("columns", k=6)

    def motion(self, array: str, offset: int = 0, **strides: int) -> Motion:
        """Return six numbers of an array as a motion."""
        return Motion.of(self.read(array, 6, offset, **strides))

    def factor(self, dof: str = "k") -> Scalar:
        """Return the factor of a degree of freedom: the multiplier of a coupled mimic joint, else 1."""
        return self.read("factor_of", 1, **{dof: 1})[0] if self.coupled else 1.0

    def entry(self, rates: str) -> Scalar:
        """Return the entry of v or a that belongs to the degree of freedom k."""
        return self.read(rates, 1, column=1)[0]

    def seen(self, motion: Motion, reference: str = "", symbol: str = "s") -> Motion:
        """Return a LOCAL motion in the reference frame."""
        reference = reference or self.reference
        seen = expressed(motion, self.world, reference)
        if reference != "LOCAL":
            formula = f"X {symbol}" if reference == "WORLD" else f"R {symbol}"
            self.label(formula, f"{symbol}_seen", seen.scalars())
        return seen

    def put(self, matrix: str, entries: Scalars) -> None:
        """Add entries, times the factor, to the column of the degree of freedom k."""
        factor = self.factor()
        self.put_plain(matrix, [0.0 if is_zero(x) else factor * x for x in entries])

    def put_plain(self, matrix: str, entries: Scalars) -> None:
        """Add entries to the column of the degree of freedom k."""
        self._put(matrix, entries, self.model.nv, column=1)

    def put_pair(self, matrices: str, entries: Scalars) -> None:
        """Add entries, times both factors, to the places of the degrees of freedom k and j."""
        one, other = self.factor(), self.factor("j")
        # (one * other) * x would not compile in batches: C would store the scalar one * other in a vector
        values = [0.0 if is_zero(x) else one * (other * x) for x in entries]
        self._put(matrices, values, self.model.nv**2, column=self.model.nv, j_column=1)

    def put_twice(self, matrices: str, entries: Scalars) -> None:
        """Add entries to the diagonal places of the degree of freedom k."""
        self._put(matrices, entries, self.model.nv**2, column=self.model.nv + 1)

    def _put(self, array: str, entries: Scalars, pitch: int, **strides: int) -> None:
        values = {k * pitch: x for k, x in enumerate(entries) if not is_zero(x)}
        self.add_scattered(array, values, **strides)


Text: TypeAlias = Callable[[PathStep], None]
"""Records the work for a degree of freedom, a body or the frame."""

OWN = TableEntry("path", Variable("i"))
LENGTH = Variable("length")


def once(model: Problem, text: Text, reference: str = "") -> Statement:
    """Return the step that the function `text` records."""
    step = PathStep(model, reference)
    text(step)
    return step.step()


def by_reference(model: Problem, text: Text) -> Statement:
    """Return the steps that `text` records, one for each reference frame."""
    return Switch(Variable("reference"), tuple((name, (once(model, text, name),)) for name in REFERENCES))


def up(*body: Statement, about: str = "", stop: Index = LENGTH) -> Loop:
    """Return a loop over i, from the body of the frame to the root, or to the body before `path[stop]`."""
    return Loop("i", 0, stop, body, about)


def down(*body: Statement, about: str = "") -> Loop:
    """Return a loop over bodies from the root to the frame."""
    return Loop("i", 0, LENGTH, body, about, backward=True)


def of_joint(
    model: Problem,
    plain: Statement | None,
    bend: Statement | None = None,
    jerk: Statement | None = None,
    *,
    at: Index = OWN,
    dof: str = "k",
) -> Loop:
    """Return a loop over the degrees of freedom of a body on the path. plain: the step for columns. bend,
    jerk: the steps for the curvature of a mimic joint along a curve, and for its derivative.
    """
    bodies = [() if statement is None else (statement,) for statement in (plain, bend, jerk)]
    body: tuple[Statement, ...] = bodies[0]
    if model.curves:
        cases = zip(("columns", "curvature", "derivative of the curvature"), bodies, strict=True)
        body = (Switch(TableEntry("bend_of", Variable(dof)), tuple(cases)),)
    return Loop(dof, TableEntry("first_of", at), TableEntry("first_of", plus(at, 1)), body)
