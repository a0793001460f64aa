"""One C file for all variants of a library, where these have functions in different forms."""

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
"""The condition of the preprocessor that holds for each variant, and for one kind of processor at a time."""
_LAST = next(iter(_KEPT))


def in_variants(sources: Mapping[tuple[str, ...], FunctionSource]) -> FunctionSource:
    """Return the source of a function that has one for each of some groups of variants: of different texts
    of a file the preprocessor keeps one. Its figures are those of the variant of the most extensions.

    Raises UnsupportedError where the groups need different C files.
    """
    last = next(own for group, own in sources.items() if _LAST in group)
    if len(sources) == 1:
        return last
    names = {tuple(name for name in _files(own) if name.endswith(".c")) for own in sources.values()}
    if len(names) > 1:
        problem = f"{last.declaration.name}: variants differ in having a kernel for batches"
        raise UnsupportedError(f"`tuning`: {problem}; give each variant a file with its form")
    conditions = [" || ".join(_KEPT[variant] for variant in group) for group in sources]
    return replace(
        last,
        files=_joined([own.files for own in sources.values()], conditions),
        batch_files=_joined([own.batch_files for own in sources.values()], conditions),
    )


def _files(source: FunctionSource) -> list[str]:
    return sorted({*source.files, *source.batch_files})


def _joined(files: list[dict[str, str]], conditions: list[str]) -> dict[str, str]:
    """Return the files by name, each with the text that is common, or the texts under their conditions."""
    names = dict.fromkeys(name for own in files for name in own)
    return {name: _text([own.get(name) for own in files], conditions) for name in names}


def _text(texts: list[str | None], conditions: list[str]) -> str:
    there = {text: None for text in texts if text is not None}
    if len(there) == 1:
        return next(iter(there))
    parts = [
        f"{'#elif' if k else '#if'} {condition}\n{text}"
        for k, (text, condition) in enumerate(zip(texts, conditions, strict=True))
    ]
    return "".join([*parts, "#endif\n"])
