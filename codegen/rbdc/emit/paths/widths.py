"""Widths of registers: for each the windows of columns and the supernodes of L of kernels along paths."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from rbdc.emit.c.vectors import exchanged
from rbdc.emit.paths.layout import FIRST, Schedule, Window, windows
from rbdc.emit.paths.supernodes import Shape, Supernode, supernodes
from rbdc.emit.render import braced
from rbdc.functions.scalar_types import ScalarType

_REGISTERS = {"#if defined(__AVX512F__)": 64, "#elif defined(__AVX__)": 32, "#else": 16}
"""Bytes of registers by the line that asks for them."""


@dataclass(frozen=True)
class Tables:
    """The tables of windows, line by line."""

    windows: list[str]
    tiles: list[str]
    empty: list[str]
    masks: list[str]


@dataclass(frozen=True)
class Width:
    """Registers of so many bytes, in which `lanes` columns are side by side, under the condition that asks
    for them.
    """

    schedule: Schedule
    condition: str
    bytes: int
    lanes: int

    @cached_property
    def windows(self) -> tuple[Window, ...]:
        """Windows over all columns of joints."""
        return windows(self.schedule, self.lanes)

    @cached_property
    def nodes(self) -> tuple[Supernode, ...]:
        """Supernodes of all columns."""
        return supernodes(self.schedule, self.lanes)

    @cached_property
    def shapes(self) -> list[Shape]:
        """The shapes of supernodes."""
        return list(dict.fromkeys(node.shape for node in self.nodes))

    @property
    def numbered(self) -> list[tuple[Supernode, int]]:
        """The supernodes with the numbers of their shapes."""
        return [(node, self.shapes.index(node.shape)) for node in self.nodes]

    @property
    def root(self) -> int:
        """Entries of a row of the root's columns."""
        return max(8, self.lanes)

    @property
    def padded(self) -> int:
        """Entries of a row of all columns."""
        return -(-self.schedule.columns // 8) * 8

    @property
    def pitch(self) -> int:
        """Entries of a row of six."""
        return -(-6 // self.lanes) * self.lanes

    @property
    def unit(self) -> str:
        """A one between zeros."""
        return braced("1" if k == self.lanes else "0" for k in range(3 * self.lanes))

    @cached_property
    def tables(self) -> Tables:
        """The windows and their tiles by kind: below, on both sides, above."""
        masks: dict[int, int] = {}
        made = Tables([], [], [], [])
        for window in self.windows:
            kinds: list[list[str]] = [[], [], []]
            for tile in window.tiles:
                below, above = (masks.setdefault(mask, len(masks)) for mask in (tile.below, tile.above))
                number = 0 if not tile.above else 1 if tile.below else 2
                kinds[number].append(f"{tile.row}, {below}, {above}")
            for kind in kinds:
                made.tiles.extend(f"{{{text}}}" for text in kind)
            made.empty.extend(map(str, window.empty))
            made.windows.append(braced((window.column, *map(len, kinds), len(window.empty))))
        made.empty.extend([] if made.empty else ["0"])
        made.masks.extend(braced(-(mask >> lane & 1) for lane in range(self.lanes)) for mask in masks)
        return made

    @cached_property
    def turned(self) -> list[list[str]]:
        """The steps in which as many registers as there are lanes, s, change rows for columns: halves,
        quarters and so on change places.
        """
        old, steps, half = "s", list[list[str]](), self.lanes // 2
        while half:
            new, row = f"t{half}_", f"{old}{{}}"
            steps.append([f"{new}{k} = {exchanged(row, k, half, self.lanes)}" for k in range(self.lanes)])
            old, half = new, half // 2
        return steps

    @property
    def turned_columns(self) -> list[str]:
        """The columns by the names that `turned` gives them in the end."""
        return [f"t1_{k}" for k in range(self.lanes)]


def widths_of(schedule: Schedule, scalar: ScalarType) -> list[Width]:
    """Every width, the longest registers first, none with more columns than there are of joints."""
    found = []
    for condition, size in _REGISTERS.items():
        lanes = size // scalar.size
        while lanes > schedule.columns - FIRST:
            lanes //= 2
        found.append(Width(schedule, condition, lanes * scalar.size, lanes))
    return found
