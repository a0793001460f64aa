"""Layout of a kernel of windows: its arrays and their sizes (in numbers), and the robot's tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate

from rbdc.functions.record import Function
from rbdc.functions.scalar_types import ScalarType
from rbdc.ir.indices import Index, TableEntry, Variable, plus
from rbdc.ir.loops import ConstantTable, Loop, Place, Statement, Step
from rbdc.ir.nodes import Program
from rbdc.model import Body, Problem
from rbdc.planning.windows import entries as at
from rbdc.planning.windows.kernels import WindowsKernel
from rbdc.planning.windows.widths import Width
from rbdc.reduction.constants import Constants
from rbdc.reduction.schedules import LIMBS, Node, Schedule
from rbdc.spatial import Scalar, Scalars

R, B, J, K = map(Variable, "rbjk")
"""Loop variables: r rows of limbs, b blocks of columns, j columns, k entries."""


@dataclass(frozen=True)
class WindowLayout:
    """A kernel of a function for registers of one width.

    bodies: programs of `rbdc.planning.windows.bodies`, by name.
    """

    function: Function
    kernel: WindowsKernel
    schedule: Schedule
    constants: Constants
    bodies: dict[str, Program]
    width: Width

    @property
    def model(self) -> Problem:
        """The robot."""
        return self.schedule.model

    @property
    def scalar(self) -> ScalarType:
        """The type of numbers."""
        return self.function.declaration.scalar

    @property
    def outputs(self) -> list[str]:
        """The names of the outputs."""
        return [p.name for p in self.function.declaration.outputs]

    @property
    def rows(self) -> int:
        """Number of rows of limbs."""
        return self.schedule.rows

    @property
    def columns(self) -> int:
        """Number of columns: the degrees of freedom."""
        return self.schedule.columns

    @property
    def first(self) -> int:
        """Number of columns of a free root: 6 or 0."""
        return self.schedule.first

    @property
    def lanes(self) -> int:
        """Number of columns in a register."""
        return self.width.lanes

    @property
    def sum_size(self) -> int:
        """Number of entries in the sums over a subtree."""
        return at.COMPOSITE_SIZE if self.constants.massive else at.MASS

    @property
    def inertia_size(self) -> int:
        """Number of entries of an articulated body."""
        return at.WITH_FORCE if self.kernel.solved else at.CARRIED

    @property
    def padded(self) -> int:
        """Number of columns, rounded up to a multiple of 8."""
        return -(-self.columns // 8) * 8

    @property
    def root_row(self) -> int:
        """Number of a free root's columns, rounded up to whole registers."""
        return max(self.lanes, 8)

    @property
    def slots(self) -> list[Node | None]:
        """The nodes row by row; None in lanes without a node, and at the end to fill a vector of sines."""
        nodes = [node for row in self.schedule.grid for node in row]
        return nodes + [None] * (-len(nodes) % self.scalar.angle_lanes[-1])

    @property
    def own_root(self) -> int:
        """Offset of the records of a free root's columns, after the records of all other columns."""
        return LIMBS * self.rows * at.OWN_SIZE

    @property
    def records(self) -> int:
        """Length of all records, with room for vectors that begin in the last one."""
        return (LIMBS * self.rows + self.first + 2) * at.OWN_SIZE

    def own(self, array: str, column: Index, offset: int = 0) -> Place:
        """Return a place in the record of a column."""
        return Place(array, ((TableEntry("slot_of", column), at.OWN_SIZE),), offset)

    def entries(self, begin: int, column: Index) -> Place:
        """Return the place of joint entries: rows from entry `begin` on, columns from `column` on."""
        return Place("by", ((column, 1),), begin * self.padded, pitch=self.padded)

    def matrix(self, array: str, row: Index, column: Index, offset: int = 0) -> Place:
        """Return the place of `row` of a square matrix, from `column` on."""
        return Place(array, ((row, self.columns), (column, 1)), offset)

    def of_columns(self, array: str, column: Index) -> Place:
        """Return the place of a square matrix from `column` on, one vector of columns for each row."""
        return Place(array, ((column, 1),), pitch=self.columns)

    @cached_property
    def blocks(self) -> list[int]:
        """First columns of the registers that cover all columns; the last register ends with the
        matrix.
        """
        return [min(k, self.columns - self.lanes) for k in range(0, self.columns, self.lanes)]

    @property
    def slot_of(self) -> list[int]:
        """Index of the record of each column."""
        root = [LIMBS * self.rows + k for k in range(self.first)]
        return root + [self.schedule.slots[node] for node in self.schedule.nodes]

    def body(self, node: Node | None) -> Body:
        """Return the body of a node; an arbitrary one for a lane without a node."""
        return self.model.bodies[(node or self.schedule.nodes[0]).body]

    @cached_property
    def moved(self) -> list[int]:
        """For each row 1 if the parents of its bodies are in several rows or in other lanes, else 0; empty if
        all are 0.
        """
        flags = [int(row < 0) for row in self.schedule.above]
        return flags if any(flags) else []


def step_at(program: Program, places: Mapping[str, Place]) -> Step:
    """Return a program as a step; `places` may name more than the program's arguments."""
    arguments = {array.name for array in (*program.inputs, *program.outputs)}
    return Step(program, {name: place for name, place in places.items() if name in arguments})


def integers(name: str, entries: Iterable[int], width: int = 1) -> ConstantTable:
    """Return a table of indices with `width` entries a row; an empty table has one entry, which no loop
    reads.
    """
    return replace(numbers(name, [*entries] or [0], width), integer=True)


def numbers(name: str, entries: Iterable[float], width: int = 1) -> ConstantTable:
    """Return a table of numbers with `width` entries a row."""
    floats = [float(x) for x in entries]
    return ConstantTable(name, tuple(tuple(floats[k : k + width]) for k in range(0, len(floats), width)))


def dot(a: Scalars, b: Scalars) -> Scalar:
    """Return the dot product, summed term by term."""
    first, *others = [x * y for x, y in zip(a, b, strict=True)]
    for other in others:
        first = first + other
    return first


def ends_of(lists: Sequence[Sequence[int]]) -> list[int]:
    """Return the beginning of each list in their concatenation, and the end of the last one."""
    return [0, *accumulate(map(len, lists))]


def over(variable: str, ends: str, of: Index, *body: Statement, about: str = "") -> Loop:
    """Return a loop over the entries of list number `of`; the table `ends` holds the result of `ends_of`."""
    return Loop(variable, TableEntry(ends, of), TableEntry(ends, plus(of, 1)), body, about)
