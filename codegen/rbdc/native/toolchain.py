"""The C compiler: finding it, its target machine, its flags, compiling, linking."""

from __future__ import annotations

import os
import platform
import re
import shlex
import shutil
import sys
import sysconfig
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from subprocess import TimeoutExpired
from types import MappingProxyType
from typing import Literal, NamedTuple

from rbdc import processes
from rbdc.errors import TimeLimitError, ToolchainError

CANDIDATES = (*(f"clang-{version}" for version in range(40, 13, -1)), "clang", "gcc", "cc")
"""Compilers in order of preference.

clang's code was 10 to 30 % faster than that of gcc 12 for most functions. clang compiles in a third of the
time.
"""

_ARCHIVERS = ("ar", "llvm-ar")

STANDARD_FLAGS = ("-std=c99", "-fPIC")
WARNING_FLAGS = ("-Wall", "-Wextra", "-pedantic")
# Our tests add -Werror. In a user's build, a new warning of a newer compiler must not stop the build.
OPTIMISATION_FLAGS = (
    "-O2",
    "-ffp-contract=fast",  # -std=c99 turns fused multiply-add off
    "-fno-math-errno",  # sqrt becomes an instruction
    "-fno-trapping-math",
    # Straight-line scalar code gains nothing from the vectorisers, and compiles twice as fast without them.
    "-fno-tree-vectorize",
    "-fno-tree-slp-vectorize",
)


March = Literal["native", "portable"]
"""Code for the processor of this machine, or for all processors of its kind."""

_REFUSED = ("-o", "--output", "-x", "-M", "-save-temps", "--save-temps", "-dump")

_ARCHITECTURES = {
    r"x86_64|amd64": "x86_64",
    r"i[3-6]86|x86": "i386",
    r"aarch64.*|arm64.*": "aarch64",
    r"arm.*|thumb.*": "arm",
    r"ppc64le|powerpc64le": "powerpc64le",
    r"riscv64.*": "riscv64",
}
"""Alternative spellings of architectures, each with the usual name."""
_SYSTEMS = {"linux": ("linux",), "darwin": ("darwin", "macos")}
"""Words of target triples for the systems of `sys.platform`."""

_QUIETING = "-mno-avx10.1-256"
"""Flag that suppresses a compiler warning about -march=native.

On processors with AVX-512 and AVX10.1, clang 19 enables the form of AVX10.1 for registers of 32 bytes. In
every compilation it warns of this (-Winvalid-feature-combination). With -mno-avx512f instead of this flag,
clang does not compile Eigen. With this flag, clang keeps AVX-512.
"""


@dataclass(frozen=True)
class Compiler:
    """A C compiler.

    path: path of the program.
    version: first line of --version, with the arguments.
    arguments: arguments of every call: the arguments in the command that names the compiler ($CC="gcc -m64"),
        and arguments that suppress a warning about this processor.
    """

    path: str
    version: str
    arguments: tuple[str, ...] = ()

    @property
    def command(self) -> tuple[str, ...]:
        """The words with which every call of the compiler begins."""
        return (self.path, *self.arguments)


@dataclass(frozen=True)
class Compiled:
    """Figures of one compiled C file.

    code_bytes: code and constants (bytes).
    stack_bytes: largest stack of a function (bytes).
    seconds: time of the compilation; another file may have been compiled at the same time.
    """

    code_bytes: int
    stack_bytes: int
    seconds: float


class Toolchain(NamedTuple):
    """A compiler and its flags.

    others: compilers of particular C files, by the variant ("" for all) and the file's name.
    """

    compiler: Compiler
    flags: tuple[str, ...]
    others: Mapping[tuple[str, str], Compiler] = MappingProxyType({})

    def compiler_of(self, variant: str, file: str) -> Compiler | None:
        """Return the compiler of a C file in a variant; None for the usual one."""
        return self.others.get((variant, file)) or self.others.get(("", file))

    @property
    def name(self) -> str:
        """Name of the compiler's program, which distinguishes several compilers."""
        return Path(self.compiler.path).name

    @property
    def compilers(self) -> tuple[Compiler, ...]:
        """Every compiler, each once."""
        return tuple(dict.fromkeys((self.compiler, *self.others.values())))


