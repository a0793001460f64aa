"""The C that runs many samples, one in each lane of a vector: its kernel, and the way into the lanes and out of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rbdc.emit.backend import FunctionSource
from rbdc.emit.c import arctangent, rotations, trigonometry
from rbdc.emit.c.csource import batch_view, figures, kernel_parts
from rbdc.emit.c.vectors import VectorView, elementary_functions, vector_view
from rbdc.emit.names import comment
from rbdc.emit.render import render
from rbdc.functions.declarations import FunctionDeclaration, Parameter
from rbdc.functions.scalar_types import FLOAT, ScalarType
from rbdc.ir.cost import cost
from rbdc.ir.nodes import Program
from rbdc.ir.passes.batch_vectorise import RESULTS, Samples, side_by_side

_IN_A_LINE = 24

KERNEL = "static __attribute__((noinline)) "
"""A kernel is one piece of code for both layouts: inlined into either, its sums could be fused and rounded in two ways."""

CACHED = 16 << 20
"""Bytes of results of one call from which on they are written past the caches, where most of them would not stay: a line that is written
there is read first.
"""

_SHORTER_REGISTERS = {"__AVX__": 32, "__SSE2__": 16, "__ARM_NEON": 16}
"""Bytes of the registers of other processors by the macro that says so. A square that does not fit one is transposed in parts: compilers
take longer vectors apart, but not what exchanges their entries.
"""


@dataclass(frozen=True)
class Form:
    """One way of running a batch: with the optional input, without, or whether it is there or not. whole: the function that is declared;
    declaration: what the form takes and gives of it. suffix: of its names in C; "" for the only form.
    """

    robot: str
    whole: FunctionDeclaration
    declaration: FunctionDeclaration
    suffix: str
    samples: Samples

    @property
    def name(self) -> str:
        """What its C functions' names begin with."""
        return f"{self.robot}_{self.declaration.name}{self.suffix}"

    @property
    def lanes(self) -> int:
        """How many samples it runs side by side."""
        return self.declaration.scalar.lanes

    @property
    def spared(self) -> Parameter | None:
        """The input that it takes as zeros where it is not given."""
        return None if self.suffix else self.declaration.optional

    @property
    def zeros(self) -> str:
        """The name of these zeros."""
        return f"{self.name}_zeros"

    def places(self, output: str) -> str:
        """The name of an output's table of places."""
        return f"{output}_places{self.suffix}"

    def sample(self, p: Parameter, index: str) -> str:
        """Where a sample of an array begins; NULL where that is not given."""
        here = f"{p.name} + {p.size} * {index}"
        return p.where_given(here) if p == self.spared else here

    def block(self, p: Parameter, absent: str) -> str:
        """Where block i of an array begins; `absent` where that is not given."""
        here = f"{p.name} + {self.lanes * p.size} * i"
        return f"({p.where_given(here, absent)})" if p == self.spared else here


def add_batch(source: FunctionSource, robot: str, programs: Sequence[Program], version: str) -> None:
    """Add the file with `<robot>_<name>_batch` to a function's files. `programs` are scalar; of two the first goes without the optional
    input, and the second takes it.
    """
    declaration, name = replace(source.declaration, lanes=True), f"{robot}_{source.declaration.name}"
    scalar = declaration.scalar
    source.declaration = declaration
    forms = _forms(robot, declaration, [side_by_side(program, scalar.lanes) for program in programs])
    kernel = FunctionSource(declaration, cost(forms[0].samples.program), batch_headers(robot, version, scalar))
    turning = any(rotations.has_rotations(form.samples.program) for form in forms)
    if turning:
        kernel.files[rotations.header_name(robot)] = rotations.header(robot, version, scalar)
    made = [kernel_parts(robot, f"{f.name}_kernel{f.lanes}", f.samples.program, kernel, version, storage=KERNEL) for f in forms]
    source.batch_files |= kernel.files
    source.internal += kernel.internal
    source.batch_files[f"{name}_batch.c"] = render(
        "batch.c.jinja",
        robot=robot,
        function=declaration.name,
        summary=comment(declaration.summary),
        figures=figures(kernel.cost),
        version=version,
        lanes=scalar.lanes,
        turning=turning,
        **scalar.words,
        parts=[part for parts, _ in made for part in parts],
        foreign=[prototype for _, foreign in made for prototype in foreign],
        tables=[table for form in forms for table in _tables(form)],
        forms=[{**_blocks(form), "single_sample": _single_samples(form)} for form in forms],
        entry=_lanes_entry(declaration, forms),
        batch={**batch_view(robot, declaration), "blocks": _whole_blocks(declaration, forms)},
    )


