"""The C of one step of a loop: pointers to its arguments, and its statements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from rbdc.emit.c.expressions import StatementWriter
from rbdc.emit.c.stores import Store
from rbdc.functions.scalar_types import ScalarType
from rbdc.ir.indices import Index, Multiple, Sum, TableEntry, Variable
from rbdc.ir.loops import Place, Step
from rbdc.ir.nodes import ArgumentArray, Value
from rbdc.ir.verify import MalformedProgram

RESULTS = "results"
"""Title of a section without a label."""


@dataclass(frozen=True)
class ArrayTypes:
    """Types of the arrays that the arguments of steps point into.

    scalar: default type of numbers.
    kinds: C type of the numbers, by array, if it is not `scalar`.
    widths: number of lanes, by array, if its elements are vectors.
    """

    scalar: ScalarType
    kinds: Mapping[str, str] = field(default_factory=dict)
    widths: Mapping[str, int] = field(default_factory=dict)

    def number(self, array: str) -> str:
        """Return the type of the array's numbers."""
        return self.kinds.get(array, self.scalar.name)

    def element(self, array: str) -> str:
        """Return the type of the array's elements, vectors or numbers."""
        lanes = self.widths.get(array, 1)
        return self.number(array) if lanes == 1 else f"vec{lanes}"

    def is_whole(self, place: Place, lanes: int) -> bool:
        """Return whether a place in `lanes` lanes consists of whole elements of an array of vectors."""
        distances = (place.pitch, place.offset, *(stride for _, stride in place.strides))
        among = (
            1 < lanes == self.widths.get(place.array, 1) and place.lane_stride == 1 and place.count is None
        )
        return among and not any(number % lanes for number in distances)

    def pointer(self, place: Place, lanes: int) -> tuple[str, str]:
        """Return type and address of a place: whole vectors in an array of vectors, otherwise numbers."""
        if self.is_whole(place, lanes):
            return self.element(place.array), address(place, lanes)
        number = self.number(place.array)
        array = f"({number} *){place.array}" if place.array in self.widths else place.array
        return number, address(replace(place, array=array))


def step_lines(robot: str, step: Step, arrays: ArrayTypes, read: set[str]) -> list[str]:
    """Return the lines of a step, and add the arrays that it names to `read`."""
    return _StepWriter(robot, _without_shadows(step, arrays), arrays).lines(read)


def _without_shadows(step: Step, arrays: ArrayTypes) -> Step:
    """Return the step with new names for arguments that have the name of an array but not its address."""
    names = {place.array for place in step.places.values()}
    program = step.program
    widths = {array.name: array.width for array in (*program.inputs, *program.outputs)}
    new = {
        name: f"{name}_here"
        for name, place in step.places.items()
        if name in names and arrays.pointer(place, widths.get(name, 1))[1] != name
    }
    if not new:
        return step

    def renamed(group: tuple[ArgumentArray, ...]) -> tuple[ArgumentArray, ...]:
        return tuple(replace(array, name=new.get(array.name, array.name)) for array in group)

    values = tuple(
        value
        if value.source is None
        else value._replace(source=(new.get(value.source[0], value.source[0]), value.source[1]))
        for value in program.values
    )
    program = replace(
        program, inputs=renamed(program.inputs), outputs=renamed(program.outputs), values=values
    )
    return Step(program, {new.get(name, name): place for name, place in step.places.items()})


