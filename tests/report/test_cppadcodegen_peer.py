"""CppADCodeGen as a peer, with a stand-in for the program that writes its C: what is compiled and how it is
called, and what the report says where it cannot be.
"""

from __future__ import annotations

import ctypes
from concurrent.futures import Future
from pathlib import Path

import numpy as np
import pytest

from rbdc.errors import ToolchainError
from rbdc.functions.catalogue import functions_of
from rbdc.model import Problem
from rbdc.native.toolchain import Toolchain, default_flags, find_compiler
from rbdc.report.methods.implementation import ENTRY
from rbdc.report.methods.peers import cppadcodegen, headers
from rbdc.report.methods.records import Contender
from rbdc.resources import resolve
from tests.report.test_pinocchio_peer import pointers
from tests.support import Array

WRITTEN = """
struct LangCAtomicFun { void *model; int (*forward)(void); int (*reverse)(void); };
void robot_forward_zero(double const *const *in, double *const *out, struct LangCAtomicFun f)
{
    (void)f;
    for (int k = 0; k < OUTPUTS; ++k) {
        out[0][k] = 0.0;
        for (int i = 0; i < INPUTS; ++i) out[0][k] += (k + 1) * (i + 1) * in[0][i];
    }
}
"""
"""The form of CppADCodeGen's C: a row of numbers in, a row out."""
INPUTS = {"rnea": 6, "crba": 2, "rnea_derivatives": 6}
OUTPUTS = {"rnea": 2, "crba": 3, "rnea_derivatives": 12}
SHAPES: dict[str, list[tuple[int, ...]]] = {
    "rnea": [(2,)],
    "crba": [(2, 2)],
    "rnea_derivatives": [(2, 2)] * 3,
}


def program(folder: Path, text: str) -> Path:
    """Return a program that writes this C where CppADCodeGen's would."""
    (folder / "text.c").write_text(text)
    path = folder / "program"
    path.write_text(f'#!/bin/sh\nmkdir -p "$2" && cp \'{folder}/text.c\' "$2/robot_forward_zero.c"\n')
    path.chmod(0o755)
    return path


def contender(name: str, path: Path, folder: Path) -> Contender:
    (folder / "model.txt").write_text("a model")
    function = functions_of(Problem.from_urdf(resolve("double_pendulum")))[name]
    tools = Toolchain(find_compiler(None), default_flags())
    program: Future[Path] = Future()
    program.set_result(path)
    return cppadcodegen.contender(function, "CodeGenAny", program, folder / "model.txt", tools)


def called(method: Contender, name: str) -> list[Array]:
    """Return the results of a compiled method at q = (1, 2), v = (3, 4), a = (5, 6)."""
    inputs = [np.array(x) for x in ((1.0, 2.0), (3.0, 4.0), (5.0, 6.0))][: INPUTS[name] // 2]
    results = [np.full(shape, np.nan) for shape in SHAPES[name]]
    getattr(ctypes.CDLL(str(method.library)), ENTRY)(None, pointers(inputs), pointers(results))
    return results


@pytest.mark.parametrize("name", INPUTS)
def test_what_it_writes_is_called(name: str, tmp_path: Path) -> None:
    """All inputs form one row, a single matrix is its upper triangle, and several outputs
    follow each other.
    """
    text = f"enum {{ INPUTS = {INPUTS[name]}, OUTPUTS = {OUTPUTS[name]} }};\n{WRITTEN}"
    method = contender(name, program(tmp_path, text), tmp_path)
    assert (method.method, method.family, method.call) == ("cppadcodegen", "ad", ENTRY)
    row = sum((i + 1.0) ** 2 for i in range(INPUTS[name]))
    results = called(method, name)
    if name == "crba":
        np.testing.assert_array_equal(results[0], [[row, 2 * row], [2 * row, 3 * row]])
    else:
        expected = row * np.arange(1.0, OUTPUTS[name] + 1.0)
        np.testing.assert_array_equal(np.concatenate([np.ravel(x) for x in results]), expected)


def test_what_takes_too_long_is_absent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = program(tmp_path, "")
    slow.write_text("#!/bin/sh\nsleep 20\n")
    monkeypatch.setattr(cppadcodegen, "SECONDS", 0.2)
    with pytest.raises(ToolchainError, match="took more than"):
        contender("rnea", slow, tmp_path)


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(message: str) -> None:
        with pytest.raises(ToolchainError, match=message):
            cppadcodegen.programs([], print)

    monkeypatch.setattr(cppadcodegen, "_folder", lambda _: None)
    missing("pip install cmeel-cppad cmeel-cppadcodegen")
    monkeypatch.setattr(cppadcodegen, "_folder", Path)
    monkeypatch.setattr(cppadcodegen, "headers", lambda: headers.Headers(Path(), Path()))
    monkeypatch.setattr(cppadcodegen, "compilers", lambda: [("clang", find_compiler(None), ())])
    missing("only g\\+\\+ compiles")
    monkeypatch.setattr(cppadcodegen, "compilers", lambda: [("gcc", find_compiler(None), headers.GCC)])
    assert cppadcodegen.programs([], print) == {}
