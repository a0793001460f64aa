"""The machine that a C compiler makes code for, and the flags without which it warns of this processor."""

from __future__ import annotations

import os
import platform
import re
import sys
import sysconfig
from collections.abc import Sequence
from functools import cache

from rbdc import processes
from rbdc.errors import ToolchainError

_ARCHITECTURES = {
    r"x86_64|amd64": "x86_64",
    r"i[3-6]86|x86": "i386",
    r"aarch64.*|arm64.*": "aarch64",
    r"arm.*|thumb.*": "arm",
    r"ppc64le|powerpc64le": "powerpc64le",
    r"riscv64.*": "riscv64",
}
"""Spellings of an architecture and the one that stands for them; others stand for themselves."""
_SYSTEMS = {"linux": ("linux",), "darwin": ("darwin", "macos")}
"""Words of a target triple that stand for the systems of `sys.platform`."""

_QUIETING = ("-mno-avx10.1-256",)
"""Flags that take away a warning of a compiler about -march=native.

On processors with AVX-512 and AVX10.1 clang 19 turns on the form of AVX10.1 for registers of 32 bytes, warns
of that (-Winvalid-feature-combination) whatever it compiles, and does not compile Eigen with -mno-avx512f.
Without AVX10.1 it keeps AVX-512.
"""


def refuse_other_machine(path: str, arguments: Sequence[str], asked: str) -> None:
    """Raise ToolchainError where the compiler makes code for another machine than this one. A compiler that
    does not answer -dumpmachine is believed.
    """
    target = _target(path, tuple(arguments))
    if target and not _is_here(target):
        raise ToolchainError(
            f"{asked} makes code for {target}, but this machine is {_this_machine()}: build with a compiler "
            "of this one (--cc), then compile the C of its package for the other by its CMakeLists.txt"
        )


@cache
def quieting_arguments(path: str, arguments: tuple[str, ...]) -> tuple[str, ...]:
    """The arguments that the compiler needs beside `arguments` to compile for this processor without a
    warning: none where it does so by itself, or where no flag that is known here would help.
    """
    if _is_silent(path, arguments):
        return ()
    return next(((flag,) for flag in _QUIETING if _is_silent(path, (*arguments, flag))), ())


def _is_silent(path: str, arguments: Sequence[str]) -> bool:
    """Whether the compiler compiles nothing for this processor without a message."""
    what = ("-march=native", "-fsyntax-only", "-x", "c", os.devnull)
    status, output, errors = _asked([path, *arguments, *what])
    return status == 0 and not output and not errors


@cache
def _target(path: str, arguments: tuple[str, ...]) -> str:
    """The target triple of the compiler, empty where it tells none."""
    status, output, _ = _asked([path, *arguments, "-dumpmachine"])
    words = output.split()
    return words[0] if status == 0 and len(words) == 1 and "-" in words[0] else ""


def _asked(command: Sequence[str]) -> tuple[int, str, str]:
    try:
        return processes.run(command)
    except OSError:
        return 1, "", ""


def _is_here(target: str) -> bool:
    system = _SYSTEMS.get(sys.platform, (sys.platform,))
    return _architecture(target) == _architecture(_this_machine()) and any(word in target for word in system)


def _this_machine() -> str:
    """The architecture and system of this interpreter; platform.machine() would tell that of the kernel."""
    told = sysconfig.get_config_var("HOST_GNU_TYPE") if sys.platform == "linux" else None
    return str(told or f"{platform.machine()}-{sys.platform}")


def _architecture(triple: str) -> str:
    word = triple.split("-")[0].lower()
    return next((name for spelling, name in _ARCHITECTURES.items() if re.fullmatch(spelling, word)), word)
