"""Tunings with times as data: no test times anything."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rbdc.native.machine import processor
from rbdc.planning.tuning import BATCH, BLOCKS, SINGLE, Timing, TunedWay, Tuning, Used
from rbdc.tuning.choosing import decided


def timings(times: Mapping[TunedWay, float], on: str | None = None) -> list[Timing]:
    """Return times of ways on a processor, by default this one."""
    return [Timing(on or processor(), way, nanoseconds) for way, nanoseconds in times.items()]


def tuning(
    single: Mapping[str, Mapping[TunedWay, float]],
    batch: Mapping[str, Mapping[TunedWay, float]] | None = None,
    blocks: Mapping[str, Mapping[TunedWay, float]] | None = None,
    on: str | None = None,
) -> Tuning:
    """Return a tuning by times of ways, of which the first is the default, by function."""
    kinds = {SINGLE: single, BATCH: batch or {}, BLOCKS: blocks or {}}
    decisions = {
        kind: {name: decided(next(iter(times)), timings(times, on)) for name, times in by_function.items()}
        for kind, by_function in kinds.items()
    }
    ways = [way for by_function in kinds.values() for times in by_function.values() for way in times]
    return Tuning({way.compiler: Used("version", ("-O1",)) for way in ways}, decisions)


def written(tuned: Tuning, folder: Path) -> Path:
    """Return the file of a tuning."""
    path = folder / "tuning.json"
    path.write_text(tuned.text, encoding="utf-8")
    return path
