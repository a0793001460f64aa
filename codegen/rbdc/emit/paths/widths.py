"""The tables of windows, for each width of registers."""

from __future__ import annotations

from dataclasses import dataclass

from rbdc.emit.paths.layout import Schedule, windows
from rbdc.emit.render import braced
from rbdc.functions.scalar_types import ScalarType

REGISTERS = {"#if defined(__AVX512F__)": 64, "#elif defined(__AVX__)": 32, "#else": 16}
"""Bytes of registers by the line that asks for them."""


@dataclass(frozen=True)
class WidthView:
    """The tables for one width of registers, under the condition that chooses it. root: entries of a row of a
    free root's columns.
    """

    condition: str
    lanes: int
    bytes: int
    root: int
    padded: int
    count: int
    windows: list[str]
    tiles: list[str]
    empty: list[str]
    masks: list[str]


def width_of(schedule: Schedule, scalar: ScalarType, size: int) -> int:
    """Columns in a register of so many bytes, no more than there are of joints."""
    lanes = size // scalar.size
    while lanes > schedule.columns - schedule.first:
        lanes //= 2
    return lanes


def width_view(schedule: Schedule, scalar: ScalarType, condition: str, size: int) -> WidthView:
    """The windows of one width."""
    lanes = width_of(schedule, scalar, size)
    found = windows(schedule, lanes)
    masks: dict[int, int] = {}
    lines, tiles, empty = list[str](), list[str](), list[str]()
    for window in found:
        kinds: list[list[str]] = [[], [], []]
        for tile in window.tiles:
            below, above = (masks.setdefault(mask, len(masks)) for mask in (tile.below, tile.above))
            kinds[0 if not tile.above else 1 if tile.below else 2].append(f"{tile.row}, {below}, {above}")
        rest = list(window.empty)
        for kind in kinds:
            tiles += [f"{{{text}, {rest.pop(0) if rest else -1}}}" for text in kind]
        empty += map(str, rest)
        lines.append(braced((window.column, *map(len, kinds), len(rest))))
    return WidthView(
        condition,
        lanes,
        lanes * scalar.size,
        max(8, lanes),
        -(-schedule.columns // 8) * 8,
        len(found),
        lines,
        tiles,
        empty or ["0"],
        [braced(-(mask >> lane & 1) for lane in range(lanes)) for mask in masks],
    )