class _StepWriter(StatementWriter):
    """Writes a program whose arguments are pointers. LOAD reads vectors among numbers and STORE writes
    them.
    """

    def __init__(self, robot: str, step: Step, arrays: ArrayTypes) -> None:
        self.step, self.arrays = step, arrays
        program = step.program
        arguments = (*program.inputs, *program.outputs)
        self._is_plain = all(a.width == 1 and not step.places[a.name].pitch for a in arguments)
        self._widths = {array.name: array.width for array in arguments}
        super().__init__(robot, program, arrays.scalar)
        self._first = dict[int, str]()
        if not self._is_plain:
            self.zeros = 0  # gcc 12 clears runs of vectors by a slow string instruction
            self._first = {k: _local(v) for k, v in enumerate(program.values) if self._is_first(k, v)}

    def lines(self, read: set[str]) -> list[str]:
        """Return all lines, in braces if there are pointers or several statements."""
        text = [line for b in self.blocks(0) for line in titled(b.title, b.formula, b.lines)]
        values = ((self.program.values[index], name) for index, name in self._first.items())
        first = [
            f"const {self._type_of_input(value)} {name} = {self._entry(*value.source)};"
            for value, name in values
            if value.source is not None
        ]
        read.update(place.array for name, place in self.step.places.items() if name in self.named)
        pointers = list(self._pointers())
        if not pointers and not first and len(text) == 1:
            return text
        return ["{", *("    " + line for line in (*pointers, *first, *text)), "}"]

    def _pointers(self) -> Iterator[str]:
        outputs = {array.name for array in self.step.program.outputs}
        for name, place in self.step.places.items():
            kind, where = self.arrays.pointer(place, self._widths.get(name, 1))
            if name in self.named and name != place.array:
                const = "" if name in outputs else "const "
                alone = "restrict " if name in outputs and _is_alone(self.step, name) else ""
                yield f"{const}{kind} *{alone}{name} = {where};"

    def _is_first(self, index: int, value: Value) -> bool:
        """Return whether an input must be read before the first write, which may overlap it."""
        if value.source is None or not self._uses[index]:
            return False
        (name, number), places = value.source, self.step.places
        place, begins = places[name], _beginning(places[name])
        return place.once or any(
            places[array.name] != place or number in (array.output_indices or range(array.size))
            for array in self.program.outputs
            if _beginning(places[array.name]) == begins
        )

    def _operand(self, index: int, context: int, number: int) -> str:
        return self._first.get(index) or super()._operand(index, context, number)

    def _sparse_outputs(self) -> dict[str, int]:
        return super()._sparse_outputs() if self._is_plain else {}

    def _type_of(self, width: int) -> str:
        return super()._type_of(width) if self._is_plain or width == 1 else f"vec{width}"

    def _mask_of(self, width: int) -> str:
        return f"bits{width}"

    def _entry(self, name: str, place: int) -> str:
        self.named.add(name)
        entry, vector = self._at(name, place)
        if entry:
            return entry
        load = "ONCE" if self.step.places[name].once else "LOAD"
        return f"{'MASK' if self._is_mask(name) else load}{self._widths[name]}({vector})"

    def _is_mask(self, name: str) -> bool:
        return self.arrays.number(self.step.places[name].array) != self.arrays.scalar.name

    def _type_of_input(self, value: Value) -> str:
        mask = value.width > 1 and value.source is not None and self._is_mask(value.source[0])
        return self._mask_of(value.width) if mask else self._type_of(value.width)

    def _stored(self, store: Store, number: int) -> str:
        place, width = self.step.places[store.array], self._widths[store.array]
        if width == 1:
            return super()._stored(replace(store, place=store.place * (place.pitch or 1)), number)
        entry, vector = self._at(store.array, store.place)
        self.named.add(store.array)
        (index,) = store.values
        text = self._operand(index, 0, number)
        if self.program.values[index].width == 1:
            text = f"({self._type_of(width)}){{0}} + {text}"
        if place.count is not None or place.lane_stride != 1:
            count = width if place.count is None else index_text(place.count)
            what = "add" if store.adds else "put"
            return f"{what}{width}({vector}, {place.lane_stride}, (const vec{width}[]){{{text}}}, {count});"
        if entry:
            return f"{entry} {'+=' if store.adds else '='} {text};"
        return f"STORE{width}({vector}, {f'LOAD{width}({vector}) + ' if store.adds else ''}{text});"

    def _at(self, name: str, number: int) -> tuple[str, str]:
        """Return an entry of an argument ("" for a vector in an array of numbers), and its address."""
        place, width = self.step.places[name], self._widths[name]
        whole = self.arrays.is_whole(place, width)
        at = number * (place.pitch or width) // (width if whole else 1)
        return f"{name}[{at}]" if whole or width == 1 else "", f"{name} + {at}" if at else name


def _beginning(place: Place) -> Place:
    return Place(place.array, place.strides, place.offset)


def _local(value: Value) -> str:
    name, place = value.source or ("", 0)
    return f"{name}_{place}"


def _is_alone(step: Step, name: str) -> bool:
    """Return whether an output is the only one on its array and overlaps no input: then nothing else in the
    step reads or writes its entries.
    """
    place = step.places[name]
    outputs = [step.places[array.name].array for array in step.program.outputs]
    same = [other for other in step.places.values() if other == place]
    return outputs.count(place.array) == 1 and len(same) == 1


def address(place: Place, lanes: int = 1) -> str:
    """Return the address of a place in C, in an array of vectors with `lanes` lanes."""
    if any(number % lanes for number in (place.offset, *(stride for _, stride in place.strides))):
        raise MalformedProgram(f"{place}: not at a vector of {lanes}")
    strides = [(index, stride // lanes) for index, stride in place.strides if index != 0]
    terms = [index_text(index) if stride == 1 else _times(stride, index) for index, stride in strides]
    return " + ".join([place.array, *terms, *([str(place.offset // lanes)] if place.offset else [])])


def index_text(index: Index) -> str:
    """Return an index in C."""
    match index:
        case Variable(name):
            return name
        case TableEntry(table, row):
            return f"{table}[{index_text(row)}]"
        case Sum(inner, int() as number):
            return f"{index_text(inner)} {'-' if number < 0 else '+'} {abs(number)}"
        case Sum(inner, other):
            return f"{index_text(inner)} + {index_text(other)}"
        case Multiple(number, inner):
            return _times(number, inner)
        case _:
            return str(index)


def _times(stride: int, index: Index) -> str:
    text = index_text(index)
    return f"{stride} * ({text})" if isinstance(index, Sum) else f"{stride} * {text}"


def titled(title: str, formula: str, lines: list[str] | tuple[str, ...]) -> list[str]:
    """Return lines under their comment, if they have one."""
    if title == RESULTS:
        return list(lines)
    label = f"{title}: {formula}" if title and formula else formula
    return [f"/* {label} */", *lines] if label else list(lines)
