"""Views of batches for the templates: arrays and where their blocks lie, forms of a batch, tables of indices,
single samples of a block.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from rbdc.emit.c.csource import AbsentInput
from rbdc.functions.declarations import FunctionDeclaration, Parameter
from rbdc.ir.passes.vectorise.batch_vectorise import SideBySide

_IN_A_LINE = 24


@dataclass(frozen=True)
class ArrayView:
    """An array of a function over samples: entries of a sample, and the vectors that a buffer of it has.

    block: where block i begins; given: the same with zeros in place of an array that may be NULL. indices: of
    an output the name of the table of its entries among the results. spared: an input that may be NULL, which
    its buffer has zeros for.
    """

    name: str
    size: int
    room: int
    block: str = ""
    given: str = ""
    indices: str = ""
    spared: bool = False


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
class LanesEntry:
    """The public function over blocks where it only chooses a form by the optional input."""

    prototype: str
    condition: str
    given: str
    without: str


@dataclass(frozen=True)
class LaneResults:
    """The results of a kernel for several samples: vectors, and numbers that are the same for all samples.

    indices: for each output those of its entries among them, the numbers counted on from the vectors.
    separate: the kernel takes a place for each output, whose entries lie one after the other.
    """

    count: int
    constants: tuple[float, ...]
    indices: tuple[tuple[int, ...], ...]
    separate: bool = False

    @staticmethod
    def of(samples: SideBySide) -> LaneResults:
        """Results of a program."""
        return LaneResults(samples.program.outputs[0].size, samples.constants, samples.output_indices)

    @staticmethod
    def in_order(sizes: Sequence[int]) -> LaneResults:
        """Results of a kernel that takes a place for each output, of so many entries."""
        ends = [*accumulate(sizes)]
        indices = (tuple(range(end - size, end)) for size, end in zip(sizes, ends, strict=True))
        return LaneResults(ends[-1], (), tuple(indices), separate=True)


@dataclass(frozen=True)
class BatchForm:
    """One way of running a batch, as templates lay it out: with the optional input, without, or whether it is
    there or not. whole: the function that is declared; declaration: what the form takes and gives of it.
    suffix: of its names in C, which are not public then; "" for the only form.
    """

    robot: str
    whole: FunctionDeclaration
    declaration: FunctionDeclaration
    suffix: str
    results: LaneResults

    @property
    def name(self) -> str:
        """The beginning of the names of its C functions."""
        return f"{self.robot}_{self.declaration.name}{self.suffix}"

    @property
    def lanes(self) -> int:
        """How many samples it runs side by side."""
        return self.declaration.scalar.lanes

    @property
    def parameters(self) -> str:
        """Parameters of a function over arrays."""
        return ", ".join(self.declaration.parameters(self.declaration.scalar.name))

    @cached_property
    def spared(self) -> dict[str, AbsentInput]:
        """The tables that stand for inputs where they are not given, by input: of a form for the only
        optional input, none.
        """
        optional = self.declaration.optional
        if self.suffix and len(optional) == 1:
            return {}
        names = {p: "zeros" if len(optional) == 1 else f"no_{p.name}" for p in optional}
        return {
            p.name: AbsentInput.of(p, f"{self.name}_{name}", self.declaration, self.lanes)
            for p, name in names.items()
        }

    @property
    def tables(self) -> list[AbsentInput]:
        """Tables in place of inputs that are not given."""
        return list(self.spared.values())

    @cached_property
    def inputs(self) -> list[ArrayView]:
        """Arrays of the inputs."""
        return [self._array(p) for p in self.declaration.inputs]

    @cached_property
    def outputs(self) -> list[ArrayView]:
        """Arrays of the outputs."""
        return [self._array(p, f"{p.name}_places{self.suffix}") for p in self.declaration.outputs]

    @property
    def angles(self) -> list[ArrayView]:
        """The inputs whose angles must be moderate."""
        pairs = zip(self.declaration.inputs, self.inputs, strict=True)
        return [array for p, array in pairs if p.configuration]

    @property
    def constants(self) -> list[tuple[int, str]]:
        """Entries of the results that are the same for all samples, and the literals of these."""
        literals = map(self.declaration.scalar.literal, self.results.constants)
        return list(enumerate(literals, self.results.count))

    @property
    def count(self) -> int:
        """Vectors of results and constants."""
        return self.results.count + len(self.results.constants)

    @property
    def held(self) -> int:
        """Vectors that results of blocks in lanes are put together from."""
        return max(self.count, 1)

    @property
    def entries(self) -> int:
        """Entries of all outputs."""
        return sum(array.size for array in self.outputs)

    @property
    def room(self) -> int:
        """Entries of the largest output."""
        return max(array.size for array in self.outputs)

    @property
    def direct(self) -> bool:
        """Whether results of blocks in lanes go straight to where the outputs lie, not put together first."""
        only = self.results.indices == (tuple(range(self.count)),) and not self.results.constants
        return only or self.results.separate

    @property
    def block_call(self) -> str:
        """The call of the kernel for a block of samples that was loaded."""
        starts = accumulate((len(own) for own in self.results.indices[:-1]), initial=0)
        places = [f"results{f' + {start}' if start else ''}" for start in starts]
        inputs = [f"{array.name}_lanes" for array in self.inputs]
        return self._kernel_call(inputs, places if self.results.separate else ["results"])

    @property
    def lanes_call(self) -> str:
        """The call of the kernel for a block in lanes."""
        entry = f"{self.robot}_lanes{self.lanes} *"
        inputs = [f"(const {entry})({array.given})" for array in self.inputs]
        places = [f"({entry})({array.block})" for array in self.outputs]
        return self._kernel_call(inputs, places if self.direct else ["results"])

    def _kernel_call(self, inputs: Sequence[str], places: Sequence[str]) -> str:
        arguments = ", ".join([*inputs, *self.declaration.place, *places])
        return f"{self.name}_kernel{self.lanes}({arguments})"

    @property
    def apart_call(self) -> str:
        """The call for the samples of a block in lanes one by one."""
        blocks = {array.name: array.block for array in (*self.inputs, *self.outputs)}
        return f"{self.name}_apart({', '.join(self.declaration.arguments(lambda p: blocks[p.name]))})"

    @property
    def single_call(self) -> str:
        """The call for sample k by other means."""
        arrays = (*self.declaration.inputs, *self.declaration.outputs)
        here = {p: f"{p.name} + {p.size} * k" for p in arrays}
        places = {p.name: p.where_given(x) if p.name in self.spared else x for p, x in here.items()}
        return self._single_call(places)

    @property
    def single_sample(self) -> SingleSampleView:
        """The function that takes the samples of one block one by one."""
        taken, spared = self.declaration, self.spared
        arrays = (*taken.inputs, *taken.outputs)
        copies = {
            p.name: p.where_given(f"{p.name}_one") if p.name in spared else f"{p.name}_one" for p in arrays
        }
        return SingleSampleView(
            f"static void {self.name}_apart({self.parameters})",
            [
                (p.name, p.size, f"{p.name} != NULL && k < {p.size}" if p.name in spared else f"k < {p.size}")
                for p in taken.inputs
            ],
            [(p.name, p.size) for p in taken.outputs],
            self._single_call(copies),
        )

    def _single_call(self, arrays: Mapping[str, str]) -> str:
        """The statement that computes one sample. `arrays`: by name where inputs and outputs are."""
        arguments = self.whole.arguments(lambda p: arrays.get(p.name, "NULL"))
        return f"{self.robot}_{self.whole.name}({', '.join(arguments)});"

    @property
    def index_tables(self) -> list[IndexTable]:
        """The tables of indices of all outputs."""
        pairs = zip(self.outputs, self.results.indices, strict=True)
        return [_index_table(array.name, array.indices, indices, self.lanes) for array, indices in pairs]

    def _array(self, p: Parameter, indices: str = "") -> ArrayView:
        here, table = f"{p.name} + {self.lanes * p.size} * i", self.spared.get(p.name)
        return ArrayView(
            name=p.name,
            size=p.size,
            room=max(p.size, self.lanes),
            block=here if table is None else f"({p.where_given(here, 'NULL')})",
            given=here if table is None else f"({p.where_given(here, table.name)})",
            indices=indices,
            spared=table is not None,
        )


def _index_table(output: str, name: str, indices: Sequence[int], lanes: int) -> IndexTable:
    """The view of a table, filled up to so many lanes."""
    padded = [*indices, *[0] * (lanes - len(indices))]
    rows = [padded[k : k + _IN_A_LINE] for k in range(0, len(padded), _IN_A_LINE)]
    return IndexTable(output, name, len(padded), [", ".join(map(str, row)) + "," for row in rows])
