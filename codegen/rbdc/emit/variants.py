"""One C file for all variants of a library, for functions whose form differs between variants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from rbdc.emit.backend import FunctionSource
from rbdc.errors import UnsupportedError

_KEPT = {
    "avx512": "defined(__AVX512F__)",
    "avx2": "(defined(__AVX2__) && !defined(__AVX512F__))",
    "baseline": "!defined(__AVX2__)",
}
"""Preprocessor condition of each variant; exactly one holds on a processor."""
_LAST = next(iter(_KEPT))


def in_variants(sources: Mapping[tuple[str, ...], FunctionSource]) -> FunctionSource:
    """Return the source of a function from sources for groups of variants. The preprocessor selects among
    different texts of a file. The counts of the source are those of the variant with the most extensions.

    Raises UnsupportedError if the groups need different C files.
    """
    last = next(source for group, source in sources.items() if _LAST in group)
    if len(sources) == 1:
        return last
    names = {tuple(name for name in _files(source) if name.endswith(".c")) for source in sources.values()}
    if len(names) > 1:
        problem = f"{last.declaration.name}: only some variants have a kernel for batches"
        raise UnsupportedError(f"`tuning`: {problem}; give each variant a file with the same form")
    conditions = [" || ".join(_KEPT[variant] for variant in group) for group in sources]
    return replace(
        last,
        files=_joined([source.files for source in sources.values()], conditions),
        batch_files=_joined([source.batch_files for source in sources.values()], conditions),
    )


def _files(source: FunctionSource) -> list[str]:
    return sorted({*source.files, *source.batch_files})


def _joined(files: list[dict[str, str]], conditions: list[str]) -> dict[str, str]:
    """Return the files by name: text that all share, or the texts under their conditions."""
    names = dict.fromkeys(name for of_group in files for name in of_group)
    return {name: _text([of_group.get(name) for of_group in files], conditions) for name in names}


def _text(texts: list[str | None], conditions: list[str]) -> str:
    there = {text: None for text in texts if text is not None}
    if len(there) == 1:
        return next(iter(there))
    parts = [
        f"{'#elif' if k else '#if'} {condition}\n{text}"
        for k, (text, condition) in enumerate(zip(texts, conditions, strict=True))
    ]
    return "".join([*parts, "#endif\n"])
