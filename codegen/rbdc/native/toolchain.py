"""The C compiler: finding it, its flags, compiling several files at once, linking."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from rbdc.errors import ToolchainError

CANDIDATES = ("gcc", "cc", "clang")

STANDARD_FLAGS = ("-std=c99", "-fPIC")
WARNING_FLAGS = ("-Wall", "-Wextra", "-Werror", "-pedantic")
OPTIMISATION_FLAGS = (
    "-O2",
    "-march=native",
    "-ffp-contract=fast",  # -std=c99 turns fused multiply-add off
    "-fno-math-errno",  # sqrt becomes an instruction
    "-fno-trapping-math",
    # Straight-line scalar code gains nothing from the vectorisers and compiles twice as fast without.
    "-fno-tree-vectorize",
    "-fno-tree-slp-vectorize",
)


@dataclass(frozen=True)
class Compiler:
    """A C compiler: the command's path, and its first line of --version."""

    path: str
    version: str

    @property
    def is_clang(self) -> bool:
        """Whether it is clang under whatever name."""
        return "clang" in self.version


@dataclass(frozen=True)
class Compiled:
    """One object file: its path, its size in the text section, and the stack that its deepest function takes."""

    path: Path
    code_bytes: int
    stack_bytes: int


@cache
def find_compiler(command: str | None = None) -> Compiler:
    """The compiler named by `command`, by $CC, or the first of gcc, cc, clang that is installed.

    Raises ToolchainError naming what was looked for.
    """
    asked = command or os.environ.get("CC")
    candidates = (asked,) if asked else CANDIDATES
    for candidate in candidates:
        path = shutil.which(candidate)
        if path is not None:
            return Compiler(path, _version(path))
    raise ToolchainError(f"no C compiler: looked for {', '.join(candidates)}; install gcc or clang, or name one with --cc")


def default_flags(compiler: Compiler) -> tuple[str, ...]:
    """The flags of a library source, `STANDARD_FLAGS` and `WARNING_FLAGS` apart."""
    del compiler  # gcc and clang take the same ones
    return OPTIMISATION_FLAGS


def check_flags(flags: Sequence[str]) -> tuple[str, ...]:
    """Flags of the user, refused where they would write elsewhere than intended."""
    for flag in flags:
        if not flag.startswith("-") or flag.startswith(("-o", "-x")) or flag in ("-c", "-E", "-S", "-M", "-MM"):
            raise ToolchainError(f"--cflags: {flag!r} is not a compiler flag that can be passed on; give -O, -f, -m or -g flags")
    return tuple(flags)


def compile_objects(
    compiler: Compiler, jobs: Sequence[tuple[Path, Path]], flags: Sequence[str], workers: int | None = None
) -> list[Compiled]:
    """Compile each (source, object) with `flags`, several at once, the largest first; figures in the order given."""
    order = sorted(jobs, key=lambda job: -job[0].stat().st_size)
    with ThreadPoolExecutor(workers or os.cpu_count() or 1) as pool:
        done = dict(zip(order, pool.map(lambda job: _compile(compiler, *job, flags), order), strict=True))
    return [done[job] for job in jobs]


def link(compiler: Compiler, objects: Sequence[Path], target: Path) -> None:
    """Link objects into a shared library."""
    run([compiler.path, "-shared", *map(str, objects), "-o", str(target), "-lm"])


def run(command: Sequence[str]) -> str:
    """Run a command to its end; its output, or ToolchainError with the command and the output."""
    try:
        result = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, stdin=subprocess.DEVNULL)
    except OSError as error:
        raise ToolchainError(f"cannot run {command[0]}: {error.strerror}; check the compiler's installation") from error
    if result.returncode != 0:
        output = (result.stderr + result.stdout).strip()
        shown = output if len(output) <= 4000 else output[:4000] + "\n..."
        raise ToolchainError(f"the compiler failed with exit status {result.returncode}\ncommand: {shlex.join(command)}\noutput:\n{shown}")
    return result.stdout


def _version(path: str) -> str:
    return run([path, "--version"]).splitlines()[0].strip()


def _compile(compiler: Compiler, source: Path, target: Path, flags: Sequence[str]) -> Compiled:
    run([compiler.path, *flags, "-fstack-usage", "-I", str(source.parent), "-c", str(source), "-o", str(target)])
    return Compiled(target, code_bytes(target), _stack_bytes(target.with_suffix(".su")))


def _stack_bytes(usage: Path) -> int:
    """The largest frame that -fstack-usage reports, 0 where the compiler writes no such file."""
    if not usage.is_file():
        return 0
    return max((int(n) for n in re.findall(r"\t(\d+)\t", usage.read_text(errors="replace"))), default=0)


def code_bytes(target: Path) -> int:
    """Bytes of code and constants as the binutils' size reports them; 0 where it is not installed."""
    size = shutil.which("size")
    if size is None:
        return 0
    return int(run([size, str(target)]).splitlines()[1].split()[0])
