"""Options of a comparison."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count, takewhile

from rbdc.errors import OptionError
from rbdc.options import BuildOptions

PINOCCHIO, NATIVE, CPPADCODEGEN, CASADI = "pinocchio", "pinocchio-native", "cppadcodegen", "casadi"
PEERS = (NATIVE, PINOCCHIO, CPPADCODEGEN, CASADI)
"""Pinocchio compiled for this processor from its headers, the library of its pip package, CppADCodeGen
through Pinocchio, and CasADi."""
NOT_ASKED = "not asked for"
"""Reason of the absence of a peer that the options leave out."""
PEER = "peer"
"""Word of --methods for every method of the peers."""
USUAL_PEERS = (PINOCCHIO, CASADI)
"""Peers of `rbdc compare`: no minutes of compiling before a first comparison."""
BEST_PEERS = (NATIVE, CASADI)
"""Peers of benchmarks and studies."""
PINOCCHIOS = (NATIVE, PINOCCHIO)
"""The peers that are Pinocchio, the faster one first."""


def peer_of(method: str) -> str | None:
    """The peer whose code a method is; None for our own."""
    return next((p for p in PEERS if method.startswith(p) or method.endswith(f"-{p}")), None)


@dataclass(frozen=True)
class CompareOptions:
    """Options of a comparison.

    build: model, compiler and flags, the same for every method of ours and for CasADi's C. functions: names,
    None for all. methods: methods or families to keep, None for all. peers: those to measure against.
    samples: number of inputs that are cycled while timing. checked: number of them that are compared with the
    reference. seconds: approximate time spent on each function, all its methods together. at_rest: all inputs
    but configurations are zero. also: further compilers, for the generated method alone. batch: largest
    batch, None for no batches. every_form: the straight-line code of every algorithm of the catalogue, that
    of the generated method too.
    """

    build: BuildOptions = field(default_factory=BuildOptions)
    functions: tuple[str, ...] | None = None
    methods: tuple[str, ...] | None = None
    peers: tuple[str, ...] = USUAL_PEERS
    samples: int = 256
    checked: int = 8
    seconds: float = 1.5
    at_rest: bool = False
    also: tuple[str, ...] = ()
    batch: int | None = None
    every_form: bool = False

    def wants(self, method: str, family: str) -> bool:
        """Whether a method is to be measured; the generated one always is. The word peer stands for every
        method of the peers.
        """
        peer = peer_of(method)
        if peer is not None and peer not in self.peers:
            return False
        if self.methods is None or family == "generated":
            return True
        return bool({method, family, *(() if peer is None else (PEER,))} & {*self.methods})

    def missed(self, peer: str, family: str) -> str | None:
        """Why no method of a peer is to be measured; None where there is one."""
        if peer not in self.peers:
            return NOT_ASKED
        if self.wants(peer, family) or any(peer_of(method) == peer for method in self.methods or ()):
            return None
        return f"--methods {','.join(self.methods or ())} leaves it out; {PEER} stands for all of --peers"

    @property
    def batch_sizes(self) -> list[int]:
        """1, 8, 64 and so on, and the largest itself; empty where batches are not to be measured."""
        most = self.batch
        return [] if most is None else [*takewhile(lambda n: n < most, (8**k for k in count())), most]

    def check(self) -> None:
        """Raise OptionError for values that make no sense."""
        for peer in self.peers:
            if peer not in PEERS:
                raise OptionError(f"--peers: no peer {peer!a}; there are {', '.join(PEERS)}")
        if self.samples < 1 or not 1 <= self.checked <= self.samples:
            raise OptionError(
                f"--samples {self.samples}, --checked {self.checked}: give 1 <= checked <= samples"
            )
        if self.batch is not None and self.batch < 1:
            raise OptionError(f"--batch-samples {self.batch} is below 1")
        if not self.seconds > 0.0:
            raise OptionError(f"--seconds {self.seconds} is not above 0")
