"""The variants of a library: one for the processor at hand, or several for kinds of processors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rbdc.emit.variants import BASELINE, VARIANTS, renaming_flags, variant_flags, variant_prefix
from rbdc.native.processor import macros, required
from rbdc.native.toolchain import Compiler


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
