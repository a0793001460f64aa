"""The variants of a library: one for this processor, or several for kinds of processors. A variant may use
instruction-set extensions, and C code tests whether the processor has them.

Only x86 extensions are tested: on other architectures every processor is accepted.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from rbdc.emit.library import BASELINE, VARIANTS, renaming_flags, variant_flags, variant_prefix
from rbdc.emit.render import render
from rbdc.functions.scalar_types import SHORTEST_BYTES
from rbdc.native.toolchain import Compiler, Toolchain, run

_YMM, _ZMM, _APX = 0x6, 0xE6, 0x80000
_AMD = 0x80000001
_BITS: tuple[tuple[int, int, int, int, dict[str, int]], ...] = (
    (1, 0, 2, 0, {"SSE3": 0, "SSSE3": 9, "SSE4_1": 19, "SSE4_2": 20, "MOVBE": 22, "POPCNT": 23}),
    (1, 0, 2, _YMM, {"FMA": 12, "AVX": 28, "F16C": 29}),
    (7, 0, 1, 0, {"BMI": 3, "BMI2": 8}),
    (7, 0, 1, _YMM, {"AVX2": 5}),
    (7, 0, 1, _ZMM, {"AVX512F": 16, "AVX512DQ": 17, "AVX512IFMA": 21, "AVX512CD": 28, "AVX512BW": 30}),
    (7, 0, 1, _ZMM, {"AVX512VL": 31}),
    (7, 0, 2, 0, {"GFNI": 8}),
    (7, 0, 2, _ZMM, {"AVX512VBMI": 1, "AVX512VBMI2": 6, "AVX512VNNI": 11, "AVX512BITALG": 12}),
    (7, 0, 2, _ZMM, {"AVX512VPOPCNTDQ": 14}),
    (7, 0, 3, _ZMM, {"AVX512FP16": 23}),
    (7, 1, 0, _YMM, {"AVXVNNI": 4, "AVXIFMA": 23}),
    (7, 1, 0, _ZMM, {"AVX512BF16": 5}),
    (7, 1, 3, _APX, {"APX_F": 21}),
    (_AMD, 0, 2, 0, {"LZCNT": 5, "SSE4A": 6, "TBM": 21}),
    (_AMD, 0, 2, _YMM, {"XOP": 11, "FMA4": 16}),
)
EXTENSIONS = {
    name: (leaf, subleaf, register, bit, state)
    for leaf, subleaf, register, state, bits in _BITS
    for name, bit in bits.items()
}
"""Extensions that compilers use for plain C, by the names in their macros. Extensions that only intrinsics
use, such as AES and SHA, are left out.

Each name has the place where the processor reports the extension: leaf and subleaf of cpuid, register (0 to
3: eax, ebx, ecx, edx) and bit; and the bits of XCR0 that say that the system saves the extension's registers.
cpuid is read directly, because the names of __builtin_cpu_supports differ: clang 14 has no F16C and gcc 12 no
APX_F.
"""


@dataclass(frozen=True)
class LibraryVariant:
    """One way to compile the C of a library.

    name: name of the variant.
    prefix: prefix of its C functions.
    flags: compiler flags.
    extensions: extensions that its code may use.
    """

    name: str
    prefix: str
    flags: tuple[str, ...]
    extensions: tuple[str, ...]

    def file(self, robot: str, source: str) -> str:
        """Return the name under which a C file of the robot is compiled, next to the same file of other
        variants.
        """
        return self.prefix + source.removeprefix(robot)


_WITHOUT = ("sse3", "popcnt", "movbe", "lzcnt", "bmi", "bmi2", "tbm", "gfni")
"""Extensions that `least_flags` disables, because $CC may enable them. Without SSE3, compilers also disable
later SSE and AVX.
"""


@cache
def macros(compiler: Compiler, flags: tuple[str, ...] = ()) -> frozenset[str]:
    """Return the names of the macros that the compiler defines with these flags."""
    text = run([*compiler.command, *flags, "-dM", "-E", "-x", "c", os.devnull])
    return frozenset(line.split()[1] for line in text.splitlines() if line.startswith("#define "))


def required(compilers: Sequence[Compiler], flags: Sequence[str]) -> tuple[str, ...]:
    """Return the `EXTENSIONS` that code of these compilers with these flags may use."""
    defined = {name for compiler in compilers for name in macros(compiler, tuple(flags))}
    return tuple(name for name in EXTENSIONS if f"__{name}__" in defined)


def register_bytes(compilers: Sequence[Compiler], flags: Sequence[str]) -> int:
    """Return the size of the vector registers (bytes) that code of these compilers with these flags may
    use.
    """
    used = required(compilers, flags)
    return 64 if "AVX512F" in used else 32 if "AVX" in used else SHORTEST_BYTES


def least_flags(compiler: Compiler) -> tuple[str, ...]:
    """Return flags for code that runs on every processor of the compiler's kind, whatever $CC enables."""
    if "__x86_64__" not in macros(compiler):
        return ()
    return (*variant_flags(BASELINE), *(f"-mno-{extension}" for extension in _WITHOUT))


def variants_of(march: str, robot: str, tools: Toolchain) -> tuple[LibraryVariant, ...]:
    """Return the variants of a library, in rising order of requirements. Flags of `tools` follow those of a
    variant and take precedence.
    """
    flags, compilers = tools.flags, tools.compilers
    if march == "native":
        return (LibraryVariant(march, robot, flags, required(compilers, flags)),)
    if not least_flags(tools.compiler):
        return (LibraryVariant(BASELINE, robot, flags, required(compilers, flags)),)
    variants = []
    for name in VARIANTS:
        chosen = (*variant_flags(name), *flags)
        renamed = (*renaming_flags(robot, name), *chosen)
        variants.append(
            LibraryVariant(name, variant_prefix(robot, name), renamed, required(compilers, chosen))
        )
    return tuple(variants)


def processor_source(variants: Sequence[LibraryVariant]) -> str:
    """Return the C of `rbdc_has` and `rbdc_variants`, with which a module chooses a variant. It must be
    compiled for every processor.
    """
    lines = [" ".join([v.name, v.prefix, *v.extensions]) for v in variants]
    return render(
        "processor.c.jinja", extensions=[(name, *place) for name, place in EXTENSIONS.items()], lines=lines
    )
