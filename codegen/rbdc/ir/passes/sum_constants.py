"""The constants of a sum taken together.

Before: ``(0.3 - x) + 0.2``, inner values used nowhere else. After: ``0.5 - x``. The other terms stay in their order; lanes of constants
count as constants.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rbdc.ir.builder import Builder, Rule, finish
from rbdc.ir.nodes import Program

_SUMS = ("add", "sub")


def gather_constants(program: Program, rules: Sequence[Rule]) -> Program:
    """See the module's docstring; `rules` simplify what is made. What is left over is dead code."""
    return _Gathering(program, rules).made()


class _Gathering:
    def __init__(self, program: Program, rules: Sequence[Rule]) -> None:
        self._program = program
        self._users = program.users()
        self._builder = Builder(rules)
        self._new: list[int] = []

    def made(self) -> Program:
        program, builder, new = self._program, self._builder, self._new
        for index, value in enumerate(program.values):
            builder.section = value.section
            constants = list(self._constants(index, False)) if value.operation in _SUMS else []
            if len(constants) < 2:
                new.append(builder.again(value, tuple([new[k] for k in value.arguments])))
            else:
                new.append(self._gathered(index, constants))
        symbols: dict[int, str] = {}
        for old, symbol in program.symbols.items():
            symbols.setdefault(new[old], symbol)
        results = [[new[k] for k in result] for result in program.results]
        return finish(program.name, program.inputs, program.outputs, builder, results, program.sections, symbols)

    def _parts(self, index: int) -> Iterator[tuple[int, bool]]:
        """The arguments of a sum, and whether each is subtracted."""
        value = self._program.values[index]
        yield value.arguments[0], False
        yield value.arguments[1], value.operation == "sub"

    def _is_inner(self, index: int) -> bool:
        """Whether a value is a part of the sum that alone uses it."""
        return self._program.values[index].operation in _SUMS and len(self._users[index]) == 1

    def _constants(self, index: int, negative: bool) -> Iterator[tuple[int, bool]]:
        """The constants of a sum, and whether each is subtracted."""
        for part, subtracted in self._parts(index):
            if self._builder.numbers(self._new[part]):
                yield part, negative != subtracted
            elif self._is_inner(part):
                yield from self._constants(part, negative != subtracted)

    def _gathered(self, index: int, constants: Sequence[tuple[int, bool]]) -> int:
        """The sum with all of its constants in the place of the first."""
        (_, first), *_ = constants
        total = self._builder.constant(0.0)
        for part, negative in constants:
            total = self._builder.apply("sub" if negative != first else "add", (total, self._new[part]))
        kept = self._without(index, iter([total]))
        return self._builder.constant(0.0) if kept is None else kept

    def _without(self, index: int, total: Iterator[int]) -> int | None:
        """The sum with the next of `total` in place of a constant; None where nothing is left."""
        left, right = (self._part(part, total) for part, _ in self._parts(index))
        if left is None or right is None:
            negative = left is None and right is not None and self._program.values[index].operation == "sub"
            return self._builder.apply("neg", (right,)) if negative and right is not None else right if left is None else left
        return self._builder.apply(self._program.values[index].operation, (left, right))

    def _part(self, part: int, total: Iterator[int]) -> int | None:
        if self._builder.numbers(self._new[part]):
            return next(total, None)
        return self._without(part, total) if self._is_inner(part) else self._new[part]
