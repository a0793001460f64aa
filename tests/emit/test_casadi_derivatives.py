"""Derivatives in libraries for CasADi, on trees with every joint type and with a contact, against differences
of the functions; and each external function alone, within its arrays.
"""

from __future__ import annotations

import ctypes
import itertools
import re
import subprocess
from collections.abc import Mapping, Sequence
from ctypes import POINTER, c_double
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import casadi
import numpy as np
import pytest

from rbdc.functions.catalogue import functions_of
from rbdc.functions.record import Function
from rbdc.model import Problem
from rbdc.options import BuildOptions
from rbdc.pipeline import read
from tests.emit.test_casadi import PLACEMENTS, arguments, module
from tests.support import COMPILERS, UNOPTIMISED, Array, build_module, slow_but
from tests.support_differences import central
from tests.support_trees import random_tree

TREES: Mapping[str, tuple[Problem, tuple[str, ...]]] = {
    "held": (random_tree(4, size=2), ("tip=point@link1:0.1,0.2,0.3",)),
    **{f"tree {seed}": (random_tree(seed, size=4), ()) for seed in (1, 4)},
}
"""By their names trees and contacts; those of four joints have all types together, and one a free root."""
CASES = slow_but(TREES, (), ())
LENGTH = 1.3
"""Of quaternions, and of cosine and sine, which are divided by it."""
OF_TASKS = ("operational_space_inertia",)
UNTOUCHED, GUARD = 7.0, 64


@cache
def records(case: str) -> Mapping[str, Function]:
    """Return the functions that have derivatives, and those that these are taken from."""
    tree, contacts = TREES[case]
    known = functions_of(read(tree, BuildOptions(contacts=contacts)))
    names = {
        name for name, f in known.items() if f.differential is not None and f.differential.first in known
    }
    for d in [known[name].differential for name in names]:
        assert d is not None
        names |= {name for name in (d.first, d.weighted, d.second, d.hessian) if name in known}
    return {name: f for name, f in known.items() if name in names}


@cache
def built(case: str) -> ModuleType:
    tree, contacts = TREES[case]
    options: dict[str, Any] = {"contacts": contacts, "name": f"{case.replace(' ', '')}_ca"}
    # `tests/emit/test_casadi.py` and others verify values; here a third of the time would go there
    return build_module(
        tree,
        functions=tuple(records(case)),
        targets=("c", "casadi"),
        cflags=UNOPTIMISED,
        verify=False,
        **options,
    )


def agrees(of: Any, derivatives: Any, z: Any, at: Array, along: Array) -> bool:
    """Return whether the derivatives of an expression by its only symbol are those found, along some
    directions.
    """
    function = casadi.Function("f", [z], [casadi.vec(of)])
    expected = central(lambda x: np.array(function(x)).ravel(), at) @ along
    values = np.array(casadi.Function("d", [z], [derivatives])(at)) @ along
    return bool(np.abs(values - expected).max() <= 1e-7 * max(1.0, np.abs(expected).max()))


def keeping_units(f: Any, at: Array) -> Array:
    """Return the projector on what leaves the quaternions of placements at length 1, as they always have."""
    along, start = np.eye(len(at)), 0
    for k in range(f.n_in()):
        if f.name_in(k) in PLACEMENTS:
            quaternion = np.s_[start + 3 : start + 7]
            along[quaternion, quaternion] -= np.outer(at[quaternion], at[quaternion])
        start += f.numel_in(k)
    return along


