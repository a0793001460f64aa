"""Operation counts of a program. They are deterministic, so tests can lock them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from rbdc.ir.nodes import Program, Section, Value
from rbdc.ir.operations import MUL, NEG, REDUCE, Form, Operation


@dataclass(frozen=True)
class Cost:
    """Counts of operations by kind.

    additions, multiplications, divisions, negations: operations on scalars.
    calls: calls of elementary functions.
    others: comparisons and selections.
    vectors: operations on all lanes of a vector, each counted once.
    moves: extractions and compositions of lanes.
    lane_flops: additions, subtractions and multiplications among the vector operations, counted once for each
        lane.
    """

    additions: int = 0
    multiplications: int = 0
    divisions: int = 0
    negations: int = 0
    calls: int = 0
    others: int = 0
    vectors: int = 0
    moves: int = 0
    lane_flops: int = 0

    @property
    def operations(self) -> int:
        """Additions, multiplications, divisions, calls and vector operations.

        Negations and selections mostly cost nothing.
        """
        return self.additions + self.multiplications + self.divisions + self.calls + self.vectors

    @property
    def flops(self) -> int:
        """Additions, subtractions and multiplications of single numbers.

        Multiply-add units execute these; a fused multiply-add counts as two.
        """
        return self.additions + self.multiplications + self.lane_flops

    @property
    def weight(self) -> float:
        """The operations, plus half an operation for each move of lanes."""
        return self.operations + 0.5 * self.moves

    def __add__(self, other: Cost) -> Cost:
        return Cost(*(getattr(self, name) + getattr(other, name) for name in self.__dataclass_fields__))

    def times(self, count: int) -> Cost:
        """Return the counts of `count` repetitions."""
        return Cost(*(count * getattr(self, name) for name in self.__dataclass_fields__))


NOTHING = Cost()


def cost(program: Program) -> Cost:
    """Return the counts of one program."""
    counts: Counter[str] = Counter()
    for value in program.arithmetic():
        _count_value(counts, program, value)
    return Cost(**counts)


def cost_by_section(program: Program) -> dict[Section, Cost]:
    """Return the counts of each section, in the order of the program; the counts add up to `cost`."""
    counts: dict[Section, Counter[str]] = {}
    for value in program.arithmetic():
        _count_value(counts.setdefault(program.sections[value.section], Counter()), program, value)
    return {section: Cost(**count) for section, count in counts.items()}


def _count_value(counts: Counter[str], program: Program, value: Value) -> None:
    operation = value.operation
    if operation is REDUCE:
        counts["additions"] += program.values[value.arguments[0]].width - 1
    elif operation.form is Form.LANES:
        counts["moves"] += 1
    else:
        _count(counts, operation, value.width, 1)


def counted(operations: Mapping[Operation, int], width: int = 1) -> Cost:
    """Return the counts of operations on numbers or on vectors with `width` lanes."""
    counts: Counter[str] = Counter()
    for operation, number in operations.items():
        _count(counts, operation, width, number)
    return Cost(**counts)


def summed(costs: Iterable[Cost]) -> Cost:
    """Return the sum of the counts."""
    return sum(costs, NOTHING)


def _count(counts: Counter[str], operation: Operation, width: int, number: int) -> None:
    if operation.is_elementary:
        counts["calls"] += number * width
    elif width > 1 and operation is not NEG:
        counts["vectors"] += number
        counts["lane_flops"] += number * width if operation.is_sum or operation is MUL else 0
    else:
        counts[operation.counted_as] += number
