"""Plans. A plan is a function of a model in one form (way to write the function in C), as data.

`rbdc.planning.forms` creates plans, and `rbdc.emit.printing` prints them as C.
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
    """The method of a function and its programs; if there are two, the first takes no optional inputs."""

    method: str
    kernels: tuple[Program, ...]


@dataclass(frozen=True)
class Columns:
    """Straight-line code, then loops that solve for columns side by side (`rbdc.planning.columns`).

    nests: one loop nest, which contains the straight-line code, for each register width, longest first.
    """

    nests: tuple[LoopNest, ...]


@dataclass(frozen=True)
class Windows:
    """A kernel that loops over rows (one body of each of four limbs) and over windows (columns side by side
    in registers), see `rbdc.planning.windows`.

    layout: schedule, constants and programs of the kernel.
    nest: its loops for the longest registers.
    """

    layout: WindowLayout
    nest: LoopNest


@dataclass(frozen=True)
class Paths:
    """Second derivatives as straight-line code, then loops over the degrees of freedom on each path of the
    tree.

    model: the problem.
    nest: straight-line code and loops.
    uses: plans of the functions that the C calls first.
    """

    model: Problem
    nest: LoopNest
    uses: tuple[Plan, ...] = ()


@dataclass(frozen=True)
class Climb:
    """The climb: straight-line steps from body to body, from a frame to the root.

    model: the problem.
    steps: program of the step from each body to its parent.
    moved: program that moves the frame by an offset before the first step.
    nest: loops over the bodies between the frame and the root.
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
    cost: operations of a call for one sample without optional inputs, including functions that it calls.
    looped: operations of loops that solve in columns or multiply matrices.
    moved: number of entries of the columns that are solved for.
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
        """Largest number of SIMD lanes of a value in `kernels`."""
        return max((value.width for program in self.kernels for value in program.values), default=1)

    @property
    def nanoseconds(self) -> float:
        """Time of a call (ns) according to the table of `rbdc.planning.calibration`."""
        written = self.cost.operations - self.looped
        return calibration.nanoseconds(self.form, written, self.looped, self.moved)


@dataclass(frozen=True)
class BatchPlan:
    """How several samples are computed; by default, in a plain loop over single calls.

    samples: scalar programs of a kernel with one sample in each lane; if there are two, the first takes no
        optional inputs. For functions of a frame: the steps of the climb.
    one_by_one: whether a batch in row layout loops over single calls; then only batches in lane layout use
        the kernel.
    widths: number of samples side by side in a kernel, by register size in bytes (`ScalarType.widths`). For
        functions of a frame: the number of samples of a block.
    """

    samples: tuple[Program, ...] = ()
    one_by_one: bool = False
    widths: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True)
class FormChoice:
    """A requested choice. Planning decides fields that are None.

    form: form of a call for one sample.
    lanes: number of samples side by side in a batch in row layout; 1: one by one.
    blocks: number of samples side by side in a batch in lane layout.
    place: where the choice was requested, for messages.
    """

    form: str | None = None
    lanes: int | None = None
    blocks: int | None = None
    place: str = field(default="", compare=False)

    @property
    def kernel(self) -> int | None:
        """Number of samples side by side in the kernel, which batches of both layouts share."""
        return self.blocks or (None if self.lanes == 1 else self.lanes)


UNTOLD = FormChoice()
"""No choice: planning decides."""
