"""The compilers of a comparison: one for every method that is ours or CasADi's, and others for what is generated alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from rbdc.errors import ToolchainError
from rbdc.native.toolchain import Compiler, check_flags, default_flags, find_compiler
from rbdc.pipeline import toolchain
from rbdc.report.options import CompareOptions


@dataclass(frozen=True)
class Toolchain:
    """A compiler by the name that it was asked for, and its flags."""

    name: str
    compiler: Compiler
    flags: tuple[str, ...]


@dataclass(frozen=True)
class Toolchains:
    """compiler and flags: of every method. others: of what is generated once more. absent: others that cannot be had, and why."""

    compiler: Compiler
    flags: tuple[str, ...]
    others: list[Toolchain] = field(default_factory=list)
    absent: dict[str, str] = field(default_factory=dict)


def toolchains(options: CompareOptions) -> Toolchains:
    """Those of the options. Raises ToolchainError where there is no compiler at all."""
    compiler, flags = toolchain(options.build)
    tools = Toolchains(compiler, flags)
    for name in options.also:
        try:
            other = find_compiler(name)
        except ToolchainError as error:
            tools.absent[name] = str(error)
            continue
        if Path(other.path).resolve() == Path(compiler.path).resolve():
            tools.absent[name] = f"{compiler.version} is the compiler of every method already"
        else:
            given = options.build.cflags
            tools.others.append(Toolchain(name, other, default_flags(other) if given is None else check_flags(given)))
    return tools
