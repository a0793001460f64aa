"""Declarations as data: one object prints the C declaration, the cffi cdef, the stub and the docstring, so
they cannot drift.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from math import prod

from rbdc.algorithms.frames import REFERENCES as REFERENCES
from rbdc.functions.scalar_types import DOUBLE, ScalarType

EXTERNAL_FORCES = "fext"
"""The name of the input of kind `Kind.WRENCHES`, which algorithms take as the keyword argument of this name,
a `Force` for each body.
"""


PARAMETERS = "parameters"
"""The name of the input of kind `Kind.PARAMETERS`."""

FRICTION_WIDTH = "friction_width"
"""The name of the input of kind `Kind.POSITIVE`, which takes the place of the model's."""

OFFSET = "offset"
"""The name of the optional input that moves the frame of a function of a frame, in the frame's axes."""

CONTACT_OPTIONS = ("active", "target", "gains", "mu")
"""The names of inputs that algorithms take together as `rbdc.model.contacts.ContactOptions`, the
keyword argument `options`.
"""


OF_MANY = ("_batch", "_lanes")
"""Endings of the names of C functions of several samples."""


class Kind(Enum):
    """Physical meaning of an array: it says how to draw it at random, how to perturb it, and how it changes
    with a joint's direction.
    """

    CONFIGURATION = "configuration"
    """q: one entry for each coordinate (nq); quaternions are of unit length."""
    VELOCITY = "velocity"
    """v: a tangent vector (nv)."""
    ACCELERATION = "acceleration"
    """a: a tangent vector (nv)."""
    MOTION = "motion"
    """A spatial motion, linear part first (6,)."""
    TANGENT = "tangent vector"
    """A step or a direction (nv)."""
    FORCE = "generalised force"
    """tau: a covector (nv)."""
    WEIGHTS = "weights"
    """One number for each row of a result (nv)."""
    WRENCHES = "wrench of each body"
    """A force and a moment for each body, in its joint frame (njoints, 6)."""
    PARAMETERS = "inertial parameters"
    """Ten numbers a row, as the model's `parameters` say."""
    CONTACT_FORCES = "contact forces"
    """A force in each row of the contacts (nc)."""
    SWITCHES = "switches"
    """Zeros and ones."""
    PLACEMENTS = "placements"
    """Position and unit quaternion, x y z qx qy qz qw, of each row (n, 7)."""
    NOT_NEGATIVE = "numbers that are not negative"
    """Gains, a regularisation."""
    POSITIVE = "positive numbers"
    """A width of dry friction."""
    PART = "numbers from 0 to 1"
    """A coefficient of restitution for each contact."""
    JOINT_ROWS = "rows of joints"
    """An output with a row for each joint's direction."""
    INVERSE = "an inverse"
    """M^-1: an output with a row and a column for each joint's direction, accelerations by unit forces; under
    contacts a block of an inverse.
    """
    SPACE_ROWS = "rows of space"
    """An output whose rows are directions in space, or a single number."""
    OTHER = "other"
    """Neither an input nor an output of a function of the catalogue; nothing can be drawn for it."""


@dataclass(frozen=True)
class Parameter:
    """One array argument or result of a function.

    shape: without batch dimensions, () for a scalar. meaning: words for docstrings and comments, with the
    unit. kind: see `Kind`. optional: inputs only; None in Python, NULL in C, which both mean the entries of
    `default`, zeros where that is empty. by_forces: outputs whose columns are rows of the contacts. units:
    first entry and number of those that form unit vectors, quaternions, and cosine and sine (checked in
    Python).
    """

    name: str
    shape: tuple[int, ...]
    meaning: str
    kind: Kind = Kind.OTHER
    optional: bool = False
    default: tuple[float, ...] = ()
    by_forces: bool = False
    units: tuple[tuple[int, int], ...] = ()

    @property
    def configuration(self) -> bool:
        """Whether it is a configuration."""
        return self.kind is Kind.CONFIGURATION

    @property
    def range(self) -> str:
        """The kind of `rbdc.runtime._arrays` that Python checks an argument to be; "" for none."""
        kinds = {Kind.SWITCHES: "switches", Kind.PLACEMENTS: "placements"}
        kinds |= {Kind.NOT_NEGATIVE: "not negative", Kind.POSITIVE: "positive", Kind.PART: "part"}
        return kinds.get(self.kind, "")

    @property
    def in_space(self) -> bool:
        """Whether it is an output over directions in space, or a number, where others have a row for each
        joint's direction.
        """
        return self.kind is Kind.SPACE_ROWS

    @property
    def size(self) -> int:
        """Number of scalars."""
        return prod(self.shape)

    @property
    def absent(self) -> tuple[float, ...]:
        """The entries of an optional input that is not given."""
        return self.default or (0.0,) * self.size

    def where_given(self, here: str, absent: str = "NULL") -> str:
        """Return the C expression of a place in an array, which may be NULL where it is optional."""
        return f"{self.name} != NULL ? {here} : {absent}" if self.optional else here


