"""The record of a function: all that rbdc knows of it, in one place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from rbdc.functions.declarations import FunctionDeclaration
from rbdc.functions.differentiation import Differentiated
from rbdc.functions.evaluation import Evaluate
from rbdc.runtime._differential import Differential as Differential

PRESETS = ("control", "optimisation", "full")
"""The smallest first; each has the functions of the one before."""
SECOND = "second"
"""The preset of second derivatives alone: they are large, and few need them."""
ALONE = ""
"""In place of a preset: built where it is asked for by name."""


class Requirement(Enum):
    """A property that a model must have for a function to be defined."""

    REGULAR_INERTIA = "regular M"
    """A joint-space inertia that is regular in some configuration."""
    INDEPENDENT_ROWS = "independent rows of contacts"
    """Contacts whose forces are determined in some configuration, or a regularisation."""
    MASS = "mass"
    """A link with mass."""
    MOVING_MASS = "moving mass"
    """A moving link with mass."""


@dataclass(frozen=True)
class Policy:
    """Choices that planning makes for a function by more than its operation counts; the thresholds are in
    `rbdc.planning.policy`.

    dense_right_sides: the right-hand sides of `Function.to_solve` have entries in most rows, so that columns
    side by side are worth while on smaller models. counted_by_pass: `rbdc info` shows its operations after
    each pass over the model. rolled: its recursions as loops (`rbdc.planning.loops.rolled`), by the names of
    the methods that the manifest gives. windows: its kernel of that form, by its name in
    `rbdc.planning.windows.kernels`. sample_by_sample: a choice in it depends on the sample, so that its batch
    is a loop. one_by_one_in_limbs: where four limbs run in lanes in a single call, its samples take less time
    one by one than side by side.
    """

    dense_right_sides: bool = False
    counted_by_pass: bool = False
    rolled: Mapping[str, str] = field(default_factory=dict)
    windows: str = ""
    sample_by_sample: bool = False
    one_by_one_in_limbs: bool = False


@dataclass(frozen=True)
class Comparison:
    """How comparisons and benchmarks treat a function.

    derivative_of: the name of the function of which it is the matrices of derivatives. peers: by library the
    names of its algorithms there, as its harness exports them. checks_only: the generated method is that of
    the textbooks too, so that references check results and are not timed. through_passes: the name by which
    the reference that decides is timed on the joint-space model too, as generated methods are. benchmarked:
    `rbdc benchmark` measures it unless told otherwise. headline: it has a tile at the top of the page.
    """

    derivative_of: str | None = None
    peers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    checks_only: bool = False
    through_passes: str = ""
    benchmarked: bool = False
    headline: bool = False


@dataclass(frozen=True)
class ChainRule:
    """A function as derivatives of another, by the chain rule on the other's operations.

    of: the other's name; source: its record, which the catalogue puts there. by: names of its first inputs,
    by each of which each of its outputs is differentiated. weights: inputs of this function that weight the
    other's outputs, of which the sum is taken before; directions: along which derivatives are taken, for each
    of `by`, in place of all of them. kept: numbers of the results that are outputs; None: all.
    """

    of: str
    by: tuple[str, ...]
    weights: tuple[str, ...] = ()
    directions: tuple[str, ...] = ()
    kept: tuple[int, ...] | None = None
    source: Function | None = None

    @property
    def function(self) -> Function:
        """The other's record. Raises LookupError where the catalogue did not put it there."""
        if self.source is None:
            raise LookupError(f"no record of {self.of}: ask functions_of for that which is derived from it")
        return self.source

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """For each output numbers of the other's output and of the input by which that is differentiated."""
        return [divmod(number, len(self.by)) for number in self.kept or ()]

    def methods(self) -> dict[str, Evaluate]:
        """Return the first method of the other, differentiated, by its name."""
        name, evaluate = next(iter(self.function.methods.items()))
        by = tuple(p for p in self.function.declaration.inputs if p.name in self.by)
        return {name: Differentiated(evaluate, by, self.weights, self.directions, self.kept)}


@dataclass(frozen=True)
class Function:
    """A function of a generated module, or a fused one.

    declaration: its name, inputs and outputs. methods: how it may be computed, by name; the one with the
    fewest operations for the model at hand is generated. None for functions of a frame, which climb the
    tree at run time. to_solve: for a function whose outputs are solutions with M and, last, M^-1:
    right-hand sides B and known parts K of all but the last output, then the factors L and D^-1
    (`rbdc.planning.columns` does the rest). with_values: of such a function of derivatives, the same and
    after it the outputs of the function that they are of, for both fused. paths: for a function that has that
    form, what its loops start from (`rbdc.planning.paths`). uses: names of functions that these loops call.
    at_frame: of a function of a frame its algorithm, (model, *inputs, frame, reference) -> outputs.
    preset: the smallest one that has it, `SECOND` or `ALONE`. requires: what the model must have. references:
    the papers' methods by name, each as "module:function", in `rbdc.algorithms.reference` where the module
    has no dot. Generating never imports them. oracle: the name of the one that decides in verification, which
    must be given where there are several. differential: where its derivatives are.
    chain: as derivatives of another function, whose requirements it has; so are methods and references, where
    it names none, and where joints follow others along curves, both. along_curves: its own methods hold there
    too.
    """

    declaration: FunctionDeclaration
    methods: Mapping[str, Evaluate]
    to_solve: Evaluate | None = None
    with_values: Evaluate | None = None
    paths: Evaluate | None = None
    uses: tuple[str, ...] = ()
    at_frame: Callable[..., Any] | None = None
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
        """Raise ValueError for references of which none is named as the oracle, or one that there is not."""
        if self.oracle not in self.references and (self.oracle or len(self.references) > 1):
            listed = ", ".join(self.references) or "none"
            raise ValueError(f"{self.name}: oracle={self.oracle!r} is none of its references, {listed}")

    @property
    def name(self) -> str:
        """Name of the declaration."""
        return self.declaration.name

    @property
    def second_order(self) -> ChainRule | None:
        """The chain rule by which the function is derivatives of first ones; None for all others."""
        first = None if self.chain is None else self.chain.source
        return self.chain if first is not None and first.comparison.derivative_of is not None else None
