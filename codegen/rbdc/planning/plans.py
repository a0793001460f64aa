"""Plans: functions of a model in one form each, as data. Forms create them (`rbdc.planning.forms`), and the
printer of C takes them (`rbdc.emit.printing`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from rbdc.functions.declarations import FunctionDeclaration
from rbdc.functions.record import Function
from rbdc.ir.cost import Cost
from rbdc.ir.loops import LoopNest
from rbdc.ir.nodes import Program
from rbdc.model import Problem
from rbdc.planning import calibration
from rbdc.planning.windows.layout import WindowLayout


@dataclass(frozen=True)
class StraightLine:
    """The method of a function and its programs; if there are two, the first omits the optional inputs."""

    method: str
    kernels: tuple[Program, ...]


@dataclass(frozen=True)
class Columns:
    """Straight-line code and the loops of a solve in columns (`rbdc.planning.columns`): one nest for each
    width of registers, longest first.
    """

    nests: tuple[LoopNest, ...]


@dataclass(frozen=True)
class Windows:
    """A kernel over rows of limbs and windows of columns (`rbdc.planning.windows`), and its loops for the
    longest registers.
    """

    layout: WindowLayout
    nest: LoopNest


@dataclass(frozen=True)
class Paths:
    """Second derivatives as straight-line code, then loops over the degrees of freedom on each path of the
    tree.

    uses: functions that it calls first.
    """

    model: Problem
    nest: LoopNest
    uses: tuple[Plan, ...] = ()


@dataclass(frozen=True)
class Climb:
    """The climb from a frame to the root.

    model: the problem.
    steps: one program for each body.
    moved: program that moves the frame by an offset first.
    nest: loops over the path that the climb finds.
    """

    model: Problem
    steps: tuple[Program, ...]
    moved: Program
    nest: LoopNest


@dataclass(frozen=True)
class Rolled:
    """The method of a function and its loops over the bodies."""

    method: str
    nest: LoopNest


Content: TypeAlias = StraightLine | Columns | Windows | Paths | Climb | Rolled


@dataclass(frozen=True)
class Plan:
    """A function of a model in one form.

    function: the function.
    form: name of the form.
    content: data from which the C is printed.
    cost: operations of a call for one sample without the optional input, including the called functions.
    looped: operations of loops that solve in columns or multiply matrices.
    moved: numbers among the columns.
    """

    function: Function
    form: str
    content: Content
    cost: Cost
    looped: int = 0
    moved: int = 0

    @property
    def declaration(self) -> FunctionDeclaration:
        """The function's declaration."""
        return self.function.declaration

    @property
    def kernels(self) -> Sequence[Program]:
        """The straight-line programs that dominate the function, if any."""
        match self.content:
            case StraightLine(_, kernels):
                return kernels
            case Columns(nests):
                return nests[-1].straight
        return ()

    @property
    def lanes(self) -> int:
        """Largest number of numbers that a value of these programs has side by side."""
        return max((value.width for program in self.kernels for value in program.values), default=1)

    @property
    def nanoseconds(self) -> float:
        """Time of a call by the table of `rbdc.planning.calibration`."""
        written = self.cost.operations - self.looped
        return calibration.nanoseconds(self.form, written, self.looped, self.moved)


@dataclass(frozen=True)
class BatchPlan:
    """The computation of several samples; by default a plain loop, printed beside the function.

    samples: scalar programs of a kernel with one sample in each lane, if there are two, the first without the
        optional input; for a function of a frame the steps of its climb.
    one_by_one: whether the batch is a loop nevertheless, and the kernel is for blocks in lanes only.
    widths: samples side by side in a kernel, by register size (bytes) (`ScalarType.widths`); for a function
        of a frame the samples of a block.
    """

    samples: tuple[Program, ...] = ()
    one_by_one: bool = False
    widths: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True)
class FormChoice:
    """A choice that replaces the choice of planning; None keeps it.

    form: form of a call for one sample.
    lanes: samples side by side in a batch of rows, 1 for one by one.
    blocks: samples side by side in a batch of blocks.
    place: where it was requested, for messages.
    """

    form: str | None = None
    lanes: int | None = None
    blocks: int | None = None
    place: str = field(default="", compare=False)

    @property
    def kernel(self) -> int | None:
        """Number of samples side by side in the kernel, which both batches share."""
        return self.blocks or (None if self.lanes == 1 else self.lanes)


UNTOLD = FormChoice()
"""No choice: planning decides."""
