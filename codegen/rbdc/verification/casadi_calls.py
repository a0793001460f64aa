"""Calls of external functions as CasADi describes them and makes them, with a guard behind each array."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from ctypes import POINTER, c_double, c_int, c_longlong
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rbdc.emit.casadi.parts import Array as Matrix
from rbdc.errors import VerificationError
from rbdc.functions.declarations import FunctionDeclaration

Array = NDArray[np.floating[Any]]

_DOUBLES = POINTER(c_double)
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
    call = _Call(library, external)
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

    def __init__(self, library: Path, external: External) -> None:
        import casadi  # which other libraries do without

        self._external, symbol = external, external.symbol
        try:
            f = casadi.external(symbol, str(library))
        except RuntimeError as missing:
            raise VerificationError(f"the library for CasADi has no {symbol}") from missing
        inputs = [_described(f.name_in(k), f.sparsity_in(k)) for k in range(f.n_in())]
        self.outputs = [_described(f.name_out(k), f.sparsity_out(k)) for k in range(f.n_out())]
        free = zip(external.outputs, self.outputs, strict=False)
        wanted = [replace(x, full=y.full) for x, y in free] if external.sparse else list(external.outputs)
        for words, found, expected in (("in", inputs, list(external.inputs)), ("out", self.outputs, wanted)):
            if found != expected:
                raise VerificationError(f"{symbol} describes its {words}puts as {found}, not {expected}")
        self._function, self._work = ctypes.CDLL(str(library))[symbol], f.sz_w()
        self._function.argtypes = [POINTER(_DOUBLES), POINTER(_DOUBLES), POINTER(c_longlong), _DOUBLES, c_int]

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
    """A matrix from its sparsity pattern."""
    if not pattern.is_dense() and pattern.nnz() > 0:
        raise VerificationError(f"{name} is neither dense nor empty")
    rows, columns = pattern.shape
    return Matrix(name, rows, columns, pattern.is_dense())


def _pointer(x: Array) -> Any:
    return x.ctypes.data_as(_DOUBLES)
