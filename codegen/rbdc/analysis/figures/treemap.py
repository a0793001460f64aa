"""Treemaps of operations by body and section, laid out in rows of nearly square rectangles.

Bruls, Huizing and van Wijk, Squarified Treemaps (2000).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from rbdc.emit.render import part
from rbdc.model.xml import shown

Counts = Mapping[tuple[str, str], int]
"""Operations by body and section (a step of the algorithm)."""
WIDTH, HEIGHT = 1000.0, 360.0
"""Size of the layout, with the proportions of a wide window. Figures state positions as shares of it."""
TONES = 10
"""Colours of sections in the style sheet."""
_LABELLED = (80.0, 26.0)
"""Least width and height of a rectangle with words."""


class Box(NamedTuple):
    """A rectangle: its corner and the lengths of its sides."""

    x: float
    y: float
    width: float
    height: float


def squarified(sizes: Sequence[float], box: Box) -> list[Box]:
    """Return a rectangle for each size, with proportional areas that fill the box; sizes must be in
    descending order.
    """
    scale, left = box.width * box.height / sum(sizes), list(sizes)
    rectangles: list[Box] = []
    while left:
        side, count = min(box.width, box.height), 1
        while count < len(left) and _worst(left[: count + 1], side, scale) <= _worst(
            left[:count], side, scale
        ):
            count += 1
        row, left = left[:count], left[count:]
        boxes, box = _row(row, box, scale)
        rectangles += boxes
    return rectangles


def _worst(row: Sequence[float], side: float, scale: float) -> float:
    depth = scale * sum(row) / side
    lengths = [scale * size / depth for size in row]
    return max(max(depth / length, length / depth) for length in lengths)


def _row(row: Sequence[float], box: Box, scale: float) -> tuple[list[Box], Box]:
    """Return the rectangles of a row along the shorter side of a box, and the rest of the box."""
    side = min(box.width, box.height)
    depth, place, boxes = scale * sum(row) / side, 0.0, []
    for size in row:
        length = side * size / sum(row)
        if box.width >= box.height:
            boxes.append(Box(box.x, box.y + place, depth, length))
        else:
            boxes.append(Box(box.x + place, box.y, length, depth))
        place += length
    if box.width >= box.height:
        return boxes, Box(box.x + depth, box.y, box.width - depth, box.height)
    return boxes, Box(box.x, box.y + depth, box.width, box.height - depth)


def treemap(counts: Counts) -> str:
    """Return operations by body, and within it by section, as HTML: an SVG and the key of its colours."""
    by_body, by_section = _totals(counts, 0), _totals(counts, 1)
    tones = {section: k % TONES for k, section in enumerate(by_section)}
    groups = []
    for body, box in zip(by_body, squarified([*by_body.values()], Box(0.0, 0.0, WIDTH, HEIGHT)), strict=True):
        of_body = {section: n for (other, section), n in _falling(counts) if other == body}
        cells = zip(of_body.items(), squarified([*of_body.values()], Box(0.0, 0.0, *box[2:])), strict=True)
        groups.append({
            **_shares(box, WIDTH, HEIGHT),
            "label": shown(body) if box.width > _LABELLED[0] and box.height > _LABELLED[1] else "",
            "cells": [
                {
                    **_shares(cell, box.width, box.height),
                    "tone": tones[section],
                    "words": f"{shown(body)}: {shown(section) or 'results'}: {n} operations",
                }
                for (section, n), cell in cells
            ],
        })  # fmt: skip
    key = [(tones[section], shown(section) or "results", n) for section, n in by_section.items()]
    return part("treemap.html.jinja", groups=groups, key=key, height=f"{HEIGHT:g}")


def _totals(counts: Counts, part_of_key: int) -> dict[str, int]:
    totals: dict[str, int] = {}
    for key, n in counts.items():
        totals[key[part_of_key]] = totals.get(key[part_of_key], 0) + n
    return dict(sorted(totals.items(), key=lambda item: -item[1]))


def _falling(counts: Counts) -> Iterable[tuple[tuple[str, str], int]]:
    return sorted(counts.items(), key=lambda item: -item[1])


def _shares(box: Box, width: float, height: float) -> dict[str, str]:
    names = ("x", "y", "width", "height")
    return {
        name: f"{100.0 * size / whole:.3f}"
        for name, size, whole in zip(names, box, (width, height, width, height), strict=True)
    }
