"""Pinocchio beside our methods, where it is installed and knows the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rbdc.model import Model
from rbdc.options import Progress
from rbdc.report import pinocchio
from rbdc.report.assembly import Measured
from rbdc.report.contenders import Contender
from rbdc.report.implementation import Absent
from rbdc.report.options import CompareOptions


@dataclass(frozen=True)
class Peers:
    """The builds of Pinocchio that took part, and the peers that did not, with the reasons."""

    builds: list[pinocchio.PinocchioBuild] = field(default_factory=list)
    absent: dict[str, str] = field(default_factory=dict)


def add_peers(model: Model, measured: Sequence[Measured], options: CompareOptions, folder: Path, progress: Progress) -> Peers:
    """Add the contenders of every build of Pinocchio to the functions that it has; compiling them can take minutes once."""
    if not options.wants("pinocchio", "peer"):
        return Peers([], {"pinocchio": "not asked for"})
    archive = folder / "pinocchio.txt"
    reason = pinocchio.availability() or pinocchio.save_model(model, archive)
    if reason is not None:
        for one in measured:
            one.absent.append(Absent(one.name, "pinocchio", "peer", reason))
        return Peers([], {"pinocchio": reason})
    builds = pinocchio.builds(progress)
    for one in measured:
        for build in builds:
            one.contenders += _contenders(one.name, build, archive)
        if one.name not in pinocchio.FUNCTIONS:
            one.absent.append(Absent(one.name, "pinocchio", "peer", "Pinocchio has no such function, or one that means something else"))
    return Peers(builds)


def _contenders(function: str, build: pinocchio.PinocchioBuild, archive: Path) -> list[Contender]:
    """A function as one build has it, in its variants."""
    if function not in pinocchio.FUNCTIONS:
        return []
    made = []
    for variant in pinocchio.VARIANTS.get(function, (function,)):
        symbol = f"rbdc_peer_{variant}"
        suffix = variant.removeprefix(function).replace("_", "-")
        made.append(
            Contender(
                function, f"pinocchio-{build.name}{suffix}", "peer", variant, build.library, symbol, f"{symbol}_fetch", archive
            )
        )
    return made
