"""Declarations of functions as data. One object prints the C declaration, the cffi cdef, the stub and the
docstring of a function, so these always agree.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from math import prod

from rbdc.algorithms.frames import REFERENCES as REFERENCES
from rbdc.functions.scalar_types import DOUBLE, ScalarType

EXTERNAL_FORCES = "fext"
"""Name of the input of kind `Kind.WRENCHES`. Algorithms take it as the keyword argument of this name, a
`Force` for each body.
"""


PARAMETERS = "parameters"
"""Name of the input of kind `Kind.PARAMETERS`."""

FRICTION_WIDTH = "friction_width"
"""Name of the input of kind `Kind.POSITIVE`, which replaces the model's width of dry friction."""

OFFSET = "offset"
"""Name of the optional input of functions of a frame: the placement, relative to that frame, of the frame
that the function uses.
"""

ROWS = "rows"
"""Name of the optional input that selects rows of a task; the algorithms' keyword argument has this name."""

CONTACT_OPTIONS = ("active", "target", "gains", "mu")
"""Names of inputs that algorithms take together, as `rbdc.model.contacts.ContactOptions` in the keyword
argument `options`.
"""


OF_MANY = ("_batch", "_lanes")
"""Suffixes of C functions that take several samples."""


class Kind(Enum):
    """Physical meaning of an array. It decides how to draw the array at random, how to perturb it, and how
    the signs of its entries depend on the directions of joint axes.
    """

    CONFIGURATION = "configuration"
    """q (nq): one entry for each coordinate; quaternions have unit length."""
    VELOCITY = "velocity"
    """v (nv): a tangent vector."""
    ACCELERATION = "acceleration"
    """a (nv): a tangent vector."""
    MOTION = "motion"
    """A spatial motion, linear part first (6,)."""
    TANGENT = "tangent vector"
    """A step or a direction (nv)."""
    FORCE = "generalised force"
    """tau (nv): a covector."""
    WEIGHTS = "weights"
    """One number for each row of a result."""
    WRENCHES = "wrench of each body"
    """A force and a moment for each body, in its joint frame (njoints, 6)."""
    VECTORS = "vectors of each body"
    """Three or six numbers for each body: a point, or a wrench in world axes."""
    PARAMETERS = "inertial parameters"
    """Ten numbers for each row of the model's `parameters`."""
    CONTACT_FORCES = "contact forces"
    """A force in each row of the contacts (nc)."""
    SWITCHES = "switches"
    """Zeros and ones."""
    TASK = "rows of a task"
    """Zeros and ones for the rows of a frame's motion (6,)."""
    PLACEMENTS = "placements"
    """Position and unit quaternion, x y z qx qy qz qw, of each row (n, 7)."""
    NOT_NEGATIVE = "numbers that are not negative"
    """Gains, a regularisation."""
    POSITIVE = "positive numbers"
    """A width of dry friction."""
    DURATION = "a time"
    """A time step, or a change of a time step."""
    PART = "numbers from 0 to 1"
    """A coefficient of restitution for each contact."""
    JOINT_ROWS = "rows of joints"
    """An output with a row for each entry of q or v."""
    INVERSE = "an inverse"
    """M^-1, the accelerations under unit forces: an output with a row and a column for each entry of v. With
    contacts, the block of the accelerations in the inverse of the constrained equations.
    """
    SPACE_ROWS = "rows of space"
    """An output whose rows are directions in space, or a single number."""
    OTHER = "other"
    """Any other array of a function outside the catalogue; it cannot be drawn at random."""


@dataclass(frozen=True)
class Parameter:
    """One array argument or result of a function.

    name: name of the argument.
    shape: shape without batch dimensions; () for a scalar.
    meaning: words for docstrings and comments, with the unit.
    kind: see `Kind`.
    optional: whether an input may be None in Python and NULL in C; both stand for `default`.
    default: entries of an omitted input; zeros if empty.
    by_forces: whether the columns of an output belong to the rows of the contacts.
    by_parameters: whether the columns of an output are those of the torque regressor.
    units: for each unit vector (a quaternion, or a cosine and a sine), its first index and its number of
        entries. Python checks the lengths.
    """

    name: str
    shape: tuple[int, ...]
    meaning: str
    kind: Kind = Kind.OTHER
    optional: bool = False
    default: tuple[float, ...] = ()
    by_forces: bool = False
    by_parameters: bool = False
    units: tuple[tuple[int, int], ...] = ()

    @property
    def configuration(self) -> bool:
        """Whether the array is a configuration."""
        return self.kind is Kind.CONFIGURATION

    @property
    def range(self) -> str:
        """Name of the check in `rbdc.runtime._arrays` that Python applies to an argument; "" for none."""
        kinds = {Kind.SWITCHES: "switches", Kind.PLACEMENTS: "placements", Kind.TASK: "task"}
        kinds |= {Kind.NOT_NEGATIVE: "not negative", Kind.POSITIVE: "positive", Kind.PART: "part"}
        return kinds.get(self.kind, "")

    @property
    def in_space(self) -> bool:
        """Whether the array is an output whose rows are directions in space, or a single number."""
        return self.kind is Kind.SPACE_ROWS

    @property
    def size(self) -> int:
        """Number of scalars."""
        return prod(self.shape)

    @property
    def absent(self) -> tuple[float, ...]:
        """The entries of an omitted optional input."""
        return self.default or (0.0,) * self.size

    def where_given(self, here: str, absent: str = "NULL") -> str:
        """Return the C expression `here`; for an optional array, the expression is `absent` if the array is
        NULL.
        """
        return f"{self.name} != NULL ? {here} : {absent}" if self.optional else here


