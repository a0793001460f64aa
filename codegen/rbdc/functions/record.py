"""The record of a function: everything that rbdc knows about it, in one place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from rbdc.functions.declarations import FunctionDeclaration, Parameter
from rbdc.functions.differentiation import Differentiated
from rbdc.functions.evaluation import Evaluate
from rbdc.runtime._differential import Differential as Differential

PRESETS = ("control", "optimisation", "full")
"""Presets, smallest first; each includes the one before."""
SECOND = "second"
"""Preset of second derivatives only: they are large, and few users need them."""
ALONE = ""
"""No preset: the function is built only if it is named."""


class Requirement(Enum):
    """A property that a model must have for a function to be defined."""

    REGULAR_INERTIA = "regular M"
    """The joint-space inertia is regular in some configuration."""
    INDEPENDENT_ROWS = "independent rows of contacts"
    """Contact forces are determined in some configuration, or there is a regularisation."""
    INDEPENDENT_TASK = "independent rows of a task"
    """The rows of a frame are independent in some configuration, or there is a regularisation. The first
    result is the inertia of the task.
    """
    OPEN_LOOPS = "no reduced loops"
    """No joint follows a motor through closed loops; how it follows would depend on the placements."""
    MASS = "mass"
    """A link has mass."""
    MOVING_MASS = "moving mass"
    """A moving link has mass."""


@dataclass(frozen=True)
class Policy:
    """Choices of planning for a function beyond its operation counts; thresholds are in
    `rbdc.planning.policy`.

    dense_right_sides: the right-hand sides of `Function.to_solve` have entries in most rows, so solving
        columns side by side pays already for smaller models.
    counted_by_pass: `rbdc info` shows its operations after each pass over the model.
    rolled: for each method, the name of its recursion as loops in `rbdc.planning.loops.rolled`.
    windows: name of its kernel in `rbdc.planning.windows.kernels`.
    sample_by_sample: the function branches on values of the sample, so its batch is a loop.
    one_by_one_in_limbs: if four limbs run in lanes in a single call, its samples are faster one by one than
        side by side.
    most_dof: degrees of freedom up to which the function is unrolled; 0 for the limit of other functions.
    instead: remedy in the error message for a model with more degrees of freedom.
    """

    dense_right_sides: bool = False
    counted_by_pass: bool = False
    rolled: Mapping[str, str] = field(default_factory=dict)
    windows: str = ""
    sample_by_sample: bool = False
    one_by_one_in_limbs: bool = False
    most_dof: int = 0
    instead: str = ""


@dataclass(frozen=True)
class Comparison:
    """How comparisons and benchmarks treat a function.

    derivative_of: name of the function whose derivatives it computes.
    of_placements: name of the function whose derivatives with respect to joint placements it computes.
    beside: name of the function that it extends; reports show the times of both side by side.
    peers: names of its algorithms in other libraries, by library, as their harnesses export them.
    checks_only: the generated method equals the textbook method, so references only check results and are not
        timed.
    through_passes: name under which the oracle is also timed on the joint-space model, like generated
        methods.
    benchmarked: whether `rbdc benchmark` measures it by default.
    headline: whether it has a tile at the top of the report's page.
    """

    derivative_of: str | None = None
    of_placements: str | None = None
    beside: str = ""
    peers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    checks_only: bool = False
    through_passes: str = ""
    benchmarked: bool = False
    headline: bool = False


@dataclass(frozen=True)
class ChainRule:
    """A function that computes derivatives of another function, by the chain rule on the other's operations.

    of: name of the other function.
    by: names of the other function's first inputs; each output is differentiated with respect to each of
        these inputs.
    weights: inputs of this function that weight the other's outputs; the weighted sum is differentiated.
    directions: for each of `by`, the direction along which derivatives are taken.
    kept: indices of the results that are outputs; None keeps all.
    source: record of the other function; the catalogue sets it.
    """

    of: str
    by: tuple[str, ...]
    weights: tuple[str, ...] = ()
    directions: tuple[str, ...] = ()
    kept: tuple[int, ...] | None = None
    source: Function | None = None

    @property
    def function(self) -> Function:
        """The other function's record. Raises LookupError if the catalogue did not set it."""
        if self.source is None:
            raise LookupError(f"no record of {self.of}: take this function from functions_of")
        return self.source

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """For each output, the indices of the other function's output and of the input by which it is
        differentiated.
        """
        return [divmod(number, len(self.by)) for number in self.kept or ()]

    def methods(self) -> dict[str, Evaluate]:
        """Return the first method of the other function, differentiated, by name."""
        name, evaluate = next(iter(self.function.methods.items()))
        by = tuple(p for p in self.function.declaration.inputs if p.name in self.by)
        return {name: Differentiated(evaluate, by, self.weights, self.directions, self.kept)}