def _forms(robot: str, declaration: FunctionDeclaration, samples: Sequence[Samples]) -> list[Form]:
    if declaration.optional is None or len(samples) == 1:
        return [Form(robot, declaration, declaration, "", samples[0])]
    bare, suffix = replace(declaration, inputs=tuple(declaration.required)), declaration.optional.name
    without, given = samples
    return [
        Form(robot, declaration, bare, f"_without_{suffix}", without),
        Form(robot, declaration, declaration, f"_with_{suffix}", given),
    ]


def _whole_blocks(declaration: FunctionDeclaration, forms: Sequence[Form]) -> str:
    """The call that computes as many whole blocks as there are, by the form that suits the optional input."""
    calls = [f"{form.name}_blocks({_names(form.declaration)})" for form in forms]
    if declaration.optional is None or len(forms) == 1:
        return calls[0]
    return f"{declaration.optional.name} != NULL ? {calls[1]} : {calls[0]}"


def _lanes_entry(declaration: FunctionDeclaration, forms: Sequence[Form]) -> dict[str, Any] | None:
    """The view of the public function over blocks, which chooses the form; None where the only form is public itself."""
    if declaration.optional is None or len(forms) == 1:
        return None
    calls = [f"{form.name}_lanes({_names(form.declaration)});" for form in forms]
    lines = [f"if ({declaration.optional.name} != NULL) {{", f"    {calls[1]}", "} else {", f"    {calls[0]}", "}"]
    return {"prototype": declaration.lanes_prototype(forms[0].robot), "lines": lines}


def batch_headers(robot: str, version: str, scalar: ScalarType) -> dict[str, str]:
    """The internal headers that all batches of a robot share, by name."""
    return {
        arctangent.header_name(robot): arctangent.header(robot, version, scalar),
        trigonometry.header_name(robot): trigonometry.header(robot, version, scalar),
        f"{robot}_batch.h": _batch_header(robot, version, scalar),
    }


