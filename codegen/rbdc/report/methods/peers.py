"""Pinocchio beside our methods, where it is installed and can represent the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rbdc.functions.record import Function
from rbdc.model import Model
from rbdc.options import Progress
from rbdc.report.methods import pinocchio
from rbdc.report.methods.records import Absent, Contender, FunctionRecord
from rbdc.report.options import CompareOptions


@dataclass(frozen=True)
class Peers:
    """The builds of Pinocchio that take part, and the absent peers with the reasons."""

    builds: list[pinocchio.PinocchioBuild] = field(default_factory=list)
    absent: dict[str, str] = field(default_factory=dict)


def add_peers(
    model: Model,
    functions: Sequence[FunctionRecord],
    options: CompareOptions,
    folder: Path,
    progress: Progress,
) -> Peers:
    """Add the contenders of every build of Pinocchio to the functions that it has.

    Compiling the builds takes minutes the first time.
    """
    if not options.wants("pinocchio", "peer"):
        return Peers([], {"pinocchio": "not asked for"})
    archive = folder / "pinocchio.txt"
    reason = pinocchio.availability() or pinocchio.save_model(model, archive)
    if reason is not None:
        for one in functions:
            one.absent.append(Absent(one.name, "pinocchio", "peer", reason))
        return Peers([], {"pinocchio": reason})
    builds = pinocchio.builds(progress)
    for one in functions:
        for build in builds:
            one.contenders += _contenders(one.function, build, archive)
        if pinocchio.NAME not in one.function.comparison.peers:
            reason = "Pinocchio has no such function, or one that means something else"
            one.absent.append(Absent(one.name, "pinocchio", "peer", reason))
    return Peers(builds)


def _contenders(function: Function, build: pinocchio.PinocchioBuild, archive: Path) -> list[Contender]:
    """A function of one build, by each of Pinocchio's algorithms for it."""
    name, made = function.name, []
    for algorithm in function.comparison.peers.get(pinocchio.NAME, ()):
        symbol = f"rbdc_peer_{algorithm}"
        method = f"pinocchio-{build.name}{algorithm.removeprefix(name).replace('_', '-')}"
        made.append(
            Contender(name, method, "peer", algorithm, build.library, symbol, f"{symbol}_fetch", archive)
        )
    return made
