"""Bodies of loops in lanes, traced from algorithms: what is read and written becomes their arguments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from rbdc.emit.paths.layout import LIMBS
from rbdc.ir.from_casadi import Recorder, from_casadi, symbols
from rbdc.ir.lanes import LaneProgram, in_lanes
from rbdc.ir.passes.simplify import optimise
from rbdc.ir.verify import verify
from rbdc.spatial import Motion, Scalar, Vector3
from rbdc.spatial.scalars import is_number


@dataclass
class LaneRecorder:
    """One body: entries of arrays that it reads, and those that it writes. All are arrays of vectors, but
    `numbers`, which are the same for all lanes.
    """

    name: str
    formula: str
    numbers: tuple[str, ...] = ()
    _comment: str = ""
    _labels: Recorder = field(default_factory=Recorder)
    _read: dict[str, list[Scalar]] = field(default_factory=dict)
    _written: dict[str, dict[int, Scalar]] = field(default_factory=dict)

    def begin(self, comment: str) -> None:
        """Begin a block of the C under this comment."""
        self._comment = comment

    def read(self, array: str, entry: int = 0) -> Scalar:
        """An entry of an array."""
        known = self._read.setdefault(array, [])
        if entry >= len(known):
            known += symbols(f"{array}{len(known)}", entry + 1 - len(known))
        return known[entry]

    def entries(self, array: str, start: int, count: int) -> list[Scalar]:
        """Consecutive entries of an array."""
        return [self.read(array, start + k) for k in range(count)]

    def vector(self, array: str, start: int) -> Vector3:
        """Three consecutive entries of an array."""
        return Vector3.of(self.entries(array, start, 3))

    def motion(self, array: str, start: int) -> Motion:
        """Six consecutive entries of an array: linear, then angular."""
        return Motion.of(self.entries(array, start, 6))

    def let(self, name: str, value: Scalar) -> Scalar:
        """Name a value for the reader of the C."""
        if not is_number(value):
            self._labels.record("", self._comment, name, [value])
        return value

    def let_all(self, name: str, values: Sequence[Scalar]) -> None:
        """Name values by their numbers."""
        for number, value in enumerate(values):
            self.let(f"{name}{number}", value)

    def let_vector(self, name: str, value: Vector3) -> Vector3:
        """Name the components of a vector."""
        for axis, x in zip("xyz", value.scalars(), strict=True):
            self.let(f"{name}_{axis}", x)
        return value

    def let_motion(self, name: str, value: Motion) -> Motion:
        """Name the components of a spatial vector: u linear, w angular."""
        self.let_vector(f"{name}_u", value.linear)
        self.let_vector(f"{name}_w", value.angular)
        return value

    def store(self, array: str, start: int, values: Iterable[Scalar]) -> None:
        """Write consecutive entries of an array."""
        stored = dict(enumerate(values, start))
        self._labels.record("", self._comment, "", [x for x in stored.values() if not is_number(x)])
        self._written.setdefault(array, {}).update(stored)

    def body(self) -> LaneProgram:
        """The simplified program of all that was stored."""
        outputs = [(name, list(entries.values())) for name, entries in self._written.items()]
        program = from_casadi(self.name, list(self._read.items()), outputs, self._labels)
        program = verify(optimise(program))
        arrays = tuple(
            replace(array, output_indices=tuple(self._written[array.name])) for array in program.outputs
        )
        names = [*self._read, *self._written]
        widths = dict.fromkeys((name for name in names if name not in self.numbers), LIMBS)
        pitches: Mapping[str, str] = {name: "1" if name in self.numbers else "" for name in names}
        return LaneProgram(self.formula, in_lanes(replace(program, outputs=arrays), widths), pitches, "limbs")