def toolchain(command: str | None, cflags: Sequence[str] | None, march: str = "native") -> Toolchain:
    """Return the compiler that `find_compiler` finds, with the user's flags or the default flags."""
    compiler = find_compiler(command)
    if cflags is None:
        return Toolchain(compiler, default_flags(march))
    flags = check_flags(cflags)
    _refuse_other_machine(compiler.path, (*compiler.arguments, *flags), "with `cflags` the compiler")
    return Toolchain(compiler, flags)


def find_compiler(command: str | None = None) -> Compiler:
    """Return the compiler of `command`, of $CC, or the newest installed clang, gcc or cc.

    Raises ToolchainError, which lists the names, if there is none or it compiles for another machine.
    """
    asked = command or os.environ.get("CC", "").strip()
    candidates = (asked,) if asked else CANDIDATES
    for candidate in candidates:
        words = [candidate] if shutil.which(candidate) else _words(candidate)
        program = shutil.which(words[0]) if words else None
        if program is not None:
            path, *arguments = _here([program, *words[1:]])
            version = _version(path)
            _refuse_other_machine(path, arguments, words[0])
            arguments += _quieting_arguments(path, tuple(arguments))
            # The arguments are part of the version, by which caches distinguish compilers.
            return Compiler(path, " ".join([version, *arguments]), tuple(arguments))
    raise ToolchainError(
        f"no C compiler: looked for {asked or 'clang, gcc, cc'}; install gcc or clang, or name one with `cc`"
    )


def _here(words: Sequence[str]) -> list[str]:
    """Return the words with relative paths made absolute, because the compiler runs in other folders."""
    first = str(Path(words[0]).absolute())  # not resolved: ccache needs the name of the symbolic link
    others = (Path(word).absolute() if word.startswith(("./", "../")) else word for word in words[1:])
    return [first, *map(str, others)]


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError as error:
        raise ToolchainError(
            f"the compiler's command {command!a} cannot be split: {error}; check `cc` and $CC"
        ) from error


def default_flags(march: str = "native") -> tuple[str, ...]:
    """Return the default flags of C files besides `STANDARD_FLAGS`, `WARNING_FLAGS` and flags of variants."""
    return (*OPTIMISATION_FLAGS, *(["-march=native"] if march == "native" else []))


def check_flags(flags: Sequence[str]) -> tuple[str, ...]:
    """Return the user's flags. Raises ToolchainError for flags that would change the kind or place of the
    output.
    """
    for flag in flags:
        if not flag.startswith("-") or flag.startswith(_REFUSED) or flag in ("-c", "-E", "-S"):
            raise ToolchainError(f"`cflags`: {flag!r} is not accepted; give -O, -f, -m or -g flags")
    return tuple(flags)


def _refuse_other_machine(path: str, arguments: Sequence[str], asked: str) -> None:
    """Raise ToolchainError if the compiler's target is not this machine. A compiler that does not answer
    -dumpmachine is accepted.
    """
    target = _target(path, tuple(arguments))
    if target and not _is_for_this_machine(target):
        raise ToolchainError(
            f"{asked} makes code for {target}, but this machine is {_this_machine()}: build with a native "
            f"compiler (`cc`), then compile the package for {target} with its CMakeLists.txt"
        )


@cache
def _quieting_arguments(path: str, arguments: tuple[str, ...]) -> tuple[str, ...]:
    """Return `_QUIETING` if the compiler warns without this flag and not with it, otherwise nothing."""
    helps = not _is_silent(path, arguments) and _is_silent(path, (*arguments, _QUIETING))
    return (_QUIETING,) if helps else ()


def _is_silent(path: str, arguments: Sequence[str]) -> bool:
    """Return whether the compiler compiles an empty file for this processor without a message."""
    what = ("-march=native", "-fsyntax-only", "-x", "c", os.devnull)
    status, output, errors = _asked([path, *arguments, *what])
    return status == 0 and not output and not errors


@cache
def _target(path: str, arguments: tuple[str, ...]) -> str:
    """Return the compiler's target triple; "" if unknown."""
    status, output, _ = _asked([path, *arguments, "-dumpmachine"])
    words = output.split()
    return words[0] if status == 0 and len(words) == 1 and "-" in words[0] else ""


def _asked(command: Sequence[str]) -> tuple[int, str, str]:
    try:
        return processes.run(command)
    except OSError:
        return 1, "", ""


def _is_for_this_machine(target: str) -> bool:
    system = _SYSTEMS.get(sys.platform, (sys.platform,))
    return _architecture(target) == _architecture(_this_machine()) and any(word in target for word in system)


