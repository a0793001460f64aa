"""Whether tuned functions are as fast as they can be: robots are tuned, then all ways are timed once more.

    python -m tests.tuned_again kuka_iiwa hyq solo12 simple_humanoid --preset optimisation --seconds 60

Prints for each robot, single calls and batches apart, the geometric mean of the default's time over that of
the choice, and functions whose choice takes over 1.03 times the fastest way of the second run; status 1 where
there are some. The machine must be quiet. A root other than the usual one stands behind a name, hyq:fixed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

from rbdc.native.machine import processor
from rbdc.options import BuildOptions
from rbdc.pipeline import read
from rbdc.planning.tuning import KINDS, Tuning, geometric_mean
from rbdc.resources import resolve
from rbdc.tuning.choosing import busy
from rbdc.tuning.measurement import measure
from tests.emit.support_measurements import FIXED

MOST = 1.03
"""Times of the fastest way that a tuned function may take."""


def again(first: Tuning, second: Tuning, kind: str) -> dict[str, float]:
    """Return for each function the second run's time of the first run's choice, divided by that of its
    fastest form.
    """
    ratios = {}
    for name, decision in first.decisions[kind].items():
        times = {timing.way: timing.nanoseconds for timing in second.decisions[kind][name].measured}
        if decision.way in times:
            ratios[name] = times[decision.way] / min(times.values())
    return ratios


def lines(first: Tuning, second: Tuning) -> Iterator[str]:
    """Yield the result of one robot in words; a line of a function that is too slow begins with blanks."""
    for kind in KINDS:
        gains = [decision.gain or 1.0 for decision in first.decisions[kind].values()]
        if not gains:
            continue
        ratios = again(first, second, kind)
        mean = f"default over tuned {geometric_mean(gains):.3f} (geometric mean)"
        yield f"{kind}: {len(gains)} functions, {mean}"
        yield f"{kind}: at most {max(ratios.values()):.3f} times the fastest way of the second run"
        for name, ratio in ratios.items():
            if ratio > MOST:
                way = first.decisions[kind][name].way
                yield f"  {name}, {kind}: {way} takes {ratio:.3f} times the fastest"


def main() -> int:
    """0, or 1 where a choice is too slow."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("robots", nargs="+")
    parser.add_argument("--preset", default="optimisation")
    parser.add_argument("--seconds", type=float, default=60.0)
    asked, slow = parser.parse_args(), False
    sys.stdout.write(f"{processor()}\n")
    for robot in asked.robots:
        name, _, root = robot.partition(":")
        root = root or ("fixed" if name in (*FIXED, "ur5") else "free-flyer")
        options = BuildOptions(root_joint=root, preset=asked.preset, tune=asked.seconds)
        model = read(resolve(name), options)
        first, second = (measure(model, options, lambda text: None) for _ in range(2))
        for line in (*lines(first, second), *busy(first), *busy(second)):
            sys.stdout.write(f"{robot}: {line}\n")
            slow |= line.startswith("  ")
    return int(slow)


if __name__ == "__main__":
    sys.exit(main())
