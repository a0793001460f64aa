"""Lanes: a program that is the same under an exchange of its inputs computes what is exchanged side by side.

Before: a scalar program and a cyclic permutation of its inputs, such as leg 1 -> 2 -> 3 -> 4 -> 1, under which each value of one limb has
its counterpart in the next. After: the counterparts are the lanes of one value. A lane m holds what the permutation, applied m times, makes
of lane 0; so a value of another limb is a rotation of the lanes, a value of the trunk the same in all lanes, and a sum over all limbs one
reduction. What has no counterpart stays scalar.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from rbdc.ir.builder import Builder, finish
from rbdc.ir.nodes import Program, Value

Source = tuple[str, int]
Terms = Counter[tuple[int, int]]
"""A sum as (value, sign) with multiplicities."""

PACKED = ("add", "sub", "mul", "div", "neg", "sin", "cos")
_COMMUTATIVE = ("add", "mul")


@dataclass(frozen=True)
class Exchange:
    """A permutation of input entries of order `lanes`, and the numbers that some of the inputs stand for (the limbs' constants)."""

    lanes: int
    moves: Mapping[Source, Source]
    constants: Mapping[Source, float]


def pack(program: Program, exchange: Exchange) -> Program:
    """See the module's docstring."""
    return _Packer(program, exchange).packed()


class _Packer:
    def __init__(self, program: Program, exchange: Exchange) -> None:
        self.program, self.exchange = program, exchange
        self.image: list[int | None] = []
        self.sums: dict[int, Terms] = {}
        self._find_images()
        self.orbit = [self._orbit(k) for k in range(len(program.values))]
        self.builder = Builder()
        self.wide: dict[int, int] = {}
        self.scalar: dict[int, int] = {}

    def packed(self) -> Program:
        """The program with lanes; constants not folded, dead code not removed yet."""
        program = self.program
        for index, value in enumerate(program.values):
            self.builder.section = value.section
            orbit = self.orbit[index]
            if orbit is not None and min(orbit) == index:
                self.wide[index] = self._pack(self._aligned(index, value, orbit))
        results = [[self._as_scalar(k) for k in result] for result in program.results]
        used = {value.source[0] for value in self.builder.values if value.source is not None}
        named = {source[0] for source in self.exchange.constants}
        inputs = [array for array in program.inputs if array.name not in named or array.name in used]
        symbols = {self.wide[k]: name for k, name in program.symbols.items() if k in self.wide}
        symbols |= {self.scalar[k]: name for k, name in program.symbols.items() if k in self.scalar and self.orbit[k] is None}
        return finish(program.name, inputs, program.outputs, self.builder, results, program.sections, symbols)

    def _find_images(self) -> None:
        """What the permutation makes of each value, where that is a value of the program."""
        index_of = {self._key(value, value.arguments, value.source): k for k, value in enumerate(self.program.values)}
        for index, value in enumerate(self.program.values):
            if value.constant is not None:
                self.image.append(index)
            elif value.source is not None:
                moved = self.exchange.moves.get(value.source, value.source)
                self.image.append(index_of.get(self._key(value, (), moved)))
            else:
                arguments = [self.image[k] for k in value.arguments]
                found = index if arguments == list(value.arguments) else None
                narrow = value.width == 1 and all(self.program.values[k].width == 1 for k in value.arguments)
                if found is None and narrow and value.operation in PACKED and None not in arguments:
                    found = index_of.get(self._key(value, tuple(k for k in arguments if k is not None), None))
                self.image.append(found if found is not None else self._as_invariant_sum(index))

    @staticmethod
    def _key(value: Value, arguments: tuple[int, ...], source: Source | None) -> object:
        if value.operation in _COMMUTATIVE:
            arguments = tuple(sorted(arguments))
        return value.operation, arguments, source, value.constant

    def _as_invariant_sum(self, index: int) -> int | None:
        """The value itself where it is a sum whose terms are only exchanged with each other."""
        value = self.program.values[index]
        if value.operation not in ("add", "sub") or value.width > 1:
            return None
        terms = self._terms(index)
        moved: Terms = Counter()
        for (leaf, sign), count in terms.items():
            target = self.image[leaf]
            if target is None:
                return None
            moved[target, sign] += count
        if moved != terms:
            return None
        self.sums[index] = terms
        return index

    def _terms(self, index: int) -> Terms:
        """The sum below a value, down to what has a counterpart."""
        terms: Terms = Counter()
        stack = [(index, 1, True)]
        while stack:
            k, sign, top = stack.pop()
            value = self.program.values[k]
            counterpart = None if top else self.image[k]
            if counterpart is None and value.width == 1 and value.operation in ("add", "sub", "neg"):
                signs = (sign, -sign) if value.operation == "sub" else (-sign,) if value.operation == "neg" else (sign, sign)
                stack += [(argument, s, False) for argument, s in zip(value.arguments, signs, strict=True)]
            else:
                terms[k, sign] += 1
        return terms

    def _orbit(self, index: int) -> tuple[int, ...] | None:
        """The counterparts of a value beginning with the first made, if there are any: lane m of what stands for them all."""
        orbit = [index]
        for _ in range(self.exchange.lanes - 1):
            following = self.image[orbit[-1]]
            if following is None:
                return None
            orbit.append(following)
        if self.image[orbit[-1]] != index or len(set(orbit)) == 1:
            return None
        start = orbit.index(min(orbit))
        return tuple(orbit[start:] + orbit[:start])

    def _aligned(self, index: int, value: Value, orbit: tuple[int, ...]) -> tuple[int, ...]:
        """The orbit with lane 0 chosen so that the first operand with lanes needs no rotation."""
        for argument in value.arguments:
            lanes = self.orbit[argument]
            if lanes is not None:
                shift = orbit.index(index) - lanes.index(argument)
                aligned = tuple(orbit[(m + shift) % len(orbit)] for m in range(len(orbit)))
                for member in orbit:
                    self.orbit[member] = aligned
                return aligned
        return orbit

    def _pack(self, orbit: tuple[int, ...]) -> int:
        value = self.program.values[orbit[0]]
        if value.source is not None:
            if value.source in self.exchange.constants:
                sources = [self.program.values[k].source for k in orbit]
                return self.builder.lanes([self.exchange.constants[s] for s in sources if s is not None])
            return self.builder.gather(tuple(self._as_scalar(k) for k in orbit))
        return self.builder.apply(value.operation, tuple(self._as_lanes(k) for k in value.arguments))

    def _as_lanes(self, index: int) -> int:
        """A value as an operand of lane 0: rotated if it is another limb's, scalar if it is the trunk's."""
        orbit = self.orbit[index]
        if orbit is None:
            return self._as_scalar(index)
        return self.builder.rotate(self.wide[min(orbit)], orbit.index(index))

    def _as_scalar(self, index: int) -> int:
        """A value as a scalar: a lane of what it is packed into, or computed on its own."""
        if index in self.scalar:
            return self.scalar[index]
        orbit, value = self.orbit[index], self.program.values[index]
        self.builder.section = value.section
        if orbit is not None and value.source is None:
            made = self.builder.extract(self.wide[min(orbit)], orbit.index(index))
        elif value.constant is not None:
            made = self.builder.constant(value.constant)
        elif value.source is not None:
            number = self.exchange.constants.get(value.source)
            made = self.builder.input(*value.source) if number is None else self.builder.constant(number)
        elif index in self.sums:
            made = self._sum(self.sums[index])
        else:
            made = self.builder.again(value, tuple(self._as_scalar(k) for k in value.arguments))
        self.scalar[index] = made
        return made

    def _sum(self, terms: Terms) -> int:
        """The terms of the trunk one by one, those of the limbs by reductions."""
        signed: list[tuple[int, int]] = []
        for (leaf, sign), count in sorted(terms.items(), key=lambda item: (-item[0][1], item[0][0])):  # begin with what is added
            orbit = self.orbit[leaf]
            if orbit is not None and min(orbit) != leaf:
                continue
            term = self._as_scalar(leaf) if orbit is None else self.builder.reduce(self.wide[leaf], self.exchange.lanes)
            if orbit is not None and len(set(orbit)) < len(orbit):  # each counterpart is in several lanes
                term = self.builder.apply("mul", (self.builder.constant(len(set(orbit)) / len(orbit)), term))
            signed += [(term, sign)] * count
        total = signed[0][0] if signed[0][1] > 0 else self.builder.apply("neg", (signed[0][0],))
        for term, sign in signed[1:]:
            total = self.builder.apply("add" if sign > 0 else "sub", (total, term))
        return total
