"""Mutants of generated C: one constant, sign or term, number of a table, copy or argument of one file
changed.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass

_LITERAL = re.compile(r"(?<![\w.])\d+\.\d+(?:e[+-]?\d+)?(?![\w.])")
_SIGN = re.compile(r"(?<=[\w)\]]) ([+-]) (?=[\w(])")
_TERM = re.compile(r"(?<=[\w)\]]) [+-] \w+(?: \* \w+)?(?=[ ;)])")
_COPY = re.compile(r"\b(?:memcpy|\w+_copy_past)\([^;]*\);")
_ARGUMENTS = re.compile(r"(?<=[(,] )?\b[\w.]+(?:\[\d+\])?, [\w.]+(?:\[\d+\])?(?=[,)])")
_NEIGHBOURS = re.compile(r"(?<![\w.])\d+, \d+(?![\w.])")
_TABLE = re.compile(
    r"^(?:static )?const [\w ]+\w(?:\[\w*(?: \+ 1)?\])+ = \{(.*?)\};", re.DOTALL | re.MULTILINE
)
_ADDRESS = re.compile(r"\[[^\[\]]*\]")
_NO_ARITHMETIC = re.compile(r".*for \(| *(?:static )?(?:const )?(?:int|size_t|uintptr_t) |[^=]*\*[^=]* = ")
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)

Place = tuple[int, int, str]
"""Where something can be changed, and what."""


@dataclass(frozen=True)
class Mutant:
    """The text of one file with one change, and the change in words."""

    file: str
    text: str
    change: str


def mutants(files: dict[str, str], seed: int) -> Iterator[Mutant]:
    """Yield mutants without end, from the files of functions: any file, any kind of change, any place."""
    rng = random.Random(seed)
    places = {name: _by_kind(text) for name, text in files.items()}
    names = sorted(name for name, by_kind in places.items() if by_kind)
    while True:
        name = rng.choice(names)
        kind = rng.choice(sorted(places[name]))
        start, end, _ = rng.choice(places[name][kind])
        old = files[name][start:end]
        new = _changed(old, kind)
        if new == old:
            continue
        yield Mutant(
            name,
            files[name][:start] + new + files[name][end:],
            f"{name}: {kind} {old.strip()!r} -> {new.strip()!r}",
        )


def _by_kind(text: str) -> dict[str, list[Place]]:
    blank = _COMMENT.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)
    by_kind: dict[str, list[Place]] = {}
    for place in (*_arithmetic(blank), *_tables(blank), *_statements(blank)):
        by_kind.setdefault(place[2], []).append(place)
    return by_kind


def _arithmetic(text: str) -> Iterator[Place]:
    """Yield inside functions, but for addresses."""
    blank = _ADDRESS.sub(lambda match: "[" + "_" * (len(match.group()) - 2) + "]", text)
    for offset, line in _lines(blank):
        if line.startswith("    ") and " = " in line and not _NO_ARITHMETIC.match(line):
            for kind, pattern in (("constant", _LITERAL), ("sign", _SIGN), ("term", _TERM)):
                yield from ((offset + m.start(), offset + m.end(), kind) for m in pattern.finditer(line))


def _tables(text: str) -> Iterator[Place]:
    """Yield numbers of constant arrays outside of functions."""
    for table in _TABLE.finditer(text):
        for kind, pattern in (("number", _LITERAL), ("neighbours", _NEIGHBOURS)):
            for m in pattern.finditer(text, table.start(1), table.end(1)):
                yield m.start(), m.end(), kind


def _statements(text: str) -> Iterator[Place]:
    """Yield copies, and calls with arguments that are names."""
    for offset, line in _lines(text):
        if line.startswith("    ") and "for (" not in line:
            yield from ((offset + m.start(), offset + m.end(), "copy") for m in _COPY.finditer(line))
            if re.match(r" +(?:if \(n > 0\) )?\w+\(.*\);$", line):
                for m in _ARGUMENTS.finditer(line):
                    yield offset + m.start(), offset + m.end(), "arguments"


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield each line and where it begins."""
    offset = 0
    for line in text.splitlines(keepends=True):
        yield offset, line.rstrip("\n")
        offset += len(line)


def _changed(old: str, kind: str) -> str:
    if kind in ("constant", "number"):
        return repr(float(old) * (1.0 + 1e-6) if float(old) else 1e-6)
    if kind == "sign":
        return old.replace("+", "%").replace("-", "+").replace("%", "-")
    if kind in ("neighbours", "arguments"):
        return ", ".join(reversed(old.split(", ")))
    return ";" if kind == "copy" else ""
