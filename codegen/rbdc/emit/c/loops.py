"""The C of a nest of loops: its tables, its arrays, and its statements with the programs inside."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from rbdc.emit.backend import FunctionSource
from rbdc.emit.c.csource import function_file
from rbdc.emit.c.expressions import StatementWriter, names_in
from rbdc.emit.names import comment
from rbdc.functions.declarations import FunctionDeclaration
from rbdc.functions.scalar_types import ScalarType
from rbdc.ir.indices import Entry, Index, Sum, Variable, plus
from rbdc.ir.loops import Clear, Loop, LoopNest, Place, Sines, Statement, Step, Switch, Table, WhereGiven

_INDENT = "    "
RESULTS = "results"
"""The title of a section of what has no label."""


def loops_source(robot: str, declaration: FunctionDeclaration, nest: LoopNest, method: str) -> FunctionSource:
    """The C of a function as loops, its tables beside it."""
    scalar = declaration.scalar
    source = FunctionSource(declaration, nest.cost(), method=method)
    writer = LoopWriter(robot, scalar)
    lines = writer.body(nest.statements)
    unread = [p.name for p in declaration.inputs if p.name not in writer.read]
    source.files[f"{robot}_{declaration.name}.c"] = function_file(
        robot,
        source,
        body="loops.c.jinja",
        tables=[_table_view(table, scalar) for table in nest.tables],
        arrays=declared(nest.arrays, scalar),
        lines=[*(f"{_INDENT}(void){name};" for name in unread), *lines],
    )
    return source


def declared(arrays: Mapping[str, int], scalar: ScalarType) -> list[str]:
    """The declarations of arrays by their sizes."""
    return [f"{scalar.name} {name}[{size}]" for name, size in arrays.items()]


def _table_view(table: Table, scalar: ScalarType) -> tuple[str, list[str]]:
    """The declaration of a table, and the lines of its numbers."""
    kind = "int" if table.integer else scalar.name
    size = len(table.rows) * table.width
    lines = []
    for number, row in enumerate(table.rows):
        text = ", ".join(str(int(x)) if table.integer else scalar.literal(x + 0.0) for x in row)
        lines.append(f"{text}, /* {comment(table.comments[number])} */" if table.comments else text)
    if not table.comments:
        lines = [", ".join(lines)]
    return f"static const {kind} {table.name}[{size}]", lines


@dataclass(frozen=True)
class LoopWriter:
    """Statements as lines of C. kinds: C types of numbers in arrays where they are another one; read: the
    arrays that the lines have named so far.
    """

    robot: str
    scalar: ScalarType
    kinds: Mapping[str, str] = field(default_factory=dict)
    read: set[str] = field(default_factory=set)

    def lines(self, statement: Statement) -> list[str]:
        """The lines of a statement."""
        match statement:
            case Step():
                return self._step(statement)
            case Loop():
                return self._loop(statement)
            case Switch():
                return self._switch(statement)
            case WhereGiven():
                self.read.add(statement.argument)
                return [f"if ({statement.argument} != NULL) {{", *self.body(statement.body), "}"]
            case Clear():
                return [f"memset({statement.array}, 0, {statement.size} * sizeof *{statement.array});"]
            case Sines():
                return self._sines(statement)

    def body(self, statements: Sequence[Statement]) -> list[str]:
        """The lines of statements within braces."""
        return [_INDENT + line if line else "" for part in statements for line in self.lines(part)]

    def _loop(self, loop: Loop) -> list[str]:
        name, start, stop = loop.variable, _index(loop.start), _index(loop.stop)
        head = f"for (int {name} = {start}; {name} < {stop}; ++{name}) {{"
        if loop.backward:
            head = f"for (int {name} = {_index(plus(loop.stop, -1))}; {name} >= {start}; --{name}) {{"
        about = ["", f"/* {loop.comment} */"] if loop.comment else []
        return [*about, head, *self.body(loop.body), "}"]

    def _switch(self, switch: Switch) -> list[str]:
        lines = [f"switch ({_index(switch.on)}) {{"]
        for number, (about, body) in enumerate(switch.cases):
            last = ["default:"] if number == len(switch.cases) - 1 else []
            lines += [f"case {number}: /* {about} */", *last, *self.body(body), f"{_INDENT}break;"]
        return [*lines, "}"]

    def _sines(self, sines: Sines) -> list[str]:
        lanes = sines.lanes
        about = ["", f"/* sines and cosines of all angles, {lanes} at a time */"]
        at = "" if sines.whole == lanes else " + m"
        call = f"{self.robot}_sincos{lanes}"
        call += f"({sines.angles}{at}, NULL, {sines.sines}{at}, {sines.cosines}{at});"
        if not at:
            return [*about, call]
        return [*about, f"for (int m = 0; m < {sines.whole}; m += {lanes}) {{", _INDENT + call, "}"]

    def _step(self, step: Step) -> list[str]:
        blocks = StatementWriter(self.robot, step.program, self.scalar).blocks(0)
        text = [line for block in blocks for line in titled(block.title, block.formula, block.lines)]
        used = names_in(blocks)
        self.read.update(place.array for name, place in step.places.items() if name in used)
        pointers = list(self._pointers(step, used))
        if not pointers and len(text) == 1:
            return text
        return ["{", *(_INDENT + line for line in (*pointers, *text)), "}"]

    def _pointers(self, step: Step, used: set[str]) -> Iterator[str]:
        """Declarations of the arguments of a step."""
        outputs = {array.name for array in step.program.outputs}
        for name, place in step.places.items():
            if name in used and name != place.array:
                const = "" if name in outputs else "const "
                alone = "restrict " if name in outputs and _is_alone(step, name) else ""
                kind = self.kinds.get(place.array, self.scalar.name)
                yield f"{const}{kind} *{alone}{name} = {_address(place)};"


def _is_alone(step: Step, name: str) -> bool:
    """Whether an output is the only one on its array, and no input lies where it does: nothing else in the
    step then reads or writes what it writes.
    """
    place = step.places[name]
    outputs = [step.places[array.name].array for array in step.program.outputs]
    same = [other for other in step.places.values() if replace(other, adds=place.adds) == place]
    return outputs.count(place.array) == 1 and len(same) == 1


def _address(place: Place) -> str:
    """The address of a place in C."""
    terms = [_index(index) if stride == 1 else _times(stride, index) for index, stride in place.strides]
    return " + ".join([place.array, *terms, *([str(place.offset)] if place.offset else [])])


def _index(index: Index) -> str:
    """An index in C."""
    match index:
        case Variable(name):
            return name
        case Entry(table, row):
            return f"{table}[{_index(row)}]"
        case Sum(inner, number):
            return f"{_index(inner)} {'-' if number < 0 else '+'} {abs(number)}"
        case _:
            return str(index)


def _times(stride: int, index: Index) -> str:
    """An index times a number in C."""
    return f"{stride} * ({_index(index)})" if isinstance(index, Sum) else f"{stride} * {_index(index)}"


def titled(title: str, formula: str, lines: Sequence[str]) -> list[str]:
    """Lines under their comment, where they have one."""
    if title == RESULTS:
        return list(lines)
    label = f"{title}: {formula}" if title and formula else formula
    return [f"/* {label} */", *lines] if label else list(lines)
