"""Lanes: a program that is invariant under a permutation of its inputs computes permuted values side by side.

Before: a scalar program and a cyclic permutation of its inputs, such as leg 1 -> 2 -> 3 -> 4 -> 1. Each value
    of one limb has a counterpart in the next. After: the counterparts are the lanes of one value. The
    permutation, applied m times, maps the value of lane 0 to that of lane m. So a value of another limb is a
    rotation of the lanes, a value of the trunk is the same in all lanes, and a sum over all limbs is one
    reduction. Values without counterparts stay scalar.

If limbs carry limbs, the permutation goes through all of them: finger 1 of arm 1 -> finger 1 of arm 2 ->
finger 2 of arm 1 -> finger 2 of arm 2. Values of an arm form shorter cycles: such a value has as many lanes
as there are arms. It is repeated where it is combined with values of fingers, and a sum over the fingers of
each arm adds halves of vectors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rbdc.ir.builder import Builder
from rbdc.ir.nodes import Program, Section
from rbdc.ir.operations import ADD, MUL, NEG, SUB
from rbdc.ir.passes.counterparts import Counterparts, Source, Terms, terms_of


@dataclass(frozen=True)
class Exchange:
    """A cyclic permutation of input entries that exchanges limbs, and the constants of the limbs.

    steps: permutations that compose the exchange; each leaves the program invariant. Besides inputs,
        permutations may map values, by symbol and number, that are known to be exchanged with the inputs.
    widths: numbers of lanes, smaller first, each a multiple of the one before; the last is the order of the
        permutation.
    constants: numbers that some of the inputs stand for.
    """

    steps: Sequence[Mapping[Source, Source]]
    widths: Sequence[int]
    constants: Mapping[Source, float]


def pack(program: Program, exchange: Exchange) -> Program:
    """Apply the pass; see the module's docstring."""
    return _Packer(program, exchange).packed()


class _Reduction(NamedTuple):
    """How terms of limbs are added over the limbs.

    lanes: number of lanes of the terms.
    lane: lane of the sum to which lane 0 of the terms belongs.
    different: number of different counterparts that a lane of the sum adds.
    """

    lanes: int
    lane: int
    different: int


