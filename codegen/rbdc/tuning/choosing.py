"""Choices by measured times, for one processor and for several; the gains of a choice, and whether its times
can be trusted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from rbdc.errors import OptionError
from rbdc.planning.tuning import BATCH, BLOCKS, KINDS, Decision, Timing, TunedWay, Tuning, Used

TIE = 1.01
"""The default is kept unless another choice is faster by more than this factor: smaller differences are
within the noise.
"""


def decided(default: TunedWay, measured: Iterable[Timing]) -> Decision:
    """Return the decision by times.

    On each processor, the ratio of a choice is its time divided by the shortest time on this processor. The
    decision is the choice whose largest ratio is smallest, among the choices that were measured on all
    processors. The default is kept if its largest ratio is larger by a factor of at most `TIE`.

    Raises ValueError if no choice was measured on all processors.
    """
    timings, times = tuple(measured), dict[str, dict[TunedWay, float]]()
    for timing in timings:
        times.setdefault(timing.processor, {})[timing.way] = timing.nanoseconds
    ways = dict.fromkeys(timing.way for timing in timings)
    shared = [way for way in ways if all(way in each for each in times.values())]
    if not shared:
        raise ValueError("no choice was measured on all processors")
    worst = {way: max(each[way] / min(each.values()) for each in times.values()) for way in shared}
    best = min(shared, key=worst.__getitem__)
    stays = default in worst and worst[default] <= TIE * worst[best]
    return Decision(default if stays else best, default, timings)


def _with_one_kernel(rows: Decision, blocks: Decision) -> tuple[Decision, Decision]:
    """Return the decisions on batches in row layout and in lane layout, with the same kernel unless samples
    in row layout are computed one by one. `decided` chooses the kernel as if each layout were a processor.
    """
    if rows.way.what == 1:
        return rows, blocks
    timings = (
        replace(timing, processor=f"{timing.processor}, {kind}")
        for kind, decision in ((BATCH, rows), (BLOCKS, blocks))
        for timing in decision.measured
        if timing.way.what != 1
    )
    way = decided(blocks.default, timings).way
    return replace(rows, way=way), replace(blocks, way=way)


def merged(tunings: Mapping[str, Tuning]) -> Tuning:
    """Return one tuning for several processors, with the choices of `decided`. `tunings`: tunings by file.

    Raises OptionError for a file without measurements, if two files were measured on the same processor, or
    if no choice of a function was measured in all files with this function.
    """
    _refuse_same_processors(tunings)
    decisions: dict[str, dict[str, Decision]] = {kind: {} for kind in KINDS}
    where = ""
    used: dict[str, Used] = {}
    for one in tunings.values():
        used = {**one.compilers, **used}
    try:
        for kind in KINDS:
            for name in dict.fromkeys(name for one in tunings.values() for name in one.decisions[kind]):
                known = [one.decisions[kind][name] for one in tunings.values() if name in one.decisions[kind]]
                where = f"{name}, {kind}"
                decisions[kind][name] = decided(known[0].default, (t for one in known for t in one.measured))
        where = f"{BATCH} and {BLOCKS}"
        return Tuning(used, with_kernels(decisions))
    except ValueError as error:
        problem = f"{' and '.join(tunings)}: {where}: {error}"
        raise OptionError(f"{problem}; tune with the same `tune_compilers`") from None


def with_kernels(decisions: Mapping[str, Mapping[str, Decision]]) -> dict[str, dict[str, Decision]]:
    """Return the decisions, with one kernel for the batches of a function in both layouts."""
    new = {kind: dict(each) for kind, each in decisions.items()}
    for name in new[BATCH].keys() & new[BLOCKS].keys():
        new[BATCH][name], new[BLOCKS][name] = _with_one_kernel(new[BATCH][name], new[BLOCKS][name])
    return new


def _refuse_same_processors(tunings: Mapping[str, Tuning]) -> None:
    seen: dict[str, str] = {}
    for file, one in tunings.items():
        if not one.processors:
            raise OptionError(f"{file}: nothing was measured; give a file that `tune` wrote")
        for name in one.processors:
            if name in seen:
                raise OptionError(f"{seen[name]} and {file} were both measured on {name}; give one of them")
            seen[name] = file


def gains(tuning: Tuning) -> tuple[dict[str, Any], ...]:
    """Return times (ns) of functions with the default and with the chosen form; for batches, per sample."""
    return tuple(
        {
            "function": name,
            "call": kind,
            "default": str(decision.default),
            "default_nanoseconds": decision.nanoseconds(decision.default),
            "tuned": str(decision.way),
            "nanoseconds": decision.nanoseconds(decision.way),
            "gain": decision.gain,
        }
        for kind in KINDS
        for name, decision in tuning.decisions[kind].items()
    )


BUSY = 1.05
"""Time of the median pass, divided by that of the fastest. If the ratio is larger for a quarter of the
measurements, other work used the processor.

Measured on two cores of a Zen 4 processor: 1.14 with three busy processes, 1.09 with nine.
"""


def busy(tuning: Tuning) -> list[str]:
    """Return a warning if the machine did other work during the measurement, see `BUSY`."""
    spreads = sorted(timing.spread for decision in tuning.all() for timing in decision.measured)
    quarter = spreads[3 * len(spreads) // 4] if spreads else 1.0
    if quarter <= BUSY:
        return []
    percent = f"{100.0 * (quarter - 1.0):.0f} %"
    problem = f"a quarter of the times vary by {percent} or more between repeats: the machine did other work"
    return [f"`tune`: {problem}; tune again when it is idle"]
