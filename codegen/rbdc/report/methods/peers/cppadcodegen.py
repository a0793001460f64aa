"""CppADCodeGen through Pinocchio: its C of Pinocchio's algorithms, compiled as all C of a comparison is.

A program for each algorithm, compiled once from Pinocchio's `codegen` wrappers, reads a model's archive and
writes C; what it wrote is cached by program and archive.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path

from rbdc.emit.render import render
from rbdc.errors import ToolchainError
from rbdc.functions.declarations import Parameter
from rbdc.functions.record import Function
from rbdc.native import cache
from rbdc.native.toolchain import Compiler, run
from rbdc.report.methods.contenders import Toolchains, compiled
from rbdc.report.methods.implementation import (
    ADAPTER,
    ROBOT,
    Implementation,
    entry_point,
    header,
    statements_of,
    without_optional,
)
from rbdc.report.methods.peers.headers import LIMITS, compilers, headers, include_folders, side_by_side
from rbdc.report.methods.records import Contender
from rbdc.report.options import CPPADCODEGEN

SECONDS = 300.0
"""Seconds after which generating a function's C, or compiling a file of it, is given up."""

_FLAGS = ("-std=c++17", "-O1", "-DNDEBUG", "-w")
_ESTIMATE = 120.0
"""Seconds that compiling a program takes, about."""
_PACKAGES = {"cppad/cppad.hpp": "cmeel-cppad", "cppad/cg.hpp": "cmeel-cppadcodegen"}
"""Headers, and the packages that bring them."""
_ENTRY = f"{ROBOT}_forward_zero"
_CALLED = "struct LangCAtomicFun { void *model; int (*forward)(void); int (*reverse)(void); }"
"""C of the functions that its C calls, of which that of Pinocchio's algorithms has none."""


def programs(algorithms: Sequence[str], progress: Callable[[str], None]) -> dict[str, Future[Path]]:
    """The programs of Pinocchio's wrappers of these names, all of them done; two are compiled at a time. The
    result of one that does not compile is a ToolchainError.

    Raises ToolchainError with a prerequisite that is missing and how to install it.
    """
    absent = [package for name, package in _PACKAGES.items() if _folder(name) is None]
    if absent:
        remedy = f"pip install {' '.join(absent)}, or name their folder in CPATH"
        raise ToolchainError(f"headers of {' and '.join(absent)} are not installed: {remedy}")
    there, (compiler, flags) = headers(), _compiler()
    versions = [str(_folder(name)) for name in _PACKAGES]
    identity = (there.identity(compiler), *flags, *versions)
    keys = {name: cache.key("cppadcodegen", *identity, _text(name)) for name in algorithms}
    names = {key: name for name, key in keys.items()}
    jobs = {key: (f"{name} of Pinocchio and CppADCodeGen", _ESTIMATE) for key, name in names.items()}
    made = side_by_side(jobs, lambda key: _program(names[key], key), progress)
    return {name: made[key] for name, key in keys.items()}


def contender(
    function: Function, algorithm: str, program: Path, archive: Path, tools: Toolchains
) -> Contender:
    """The C that a program makes of the archived model, compiled with our compiler and flags. Raises
    ToolchainError where that takes longer than `SECONDS`, or fails.
    """
    files, bare = _generated(program, archive), without_optional(function.declaration)
    prototypes = [f"void {_ENTRY}(double const *const *in, double *const *out, struct LangCAtomicFun called)"]
    own = {
        f"{ROBOT}.h": header([_CALLED, *prototypes]),
        ADAPTER: entry_point(_call(bare.inputs, bare.outputs)),
    }
    words, statements = f"CppADCodeGen's C of Pinocchio's {algorithm}", statements_of("".join(files.values()))
    made = Implementation(words, {**files, **own}, statements=statements)
    return compiled(CPPADCODEGEN, "ad", made, tools.compiler, tools.flags, SECONDS)


def _generated(program: Path, archive: Path) -> dict[str, str]:
    """The C files that a program writes for a model."""
    text = archive.read_text(encoding="utf-8")

    def make(folder: Path) -> None:
        (folder / "model.txt").write_text(text, encoding="utf-8")
        run([str(program), "model.txt", "sources"], folder, SECONDS)
        written = sorted((folder / "sources").glob(f"{_ENTRY}*.c"))
        files = {path.name: path.read_text(encoding="utf-8") for path in written}
        (folder / "files.json").write_text(json.dumps(files))

    folder = cache.obtain(cache.key("cppadcodegen sources", str(program), text), make)
    files: dict[str, str] = json.loads((folder / "files.json").read_text())
    return files


def _call(inputs: Sequence[Parameter], outputs: Sequence[Parameter]) -> list[str]:
    """C around the call: its inputs are one row of numbers and so are its results, of a single matrix the
    upper triangle, row by row.
    """
    starts, ends = ([sum(p.size for p in ps[:k]) for k in range(len(ps) + 1)] for ps in (inputs, outputs))
    after = [
        f"for (int i = 0; i < {p.size}; ++i) out[{k}][i] = y[{ends[k]} + i];" for k, p in enumerate(outputs)
    ]
    if len(outputs) == 1 and len(outputs[0].shape) == 2:
        n = outputs[0].shape[0]
        loop = f"for (int i = 0, k = 0; i < {n}; ++i) for (int j = i; j < {n}; ++j, ++k)"
        after = [f"{loop} out[0][{n} * i + j] = out[0][{n} * j + i] = y[k];"]
    return [
        f"double x[{starts[-1]}], y[{ends[-1]}];",
        "const double *const given[] = {x};",
        "double *const made[] = {y};",
        "const struct LangCAtomicFun none = {NULL, NULL, NULL};",
        *(
            f"for (int i = 0; i < {p.size}; ++i) x[{starts[k]} + i] = in[{k}][i];"
            for k, p in enumerate(inputs)
        ),
        f"{_ENTRY}(given, made, none);",
        *after,
    ]


def _compiler() -> tuple[Compiler, tuple[str, ...]]:
    """g++ and its flags: clang looks for max_digits10 in CppADCodeGen 2.4's numeric limits, which have
    none. Raises ToolchainError without g++.
    """
    for name, compiler, extra in compilers():
        if name == "gcc":
            return compiler, (*_FLAGS, *extra, *LIMITS)
    raise ToolchainError("CppADCodeGen's headers are compiled by g++ alone: install it")


def _program(algorithm: str, key: str) -> Path:
    """The program of a wrapper, from the cache if it is there."""
    found, (compiler, flags) = headers(), _compiler()

    def make(folder: Path) -> None:
        (folder / "program.cpp").write_text(_text(algorithm), encoding="utf-8")
        folders = [flag for name in _PACKAGES for flag in ("-isystem", str(_folder(name)))]
        library = found.prefix / "lib"
        where = [f"-L{library}", f"-Wl,-rpath,{library}", "-lboost_serialization", "-ldl"]
        words = [*flags, *found.include_flags, *folders, "program.cpp", "-o", "program", *where]
        run([*compiler.command, *words], folder)

    return cache.obtain(key, make) / "program"


def _text(algorithm: str) -> str:
    return render("cppadcodegen.cpp.jinja", algorithm=algorithm, robot=ROBOT)


def _folder(header: str) -> Path | None:
    """The include folder that has a header."""
    return next((folder for folder in include_folders() if (folder / header).is_file()), None)
