"""A target in a file of its own: NumPy that evaluates the straight-line program of each function, one
statement a value.
"""

from __future__ import annotations

from collections.abc import Sequence

from rbdc.emit.backend import Backend, FunctionSource, Package, PlannedFunction
from rbdc.errors import UnsupportedError
from rbdc.functions.declarations import FunctionDeclaration
from rbdc.ir.nodes import Program, Value
from rbdc.ir.operations import ADD, ATAN2, COS, DIV, LESS, MUL, NEG, NOT, SIN, SQRT, SUB, WHERE, Operation

PRINTED: dict[Operation, str] = {
    NEG: "-{0}",
    ADD: "{0} + {1}",
    SUB: "{0} - {1}",
    MUL: "{0} * {1}",
    DIV: "{0} / {1}",
    SIN: "np.sin({0})",
    COS: "np.cos({0})",
    SQRT: "np.sqrt({0})",
    ATAN2: "np.arctan2({0}, {1})",
    LESS: "{0} < {1}",
    NOT: "np.logical_not({0})",
    WHERE: "np.where({0}, {1}, {2})",
}


class NumpyTarget(Backend):
    """`<robot>_<function>_numpy.py` for each function that takes no frame: a Python function over flat
    arrays.
    """

    name = "toy"
    needs_program = True

    def check(self, package: Package, declarations: Sequence[FunctionDeclaration]) -> None:
        """Functions of frames have no straight-line program."""
        framed = [declaration.name for declaration in declarations if declaration.framed]
        if framed:
            raise UnsupportedError(f"--targets toy: it prints no functions of frames, such as {framed[0]}")

    def add_function(self, package: Package, planned: PlannedFunction, source: FunctionSource) -> None:
        """Print one module."""
        if planned.program is None:
            raise UnsupportedError(f"--targets toy: {planned.declaration.name} has no straight-line program")
        name = f"{package.robot}_{planned.declaration.name}_numpy.py"
        source.target_files[self.name] = {name: printed(planned.declaration.name, planned.program)}


def printed(name: str, program: Program) -> str:
    """Return the module of a program: outputs come back as a tuple of flat arrays."""
    values = [f"    x{k} = {expression(value)}" for k, value in enumerate(program.values)]
    results = [f"np.array([{', '.join(f'x{k}' for k in result)}])" for result in program.results]
    head = f"def {name}({', '.join(array.name for array in program.inputs)}):"
    return (
        "\n".join(["import numpy as np", "", "", head, *values, f"    return ({', '.join(results)},)"]) + "\n"
    )


def expression(value: Value) -> str:
    """Return the right-hand side of one value. Raises UnsupportedError for an operation that the target does
    not know.
    """
    if value.constant is not None:
        return repr(value.constant)
    if value.source is not None:
        return f"{value.source[0]}[{value.source[1]}]"
    if value.operation not in PRINTED:
        raise UnsupportedError(f"--targets toy: no NumPy for the operation {value.operation.name}")
    return PRINTED[value.operation].format(*(f"x{k}" for k in value.arguments))