@dataclass(frozen=True)
class Start:
    """Straight-line code whose results the loops of a function of a frame read. It stands before the loops,
    or after the loops that write the arrays that it reads.

    takes: names of inputs.
    gives: names of the arrays that it writes.
    evaluate: the algorithm on the joint-space model.
    reads: arrays that earlier loops wrote.
    """

    takes: tuple[str, ...]
    gives: tuple[str, ...]
    evaluate: Evaluate
    reads: tuple[Parameter, ...] = ()


@dataclass(frozen=True)
class Function:
    """A function of a generated module, or a fused one.

    declaration: its name, inputs and outputs.
    methods: ways to compute it, by name; the one with the fewest operations for the model is generated.
        Functions of a frame have no methods: they walk up the tree at run time.
    to_solve: for a function whose last output is M^-1 and whose other outputs solve systems with M: the
        right-hand sides B and known parts K of the other outputs, then the factors L and D^-1.
        `rbdc.planning.columns` does the rest.
    with_values: for a function of derivatives with `to_solve`: the results of `to_solve`, followed by the
        outputs of the differentiated function; fused functions use it.
    paths: inputs of the loops of `rbdc.planning.paths`, for a function with that form.
    uses: names of functions that these loops call.
    at_frame: algorithm of a function of a frame, (model, *inputs, frame, reference) -> outputs.
    starts: straight-line code whose results the loops of a function of a frame read.
    preset: smallest preset with the function, `SECOND` or `ALONE`.
    requires: properties that the model must have.
    references: reference methods from the literature by name, each as "module:function"; a module without a
        dot is in `rbdc.algorithms.reference`. Generating never imports them.
    oracle: name of the reference that decides in verification; required if there are several.
    comparison: how comparisons treat it.
    policy: choices of planning.
    differential: names of the functions that compute its derivatives.
    chain: the function as derivatives of another, whose requirements it shares. Methods and references come
        from the other function unless the record names them; with joints along curves,
        references always come from the other function, and methods too unless `along_curves` is set.
    along_curves: whether the record's own methods are valid for joints that follow others along curves.
    """

    declaration: FunctionDeclaration
    methods: Mapping[str, Evaluate]
    to_solve: Evaluate | None = None
    with_values: Evaluate | None = None
    paths: Evaluate | None = None
    uses: tuple[str, ...] = ()
    at_frame: Callable[..., Any] | None = None
    starts: tuple[Start, ...] = ()
    preset: str = PRESETS[-1]
    requires: frozenset[Requirement] = frozenset()
    policy: Policy = Policy()
    references: Mapping[str, str] = field(default_factory=dict)
    oracle: str = ""
    comparison: Comparison = Comparison()
    differential: Differential | None = None
    chain: ChainRule | None = None
    along_curves: bool = False

    def __post_init__(self) -> None:
        """Raise ValueError if several references exist without an oracle, or the oracle is not one of
        them.
        """
        if self.oracle not in self.references and (self.oracle or len(self.references) > 1):
            listed = ", ".join(self.references) or "none"
            raise ValueError(f"{self.name}: oracle={self.oracle!r} is not one of its references, {listed}")

    @property
    def name(self) -> str:
        """Name of the declaration."""
        return self.declaration.name

    @property
    def second_order(self) -> ChainRule | None:
        """The chain rule if the function differentiates first derivatives; otherwise None."""
        first = None if self.chain is None else self.chain.source
        return self.chain if first is not None and first.comparison.derivative_of is not None else None
