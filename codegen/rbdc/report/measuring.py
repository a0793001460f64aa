"""C of our own that measures: timing loops, and kernels that show what a processor can do."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rbdc.emit.render import render
from rbdc.native.shared import Unit, shared_library
from rbdc.native.toolchain import STANDARD_FLAGS, Compiler


def measuring_library(name: str, compiler: Compiler, flags: Sequence[str]) -> Path:
    """The template `<name>.c.jinja` compiled, from the cache where it is there.

    Raises ToolchainError with the command and the compiler's output.
    """
    unit = Unit(f"{name}.c", render(f"{name}.c.jinja"), {}, (*STANDARD_FLAGS, *flags))
    return shared_library(f"{name}.so", [unit], compiler).path
