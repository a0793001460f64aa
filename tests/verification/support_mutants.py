"""Mutants of generated C: one constant, sign or term of one file changed."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass

_LITERAL = re.compile(r"(?<![\w.])\d+\.\d+(?:e[+-]?\d+)?(?![\w.])")
_SIGN = re.compile(r"(?<=[\w)\]]) ([+-]) (?=[\w(])")
_TERM = re.compile(r"(?<=[\w)\]]) [+-] \w+(?: \* \w+)?(?=[ ;)])")
_ADDRESS = re.compile(r"\[[^\[\]]*\]")
_NO_ARITHMETIC = re.compile(r".*for \(| *(?:static )?(?:const )?(?:int|size_t|uintptr_t) |[^=]*\*[^=]* = ")
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


@dataclass(frozen=True)
class Mutant:
    """The text of one file with one change, and the change in words."""

    file: str
    text: str
    change: str


def mutants(files: dict[str, str], seed: int) -> Iterator[Mutant]:
    """Without end, from the files of functions."""
    rng = random.Random(seed)
    places = {name: _places(text) for name, text in files.items()}
    names = sorted(name for name, found in places.items() if found)
    while True:
        name = rng.choice(names)
        start, end, kind = rng.choice(places[name])
        old = files[name][start:end]
        new = _changed(old, kind)
        yield Mutant(
            name,
            files[name][:start] + new + files[name][end:],
            f"{name}: {kind} {old.strip()!r} -> {new.strip()!r}",
        )


def _places(text: str) -> list[tuple[int, int, str]]:
    """Where something can be changed, and what: the arithmetic inside functions. Addresses are left as they
    are, for a change there shows itself by a crash, and not only of the mutant.
    """
    blank = _COMMENT.sub(lambda found: " " * len(found.group()), text)
    blank = _ADDRESS.sub(lambda found: "[" + "_" * (len(found.group()) - 2) + "]", blank)
    places: list[tuple[int, int, str]] = []
    offset = 0
    for line in blank.splitlines(keepends=True):
        if line.startswith("    ") and " = " in line and not _NO_ARITHMETIC.match(line):
            for kind, pattern in (("constant", _LITERAL), ("sign", _SIGN), ("term", _TERM)):
                places += [(offset + m.start(), offset + m.end(), kind) for m in pattern.finditer(line)]
        offset += len(line)
    return places


def _changed(old: str, kind: str) -> str:
    if kind == "constant":
        return repr(float(old) * (1.0 + 1e-6) if float(old) else 1e-6)
    if kind == "sign":
        return old.replace("+", "%").replace("-", "+").replace("%", "-")
    return ""
