"""CppADCodeGen through Pinocchio: CppADCodeGen's C of Pinocchio's algorithms, compiled like all C of a
comparison.

Each algorithm has a program, compiled once from Pinocchio's `codegen` wrappers. The program reads a model's
archive and writes C, which is cached by program and archive.
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
from rbdc.native.toolchain import Compiler, Toolchain, run
from rbdc.report.methods.contenders import compiled
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
"""Time limit for generating a function's C and for compiling a file of it (s)."""

_FLAGS = ("-std=c++17", "-O1", "-DNDEBUG", "-w")
_ESTIMATE = 120.0
"""Approximate time to compile a program (s)."""
_PACKAGES = {"cppad/cppad.hpp": "cmeel-cppad", "cppad/cg.hpp": "cmeel-cppadcodegen"}
"""Headers, and the packages that provide them."""
_ENTRY = f"{ROBOT}_forward_zero"
_CALLED = "struct LangCAtomicFun { void *model; int (*forward)(void); int (*reverse)(void); }"
"""C type of the functions that CppADCodeGen's C may call. The C of Pinocchio's algorithms calls none."""


def programs(algorithms: Sequence[str], progress: Callable[[str], None]) -> dict[str, Future[Path]]:
    """Return the programs of Pinocchio's wrappers with these names, all finished; two are compiled at a time.

    The result of a program that does not compile is a ToolchainError. Raises ToolchainError with a missing
    prerequisite and how to install it.
    """
    folders = {package: _folder(name) for name, package in _PACKAGES.items()}
    absent = [package for package, folder in folders.items() if folder is None]
    if absent:
        remedy = f"pip install {' '.join(absent)}, or name their folder in CPATH"
        raise ToolchainError(f"headers of {' and '.join(absent)} are not installed: {remedy}")
    there, (compiler, flags) = headers(), _compiler()
    texts = {name: render("cppadcodegen.cpp.jinja", algorithm=name, robot=ROBOT) for name in algorithms}
    identity = (there.identity(compiler), *flags, *map(str, folders.values()))
    names = {cache.key("cppadcodegen", *identity, text): name for name, text in texts.items()}

    def program(key: str) -> Path:
        def make(folder: Path) -> None:
            (folder / "program.cpp").write_text(texts[names[key]], encoding="utf-8")
            includes = [flag for include in folders.values() for flag in ("-isystem", str(include))]
            words = [*flags, *there.include_flags, *includes, "program.cpp", "-o", "program"]
            run([*compiler.command, *words, *there.link_flags, "-ldl"], folder)

        return cache.obtain(key, make) / "program"

    jobs = {key: (f"{name} of Pinocchio and CppADCodeGen", _ESTIMATE) for key, name in names.items()}
    paths = side_by_side(jobs, program, progress)
    return {name: paths[key] for key, name in names.items()}


def contender(
    function: Function, algorithm: str, program: Future[Path], archive: Path, tools: Toolchain
) -> Contender:
    """Return the C that a program writes for the archived model, compiled with the comparison's compiler and
    flags.

    Raises ToolchainError if compiling fails or takes longer than `SECONDS`.
    """
    files, bare = _generated(program.result(), archive), without_optional(function.declaration)
    prototypes = [f"void {_ENTRY}(double const *const *in, double *const *out, struct LangCAtomicFun called)"]
    adapters = {
        f"{ROBOT}.h": header([_CALLED, *prototypes]),
        ADAPTER: entry_point(_call(bare.inputs, bare.outputs)),
    }
    words, statements = f"CppADCodeGen's C of Pinocchio's {algorithm}", statements_of("".join(files.values()))
    implementation = Implementation(words, {**files, **adapters}, statements=statements)
    return compiled(CPPADCODEGEN, "ad", implementation, tools, SECONDS)


def _generated(program: Path, archive: Path) -> dict[str, str]:
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
    """Return C that calls CppADCodeGen's function, which has all inputs in one array and all results in
    another. It returns a single matrix as its upper triangle, in row-major order.
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
    """Return g++ and its flags. Raises ToolchainError without g++.

    clang fails: it looks for max_digits10, which the numeric limits of CppADCodeGen 2.4 lack.
    """
    for name, compiler, extra in compilers():
        if name == "gcc":
            return compiler, (*_FLAGS, *extra, *LIMITS)
    raise ToolchainError("only g++ compiles CppADCodeGen's headers: install g++")


def _folder(header: str) -> Path | None:
    return next((folder for folder in include_folders() if (folder / header).is_file()), None)