@dataclass(frozen=True)
class FunctionDeclaration:
    """The signature of one entry point of a generated module.

    name, summary: name, and what the function computes.
    inputs, outputs: arrays.
    framed: whether a frame's index and a reference follow the inputs; see `REFERENCES`. In Python, `frame` is
        a name or an index, and `reference` is a name, "LOCAL" by default.
    lanes: whether there is a form for blocks of samples.
    zeroed: whether there is a form for zeroed outputs.
    pair: whether a second frame, `other`, follows the first.
    scalar: type of the numbers; it replaces double below.

    C: ``void <robot>_<name>(const double *<input>..., [int frame, [int other,] int reference,] double
        *<output>...)``, and ``void <robot>_<name>_batch(size_t n, ...the same...)`` over n samples stored one
        after the other. ``void <robot>_<name>_lanes(size_t n, ...the same...)`` takes n blocks of
        `scalar.lanes` samples; each entry of an array is stored once for each sample of the block. ``void
        <robot>_<name>_into_zeroed(...)`` needs outputs that hold zeros or results of the same function. All
        pointers are restrict.
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
        """Names of the arguments that select the frames and the reference."""
        if not self.framed:
            return ()
        return ("frame", "other", "reference") if self.pair else ("frame", "reference")

    @property
    def optional(self) -> tuple[Parameter, ...]:
        """The optional inputs."""
        return tuple(p for p in self.inputs if p.optional)

    @property
    def any_given(self) -> str:
        """The C condition that any optional input is passed."""
        return " || ".join(f"{p.name} != NULL" for p in self.optional)

    @property
    def of_options(self) -> str:
        """The optional inputs as part of a name in C."""
        return "options" if len(self.optional) > 1 else "".join(p.name for p in self.optional)

    @property
    def required(self) -> list[Parameter]:
        """The required inputs."""
        return [p for p in self.inputs if not p.optional]

    @property
    def moved(self) -> bool:
        """Whether an offset moves the function's frame at run time."""
        return any(p.name == OFFSET for p in self.inputs)

    @property
    def forms(self) -> list[str]:
        """Suffixes of the function's C functions."""
        return ["", "_batch", *["_into_zeroed"] * self.zeroed, *["_lanes"] * self.lanes]

    def prototypes(self, robot: str, restrict: str = "restrict") -> list[str]:
        """Return all C declarations of the function."""
        return [self.prototype(robot, form, restrict) for form in self.forms]

    def prototype(self, robot: str, form: str = "", restrict: str = "restrict") -> str:
        """Return the C declaration of one form, without the semicolon. `form` is "" (one sample), `_batch`,
        `_lanes` or `_into_zeroed`; `restrict` may be "" (cffi) or a macro (header usable from C++).
        """
        first = ["size_t n"] if form in OF_MANY else []
        parameters = ", ".join([*first, *self.parameters(self.scalar.name, restrict)])
        return f"void {robot}_{self.name}{form}({parameters})"

    def parameters(self, kind: str, restrict: str = "restrict") -> list[str]:
        """Return the parameters of a C function whose inputs and outputs are arrays of the C type `kind`."""
        qualifier = f"{restrict} " if restrict else ""
        inputs = [f"const {kind} *{qualifier}{p.name}" for p in self.inputs]
        return [
            *inputs,
            *(f"int {name}" for name in self.place),
            *(f"{kind} *{qualifier}{p.name}" for p in self.outputs),
        ]

    def arguments(self, place: Callable[[Parameter], str]) -> list[str]:
        """Return the arguments of a call of the C function; `place` returns the pointer to an array."""
        return [*map(place, self.inputs), *self.place, *map(place, self.outputs)]
