"""Results of a comparison."""

from __future__ import annotations

from dataclasses import dataclass

from rbdc.model import Model
from rbdc.report.measure.roofline import Bandwidth, Peak
from rbdc.report.methods.peers.assembly import Peers
from rbdc.report.methods.records import FunctionRecord
from rbdc.report.methods.toolchains import Toolchains
from rbdc.report.options import CompareOptions


@dataclass(frozen=True)
class Comparison:
    """Everything that was measured of one robot.

    tools, peers: compilers, and builds of the peers. core: number of the core that it ran on, None where it
    could not be pinned. peak, bandwidth: limits of that core; no bandwidth where batches were not measured.
    """

    model: Model
    options: CompareOptions
    tools: Toolchains
    functions: list[FunctionRecord]
    peers: Peers
    core: int | None
    peak: Peak
    bandwidth: Bandwidth | None = None
