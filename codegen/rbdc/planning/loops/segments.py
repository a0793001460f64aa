"""Steps of a loop's body, and the loops between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from rbdc.ir.loops import Loop, Statement
from rbdc.planning.loops.recording import StepRecorder
from rbdc.spatial import Scalar

Strides = tuple[tuple[str, int], ...]
CARRIED = "row"
"""The array of numbers that a loop over columns hands to loops within it."""


@dataclass
class Segment:
    """A step in the making.

    recorder: of entries that are read. stored: by array, strides and whether it adds, scalars by offset.
    carried: numbers handed to inner loops, by the identity of a scalar its place and itself.
    """

    recorder: StepRecorder
    stored: dict[tuple[str, Strides, bool], dict[int, Scalar]] = field(default_factory=dict)
    carried: dict[int, tuple[int, Scalar]] = field(default_factory=dict)

    def store(
        self, array: str, strides: Strides, offset: int, values: Sequence[Scalar], *, adds: bool
    ) -> None:
        """Store values, or add them to what there is."""
        known = self.stored.get((array, strides, False), {})
        if adds and offset in known:
            adds, values = False, [known[k] + x for k, x in enumerate(values, offset)]
        self.stored.setdefault((array, strides, adds), {}).update(enumerate(values, offset))

    def read(self, array: str, strides: Strides, offset: int, size: int) -> list[Scalar]:
        """Return entries: what this segment has stored there, or else what the array holds."""
        known = self.stored.get((array, strides, False), {})
        if offset in known:
            return [known[k] for k in range(offset, offset + size)]
        return self.recorder.read(array, size, offset, **dict(strides)) if size else []

    def statements(self) -> Iterator[Statement]:
        """The step, if it stores anything."""
        if self.carried:
            self.store(CARRIED, (), 0, [x for _, x in self.carried.values()], adds=False)
        for (array, strides, adds), entries in self.stored.items():
            for first in (k for k in sorted(entries) if k - 1 not in entries):
                last = first
                while last in entries:
                    last += 1
                values = [entries[k] for k in range(first, last)]
                put = self.recorder.add if adds else self.recorder.write
                put(array, values, first, **dict(strides))
        if any(self.stored.values()):
            yield self.recorder.step()


class Scope:
    """The body of a loop: segments and the loops between them. Statements after an inner loop move before
    it, unless they read or write what the inner loop stores.
    """

    def __init__(self, make: Callable[[], StepRecorder]) -> None:
        self.make, self.parts = make, list[Segment | Loop]()
        self.read, self.written = set[str](), set[str]()
        self.renew()

    def renew(self) -> None:
        """Begin a segment."""
        self.now = Segment(self.make())
        self.parts.append(self.now)
        self.inside, self.changed = set[str](), set[str]()

    def reading(self, array: str) -> Segment:
        """The segment that may read an array."""
        if array in self.changed:
            self.renew()
        self.read.add(array)
        return self.now

    def writing(self, array: str) -> Segment:
        """The segment that may write an array."""
        if array in self.inside:
            self.renew()
        self.written.add(array)
        return self.now

    def statements(self, *, dry: bool) -> tuple[Statement, ...]:
        """All of them; none where nothing but what is stored is asked for."""
        parts = ((part,) if isinstance(part, Loop) else part.statements() for part in self.parts)
        return () if dry else tuple(statement for part in parts for statement in part)

    def enclose(self, loop: Loop, inner: Scope) -> None:
        """Append an inner loop, and note the arrays that it reads and writes."""
        self.parts.append(loop)
        self.changed |= inner.written
        self.inside |= inner.written | inner.read
        self.read |= inner.read
        self.written |= inner.written
