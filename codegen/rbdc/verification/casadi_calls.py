"""Calls of external functions of CasADi as CasADi makes them, without it."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from ctypes import POINTER, c_char_p, c_double, c_int, c_longlong
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rbdc.emit.casadi.parts import Array as Matrix
from rbdc.errors import VerificationError
from rbdc.functions.declarations import FunctionDeclaration

Array = NDArray[np.floating[Any]]

_DOUBLES, _INTEGERS = POINTER(c_double), POINTER(c_longlong)
_GUARD = 64
"""Numbers behind the work vector and behind each result, which no function may write."""
_UNTOUCHED = 7.0


@dataclass(frozen=True)
class External:
    """An external function called at some states: what it should take and return, and each input, (states,
    rows * columns), or None. sparse: outputs that are zero may be without entries.
    """

    symbol: str
    inputs: tuple[Matrix, ...]
    outputs: tuple[Matrix, ...]
    arrays: tuple[Array | None, ...]
    sparse: bool = False

    @staticmethod
    def of(
        symbol: str, declaration: FunctionDeclaration, arrays: Sequence[Array | None], extra: tuple[int, ...]
    ) -> External:
        """The values of a function by its required inputs, and by its place, of which every part is one."""
        given = [
            (Matrix(p.name, p.size, 1), x.reshape(len(x), -1))
            for p, x in zip(declaration.inputs, arrays, strict=True)
            if x is not None and not p.optional
        ]
        states = len(given[0][1])
        given += [
            (Matrix(name, 1, 1), np.full((states, 1), float(k)))
            for name, k in zip(declaration.place, extra, strict=True)
        ]
        inputs, values = zip(*given, strict=True)
        return External(symbol, inputs, tuple(map(Matrix.of, declaration.outputs)), values)

    def jacobian(self) -> External:
        """Its Jacobian: of every output by every input; it takes the outputs too, and does not read them."""
        pairs = tuple(y.jacobian(x) for y in self.outputs for x in self.inputs)
        return self._derived("jac_", tuple(y.unread() for y in self.outputs), pairs)

    def products(self, weights: Array) -> External:
        """Products of its Jacobian with weights of its only output from the left."""
        (y,) = self.outputs
        adjoints = tuple(replace(x, name=f"adj_{x.name}") for x in self.inputs)
        return self._derived("adj1_", (y.unread(), replace(y, name=f"adj_{y.name}")), adjoints, weights)

    def _derived(
        self, prefix: str, more: tuple[Matrix, ...], outputs: tuple[Matrix, ...], *last: Array
    ) -> External:
        arrays = (*self.arrays, *[None] * (len(more) - len(last)), *last)
        return External(f"{prefix}{self.symbol}", (*self.inputs, *more), outputs, arrays, sparse=True)


def answer(library: Path, external: External) -> list[Array]:
    """The outputs of an external function of a library, (states, rows, columns) each; those without entries
    are empty.

    Inputs of zeros are NULL, as CasADi may have them, and each output is asked for alone as well. Raises
    VerificationError where the function describes itself otherwise than expected, fails, writes where it may
    not, or gives something else where it is asked for one output alone.
    """
    try:
        call = _Call(ctypes.CDLL(str(library)), external)
    except AttributeError as missing:
        raise VerificationError(f"the library for CasADi has no {external.symbol}") from missing
    states = len(next(x for x in external.arrays if x is not None))
    made = []
    for state in range(states):
        arrays = [None if x is None else x[state] for x in external.arrays]
        results = call(arrays, range(len(call.outputs)))
        if state == states - 1:
            call.check_alone(arrays, results)
        made.append(results)
    return [
        np.array(found).reshape(states, y.columns, y.rows).swapaxes(1, 2)
        if y.full
        else np.zeros((states, y.rows, y.columns))
        for y, found in zip(call.outputs, zip(*made, strict=True), strict=True)
    ]


class _Call:
    """One external function, whose description has been compared."""

    def __init__(self, loaded: ctypes.CDLL, external: External) -> None:
        self._external, self._loaded = external, loaded
        self._check_described("in", external.inputs)
        self.outputs = self._check_described("out", external.outputs, sparse=external.sparse)
        self._function = self._symbol("", c_int, POINTER(_DOUBLES), POINTER(_DOUBLES), _INTEGERS, _DOUBLES)
        self._work = self._work_size()

    def _symbol(self, suffix: str, result: Any, *arguments: Any) -> Any:
        function = self._loaded[f"{self._external.symbol}{suffix}"]
        function.restype, function.argtypes = result, [*arguments, *([c_int] if not suffix else [])]
        return function

    def _check_described(
        self, words: str, expected: Sequence[Matrix], *, sparse: bool = False
    ) -> list[Matrix]:
        """The inputs or outputs as the library has them, where they are as expected."""
        found = self._described(words, len(expected))
        wanted = [replace(x, full=y.full) if sparse else x for x, y in zip(expected, found, strict=True)]
        if found != wanted:
            raise VerificationError(
                f"{self._external.symbol} describes its {words}puts as {found}, not {wanted}"
            )
        return found

    def _described(self, words: str, expected: int) -> list[Matrix]:
        count = self._symbol(f"_n_{words}", c_longlong)()
        names = self._symbol(f"_name_{words}", c_char_p, c_longlong)
        patterns = self._symbol(f"_sparsity_{words}", _INTEGERS, c_longlong)
        if count != expected or names(count) is not None or patterns(count) or names(-1) is not None:
            raise VerificationError(f"{self._external.symbol} has {count} {words}puts, not {expected}")
        return [_described(names(k).decode(), patterns(k)) for k in range(count)]

    def _work_size(self) -> int:
        sizes = [c_longlong(-1) for _ in range(4)]
        work = self._symbol("_work", c_int, *[_INTEGERS] * 4)
        failed = work(*map(ctypes.byref, sizes))
        counts = len(self._external.inputs), len(self._external.outputs)
        if failed or (sizes[0].value, sizes[1].value) != counts or sizes[2].value != 0 or sizes[3].value < 0:
            found = [size.value for size in sizes]
            raise VerificationError(f"{self._external.symbol}_work says {found} of {counts} arrays")
        return sizes[3].value

    def __call__(self, arrays: Sequence[Array | None], wanted: Sequence[int]) -> list[Array]:
        """The numbers of each output at one state, by columns; those that are not wanted are untouched."""
        inputs, outputs = self._external.inputs, self.outputs
        kept = [None if x is None or not x.any() else np.ascontiguousarray(x, float) for x in arrays]
        made = [np.full(y.rows * y.columns + _GUARD, _UNTOUCHED) for y in outputs]
        work = np.full(self._work + _GUARD, _UNTOUCHED)
        arg = (_DOUBLES * len(inputs))(*(_DOUBLES() if x is None else _pointer(x) for x in kept))
        there = [k in wanted and y.full for k, y in enumerate(outputs)]
        res = (_DOUBLES * len(outputs))(
            *(_pointer(y) if here else _DOUBLES() for y, here in zip(made, there, strict=True))
        )
        if self._function(arg, res, None, _pointer(work), 0) != 0:
            raise VerificationError(f"{self._external.symbol} fails")
        if any((x[-_GUARD:] != _UNTOUCHED).any() for x in (*made, work)):
            raise VerificationError(f"{self._external.symbol} writes beyond the end of an array")
        return [x[:-_GUARD] for x in made]

    def check_alone(self, arrays: Sequence[Array | None], results: Sequence[Array]) -> None:
        """Compare each output with the one that is asked for alone."""
        for k, (y, result) in enumerate(zip(self.outputs, results, strict=True)):
            if y.full and self(arrays, [k])[k].tobytes() != result.tobytes():
                symbol = self._external.symbol
                raise VerificationError(f"{symbol} gives another {y.name} alone than with others")


def _described(name: str, pattern: Any) -> Matrix:
    """A matrix from its sparsity pattern: rows, columns, and 1 for dense, or else where columns begin."""
    rows, columns, first = (pattern[k] for k in range(3))
    if first == 1:
        return Matrix(name, rows, columns)
    if any(pattern[2 + k] for k in range(columns + 1)):
        raise VerificationError(f"{name} is neither dense nor empty")
    return Matrix(name, rows, columns, full=False)


def _pointer(x: Array) -> Any:
    return x.ctypes.data_as(_DOUBLES)
