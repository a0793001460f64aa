"""Slices of the exhaustive tier, of which every run of `.ci/run` takes one: `RBDC_SLICE=k/n`."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence


def parsed(text: str) -> tuple[int, int]:
    """Return k and n of "k/n", 1 <= k <= n.

    Raises:
        ValueError: if the text is anything else.
    """
    match = re.fullmatch(r"(\d+)/(\d+)", text)
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise ValueError(f"RBDC_SLICE={text}: expected k/n with 1 <= k <= n, such as 3/16")
    return int(match[1]), int(match[2])


def slices(ids: Sequence[str], n: int) -> list[int]:
    """Return the slice of each test, 1 to n, by the node ids of all of them.

    Tests of one file with the same first parameter, which is a robot or the seed of a tree, stay together:
    they share compiled modules. Groups of over three quarters of a slice are spread: those of second
    derivatives, which share nothing, took eight minutes in one slice. The groups come in the order of a hash,
    so that each slice is a sample of the whole tier, and are cut where a slice has its share of the tests.
    """
    sizes = Counter(map(_group, ids))
    names = [_group(name) if 4 * n * sizes[_group(name)] <= 3 * len(ids) else name for name in ids]
    groups = Counter(names)
    by_group, done = {}, 0
    for group in sorted(groups, key=lambda name: hashlib.sha256(name.encode()).digest()):
        by_group[group] = (done + groups[group] // 2) * n // len(ids) + 1
        done += groups[group]
    return [by_group[name] for name in names]


def _group(name: str) -> str:
    """Return the file and the first parameter of a test's node id; the whole id of a test without
    parameters.
    """
    match = re.match(r"(.*?)::[^\[]*\[([^-\]]*)", name)
    return f"{match[1]} {match[2]}" if match else name