class _Packer:
    def __init__(self, program: Program, exchange: Exchange) -> None:
        self.program, self.exchange = program, exchange
        steps = [Counterparts(program, moves) for moves in exchange.steps]
        self.image: list[int | None] = list(range(len(program.values)))
        for step in steps:
            self.image = [None if k is None else step.image[k] for k in self.image]
        self.told = {k for step in steps for k in step.told}
        self.orbit = [self._orbit(k) for k in range(len(program.values))]
        self.sums = set[int]().union(*(step.sums for step in steps))
        self._leave_what_has_no_operands()
        self.builder = Builder()
        self.wide: dict[int, int] = {}
        self.scalar: dict[int, int] = {}

    def packed(self) -> Program:
        """Return the program with lanes; constants are not folded and dead code is not removed yet."""
        program = self.program
        for index, value in enumerate(program.values):
            self.builder.section = value.section
            orbit = self.orbit[index]
            if orbit is not None and min(orbit) == index:
                self._lane(index)
        results = tuple(tuple([self._as_scalar(k) for k in result]) for result in program.results)
        used = {value.source[0] for value in self.builder.values if value.source is not None}
        named = {source[0] for source in self.exchange.constants}
        inputs = [array for array in program.inputs if array.name not in named or array.name in used]
        symbols = {self.wide[k]: name for k, name in program.symbols.items() if k in self.wide}
        symbols |= {
            self.scalar[k]: name
            for k, name in program.symbols.items()
            if k in self.scalar and self.orbit[k] is None
        }
        values, sections = tuple(self.builder.values), tuple(self._sections())
        return Program(program.name, tuple(inputs), program.outputs, values, results, sections, symbols)

    def _sections(self) -> list[Section]:
        titles = [dict.fromkeys([section.title]) for section in self.program.sections]
        for index in self.wide:
            together = sorted({self.program.values[k].section for k in self.orbit[index] or ()})
            shared = {title: None for number in together for title in titles[number]}
            for number in together:
                titles[number] = shared
        pairs = zip(titles, self.program.sections, strict=True)
        return [Section(", ".join(title), section.formula) for title, section in pairs]

    def _orbit(self, index: int) -> tuple[int, ...] | None:
        """Return the counterparts of a value, the first in the program first; None without counterparts. The
        counterparts are the lanes of one value.
        """
        orbit = [index]
        for _ in range(self.exchange.widths[-1] - 1):
            following = self.image[orbit[-1]]
            if following is None:
                return None
            orbit.append(following)
        if self.image[orbit[-1]] != index or len(set(orbit)) == 1:
            return None
        width = next(w for w in self.exchange.widths if w % len(set(orbit)) == 0)
        start = orbit.index(min(orbit, key=self._place))
        return tuple((orbit[start:] + orbit[:start])[:width])

    def _place(self, index: int) -> int:
        """Return the key that orders counterparts: the index of a value; for inputs the index of the entry,
        so that all inputs have the limbs in the same order.
        """
        source = self.program.values[index].source
        return index if source is None else source[1]

    def _leave_what_has_no_operands(self) -> None:
        for index in range(len(self.program.values)):
            orbit = self.orbit[index]
            if orbit is None or min(orbit) != index or index in self.told:
                continue
            operands = (k for k, _ in self._terms(index)) if self._adds_up(orbit) else self._operands(orbit)
            if not all(self._has_lanes(k) for k in operands):
                for member in orbit:
                    self.orbit[member] = None

    def _adds_up(self, orbit: Sequence[int]) -> bool:
        """Return whether counterparts are sums over limbs: an operand has more lanes than the counterparts,
        or is a partial sum without lanes.
        """
        if not self.program.values[orbit[0]].operation.is_sum:
            return False
        return any(
            not self._has_lanes(k) or len(self.orbit[k] or ()) > len(orbit) for k in self._operands(orbit)
        )

    def _operands(self, orbit: Sequence[int]) -> set[int]:
        return {k for member in orbit for k in self.program.values[member].arguments}

    def _terms(self, index: int) -> Terms:
        return terms_of(self.program, index, self._has_lanes)

    def _has_lanes(self, index: int) -> bool:
        """Return whether a value can be an operand in lanes: it belongs to limbs, or is the same for all
        limbs.
        """
        return self.orbit[index] is not None or self.image[index] == index

    def _lane(self, index: int) -> tuple[int, int]:
        """Return the value in lanes that holds a value and its counterparts, and the lane of the value."""
        first, section = min(self.orbit[index] or ()), self.builder.section
        if first not in self.wide:
            self.builder.section = self.program.values[first].section
            self.wide[first] = self._pack(first, self.orbit[first] or ())
            self.builder.section = section
        return self.wide[first], (self.orbit[index] or ()).index(index)

    def _pack(self, index: int, orbit: tuple[int, ...]) -> int:
        if index in self.told:
            return self.builder.gather(tuple(self._as_scalar(k) for k in orbit))
        if self._adds_up(orbit):
            return self._sum(self._terms(index), len(orbit))
        orbit = self._aligned(index, orbit)
        value = self.program.values[orbit[0]]
        if value.source is not None:
            if value.source in self.exchange.constants:
                sources = [self.program.values[k].source for k in orbit]
                return self.builder.lanes([self.exchange.constants[s] for s in sources if s is not None])
            return self.builder.gather(tuple(self._as_scalar(k) for k in orbit))
        return self.builder.apply(
            value.operation, tuple(self._as_lanes(k, len(orbit)) for k in value.arguments)
        )

    def _aligned(self, index: int, orbit: tuple[int, ...]) -> tuple[int, ...]:
        """Return the orbit with lane 0 chosen so that the first computed operand with lanes needs no
        rotation; inputs can be in any lane at no cost.
        """
        values = self.program.values
        for argument in sorted(values[index].arguments, key=lambda k: values[k].source is not None):
            lanes = self.orbit[argument]
            if lanes is not None:
                shift = orbit.index(index) - lanes.index(argument)
                aligned = tuple(orbit[(m + shift) % len(orbit)] for m in range(len(orbit)))
                for member in orbit:
                    self.orbit[member] = aligned
                return aligned
        return orbit

    def _as_lanes(self, index: int, width: int) -> int:
        """Return a value as an operand of lane 0: rotated if it belongs to another limb, scalar if to the
        trunk.
        """
        orbit = self.orbit[index]
        if orbit is None or width == 1:
            return self._as_scalar(index)
        return self.builder.rotate(*self._lane(index), width)

    def _as_scalar(self, index: int) -> int:
        if index in self.scalar:
            return self.scalar[index]
        orbit, value = self.orbit[index], self.program.values[index]
        number = None if value.source is None else self.exchange.constants.get(value.source)
        self.builder.section = value.section
        if orbit is not None and value.source is None and index not in self.told:
            scalar = self.builder.extract(*self._lane(index))
        elif number is not None:
            scalar = self.builder.constant(number)
        elif index in self.sums and self.image[index] == index:
            scalar = self._sum(self._terms(index), 1)
        else:
            scalar = self.builder.again(value, tuple(self._as_scalar(k) for k in value.arguments))
        self.scalar[index] = scalar
        return scalar

    def _sum(self, terms: Terms, width: int) -> int:
        """Return a sum in `width` lanes.

        Terms with at most `width` lanes are added one by one. Terms of limbs are added in their lanes, then
        over all limbs in one reduction.
        """
        signed: list[tuple[int, int]] = []
        reduced: dict[_Reduction, list[tuple[int, int]]] = {}
        # Begin with an added term.
        for (leaf, sign), count in sorted(terms.items(), key=lambda item: (-item[0][1], item[0][0])):
            exchanged = self._exchanged(leaf, width)
            alone = len(exchanged) == 1 or any(terms[k, sign] != count for k in exchanged)
            if alone:
                signed += [(self._as_lanes(leaf, width), sign)] * count
            elif min(exchanged) == leaf:
                vector, lane = self._lane(leaf)
                over = _Reduction(len(self.orbit[leaf] or ()), lane % width, len(set(exchanged)))
                reduced.setdefault(over, []).extend([(vector, sign)] * count)
        for over, pairs in reduced.items():
            sign = pairs[0][1]  # all terms are subtracted if the first is
            signed.append((self._reduced(self._total([(k, s * sign) for k, s in pairs]), over, width), sign))
        return self._total(sorted(signed, key=lambda term: -term[1]))

    def _total(self, signed: Sequence[tuple[int, int]]) -> int:
        first, sign = signed[0]
        total = first if sign > 0 else self.builder.apply(NEG, (first,))
        for term, sign in signed[1:]:
            total = self.builder.apply(ADD if sign > 0 else SUB, (total, term))
        return total

    def _exchanged(self, leaf: int, width: int) -> tuple[int, ...]:
        """Return the counterparts of a term that the same lane of a sum adds: every `width`-th one."""
        orbit = self.orbit[leaf]
        if orbit is None or len(orbit) <= width:
            return (leaf,)
        return orbit[orbit.index(leaf) % width :: width]

    def _reduced(self, total: int, over: _Reduction, width: int) -> int:
        folded = self.builder.fold(total, over.lanes, width)
        repeated = over.lanes // (width * over.different)
        if repeated > 1:
            folded = self.builder.apply(MUL, (self.builder.constant(1.0 / repeated), folded))
        return folded if width == 1 else self.builder.rotate(folded, over.lane, width)