@dataclass(frozen=True)
class FunctionDeclaration:
    """The signature of one entry point of a generated module.

    C, with the scalars of `scalar` in place of double:
    ``void <robot>_<name>(const double *<input>..., [int frame, [int other,] int reference,] double
    *<output>...)``, and
    ``void <robot>_<name>_batch(size_t n, ...the same...)`` over n samples stored one after the other. With
    `lanes` also ``void <robot>_<name>_lanes(size_t n, ...the same...)`` over n blocks of `scalar.lanes`
    samples, each entry of an array so many times, once for each sample. With `zeroed` also
    ``void <robot>_<name>_into_zeroed(...)``, whose outputs must hold zeros, or what the same function left
    there. All pointers are restrict.

    `framed` functions take a frame's index and a reference (see `REFERENCES`) after the array inputs; in
    Python, where optional inputs stand behind both, `frame` is a name or an index and `reference` one of the
    names, "LOCAL" by default. Those of a `pair` take a second frame, `other`, after the first.
    """

    name: str
    summary: str
    inputs: tuple[Parameter, ...]
    outputs: tuple[Parameter, ...]
    framed: bool = False
    lanes: bool = False
    zeroed: bool = False
    pair: bool = False
    scalar: ScalarType = DOUBLE

    @property
    def place(self) -> tuple[str, ...]:
        """The names of the arguments that say where: frames, and what motions refer to."""
        if not self.framed:
            return ()
        return ("frame", "other", "reference") if self.pair else ("frame", "reference")

    @property
    def optional(self) -> tuple[Parameter, ...]:
        """The optional inputs."""
        return tuple(p for p in self.inputs if p.optional)

    @property
    def any_given(self) -> str:
        """The C condition that one of the optional inputs is there."""
        return " || ".join(f"{p.name} != NULL" for p in self.optional)

    @property
    def of_options(self) -> str:
        """The optional inputs as part of a name in C."""
        return "options" if len(self.optional) > 1 else "".join(p.name for p in self.optional)

    @property
    def required(self) -> list[Parameter]:
        """The other inputs."""
        return [p for p in self.inputs if not p.optional]

    @property
    def moved(self) -> bool:
        """Whether an offset moves its frame at run time."""
        return any(p.name == OFFSET for p in self.inputs)

    @property
    def forms(self) -> list[str]:
        """Endings of the names of its C functions."""
        return ["", "_batch", *["_into_zeroed"] * self.zeroed, *["_lanes"] * self.lanes]

    def prototypes(self, robot: str, restrict: str = "restrict") -> list[str]:
        """Return all C declarations of the function."""
        return [self.prototype(robot, form, restrict) for form in self.forms]

    def prototype(self, robot: str, form: str = "", restrict: str = "restrict") -> str:
        """Return the C declaration of one of its forms without the semicolon: `_batch`, `_lanes`, or
        `_into_zeroed`. `restrict` may be "" (cffi) or a macro (header usable from C++).
        """
        first = ["size_t n"] if form in OF_MANY else []
        parameters = ", ".join([*first, *self.parameters(self.scalar.name, restrict)])
        return f"void {robot}_{self.name}{form}({parameters})"

    def parameters(self, kind: str, restrict: str = "restrict") -> list[str]:
        """Return the parameters of a C function that takes and gives the same in arrays of `kind`."""
        qualifier = f"{restrict} " if restrict else ""
        inputs = [f"const {kind} *{qualifier}{p.name}" for p in self.inputs]
        return [
            *inputs,
            *(f"int {name}" for name in self.place),
            *(f"{kind} *{qualifier}{p.name}" for p in self.outputs),
        ]

    def arguments(self, place: Callable[[Parameter], str]) -> list[str]:
        """Return the arguments of a call of such a function; `place` says where an array is."""
        return [*map(place, self.inputs), *self.place, *map(place, self.outputs)]
