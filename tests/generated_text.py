"""Whether a change leaves all generated text as it was: a SHA-256 of every file of every shipped robot, on
both roots, with all functions.

    python -m tests.generated_text --write FILE     before the change
    python -m tests.generated_text --check FILE     after it

Nothing is compiled. `--robots a,b` takes some robots only, of a file with more too.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path

from rbdc.emit.generation import GenerationOptions, generate
from rbdc.functions.catalogue import presets
from rbdc.model import Problem
from rbdc.model.options import LIKELY_MEANT
from rbdc.planning.availability import buildable
from rbdc.resources import resolve, robot_names

ROOTS = ("fixed", "free-flyer")


def texts(robot: str, root: str, processes: int) -> dict[str, str]:
    """Return every text file of the full package of a robot, with kernels for batches."""
    model = Problem.from_file(resolve(robot), root_joint=root, snap=LIKELY_MEANT)
    names, _ = buildable(model, list(presets()["full"]), None)
    options = GenerationOptions(targets=("c", "batch"), processes=processes)
    return generate(model, robot, names, lambda _: None, options).files


def digests(robots: Sequence[str], processes: int) -> dict[str, str]:
    """Return SHA-256 by robot/root/file."""
    by_file: dict[str, str] = {}
    for robot in robots:
        for root in ROOTS:
            sys.stderr.write(f"{robot} {root}\n")
            files = texts(robot, root, processes)
            by_file |= {
                f"{robot}/{root}/{name}": sha256(text.encode()).hexdigest() for name, text in files.items()
            }
    return by_file


def changed(before: Mapping[str, str], now: Mapping[str, str], robots: Sequence[str]) -> list[str]:
    """Return the files of these robots that differ, or that only one side has."""
    names = sorted({name for name in (*before, *now) if name.split("/")[0] in robots})
    return [name for name in names if before.get(name) != now.get(name)]


def main() -> int:
    """0, or 1 where a file differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--write", type=Path, metavar="FILE")
    what.add_argument("--check", type=Path, metavar="FILE")
    parser.add_argument("--robots", type=lambda text: text.split(","), default=list(robot_names()))
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args()
    current = digests(options.robots, options.processes)
    if options.write is not None:
        options.write.write_text(json.dumps(dict(sorted(current.items())), indent=1) + "\n")
        return 0
    differing = changed(json.loads(options.check.read_text()), current, options.robots)
    sys.stdout.write(
        "".join(f"{name} differs\n" for name in differing) or f"all {len(current)} files as they were\n"
    )
    return 1 if differing else 0


if __name__ == "__main__":
    raise SystemExit(main())
