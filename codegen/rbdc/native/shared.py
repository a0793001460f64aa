"""Compiling C files into one shared library; whatever has not changed comes from the cache."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

from rbdc import processes
from rbdc.native import cache
from rbdc.native.toolchain import Compiled, Compiler, compile_object, link

_FIGURES = "figures.json"


@dataclass(frozen=True)
class Unit:
    """One C file to compile: its name, its text, the headers that it includes, its flags, and the seconds
    after which the compiler is ended, if any.
    """

    name: str
    text: str
    headers: Mapping[str, str]
    flags: tuple[str, ...]
    seconds: float | None = None

    def key(self, identity: str) -> str:
        """The object's name in the cache; `identity` stands for compiler and interpreter."""
        headers = [part for item in self.headers.items() for part in item]
        return cache.key("object with seconds", identity, self.name, self.text, *headers, *self.flags)


@dataclass(frozen=True)
class SharedLibrary:
    """A shared library in the cache, figures of its C files by name, and the names of all its artefacts."""

    path: Path
    figures: dict[str, Compiled]
    artefacts: tuple[str, ...]


def shared_library(
    name: str, units: Sequence[Unit], compiler: Compiler, jobs: int | None = None
) -> SharedLibrary:
    """The library `name`, linked from the units; it also depends on their flags, the compiler and Python.

    Raises ToolchainError with the command and the compiler's output.
    """
    identity = f"{cache.interpreter_tag()} {compiler.version} {compiler.path}"
    keys = {unit.name: unit.key(identity) for unit in units}

    def make(folder: Path) -> None:
        objects = _objects(units, keys, compiler, jobs)
        link(compiler, [path for path, _ in objects.values()], folder / name)
        figures = {unit: astuple(compiled) for unit, (_, compiled) in objects.items()}
        (folder / _FIGURES).write_text(json.dumps(figures))

    own = cache.key("library", name, *(part for item in keys.items() for part in item))
    folder = cache.obtain(own, make)
    figures = json.loads((folder / _FIGURES).read_text())
    compiled = {unit: Compiled(*values) for unit, values in figures.items()}
    return SharedLibrary(folder / name, compiled, (own, *keys.values()))


def _objects(
    units: Sequence[Unit], keys: Mapping[str, str], compiler: Compiler, jobs: int | None
) -> dict[str, tuple[Path, Compiled]]:
    """The objects by their sources' names, in the order of the units; the largest is compiled first."""
    order = sorted(units, key=lambda unit: -len(unit.text))
    with ThreadPoolExecutor(jobs or os.cpu_count() or 1) as pool:
        pending = {unit.name: pool.submit(_object, unit, keys[unit.name], compiler) for unit in order}
        try:
            return {unit.name: pending[unit.name].result() for unit in units}
        except BaseException as error:
            _abandon(list(pending.values()), at_once=not isinstance(error, Exception))
            raise


def _abandon(pending: Sequence[Future[Any]], at_once: bool) -> None:
    """Begin no more of them; those that have begun end by themselves or, at once, with their compilers."""
    for future in pending:
        future.cancel()
    while at_once and wait(pending, timeout=0.05).not_done:
        processes.end_all()


def _object(unit: Unit, key: str, compiler: Compiler) -> tuple[Path, Compiled]:
    """The object from the cache, compiled if it is not there."""

    def make(folder: Path) -> None:
        for name, text in {**unit.headers, unit.name: unit.text}.items():
            (folder / name).write_text(text, encoding="utf-8")
        made = compile_object(compiler, folder / unit.name, unit.flags, unit.seconds)
        (folder / _FIGURES).write_text(json.dumps(astuple(made)))

    folder = cache.obtain(key, make)
    figures = json.loads((folder / _FIGURES).read_text())
    return (folder / unit.name).with_suffix(".o"), Compiled(*figures)
