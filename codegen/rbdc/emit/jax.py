"""The target `jax`: one C file of handlers for XLA around the batches of the library, and a shared library of
it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rbdc.emit.backend import Backend, FunctionSource, Package
from rbdc.emit.names import comment
from rbdc.emit.render import part, render
from rbdc.functions.declarations import FunctionDeclaration
from rbdc.functions.scalar_types import DOUBLE, FLOAT

_XLA_TYPES = {DOUBLE: 12, FLOAT: 11}
"""Codes of the types in XLA's interface for foreign functions."""


class JaxTarget(Backend):
    """A handler for every function, except functions of two frames. Derivatives are added in Python."""

    name = "jax"
    shared = True

    def package_files(self, package: Package, sources: Sequence[FunctionSource]) -> dict[str, str]:
        """Return the C file."""
        declarations = [source.declaration for source in sources]
        text = render(
            "jax.c.jinja",
            robot=package.robot,
            xla_interface=part("xla_interface.c.jinja"),
            scalar=package.scalar,
            xla_type=_XLA_TYPES[package.scalar],
            functions=[_handler(package.robot, d) for d in declarations if not d.pair],
        )
        return {f"{package.robot}_jax.c": text}


def _handler(robot: str, d: FunctionDeclaration) -> dict[str, Any]:
    """Return one handler: its symbol, the numbers of required inputs, inputs and outputs, the sizes of these
    buffers for one sample, and its call with the buffers `x`.
    """
    arrays = [*d.inputs, *d.outputs]
    buffers = [f"x[{k}]" for k in range(len(arrays))]
    frame = ["place[0]", "place[1]"] if d.framed else []
    arguments = ["n", *buffers[: len(d.inputs)], *frame, *buffers[len(d.inputs) :]]
    return {
        "symbol": f"{robot}_jax_{d.name}",
        "summary": comment(d.summary),
        "required": len(d.required),
        "inputs": len(d.inputs),
        "outputs": len(d.outputs),
        "sizes": ", ".join(str(p.size) for p in arrays),
        "buffers": len(arrays),
        "framed": d.framed,
        "call": f"{robot}_{d.name}_batch({', '.join(arguments)})",
    }
