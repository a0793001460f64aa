"""The compilers of a comparison: one for all C, and further ones for the generated method alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from rbdc.errors import ToolchainError
from rbdc.native.toolchain import Compiler, toolchain
from rbdc.report.options import CompareOptions


class Toolchain(NamedTuple):
    """A compiler, the name by which it was requested, and its flags."""

    name: str
    compiler: Compiler
    flags: tuple[str, ...]


@dataclass(frozen=True)
class Toolchains:
    """The compilers of one comparison.

    compiler, flags: for every method. others: for the generated method once more. absent: reasons of further
    compilers that are not available, by name.
    """

    compiler: Compiler
    flags: tuple[str, ...]
    others: list[Toolchain] = field(default_factory=list)
    absent: dict[str, str] = field(default_factory=dict)


def toolchains(options: CompareOptions) -> Toolchains:
    """The compilers that the options request. Raises ToolchainError where there is no compiler at all."""
    compiler, flags = toolchain(options.build.compiler, options.build.cflags)
    tools = Toolchains(compiler, flags)
    for name in options.also:
        try:
            other, its_flags = toolchain(name, options.build.cflags)
        except ToolchainError as error:
            tools.absent[name] = str(error)
            continue
        if Path(other.path).resolve() == Path(compiler.path).resolve():
            tools.absent[name] = f"{compiler.version} is the compiler of every method already"
        else:
            tools.others.append(Toolchain(name, other, its_flags))
    return tools
