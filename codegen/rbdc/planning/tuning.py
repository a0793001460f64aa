"""Tunings. A tuning sets the form (way to write it in C) and the compiler of each function, and the number of
samples side by side in its batch, by measured times instead of the table of `rbdc.planning.calibration`. A
file keeps the tuning.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from rbdc.model.formats.located import Fields, LocatedValue, Source
from rbdc.model.xml import shown
from rbdc.planning.calibration import RATES
from rbdc.planning.plans import FormChoice
from rbdc.runtime._suggestions import suggestion

SCHEMA = 1
FILE = "tuning.json"
"""The name of the file in a package."""
SINGLE, BATCH, BLOCKS = "single", "batch", "blocks"
KINDS = {SINGLE: "form", BATCH: "lanes", BLOCKS: "lanes"}
"""Kinds of calls, and the key in the file under which the choice for each kind stands.

single: one sample; the form of the C.
batch: a batch in row layout; the number of samples in SIMD lanes (1: no SIMD).
blocks: a batch in lane layout; the number of samples in SIMD lanes. It shares the kernel of `batch`.
"""


class TunedWay(NamedTuple):
    """A choice for a function.

    what: form of the function, or number of lanes of its batch.
    compiler: name of the compiler.
    """

    what: str | int
    compiler: str

    def __str__(self) -> str:
        return f"{self.what}, {self.compiler}"


@dataclass(frozen=True)
class Timing:
    """The measured time of a choice.

    processor: name of the processor.
    way: the choice.
    nanoseconds: time of a call, or of a sample of a batch (ns); the minimum over all passes.
    spread: median over the passes, divided by the minimum.
    """

    processor: str
    way: TunedWay
    nanoseconds: float
    spread: float = 1.0


@dataclass(frozen=True)
class Decision:
    """The choice for one function and kind of call.

    way: the choice.
    default: choice without a tuning.
    measured: times of all choices.
    place: file and line of the choice, for messages.
    """

    way: TunedWay
    default: TunedWay
    measured: tuple[Timing, ...] = ()
    place: str = field(default="", compare=False)

    def nanoseconds(self, way: TunedWay) -> float | None:
        """Return the time of a choice (ns): the geometric mean over processors. Return None if a processor
        has no time of the choice.
        """
        times = [timing.nanoseconds for timing in self.measured if timing.way == way]
        processors = {timing.processor for timing in self.measured}
        return geometric_mean(times) if times and len(times) == len(processors) else None

    @property
    def gain(self) -> float | None:
        """Time of the default divided by the time of the choice."""
        before, after = self.nanoseconds(self.default), self.nanoseconds(self.way)
        return None if before is None or after is None else before / after


class Used(NamedTuple):
    """Version and flags of a compiler with which times were measured."""

    version: str
    flags: tuple[str, ...]


@dataclass(frozen=True)
class Tuning:
    """The decisions for functions.

    compilers: compilers that were used, by name.
    decisions: decisions by `SINGLE`, `BATCH` or `BLOCKS`, then by name of the function.
    """

    compilers: Mapping[str, Used]
    decisions: Mapping[str, Mapping[str, Decision]]

    @property
    def processors(self) -> tuple[str, ...]:
        """The processors on which times were measured."""
        return tuple(dict.fromkeys(timing.processor for d in self.all() for timing in d.measured))

    @property
    def functions(self) -> tuple[str, ...]:
        """The functions for which the tuning has a decision."""
        return tuple(dict.fromkeys(name for kind in KINDS for name in self.decisions[kind]))

    def all(self) -> list[Decision]:
        """Return every decision."""
        return [decision for kind in KINDS for decision in self.decisions[kind].values()]

    def choices(self) -> dict[str, FormChoice]:
        """Return the choices for planning, by function."""
        by_function = {name: [self.decisions[kind].get(name) for kind in KINDS] for name in self.functions}
        return {name: _choice(*decisions) for name, decisions in by_function.items()}

    def compilers_of(self, function: str) -> dict[str, str]:
        """Return the entries `compiler` and `batch_compiler` of a function in the manifest."""
        names = {"compiler": self.compiler(function), "batch_compiler": self.compiler(function, batch=True)}
        return {word: compiler for word, compiler in names.items() if compiler is not None}

    def compiler(self, function: str, *, batch: bool = False) -> str | None:
        """Return the name of the compiler of a function, or of its kernel for batches; None without a
        decision.
        """
        kinds = (BLOCKS, BATCH) if batch else (SINGLE,)
        named = (self.decisions[kind][function] for kind in kinds if function in self.decisions[kind])
        return next((decision.way.compiler for decision in named), None)

    def remarks(self, functions: Iterable[str], processor: str) -> list[str]:
        """Return remarks on a build of these functions for a processor ("" stands for any processor)."""
        remarks = []
        if processor and self.processors and processor not in self.processors:
            remarks.append(f"measured on {', '.join(self.processors)}; this processor is {processor}")
        if unnamed := [name for name in functions if name not in self.functions]:
            remarks.append(f"has no choice for {', '.join(unnamed)}: built as without a tuning")
        return remarks

    @property
    def text(self) -> str:
        """The text of the file, with one measurement on each line. Equal tunings have equal text."""
        used = self.compilers.items()
        kinds = {name: [k for k in KINDS if name in self.decisions[k]] for name in self.functions}
        data = {
            "schema": SCHEMA,
            "generator": "rbdc",
            "compilers": {name: {"version": one.version, "flags": " ".join(one.flags)} for name, one in used},
            "functions": {
                name: {kind: _data(kind, self.decisions[kind][name]) for kind in kinds_of_function}
                for name, kinds_of_function in kinds.items()
            },
        }
        return _INNERMOST.sub(_on_one_line, json.dumps(data, indent=2)) + "\n"


_INNERMOST = re.compile(r"\{\s+([^{}\[\]]*?)\s+\}")


def _on_one_line(match: re.Match[str]) -> str:
    return "{" + re.sub(r"\s*\n\s*", " ", match[1]) + "}"


def _choice(single: Decision | None, batch: Decision | None, blocks: Decision | None) -> FormChoice:
    form = None if single is None else str(single.way.what)
    lanes, side_by_side = (None if one is None else int(one.way.what) for one in (batch, blocks))
    place = next((one.place for one in (single, batch, blocks) if one is not None), "")
    return FormChoice(form, lanes, side_by_side, place)


def _data(kind: str, decision: Decision) -> dict[str, Any]:
    def words(way: TunedWay) -> dict[str, Any]:
        return {KINDS[kind]: way.what, "compiler": way.compiler}

    return {
        **words(decision.way),
        "default": words(decision.default),
        "measured": [
            {"processor": t.processor, **words(t.way), "nanoseconds": t.nanoseconds, "spread": t.spread}
            for t in decision.measured
        ],
    }


def geometric_mean(numbers: Sequence[float]) -> float:
    """Return the geometric mean of positive numbers."""
    return math.exp(math.fsum(map(math.log, numbers)) / len(numbers))


def read_tuning(value: Any) -> Tuning:
    """Return the tuning that the file of this path holds, or the value itself if it is a `Tuning`.

    Raises ValueError for a path that cannot be read, and DescriptionError, with the line, for content that is
    not a tuning.
    """
    if isinstance(value, Tuning):
        return value
    if not isinstance(value, (str, PathLike)):
        raise ValueError(f"give the path of a file such as {FILE}")
    try:
        text = Path(value).read_bytes()
    except OSError as error:
        raise ValueError(f"{error.strerror}; give the path of a file such as {FILE}") from None
    return _TuningReader(Source(str(Path(value)), text)).tuning()


class _TuningReader:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.compilers: dict[str, Used] = {}

    def tuning(self) -> Tuning:
        top = self._fields(self.source.root, "the tuning")
        if top.number("schema", 0.0) != SCHEMA:
            remedy = "tune again with this version of rbdc"
            top.fail(f"it is not of schema {SCHEMA}", remedy, top.get("schema"))
        for name, node in self._members(top, "compilers"):
            fields = self._fields(node, f"compiler {shown(name)}")
            flags = (fields.text("flags") or "").split()
            self.compilers[name] = Used(fields.text("version") or "", tuple(flags))
        decisions: dict[str, dict[str, Decision]] = {kind: {} for kind in KINDS}
        for name, node in self._members(top, "functions"):
            self._check_function(name, node)
            fields = self._fields(node, name)
            for kind in KINDS:
                if (decision := fields.get(kind)) is not None:
                    decisions[kind][name] = self._decision(kind, self._fields(decision, f"{name}, {kind}"))
            self._check_kernel(name, node, decisions)
        return Tuning(self.compilers, decisions)

    def _fields(self, node: LocatedValue, what: str) -> Fields:
        return Fields(self.source, node, what)

    def _members(self, top: Fields, name: str) -> Iterable[tuple[str, LocatedValue]]:
        return self._fields(top.required(name), name).members.items()

    def _check_function(self, name: str, node: LocatedValue) -> None:
        from rbdc.functions.catalogue import known

        if name not in known():
            self.source.fail(f"no function {shown(name)}", f"{suggestion(name, known())}; or remove it", node)

    def _check_kernel(
        self, name: str, node: LocatedValue, decisions: Mapping[str, Mapping[str, Decision]]
    ) -> None:
        rows, blocks = (decisions[kind].get(name) for kind in (BATCH, BLOCKS))
        if rows and blocks and rows.way.what != 1 and rows.way != blocks.way:
            ways = f"{BATCH} is '{rows.way}', {BLOCKS} is '{blocks.way}'"
            remedy = f"give both the same lanes and compiler, or give {BATCH} 1 lane"
            self.source.fail(f"{name}: {ways}, but they share one kernel", remedy, node)

    def _decision(self, kind: str, fields: Fields) -> Decision:
        way, node, listed = self._way(kind, fields), fields.get("default"), fields.get("measured")
        default = way if node is None else self._way(kind, self._fields(node, f"{fields.what}, default"))
        measured = [] if listed is None else fields.items("measured", listed)
        timings = tuple(self._timing(kind, fields.what, each) for each in measured)
        return Decision(way, default, timings, f"{self.source.file}:{fields.node.line}")

    def _timing(self, kind: str, what: str, node: LocatedValue) -> Timing:
        fields = self._fields(node, f"{what}, measured")
        nanoseconds = fields.number("nanoseconds", 0.0)
        if nanoseconds <= 0.0:
            fields.fail("its nanoseconds are not above 0", "remove it, or tune again")
        processor = fields.word("processor", fields.required("processor"))
        return Timing(processor, self._way(kind, fields), nanoseconds, fields.number("spread", 1.0))

    def _way(self, kind: str, fields: Fields) -> TunedWay:
        compiler = self._one_of(fields, "compiler", self.compilers)
        return TunedWay(
            self._one_of(fields, KINDS[kind], RATES) if kind == SINGLE else self._lanes(fields), compiler
        )

    def _one_of(self, fields: Fields, what: str, there: Iterable[str]) -> str:
        node = fields.required(what)
        word = fields.word(what, node)
        if word not in there:
            fields.fail(f"no {what} {shown(word)}", suggestion(word, there), node)
        return word

    def _lanes(self, fields: Fields) -> int:
        lanes, remedy = fields.number(KINDS[BATCH], 0.0), "give the number of samples side by side, or 1"
        if lanes < 1.0 or lanes != int(lanes):
            fields.fail(f"no batch has {lanes:g} lanes", remedy, fields.get(KINDS[BATCH]))
        return int(lanes)
