"""The words of templates for a width of registers: its windows as tables, its supernodes, its exchanges."""

from __future__ import annotations

from typing import Any

from rbdc.emit.c.vectors import exchanged
from rbdc.emit.render import braced
from rbdc.planning.windows.widths import Width

_CONDITIONS = {64: "#if defined(__AVX512F__)", 32: "#elif defined(__AVX__)", 16: "#else"}
"""The line that asks for registers of so many bytes, for each of `REGISTERS`."""


def width_words(size: int, width: Width) -> dict[str, Any]:
    """The words for columns side by side in registers of so many bytes."""
    return {
        "condition": _CONDITIONS[size],
        "bytes": width.bytes,
        "lanes": width.lanes,
        "tables": _tables(width),
        "numbered": [(node, width.shapes.index(node.shape)) for node in width.nodes],
        "shapes": width.shapes,
        "turned": _turned(width.lanes),
    }


def _tables(width: Width) -> dict[str, list[str]]:
    """Line by line the windows, their tiles by kind (below, on both sides, above), rows without entries,
    masks, and which rows are `apart`.
    """
    masks: dict[int, int] = {}
    lines, tiles, empty = list[str](), list[str](), list[str]()
    for window in width.windows:
        kinds: list[list[str]] = [[], [], []]
        for tile in window.tiles:
            below, above = (masks.setdefault(mask, len(masks)) for mask in (tile.below, tile.above))
            number = 0 if not tile.above else 1 if tile.below else 2
            kinds[number].append(f"{tile.row}, {below}, {above}")
        for kind in kinds:
            tiles += [braced([text]) for text in kind]
        empty += map(str, window.empty)
        lines.append(braced((window.column, *map(len, kinds), len(window.empty))))
    bits = [braced(-(mask >> lane & 1) for lane in range(width.lanes)) for mask in masks]
    apart = [braced(map(int, row)) for row in width.apart]
    return {"windows": lines, "tiles": tiles, "empty": empty or ["0"], "masks": bits, "apart": apart}


def _turned(lanes: int) -> list[list[str]]:
    """The steps in which as many registers as there are lanes, s, change rows for columns, t1_: halves,
    quarters and so on change places.
    """
    old, steps, half = "s", list[list[str]](), lanes // 2
    while half:
        new, row = f"t{half}_", f"{old}{{}}"
        steps.append([f"{new}{k} = {exchanged(row, k, half, lanes)}" for k in range(lanes)])
        old, half = new, half // 2
    return steps
