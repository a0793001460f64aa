"""The C of a nest of loops: its tables, its arrays, and its statements with the programs inside."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from rbdc.emit.backend import FunctionSource
from rbdc.emit.c.csource import CFunction, KernelCall, add_kernels, figures, function_file
from rbdc.emit.c.steps import ArrayTypes, index_text, step_lines
from rbdc.emit.c.vectors import VectorView, vector_view
from rbdc.emit.names import comment
from rbdc.emit.render import render
from rbdc.functions.declarations import FunctionDeclaration
from rbdc.functions.scalar_types import ScalarType
from rbdc.ir.indices import plus
from rbdc.ir.loops import (
    Call,
    Clear,
    ConstantTable,
    Copy,
    Loop,
    LoopNest,
    Place,
    Routine,
    Sines,
    Statement,
    Step,
    Straight,
    Switch,
    WhereGiven,
    every,
    read_in,
)
from rbdc.ir.verify import MalformedProgram

IN_REGISTERS, STORES = 16, 100
"""Largest number of vectors that are cleared one by one so that they may stay in registers, and largest
number that gcc clears by single stores. With vectors cleared one by one, M^-1 of kuka_iiwa (14 vectors)
takes 0.8 times as long, derivatives of forward dynamics of kuka_iiwa (42 vectors) 0.96 to 1 times, and those
of HyQ (252 vectors) 1.08 times (gcc 12, Xeon).
"""

_INDENT = "    "
_INLINED = "static inline __attribute__((always_inline))"


@dataclass(frozen=True)
class FilePart:
    """A table or a function of the file: the lines before, inside and after it."""

    opening: tuple[str, ...]
    lines: tuple[str, ...]
    closing: str


@dataclass(frozen=True)
class Alternatives:
    """Parts of the file: shared parts, or alternatives under preprocessor conditions.

    alternatives: preprocessor condition ("" for shared parts), and parts.
    conditional: whether there are conditions.
    """

    alternatives: tuple[tuple[str, tuple[FilePart, ...]], ...]
    conditional: bool


_CONDITIONS = ("#if defined(__AVX512F__)", "#elif defined(__AVX__)")
"""Preprocessor lines that test for registers of 64 and of 32 bytes; "#else" follows."""


def loops_source(
    robot: str,
    declaration: FunctionDeclaration,
    nest: LoopNest,
    method: str,
    variants: Sequence[LoopNest] = (),
    *,
    about: str = "",
    long_registers: bool = False,
) -> FunctionSource:
    """Return the C of a function as loops, with its tables.

    variants: the nest for registers of 64 bytes and for shorter ones, longest first.
    about: a line in the file's head.
    long_registers: whether to use registers of 64 bytes although compilers prefer not to.
    """
    nests, name, scalar = variants or (nest,), f"{robot}_{declaration.name}", declaration.scalar
    source = FunctionSource(declaration, nest.cost(), method=method)
    parts, call = list[CFunction](), list[str]()
    if nest.straight:
        arrays = ArrayTypes(scalar, widths=nest.widths)
        casts = {array: arrays.pointer(Place(array), 1)[1] for array in nest.widths}
        parts, kernels = add_kernels(robot, f"{name}_start", nest.straight, source, replaced=casts)
        call = call_lines(declaration, kernels)
    source.files[f"{name}.c"] = function_file(
        robot,
        source,
        parts=parts,
        body="loops.c.jinja",
        vectors=vectors_of(nests, scalar),
        choices=_choices([nest_parts(robot, declaration, variant, call) for variant in nests]),
        figures=figures(source.cost) + (f"\n * {about}" if about else ""),
        long_registers=long_registers,
    )
    return source


def call_lines(declaration: FunctionDeclaration, call: KernelCall) -> list[str]:
    """Return the call of straight-line code."""
    text = render("kernel_call.c.jinja", call=call, declaration=declaration, **declaration.scalar.words)
    return [line.removeprefix(_INDENT) for line in text.splitlines()]


def _choices(variants: Sequence[Sequence[FilePart]]) -> list[Alternatives]:
    """Return the parts that all variants share, in order, with the alternatives in between."""
    shared = set(variants[0]).intersection(*variants[1:])
    runs = [[(key, tuple(run)) for key, run in groupby(each, shared.__contains__)] for each in variants]
    conditions = (*_CONDITIONS[: len(runs) - 1], "#else")
    alternatives, places = list[Alternatives](), [0] * len(runs)
    while any(place < len(each) for place, each in zip(places, runs, strict=True)):
        here = [
            each[place] if place < len(each) else (True, ()) for place, each in zip(places, runs, strict=True)
        ]
        alone = [not key for key, _ in here]
        if any(alone):
            parts = [run if each else () for (_, run), each in zip(here, alone, strict=True)]
            alternatives.append(Alternatives(tuple(zip(conditions, parts, strict=True)), conditional=True))
        else:
            alternatives.append(Alternatives((("", here[0][1]),), conditional=False))
        places = [place + (each or not any(alone)) for place, each in zip(places, alone, strict=True)]
    return alternatives


def vectors_of(nests: Sequence[LoopNest], scalar: ScalarType) -> list[VectorView]:
    """Return the vector types of nests, shortest first."""
    steps = [step for nest in nests for step in _steps(nest)]
    widths = {array.width for step in steps for array in (*step.program.inputs, *step.program.outputs)}
    return [vector_view(scalar, lanes) for lanes in sorted(widths) if lanes > 1]


def _steps(nest: LoopNest) -> Iterator[Step]:
    for body in (nest.statements, *(routine.statements for routine in nest.routines)):
        yield from (part for part in every(body) if isinstance(part, Step))


def _puts(nest: LoopNest, scalar: ScalarType) -> Iterator[FilePart]:
    outputs = [(array, step.places[array.name]) for step in _steps(nest) for array in step.program.outputs]
    kinds = {
        (array.width, array.adds) for array, at in outputs if at.count is not None or at.lane_stride != 1
    }
    for lanes, adds in sorted(kinds):
        name, sign = ("add", "+=") if adds else ("put", "=")
        head = f"{_INLINED} void {name}{lanes}({scalar.name} *to, int apart, const vec{lanes} *x, int count)"
        lines = [
            f"if (apart == 1 && count >= {lanes}) {{",
            f"    *(any{lanes} *)to {sign} *x;",
            "    return;",
            "}",
        ]
        lines += [f"if (count > {lane}) to[{lane} * apart] {sign} (*x)[{lane}];" for lane in range(lanes)]
        about = f"/* {name} the first `count` lanes of x into entries of `to`, `apart` numbers apart */"
        yield _function_part([about, head], [], [_INDENT + line for line in lines])


def nest_parts(
    robot: str,
    declaration: FunctionDeclaration,
    nest: LoopNest,
    straight: Sequence[str] = (),
    ending: str = "",
) -> list[FilePart]:
    """Return the tables of a nest, its routines, and the function. straight: lines of the straight-line code,
    which reads all inputs. ending: end of the function's name.
    """
    scalar = declaration.scalar
    arrays = ArrayTypes(
        scalar, {table.name: scalar.integer for table in nest.tables if table.mask}, nest.widths
    )
    parts = [*(table_part(table, scalar) for table in nest.tables), *_puts(nest, scalar)]
    for routine in nest.routines:
        typed = replace(arrays, widths=routine.widths)
        lines = LoopWriter(robot, typed).body(routine.statements)
        opening = [f"/* {comment(routine.comment)} */", _prototype(routine, typed)]
        parts.append(_function_part(opening, declared(routine.arrays, typed), lines))
    writer = LoopWriter(robot, arrays, straight=iter([straight]))
    lines = writer.body(nest.statements)
    parameters = (*(() if straight else declaration.inputs), *declaration.outputs)
    # a robot of one body never runs loops over ancestors: some arrays are never read
    idle = sorted(nest.arrays.keys() - read_in(nest.statements))
    unread = [*(p.name for p in parameters if p.name not in writer.read), *idle]
    unread = [f"{_INDENT}(void){name};" for name in unread]
    opening = [declaration.prototype(robot, ending)]
    storage = "static " if nest.static else ""
    mine = [f"{storage}{array}" for array in declared(nest.arrays, arrays)]
    return [*parts, _function_part(opening, mine, [*unread, *lines])]


def _function_part(opening: Sequence[str], arrays: Sequence[str], lines: Sequence[str]) -> FilePart:
    return FilePart((*opening, "{"), (*(f"{_INDENT}{array};" for array in arrays), *lines), "}")


def _prototype(routine: Routine, arrays: ArrayTypes) -> str:
    const = {name: "" if name in routine.written else "const " for name in routine.arguments}
    parameters = [f"{const[name]}{arrays.element(name)} *restrict {name}" for name in routine.arguments]
    parameters += [f"int {name}" for name in routine.variables]
    storage = _INLINED if routine.inlined else "static"
    return f"{storage} void {routine.name}({', '.join(parameters)})"


def declared(sizes: Mapping[str, int], arrays: ArrayTypes) -> list[str]:
    """Return the declarations of arrays by size. If an array holds vectors, all arrays are aligned to cache
    lines.
    """
    aligned = " __attribute__((aligned(64)))" if arrays.widths else ""
    return [
        f"{arrays.element(name)} {name}[{size // arrays.widths.get(name, 1)}]{aligned}"
        for name, size in sizes.items()
    ]


def table_part(table: ConstantTable, scalar: ScalarType) -> FilePart:
    """Return a table in C."""
    kind = scalar.integer if table.mask else "int" if table.integer else scalar.name
    size = len(table.rows) * table.width
    lines = []
    for number, row in enumerate(table.rows):
        text = ", ".join(str(int(x)) if table.integer else scalar.literal(x + 0.0) for x in row)
        lines.append(f"{text}, /* {comment(table.comments[number])} */" if table.comments else text)
    if not table.comments:
        lines = [", ".join(lines)]
    indented = tuple(_INDENT + line for line in lines)
    return FilePart((f"static const {kind} {table.name}[{size}] = {{",), indented, "};")


@dataclass(frozen=True)
class LoopWriter:
    """Writes statements as lines of C.

    read: arrays that the lines have named so far.
    straight: lines of the calls of straight-line code, in the order of the text.
    """

    robot: str
    arrays: ArrayTypes
    read: set[str] = field(default_factory=set)
    straight: Iterator[Sequence[str]] = field(default_factory=lambda: iter(()))

    def lines(self, statement: Statement) -> list[str]:
        """Return the lines of a statement."""
        match statement:
            case Step():
                return step_lines(self.robot, statement, self.arrays, self.read)
            case Loop():
                return self._loop(statement)
            case Switch():
                return self._switch(statement)
            case WhereGiven():
                self.read.update(statement.arguments)
                condition = " || ".join(f"{name} != NULL" for name in statement.arguments)
                return [f"if ({condition}) {{", *self.body(statement.body), "}"]
            case Clear():
                return self._clear(statement)
            case Call():
                return [self._call(statement)]
            case Sines():
                return self._sines(statement)
            case Copy():
                return [self._copy(statement)]
            case Straight():
                return list(next(self.straight))

    def body(self, statements: Sequence[Statement]) -> list[str]:
        """Return the lines of statements within braces."""
        return [_INDENT + line if line else "" for part in statements for line in self.lines(part)]

    def _loop(self, loop: Loop) -> list[str]:
        name, start, stop = loop.variable, index_text(loop.start), index_text(loop.stop)
        further = f"++{name}" if loop.step == 1 else f"{name} += {loop.step}"
        head = f"for (int {name} = {start}; {name} < {stop}; {further}) {{"
        if loop.backward:
            head = f"for (int {name} = {index_text(plus(loop.stop, -1))}; {name} >= {start}; --{name}) {{"
        about = ["", f"/* {loop.comment} */"] if loop.comment else []
        return [*about, head, *self.body(loop.body), "}"]

    def _clear(self, clear: Clear) -> list[str]:
        """Clear few vectors one by one, so that they may stay in registers."""
        lanes = self.arrays.widths.get(clear.array, 1)
        array, count = clear.array, clear.size // lanes
        # For an array by its name, gcc warns if a size in bytes equals its number of entries.
        whole = f"memset(&{array}[0], 0, {count} * sizeof *{array});"
        if lanes == 1 or count > STORES:
            return [whole]
        if count <= IN_REGISTERS:
            return [f"{array}[{k}] = (vec{lanes}){{0}};" for k in range(count)]
        return [
            "#if defined(__clang__)",
            whole,
            "#else /* volatile: otherwise gcc clears with a string instruction, which is slow to start */",
            f"for (int k = 0; k < {count}; ++k) {{",
            f"    ((volatile vec{lanes} *){array})[k] = (vec{lanes}){{0}};",
            "}",
            "#endif",
        ]

    def _copy(self, copy: Copy) -> str:
        self.read.update((copy.source.array, copy.target.array))
        target, source = (self.arrays.pointer(place, 1)[1] for place in (copy.target, copy.source))
        return f"memcpy({target}, {source}, {copy.count} * sizeof({self.arrays.scalar.name}));"

    def _call(self, call: Call) -> str:
        routine, arguments = call.routine, list[str]()
        for name in routine.arguments:
            place = call.places[name]
            self.read.add(place.array)
            kind, where = self.arrays.pointer(place, routine.widths.get(name, 1))
            if kind != replace(self.arrays, widths=routine.widths).element(name):
                raise MalformedProgram(f"{routine.name}: {name} is given {kind}")
            arguments.append(where)
        arguments += [index_text(call.indices[name]) for name in routine.variables]
        return f"{routine.name}({', '.join(arguments)});"

    def _switch(self, switch: Switch) -> list[str]:
        lines = [f"switch ({index_text(switch.on)}) {{"]
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