def _this_machine() -> str:
    """Return architecture and system of this interpreter; platform.machine() returns the architecture of the
    kernel.
    """
    told = sysconfig.get_config_var("HOST_GNU_TYPE") if sys.platform == "linux" else None
    return str(told or f"{platform.machine()}-{sys.platform}")


def _architecture(triple: str) -> str:
    word = triple.split("-")[0].lower()
    return next((name for spelling, name in _ARCHITECTURES.items() if re.fullmatch(spelling, word)), word)


def compile_object(
    compiler: Compiler, source: Path, flags: Sequence[str], seconds: float | None = None
) -> Compiled:
    """Compile one source into an object beside it, within a time limit."""
    target = source.with_suffix(".o")
    command = [*compiler.command, *flags, "-fstack-usage", "-c", source.name, "-o", target.name]
    start = time.perf_counter()
    run(command, source.parent, seconds)
    elapsed = time.perf_counter() - start
    _check_made(target, command)
    return Compiled(code_bytes(target), _stack_bytes(target.with_suffix(".su")), elapsed)


def link(compiler: Compiler, objects: Sequence[Path], target: Path) -> None:
    """Link objects into a shared library whose functions call each other directly, not through the loader."""
    direct = ["-Wl,-Bsymbolic"] if sys.platform == "linux" else []
    library, inputs = target.absolute(), [str(path.absolute()) for path in objects]
    command = [*compiler.command, "-shared", *direct, *inputs, "-o", str(library), "-lm"]
    run(command, library.parent)
    _check_made(library, command)


def archive(objects: Sequence[Path], target: Path) -> None:
    """Put objects into a static library; the same objects give the same bytes."""
    archiver = next((path for name in _ARCHIVERS if (path := shutil.which(name))), None)
    if archiver is None:
        raise ToolchainError(f"no archiver: looked for {', '.join(_ARCHIVERS)}; install binutils")
    without_dates = "D" if sys.platform == "linux" else ""
    library = target.absolute()
    command = [archiver, f"rcs{without_dates}", str(library), *(str(path.absolute()) for path in objects)]
    run(command, library.parent)


def _check_made(target: Path, command: Sequence[str]) -> None:
    if not target.is_file() or target.stat().st_size == 0:
        raise ToolchainError(
            f"the compiler {command[0]} ended with exit status 0 but made no {target.name}; "
            "name another compiler with `cc`\n"
            f"command: {shlex.join(command)}"
        )


def run(command: Sequence[str], folder: Path | None = None, seconds: float | None = None) -> str:
    """Run a command in `folder` and return its output. Raises ToolchainError with command and output, or
    TimeLimitError if it exceeds its time limit.
    """
    try:
        status, output, errors = processes.run(command, folder, seconds)
    except TimeoutExpired as error:
        raise TimeLimitError(
            f"{Path(command[0]).name} took more than {seconds:.0f} s and was ended"
        ) from error
    except OSError as error:
        raise ToolchainError(
            f"cannot run {command[0]}: {error.strerror}; check the compiler's installation"
        ) from error
    if status != 0:
        both = (errors + output).strip()
        shown = both if len(both) <= 4000 else both[:4000] + "\n..."
        raise ToolchainError(
            f"the compiler failed with exit status {status}; check the compiler and its flags\n"
            f"command: {shlex.join(command)}\noutput:\n{shown}",
            both,
        )
    return output


@cache
def _version(path: str) -> str:
    lines = run([path, "--version"]).splitlines()
    if not lines:
        raise ToolchainError(
            f"{path} --version prints nothing: not a C compiler; name another compiler with `cc`"
        )
    return lines[0].strip()


def _stack_bytes(usage: Path) -> int:
    """Return the largest frame that -fstack-usage reports; 0 if the compiler wrote no such file."""
    if not usage.is_file():
        return 0
    return max((int(n) for n in re.findall(r"\t(\d+)\t", usage.read_text(errors="replace"))), default=0)


def code_bytes(target: Path) -> int:
    """Return the bytes of code and constants that binutils' size reports; 0 without it."""
    size = shutil.which("size")
    if size is None:
        return 0
    try:
        return int(run([size, str(target)]).splitlines()[1].split()[0])
    except (ToolchainError, IndexError, ValueError):
        return 0
