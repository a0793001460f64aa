"""Steps (straight-line code) of loops over degrees of freedom. Their operands are vectors with consecutive
degrees of freedom in SIMD lanes, and numbers that all lanes share.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rbdc.algorithms.derivatives.second_order import Operators, Subtree
from rbdc.algorithms.dynamics.coriolis import Direction
from rbdc.ir.indices import Index, Variable
from rbdc.ir.loops import Loop, Place, Statement, Step
from rbdc.planning.loops.places import PlaceRecorder
from rbdc.planning.paths.layout import LOAD, OPERATORS, STATE, PathLayout
from rbdc.spatial import Force, Inertia, Matrix3, Motion, Scalar, Symmetric3, Vector3


class DofRecorder(PlaceRecorder):
    """Recorder of a step over degrees of freedom. If `wide`, methods return vectors from `at` on."""

    def __init__(self, layout: PathLayout) -> None:
        super().__init__(layout.lanes)
        self.layout = layout

    def direction(self, at: Index, *, wide: bool = False) -> Direction:
        """Return s, psidot, psiddot and sigma of degree of freedom `at`."""
        return Direction(*(Motion.of(self._state(at, wide)[k : k + 6]) for k in range(0, 24, 6)))

    def subtree(self, at: Index, *, wide: bool = False) -> Subtree:
        """Return the sums over the subtree of degree of freedom `at`: m, h (3), J (6); p (3), N (9); force
        (6).
        """
        x = self._state(at, wide)
        n, force = Matrix3.of(x[37:46]), Force.of(x[46:])
        return Subtree(Inertia.of(x[24:34]), Vector3.of(x[34:37]), n, force)

    def operators(self, at: Index, *, wide: bool = False) -> Operators:
        """Return the operators of degree of freedom `at`."""
        return operators_of(self.read(self.rows("op", at), OPERATORS, wide=wide))

    def load(self, at: Index, *, wide: bool = False) -> Force:
        """Return the world-fixed force on the subtree of degree of freedom `at`."""
        place = Place("state", ((at, 1),), STATE * self.layout.size, pitch=self.layout.size)
        return Force.of(self.read(place, LOAD, wide=wide))

    def rows(self, array: str, at: Index, row: int = 0) -> Place:
        """Return the place of column `at`, from `row` on, in an array of columns for degrees of freedom."""
        return Place(array, ((at, 1),), row * self.layout.columns, pitch=self.layout.columns)

    def _state(self, at: Index, wide: bool) -> list[Scalar]:
        return self.read(Place("state", ((at, 1),), pitch=self.layout.size), STATE, wide=wide)


Text = Callable[[DofRecorder], None]


def once(layout: PathLayout, text: Text) -> Step:
    """Return the step that the function `text` records."""
    m = DofRecorder(layout)
    text(m)
    return m.step()


def over(
    layout: PathLayout, size: int, text: Callable[[DofRecorder, Index, int | None], None]
) -> list[Statement]:
    """Return steps over the indices 0 to `size` - 1: a loop over whole vectors, then the rest."""
    whole = size // layout.lanes * layout.lanes
    each = once(layout, lambda m: text(m, Variable("k"), None))
    steps: list[Statement] = [Loop("k", 0, whole, (each,), step=layout.lanes)] if whole else []
    return [*steps, once(layout, lambda m: text(m, whole, size - whole))] if whole < size else steps


def operators_of(op: Sequence[Scalar]) -> Operators:
    """Return operators from their entries: (f, n) = I s, L (6), b (3), p' (3), N' (9) of A3, fq (6), fv (6);
    missing entries at the end are zero.
    """
    op = [*op, *(0.0 for _ in range(OPERATORS - len(op)))]
    b, p3 = Vector3.of(op[12:15]), Vector3.of(op[15:18])
    i_s, by_q, by_v = (Force.of(op[k : k + 6]) for k in (0, 27, 33))
    return Operators(i_s, Symmetric3(*op[6:12]), p3, Matrix3.of(op[18:27]), b, by_q, by_v)
