"""Results of a comparison and of the two experiments."""

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


@dataclass(frozen=True)
class TableRow:
    """One row of Table I of Carpentier and Mansard for one robot, times in nanoseconds.

    rolled, pinocchio: None where they do not compute what the row says. paper: the paper's time.
    """

    robot: str
    row: str
    generated: float
    rolled: float | None
    pinocchio: float | None
    paper: float


@dataclass(frozen=True)
class Residue:
    """The largest entry of a derivative that should vanish; `zeros` of its `size` entries are exactly 0.

    truncation: what truncation alone leaves, of differences; None for methods that do not truncate.
    """

    function: str
    output: str
    method: str
    largest: float
    zeros: int
    size: int
    truncation: float | None = None
