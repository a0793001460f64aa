"""The tunings of a package: one for all variants, or one for each. A tuning (tuning.json) has the fastest
measured form, compiler and number of batch lanes of each function.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from os import PathLike
from typing import Any

from rbdc.emit.backend import FunctionSource
from rbdc.errors import OptionError, UnsupportedError
from rbdc.native.compilers import compilers_of, compilers_of_files
from rbdc.native.toolchain import Compiler, Toolchain
from rbdc.option_fields import Reading
from rbdc.planning.plans import FormChoice
from rbdc.planning.tuning import FILE, SINGLE, Tuning, read_tuning
from rbdc.runtime._suggestions import suggestion

_OWN = "VARIANT=FILE"


@dataclass(frozen=True)
class Tunings:
    """Tunings of the variants of a package.

    common: the tuning of every variant without a tuning of its own; None if there is no such tuning.
    by_variant: tunings by the variant's name.
    """

    common: Tuning | None
    by_variant: Mapping[str, Tuning] = field(default_factory=dict)

    @cached_property
    def each(self) -> dict[str, Tuning]:
        """The tunings by variant, with the common tuning under ""."""
        return ({} if self.common is None else {"": self.common}) | dict(sorted(self.by_variant.items()))

    @property
    def files(self) -> dict[str, bytes]:
        """The contents of the package's tuning files, by file name."""
        return {_file(variant): tuning.text.encode() for variant, tuning in self.each.items()}

    def check(self, march: str, style: str) -> None:
        """Raise OptionError or UnsupportedError for values of options that cannot be combined with these
        tunings.
        """
        if style == "rolled":
            raise UnsupportedError("`style='rolled'` and `tuning` both choose forms: leave one out")
        if self.by_variant and march != "portable":
            problem = f"`tuning`: {next(iter(self.by_variant))} is a variant of `march='portable'`"
            raise OptionError(f"{problem}; give that option too, or the file without the variant's name")

    def choices(self) -> dict[str, dict[str, FormChoice]]:
        """Return the choices of forms and lanes by variant and function; those of the common tuning under
        "".
        """
        return {variant: tuning.choices() for variant, tuning in self.each.items()}

    def remarks(self, functions: Sequence[str], processor: str) -> list[str]:
        """Return remarks on a build of these functions for a processor ("": for all processors)."""
        named = {name and f"{name} ": one.remarks(functions, processor) for name, one in self.each.items()}
        return [f"`tuning`: {variant}{text}" for variant, texts in named.items() for text in texts]

    def compilers(self, functions: Iterable[str], usual: Toolchain) -> dict[str, Compiler]:
        """Return the compilers that the tunings name for these functions, by name."""
        names = [*functions]
        return {k: v for tuning in self.each.values() for k, v in compilers_of(tuning, names, usual).items()}

    def compilers_of_files(
        self, sources: Sequence[FunctionSource], by_name: Mapping[str, Compiler]
    ) -> dict[tuple[str, str], Compiler]:
        """Return the compilers by variant and C file; those of the common tuning by the variant ""."""
        return {
            (variant, file): compiler
            for variant, tuning in self.each.items()
            for file, compiler in compilers_of_files(tuning, sources, by_name).items()
        }

    def entry(self, function: str) -> dict[str, Any]:
        """Return the manifest's entry about a function: its compilers, and the compilers and forms of the
        variants.
        """
        common: dict[str, Any] = {} if self.common is None else self.common.compilers_of(function)
        entries = {name: _entry(tuning, function) for name, tuning in self.by_variant.items()}
        variants = {name: entry for name, entry in entries.items() if entry}
        return common | ({"variants": variants} if variants else {})


def _file(variant: str) -> str:
    return FILE.replace(".", f"_{variant}.") if variant else FILE


def _entry(tuning: Tuning, function: str) -> dict[str, Any]:
    single = tuning.decisions[SINGLE].get(function)
    return ({} if single is None else {"form": single.way.what}) | tuning.compilers_of(function)


def _read(value: Any) -> Tunings | None:
    """Return the tunings in one file, in several files (`VARIANT=FILE`), or by variant; None without an
    argument.

    Raises ValueError for other arguments, DescriptionError for content that is not a tuning.
    """
    if isinstance(value, Tunings):
        return value
    tunings: dict[str, Tuning] = {}
    for variant, file in _parted(value):
        if variant in tunings:
            raise ValueError(f"two files for {variant or 'all variants'}; give {_OWN} for each variant")
        tunings[variant] = read_tuning(file)
    return Tunings(tunings.pop("", None), tunings) if tunings else None


def _parted(value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, Mapping):
        return [(_variant(name), file) for name, file in value.items()]
    if isinstance(value, (str, PathLike, Tuning)):
        value = [value]
    if not isinstance(value, Sequence):
        raise ValueError(f"give the path of a file such as {FILE}, or {_OWN}")
    return [_pair(one) for one in value]


def _pair(one: Any) -> tuple[str, Any]:
    name, equals, file = one.partition("=") if isinstance(one, str) else ("", "", one)
    return (_variant(name), file) if equals and "/" not in name else ("", one)


def _variant(name: str) -> str:
    from rbdc.emit.library import VARIANTS

    if name not in VARIANTS:
        raise ValueError(f"no variant {name!a}; {suggestion(name, VARIANTS)}")
    return name


def _recorded(tunings: Tunings | None) -> Any:
    """Return the hashes of the contents: one for a common tuning, otherwise by variant."""
    if tunings is None:
        return None
    hashes = {variant: sha256(tuning.text.encode()).hexdigest() for variant, tuning in tunings.each.items()}
    return hashes if tunings.by_variant else hashes[""]


TUNING = Reading(_read, "FILE|VARIANT=FILE", repeated=True, record=_recorded)
"""Tunings, by the paths of their files."""
