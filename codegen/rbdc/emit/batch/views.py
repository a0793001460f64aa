"""Views of batches for the templates: arrays and where their blocks lie, forms of a batch, tables of indices,
single samples of a block.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rbdc.emit.c.csource import Absent
from rbdc.functions.declarations import FunctionDeclaration, Parameter
from rbdc.ir.passes.vectorise.batch_vectorise import Samples

_IN_A_LINE = 24


@dataclass(frozen=True)
class ArrayView:
    """An array of a function over samples: entries of a sample, of a block of them in lanes, and the vectors
    that a buffer of it has.

    block: where block i begins; given: the same with zeros in place of an array that may be NULL. indices: of
    an output the name of the table of its entries among the results. spared: an input that may be NULL, which
    its buffer has zeros for.
    """

    name: str
    size: int
    block_size: int
    room: int
    block: str = ""
    given: str = ""
    indices: str = ""
    spared: bool = False


@dataclass(frozen=True)
class ConstantView:
    """An entry of the results that is the same for all samples."""

    entry: int
    literal: str


@dataclass(frozen=True)
class IndexTable:
    """The table of indices of an output's entries among the results, as long as there are lanes or longer."""

    output: str
    name: str
    size: int
    lines: list[str]


@dataclass(frozen=True)
class SingleSampleView:
    """The C function that takes the samples of one block one by one.

    inputs: name, size, and the condition on k under which there is an entry k to copy. outputs: name and
    size. call: of the function for one sample.
    """

    prototype: str
    inputs: list[tuple[str, int, str]]
    outputs: list[tuple[str, int]]
    call: str


@dataclass(frozen=True)
class FormView:
    """The loops over whole blocks of one form, and over blocks in lanes.

    blocks: whether there is the first; where there is not, samples go one by one. name: what the names of its
    C functions begin with; private: it is not public itself. parameters: of a function over arrays. tables:
    in place of inputs that are not given. angles: the inputs whose angles must be moderate. count: vectors of
    results and constants; entries: of all outputs; room: of the largest. direct: results of blocks in lanes
    go straight to this place; empty where they are put together from `held` vectors. single: calls of single
    samples of a block by other means.
    """

    blocks: bool
    name: str
    private: bool
    parameters: str
    tables: list[Absent]
    inputs: list[ArrayView]
    outputs: list[ArrayView]
    angles: list[ArrayView]
    constants: list[ConstantView]
    count: int
    held: int
    entries: int
    room: int
    direct: str
    single_call: str
    single_sample: SingleSampleView


@dataclass(frozen=True)
class LanesEntry:
    """The public function over blocks where it only chooses a form by the optional input."""

    prototype: str
    condition: str
    given: str
    without: str


@dataclass(frozen=True)
class Form:
    """One way of running a batch: with the optional input, without, or whether it is there or not. whole: the
    function that is declared; declaration: what the form takes and gives of it. suffix: of its names in C; ""
    for the only form.
    """

    robot: str
    whole: FunctionDeclaration
    declaration: FunctionDeclaration
    suffix: str
    samples: Samples

    @property
    def name(self) -> str:
        """The beginning of the names of its C functions."""
        return f"{self.robot}_{self.declaration.name}{self.suffix}"

    @property
    def lanes(self) -> int:
        """How many samples it runs side by side."""
        return self.declaration.scalar.lanes

    @property
    def spared(self) -> tuple[Parameter, ...]:
        """The inputs for which tables stand where they are not given: of a form for the only optional input,
        none.
        """
        optional = self.declaration.optional
        return () if self.suffix and len(optional) == 1 else optional

    def table(self, p: Parameter) -> Absent:
        """The table that stands for one of them."""
        name = "zeros" if len(self.spared) == 1 else f"no_{p.name}"
        return Absent.of(p, f"{self.name}_{name}", self.declaration, self.lanes)

    @property
    def count(self) -> int:
        """Results and constants."""
        return self.samples.program.outputs[0].size + len(self.samples.constants)

    def indices(self, output: str) -> str:
        """The name of an output's table of indices."""
        return f"{output}_places{self.suffix}"

    def sample(self, p: Parameter, index: str) -> str:
        """Where a sample of an array begins; NULL where that is not given."""
        here = f"{p.name} + {p.size} * {index}"
        return p.where_given(here) if p in self.spared else here

    def block(self, p: Parameter, absent: str) -> str:
        """Where block i of an array begins; `absent` where that is not given."""
        here = f"{p.name} + {self.lanes * p.size} * i"
        return f"({p.where_given(here, absent)})" if p in self.spared else here


