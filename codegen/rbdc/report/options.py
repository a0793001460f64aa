"""Options of a comparison."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count, takewhile
from math import inf
from pathlib import Path
from sys import float_info
from typing import Any, NamedTuple

from rbdc.errors import OptionError
from rbdc.option_fields import COUNT, TEXT, Option, Reading, each, names, within
from rbdc.options import BuildOptions
from rbdc.runtime._suggestions import suggestion

PINOCCHIO, NATIVE, CPPADCODEGEN, CASADI = "pinocchio", "pinocchio-native", "cppadcodegen", "casadi"
PEERS = {NATIVE: "peer", PINOCCHIO: "peer", CPPADCODEGEN: "ad", CASADI: "ad"}
"""The peers, with the families of their methods: Pinocchio compiled for this processor from its headers, the
library of its pip package, CppADCodeGen through Pinocchio, and CasADi.
"""
NOT_ASKED = "not asked for"
"""The reason shown for a peer that the options leave out."""
PEER = "peer"
"""Word of --methods for every method of the peers."""
LOOPS = "loops"
"""Word of --methods for every paper's recursion as loops; the names of these methods begin with it."""
USUAL_PEERS = (PINOCCHIO, CASADI)
"""Peers of `rbdc compare`, without those that take minutes to compile."""
BEST_PEERS = (NATIVE, CASADI)
"""Peers of benchmarks and studies."""
PINOCCHIOS = (NATIVE, PINOCCHIO)
"""The peers that are Pinocchio, the faster build first."""


def peer_of(method: str) -> str | None:
    """Return the peer that a method's code comes from; None for a method of rbdc."""
    return next((p for p in PEERS if method.startswith(p) or method.endswith(f"-{p}")), None)


def as_loops(method: str) -> bool:
    """Return whether a method is a paper's recursion as loops."""
    return method.startswith(f"{LOOPS}-")


class UserReference(NamedTuple):
    """A user's implementation of `function` of the catalogue: the function `name` of a Python file."""

    function: str
    file: Path
    name: str


def _user_reference(value: Any) -> UserReference:
    """Parse `[NAME=]FILE:FUNCTION`; NAME is a function of the catalogue and defaults to FUNCTION."""
    if isinstance(value, UserReference):
        return value
    place, _, name = TEXT.read(value).rpartition(":")
    function, equals, file = place.partition("=")
    if not (equals and function.isidentifier()):
        function, file = name, place
    if not (file and name.isidentifier()):
        raise ValueError("give [NAME=]FILE:FUNCTION, as rnea=paper.py:newton_euler")
    return UserReference(function, Path(file), name)


@dataclass(frozen=True)
class CompareOptions(BuildOptions):
    """Options of a comparison. Model, compiler and flags apply to all methods of rbdc and to CasADi's C.

    functions, methods: None for all.
    references: a user's references; their functions are compared if `functions` names none.
    at_rest: set all inputs but configurations to zero.
    also: further compilers, for the generated method alone.
    given_up: pairs of a function and a method that exceeded the limit for smaller mechanisms.
    batch: number of samples of the largest batch, None for no batches.
    every_form: include the straight-line code of every algorithm of the catalogue, also of the algorithm of
        the generated method.
    """

    functions: Option[tuple[str, ...] | None] = Option(
        names("NAME,..."), None, "Comma-separated names of functions, instead of the default functions."
    )
    methods: Option[tuple[str, ...] | None] = Option(
        names("NAME,..."),
        None,
        "Comma-separated methods or families (single, analytical, ad, numerical; peer: all methods of the "
        "--peers; loops: the papers' recursions as loops); by default all.",
    )
    peers: Option[tuple[str, ...]] = Option(
        names("NAME,..."),
        USUAL_PEERS,
        "Peers to measure; peers that are not installed are listed as absent. pinocchio: the library of the "
        "pip package. pinocchio-native: builds of its headers for this processor; compiling them takes "
        "minutes, once.",
    )
    samples: Option[int] = Option(COUNT, 256, "Number of different inputs, used in turn while timing.")
    checked: Option[int] = Option(COUNT, 8, "Number of inputs that are compared with the reference.")
    seconds: Option[float] = Option(
        within(float_info.min, inf, "give a time above 0"),
        1.5,
        "Approximate time of measuring each function, for all its methods together (s).",
    )
    references: Option[tuple[UserReference, ...]] = Option(
        each(Reading(_user_reference, ""), "[NAME=]FILE:FUNCTION"),
        (),
        "Also compare a function of a Python file that computes the function NAME of rbdc: a recursion over "
        "a machine m, or a plain function (model, *inputs).",
        "--reference",
    )
    limit: Option[float | None] = Option(
        within(float_info.min, inf, "give a time above 0"),
        None,
        "Limit in seconds, each for tracing a method, for compiling one of its files, and for a function's "
        "reference. Methods that exceed it are listed as absent. With --limit, straight-line code has no "
        "size limit.",
        "--limit",
    )
    at_rest: bool = False
    also: tuple[str, ...] = ()
    given_up: tuple[tuple[str, str], ...] = ()
    batch: Option[int | None] = Option(COUNT, None, "Samples of the largest batch.", "--batch-samples")
    every_form: bool = False

    @property
    def compared(self) -> tuple[str, ...] | None:
        """Names of the functions to compare: those of `functions`, or of a user's references; None
        for all.
        """
        return self.functions or tuple(reference.function for reference in self.references) or None

    def wants(self, method: str, family: str) -> bool:
        """Return whether a method is to be measured; the generated method always is.

        The word peer stands for every method of the peers, the word loops for every paper's recursion as
        loops.
        """
        peer = peer_of(method)
        if peer is not None and peer not in self.peers:
            return False
        if self.methods is None or family == "generated":
            return True
        words = {method, family, *([] if peer is None else [PEER]), *([LOOPS] if as_loops(method) else [])}
        return bool(words & {*self.methods})

    def missed(self, peer: str) -> str | None:
        """Return why no method of a peer is measured; None if some method is."""
        if peer not in self.peers:
            return NOT_ASKED
        if self.wants(peer, PEERS[peer]) or any(peer_of(method) == peer for method in self.methods or ()):
            return None
        asked = ",".join(self.methods or ())
        return f"--methods {asked} does not name it; {PEER} stands for all of --peers"

    @property
    def batch_sizes(self) -> list[int]:
        """Return 1, 8, 64 and so on, and the largest size; empty without batches."""
        most = self.batch
        return [] if most is None else [*takewhile(lambda n: n < most, (8**k for k in count())), most]

    def check(self) -> None:
        """Raise OptionError for invalid values."""
        for peer in self.peers:
            if peer not in PEERS:
                raise OptionError(f"--peers: no peer {peer!a}; {suggestion(peer, PEERS)}")
        for reference in self.references:
            if reference.function not in (self.compared or ()):
                among = ",".join(self.compared or ())
                raise OptionError(f"--reference: {reference.function} is not among --functions {among}")
        if self.checked > self.samples:
            raise OptionError(
                f"--samples {self.samples}, --checked {self.checked}: give 1 <= checked <= samples"
            )
