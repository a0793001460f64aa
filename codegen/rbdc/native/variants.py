"""The variants of a library: one for the processor at hand, or several for kinds of processors; which
instruction-set extensions the code of each may use, and C that asks the processor for them.

Of extensions only those of x86 are looked at; elsewhere nothing is known to be needed, and nothing is
refused.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from rbdc.emit.library import BASELINE, VARIANTS, renaming_flags, variant_flags, variant_prefix
from rbdc.emit.render import render
from rbdc.native.toolchain import Compiler, run

_YMM, _ZMM, _APX = 0x6, 0xE6, 0x80000


@dataclass(frozen=True)
class Extension:
    """Where the processor says that it has an extension: the leaf and subleaf of cpuid, the register (0 to 3:
    eax, ebx, ecx, edx), the bit; and `state`, the bits of XCR0 that say that the system saves the registers
    of the extension.
    """

    leaf: int
    subleaf: int
    register: int
    bit: int
    state: int = 0


_AMD = 0x80000001
EXTENSIONS: Mapping[str, Extension] = {
    "SSE3": Extension(1, 0, 2, 0),
    "SSSE3": Extension(1, 0, 2, 9),
    "SSE4_1": Extension(1, 0, 2, 19),
    "SSE4_2": Extension(1, 0, 2, 20),
    "SSE4A": Extension(_AMD, 0, 2, 6),
    "POPCNT": Extension(1, 0, 2, 23),
    "MOVBE": Extension(1, 0, 2, 22),
    "LZCNT": Extension(_AMD, 0, 2, 5),
    "TBM": Extension(_AMD, 0, 2, 21),
    "BMI": Extension(7, 0, 1, 3),
    "BMI2": Extension(7, 0, 1, 8),
    "AVX": Extension(1, 0, 2, 28, _YMM),
    "AVX2": Extension(7, 0, 1, 5, _YMM),
    "F16C": Extension(1, 0, 2, 29, _YMM),
    "FMA": Extension(1, 0, 2, 12, _YMM),
    "FMA4": Extension(_AMD, 0, 2, 16, _YMM),
    "XOP": Extension(_AMD, 0, 2, 11, _YMM),
    "GFNI": Extension(7, 0, 2, 8),
    "AVXVNNI": Extension(7, 1, 0, 4, _YMM),
    "AVXIFMA": Extension(7, 1, 0, 23, _YMM),
    "AVX512F": Extension(7, 0, 1, 16, _ZMM),
    "AVX512CD": Extension(7, 0, 1, 28, _ZMM),
    "AVX512BW": Extension(7, 0, 1, 30, _ZMM),
    "AVX512DQ": Extension(7, 0, 1, 17, _ZMM),
    "AVX512VL": Extension(7, 0, 1, 31, _ZMM),
    "AVX512IFMA": Extension(7, 0, 1, 21, _ZMM),
    "AVX512VBMI": Extension(7, 0, 2, 1, _ZMM),
    "AVX512VBMI2": Extension(7, 0, 2, 6, _ZMM),
    "AVX512VNNI": Extension(7, 0, 2, 11, _ZMM),
    "AVX512BITALG": Extension(7, 0, 2, 12, _ZMM),
    "AVX512VPOPCNTDQ": Extension(7, 0, 2, 14, _ZMM),
    "AVX512BF16": Extension(7, 1, 0, 5, _ZMM),
    "AVX512FP16": Extension(7, 0, 3, 23, _ZMM),
    "APX_F": Extension(7, 1, 3, 21, _APX),
}
"""The extensions that compilers use by themselves for plain C, under the names in their macros; those that
only intrinsics reach, as AES and SHA, are not here.

cpuid is read here, for the names that __builtin_cpu_supports knows differ: clang 14 has no F16C and gcc 12 no
APX_F.
"""


@dataclass(frozen=True)
class LibraryVariant:
    """One way of compiling the C of a library: its name, how the names of its C functions begin, its flags,
    and the extensions that its code may use.
    """

    name: str
    prefix: str
    flags: tuple[str, ...]
    extensions: tuple[str, ...]

    def file(self, robot: str, source: str) -> str:
        """The name under which a C file of the robot is compiled, beside the same file of other variants."""
        return self.prefix + source.removeprefix(robot)


_WITHOUT = ("sse3", "popcnt", "movbe", "lzcnt", "bmi", "bmi2", "tbm", "gfni")
"""Extensions that $CC may ask for and that are turned off; without SSE3 there is no later SSE or AVX."""


@cache
def macros(compiler: Compiler, flags: tuple[str, ...] = ()) -> frozenset[str]:
    """The names of the macros that the compiler defines under these flags."""
    text = run([*compiler.command, *flags, "-dM", "-E", "-x", "c", os.devnull])
    return frozenset(line.split()[1] for line in text.splitlines() if line.startswith("#define "))


def required(compiler: Compiler, flags: Sequence[str]) -> tuple[str, ...]:
    """The extensions of `EXTENSIONS` that code compiled with these flags may use."""
    defined = macros(compiler, tuple(flags))
    return tuple(name for name in EXTENSIONS if f"__{name}__" in defined)


def least_flags(compiler: Compiler) -> tuple[str, ...]:
    """Flags for code that runs on every processor of the compiler's kind, whatever $CC asks for."""
    if "__x86_64__" not in macros(compiler):
        return ()
    return (*variant_flags(BASELINE), *(f"-mno-{extension}" for extension in _WITHOUT))


def variants_of(
    march: str, robot: str, compiler: Compiler, flags: Sequence[str]
) -> tuple[LibraryVariant, ...]:
    """The variants of a library, in rising order of needs. `flags` come after those of a variant, and win."""
    if march == "native":
        return (LibraryVariant(march, robot, tuple(flags), required(compiler, flags)),)
    if not least_flags(compiler):
        return (LibraryVariant(BASELINE, robot, tuple(flags), required(compiler, flags)),)
    made = []
    for name in VARIANTS:
        chosen = (*variant_flags(name), *flags)
        renamed = (*renaming_flags(robot, name), *chosen)
        made.append(LibraryVariant(name, variant_prefix(robot, name), renamed, required(compiler, chosen)))
    return tuple(made)


def processor_source(variants: Sequence[LibraryVariant]) -> str:
    """C of `rbdc_has` and `rbdc_variants`, by which a module chooses; to be compiled for every processor."""
    lines = [" ".join([v.name, v.prefix, *v.extensions]) for v in variants]
    return render("processor.c.jinja", extensions=list(EXTENSIONS.items()), lines=lines)