def _batch_header(robot: str, version: str, scalar: ScalarType) -> str:
    squares = [_square(scalar, size // scalar.size, macro) for macro, size in _SHORTER_REGISTERS.items()]
    return render(
        "batch.h.jinja",
        robot=robot,
        version=version,
        lanes=scalar.lanes,
        vector=vector_view(scalar, scalar.lanes),
        functions=elementary_functions(scalar),
        whole=_square(scalar, scalar.lanes),
        square_entries=scalar.lanes * scalar.lanes,
        squares=squares,
        cached=CACHED,
        packed="ps" if scalar == FLOAT else "pd",  # as instructions are named
        **scalar.words,
        **trigonometry.batch_context(scalar),
    )


def _blocks(form: Form) -> dict[str, Any]:
    """The view of the loops over whole blocks."""
    declaration, samples, robot, lanes = form.declaration, form.samples, form.robot, form.lanes
    inputs, outputs, constants = declaration.inputs, declaration.outputs, samples.constants
    count = samples.program.outputs[0].size
    sizes = [f"{p.name}_lanes[{max(p.size, lanes)}]" for p in inputs] + [f"{RESULTS}[{count + len(constants)}]", room(outputs)]
    return {
        **_in_lanes(form),
        "prototype": f"static size_t {form.name}_blocks(size_t n, {parameters(declaration)})",
        "buffers": ", ".join(sizes),
        "way_past": way_past(robot, lanes, outputs),
        "spared": form.spared,
        "zeros": form.zeros,
        "zeros_size": lanes * form.spared.size if form.spared else 0,
        "constants": [
            f"{RESULTS}[{count + k}] = ({robot}_vector{lanes}){{{', '.join([declaration.scalar.literal(x)] * lanes)}}};"
            for k, x in enumerate(constants)
        ],
        "lines": [
            *(line for p in inputs for line in _load(form, p)),
            *_only_moderate(form),
            f"{form.name}_kernel{lanes}({', '.join([*(f'{p.name}_lanes' for p in inputs), RESULTS])});",
            *(f"{store(robot, lanes, p, RESULTS, form.places(p.name))};" for p in outputs),
        ],
    }


def _in_lanes(form: Form) -> dict[str, Any]:
    """What of it is for blocks in lanes. Results that are the only output as it is are written where that lies."""
    declaration, samples, robot, lanes = form.declaration, form.samples, form.robot, form.lanes
    inputs, outputs, static = declaration.inputs, declaration.outputs, "static " if form.suffix else ""
    count = samples.program.outputs[0].size + len(samples.constants)
    blocks = {p.name: form.block(p, "NULL") for p in (*inputs, *outputs)}
    read = {p.name: f"(const {robot}_lanes{lanes} *)({form.block(p, form.zeros)})" for p in inputs}
    whole = samples.places == (tuple(range(count)),) and not samples.constants
    target = f"({robot}_lanes{lanes} *)({blocks[outputs[0].name]})" if whole else RESULTS
    stores = [f"{robot}_expand{lanes}({RESULTS}, {form.places(p.name)}, {p.size}, {blocks[p.name]});" for p in outputs]
    return {
        "lanes_prototype": f"{static}void {form.name}_lanes(size_t n, {parameters(declaration)})",
        "results": "" if whole else f"{RESULTS}[{max(count, 1)}]",
        "huge": _huge(form, read),
        "lanes_kernel": f"{form.name}_kernel{lanes}({', '.join([*read.values(), target])});",
        "lanes_stores": [] if whole else stores,
        "single_sample_call": f"{form.name}_apart({', '.join(blocks.values())});",
    }


def _load(form: Form, p: Parameter) -> list[str]:
    """The statements that bring an input into the lanes, where zeros are already."""
    load = f"{form.robot}_load{form.lanes}({p.name} + {p.size} * i, {p.size}, n - i, {p.name}_lanes);"
    return [f"if ({p.name} != NULL) {{", f"    {load}", "}"] if p == form.spared else [load]


def room(outputs: Sequence[Parameter]) -> str:
    """The buffer by way of which results go past the caches."""
    return f"room[{max(p.size for p in outputs)}]"


def way_past(robot: str, lanes: int, outputs: Sequence[Parameter]) -> str:
    """The call that says whether the results of n samples do."""
    return f"{robot}_way_past{lanes}({sum(p.size for p in outputs)} * n, room)"


def store(robot: str, lanes: int, output: Parameter, results: str, places: str) -> str:
    """The call that gives samples i and so on their entries of an output."""
    return f"{robot}_store{lanes}({results}, {places}, {output.size}, past, {output.name} + {output.size} * i)"


@dataclass(frozen=True)
class SingleSampleView:
    """The C function that takes the samples of one block one by one.

    inputs: name, size, and the condition on k under which there is an entry k to copy. outputs: name and size. call: of the function for
    one sample.
    """

    prototype: str
    inputs: list[tuple[str, int, str]]
    outputs: list[tuple[str, int]]
    call: str


def _single_samples(form: Form) -> SingleSampleView:
    return single_sample_view(form.robot, form.whole, form.declaration, form.suffix, form.spared)


def single_sample_view(
    robot: str, whole: FunctionDeclaration, taken: FunctionDeclaration, suffix: str = "", spared: Parameter | None = None
) -> SingleSampleView:
    """The view of `<robot>_<name><suffix>_apart`, which takes the samples of one block one by one: the arrays of `taken`, of which `spared`
    may be NULL, by the function that `whole` declares.
    """
    arrays = (*taken.inputs, *taken.outputs)
    places = {p.name: p.where_given(f"{p.name}_one") if p == spared else f"{p.name}_one" for p in arrays}
    return SingleSampleView(
        f"static void {robot}_{whole.name}{suffix}_apart({parameters(taken)})",
        [(p.name, p.size, f"{p.name} != NULL && k < {p.size}" if p == spared else f"k < {p.size}") for p in taken.inputs],
        [(p.name, p.size) for p in taken.outputs],
        single_call(robot, whole, places),
    )


def single_call(robot: str, declaration: FunctionDeclaration, places: Mapping[str, str]) -> str:
    """The statement that computes one sample. `places`: by name where inputs and outputs are; NULL for an input that is not there."""
    return f"{robot}_{declaration.name}({', '.join(declaration.arguments(lambda p: places.get(p.name, 'NULL')))});"


def parameters(declaration: FunctionDeclaration) -> str:
    """Those of a function over arrays of numbers."""
    return ", ".join(declaration.parameters(declaration.scalar.name))


def _names(declaration: FunctionDeclaration) -> str:
    """How many, and all arrays, as arguments."""
    return ", ".join(["n", *declaration.arguments(lambda p: p.name)])


def _huge(form: Form, lanes: Mapping[str, str]) -> str:
    """Whether a block has angles that are huge or no numbers; "" where there are no angles. `lanes`: by name where an input is."""
    angles = [p for p in form.declaration.inputs if p.configuration]
    return " || ".join(f"!{form.robot}_moderate{form.lanes}({lanes[p.name]}, {p.size})" for p in angles)


def _only_moderate(form: Form) -> list[str]:
    """The statements that leave a block with such angles to single calls."""
    arrays = (*form.declaration.inputs, *form.declaration.outputs)
    huge = _huge(form, {p.name: f"{p.name}_lanes" for p in form.declaration.inputs})
    if not huge:
        return []
    return [
        f"if ({huge}) {{",
        f"    for (size_t k = i; k < i + {form.lanes}; ++k) {{",
        f"        {single_call(form.robot, form.whole, {p.name: form.sample(p, 'k') for p in arrays})}",
        "    }",
        "    continue;",
        "}",
    ]


def _tables(form: Form) -> list[dict[str, Any]]:
    """The views of the tables of places of all outputs."""
    outputs = zip(form.declaration.outputs, form.samples.places, strict=True)
    return [{"output": p.name, "name": form.places(p.name), **table(places, form.lanes)} for p, places in outputs]


def table(places: Sequence[int], lanes: int) -> dict[str, Any]:
    """The view of a table of places, at least as long as there are lanes."""
    padded = [*places, *[0] * (lanes - len(places))]
    rows = [padded[k : k + _IN_A_LINE] for k in range(0, len(padded), _IN_A_LINE)]
    return {"size": len(padded), "lines": [", ".join(map(str, row)) + "," for row in rows]}


def _transposition(lanes: int) -> list[str]:
    """The statements that transpose the square `s0`, rows of `lanes` entries, into `s1`, `s2` and so on: each step exchanges blocks of
    twice the size between rows that far apart.
    """
    lines = []
    for step in range(lanes.bit_length() - 1):
        half = 1 << step
        for j in range(lanes):
            # Counted through both rows of the pair: the first keeps its lower halves, the second its upper ones.
            if j & half:
                entries = [k + lanes if k & half else k | half for k in range(lanes)]
            else:
                entries = [(k ^ half) + lanes if k & half else k for k in range(lanes)]
            pair = f"s{step}[{j & ~half}], s{step}[{j | half}]"
            lines.append(f"s{step + 1}[{j}] = __builtin_shufflevector({pair}, {', '.join(map(str, entries))});")
    return lines


@dataclass(frozen=True)
class _Square:
    """A square of numbers and its transposition: its rows as a vector, the arrays of all steps, the last of which holds the result, and the
    statements; macro: what says that registers hold a row.
    """

    vector: VectorView
    arrays: str
    last: str
    lines: list[str]
    macro: str


def _square(scalar: ScalarType, width: int, macro: str = "") -> _Square:
    steps = width.bit_length() - 1
    arrays = ", ".join(f"s{step}[{width}]" for step in range(steps + 1))
    return _Square(vector_view(scalar, width), arrays, f"s{steps}", _transposition(width), macro)