@pytest.mark.parametrize("case", CASES)
def test_derivatives_of_every_function(case: str) -> None:
    """Jacobians, products of these with weights, and both differentiated."""
    m, functions, tried = built(case), records(case), 0
    for name, function in functions.items():
        d = function.differential
        if d is None or d.first not in functions:
            continue
        f = m.casadi(f"{name}@{m.frame_names[-1]}@WORLD" if function.declaration.framed else name)
        at, z = np.concatenate(arguments(m, f, LENGTH)), casadi.MX.sym("z", f.nnz_in())
        ends = np.cumsum([0, *(f.numel_in(k) for k in range(f.n_in()))])
        x = [casadi.reshape(z[i:j], f.size_in(k)) for k, (i, j) in enumerate(itertools.pairwise(ends))]
        y = casadi.veccat(*f.call(x))
        if name in OF_TASKS and np.linalg.cond(casadi.Function("y", [z], [y])(at).full().reshape(6, 6)) > 1e8:
            continue  # the rows of the task depend on each other: it has no inertia
        J, weights = casadi.jacobian(y, z), casadi.DM(np.random.default_rng(2).standard_normal(y.numel()))
        weighted = casadi.dot(weights, y)
        gradient = casadi.gradient(weighted, z)
        along = keeping_units(f, at)
        assert agrees(y, J, z, at, along) and agrees(weighted, gradient.T, z, at, along), name
        twice = functions[d.first].differential
        if {d.second, d.hessian} & {*functions} or (twice is not None and twice.first in functions):
            for first in (J, gradient):
                assert agrees(first, casadi.jacobian(casadi.vec(first), z), z, at, along), name
                tried += 1
    assert tried > 0


@pytest.mark.parametrize("case", CASES)
def test_external_functions_stay_within_their_arrays(case: str) -> None:
    """Each output has the same bits alone and with others; NULL stands for zeros."""
    symbols = call_externals(Path(str(built(case).__file__)).parent)
    assert any(symbol.startswith("jac_jac_") for symbol in symbols)


def call_externals(folder: Path) -> list[str]:
    """Call all external functions of a package, whose names are returned."""
    (file,), (library,) = folder.glob("*_casadi.c"), folder.glob("lib*_casadi.so")
    symbols = re.findall(r"^RBDC_API int (\w+)\(const double \*\*arg", file.read_text(), re.MULTILINE)
    for symbol in symbols:
        call = Guarded(library, symbol)
        zeros = call.inputs(0.0), [None] * call.f.n_in()
        assert [x.tobytes() for x in call(zeros[0])] == [x.tobytes() for x in call(zeros[1])], symbol
        inputs = call.inputs(0.5)
        results = call(inputs)
        for k, result in enumerate(results):
            assert call(inputs, only=k)[k].tobytes() == result.tobytes(), f"{symbol}: output {k}"
    return symbols


@pytest.mark.parametrize("contacts", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("compiler", COMPILERS)
def test_compiles_without_a_warning(compiler: str, contacts: bool) -> None:
    """The C compiles with CasADi's integer type and with that of acados."""
    m = built("held") if contacts else module("double_pendulum", "free-flyer")
    folder = Path(str(m.__file__)).parent
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only", f"-I{folder}"]
    for integer in ("long long int", "int"):
        command = [compiler, *flags, f"-Dcasadi_int={integer}", str(folder / f"{m.name}_casadi.c")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


class Guarded:
    """An external function, called with numbers behind each array that it may not write."""

    def __init__(self, library: Path, symbol: str) -> None:
        self.f, self._call = casadi.external(symbol, str(library)), ctypes.CDLL(str(library))[symbol]

    def inputs(self, size: float) -> list[Array | None]:
        """Return numbers of a size; the first frame and reference."""
        names = [self.f.name_in(k) for k in range(self.f.n_in())]
        return [
            np.full(max(self.f.nnz_in(k), 1), 0.0 if name in ("frame", "reference") else size)
            for k, name in enumerate(names)
        ]

    def __call__(self, inputs: Sequence[Array | None], only: int | None = None) -> list[Array]:
        """Return the outputs, or one of them alone."""
        outputs = range(self.f.n_out())
        guarded = [np.full(self.f.nnz_out(k) + GUARD, UNTOUCHED) for k in outputs]
        work = np.full(self.f.sz_w() + GUARD, UNTOUCHED)
        asked = [y if only in (None, k) and self.f.nnz_out(k) else None for k, y in enumerate(guarded)]
        assert self._call(_pointers(inputs), _pointers(asked), None, _pointer(work), 0) == 0
        for x in (*guarded, work):
            assert (x[-GUARD:] == UNTOUCHED).all(), self.f.name()
        return [x[:-GUARD] for x in guarded]


def _pointer(x: Array | None) -> Any:
    return POINTER(c_double)() if x is None else x.ctypes.data_as(POINTER(c_double))


def _pointers(arrays: Sequence[Array | None]) -> Any:
    return (POINTER(c_double) * len(arrays))(*map(_pointer, arrays))