def form_view(form: Form, *, blocks: bool = True) -> FormView:
    """The view of a form."""
    declaration, samples, spared = form.declaration, form.samples, form.spared
    inputs = {p: _array(form, p) for p in declaration.inputs}
    outputs = {p: _array(form, p) for p in declaration.outputs}
    first = samples.program.outputs[0].size
    # The results are written where the only output lies if that is what they are.
    whole = samples.output_indices == (tuple(range(form.count)),) and not samples.constants
    sample = {p.name: form.sample(p, "k") for p in (*declaration.inputs, *declaration.outputs)}
    return FormView(
        blocks=blocks,
        name=form.name,
        private=bool(form.suffix),
        parameters=parameters(declaration),
        tables=[form.table(p) for p in spared],
        inputs=list(inputs.values()),
        outputs=list(outputs.values()),
        angles=[view for p, view in inputs.items() if p.configuration],
        constants=[
            ConstantView(first + k, declaration.scalar.literal(x)) for k, x in enumerate(samples.constants)
        ],
        count=form.count,
        held=max(form.count, 1),
        entries=sum(p.size for p in outputs),
        room=max(p.size for p in outputs),
        direct=next(iter(outputs.values())).block if whole else "",
        single_call=single_call(form.robot, form.whole, sample),
        single_sample=single_sample_view(form.robot, form.whole, declaration, form.suffix, spared),
    )


def _array(form: Form, p: Parameter) -> ArrayView:
    indices = form.indices(p.name) if p in form.declaration.outputs else ""
    return ArrayView(
        name=p.name,
        size=p.size,
        block_size=form.lanes * p.size,
        room=max(p.size, form.lanes),
        block=form.block(p, "NULL"),
        given=form.block(p, form.table(p).name if p in form.spared else ""),
        indices=indices,
        spared=p in form.spared,
    )


def single_sample_view(
    robot: str,
    whole: FunctionDeclaration,
    taken: FunctionDeclaration,
    suffix: str = "",
    spared: Sequence[Parameter] = (),
) -> SingleSampleView:
    """The view of `<robot>_<name><suffix>_apart`, which takes the samples of one block one by one: the arrays
    of `taken`, of which `spared` may be NULL, by the function that `whole` declares.
    """
    arrays = (*taken.inputs, *taken.outputs)
    copies = {p.name: p.where_given(f"{p.name}_one") if p in spared else f"{p.name}_one" for p in arrays}
    return SingleSampleView(
        f"static void {robot}_{whole.name}{suffix}_apart({parameters(taken)})",
        [
            (p.name, p.size, f"{p.name} != NULL && k < {p.size}" if p in spared else f"k < {p.size}")
            for p in taken.inputs
        ],
        [(p.name, p.size) for p in taken.outputs],
        single_call(robot, whole, copies),
    )


def single_call(robot: str, declaration: FunctionDeclaration, arrays: Mapping[str, str]) -> str:
    """The statement that computes one sample. `arrays`: by name where inputs and outputs are; NULL for an
    input that is not there.
    """
    arguments = declaration.arguments(lambda p: arrays.get(p.name, "NULL"))
    return f"{robot}_{declaration.name}({', '.join(arguments)});"


def parameters(declaration: FunctionDeclaration) -> str:
    """The parameters of a function over arrays of numbers."""
    return ", ".join(declaration.parameters(declaration.scalar.name))


def index_tables(form: Form) -> list[IndexTable]:
    """The tables of indices of all outputs."""
    outputs = zip(form.declaration.outputs, form.samples.output_indices, strict=True)
    return [index_table(p.name, form.indices(p.name), indices, form.lanes) for p, indices in outputs]


def index_table(output: str, name: str, indices: Sequence[int], lanes: int) -> IndexTable:
    """The view of a table, filled up to so many lanes."""
    padded = [*indices, *[0] * (lanes - len(indices))]
    rows = [padded[k : k + _IN_A_LINE] for k in range(0, len(padded), _IN_A_LINE)]
    return IndexTable(output, name, len(padded), [", ".join(map(str, row)) + "," for row in rows])
