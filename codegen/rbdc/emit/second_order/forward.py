"""The C of second derivatives of forward dynamics, and of Hessians of weighted sums."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rbdc.emit.backend import FunctionSource
from rbdc.emit.second_order.inverse import begun, common_words, finished
from rbdc.emit.second_order.loops import LoopsAlongPaths
from rbdc.emit.second_order.paths import first_words, layout
from rbdc.functions.declarations import Kind
from rbdc.model import Model

ACCELERATIONS = "a"
"""The variable of what forward dynamics gives."""

HEIGHTS = (6, 5, 4)
"""Rows of a tile of two vectors, as many sums as registers hold, the best first."""


@dataclass(frozen=True)
class ProductView:
    """A function that multiplies weights and terms from a column on."""

    name: str
    comment: str
    begin: int


def tile_height(size: int) -> int:
    """The rows of a tile that leave the fewest of so many in a lower one."""
    return min(HEIGHTS, key=lambda height: -size % height)


def forward_source(robot: str, planned: LoopsAlongPaths, model: Model, version: str) -> FunctionSource:
    """The C of the function: `planned.programs` compute what `preparation` declares, `planned.uses` are
    forward dynamics.
    """
    declaration, made = planned.declaration, layout(model, planned.declaration.scalar)
    source, kernels = begun(robot, planned, model, version)
    (accelerate,), height = planned.uses, tile_height(made.size)
    given, outputs = ([p.name for p in group] for group in (declaration.inputs, declaration.outputs))
    products = [ProductView("product", "all columns", 0)]
    if made.free:
        words = "without the columns of the free root, of which all else is free"
        products.append(ProductView("product_q", words, made.root))
    words_of = {
        **common_words(robot, planned, model, source, kernels, version),
        **first_words(made, model, declaration.scalar),
        "four": 4 * declaration.scalar.size,
        "rows": tuple(range(height)),
        "height": height,
        "three": (0, 1, 2),
        "six": range(6),
        "fifteen": range(15),
        "products": products,
        "turning": max(len(made.root_parts) - 1, 0),
        "same": made.same,
        "after_root": int(made.free),
        "sparse": outputs[1],
        "middle": ACCELERATIONS,
        "accelerate": call_of(robot, accelerate, [*given, ACCELERATIONS]),
    }
    return finished(source, robot, "second_forward.c.jinja", words_of)


def vector_source(robot: str, planned: LoopsAlongPaths, model: Model, version: str) -> FunctionSource:
    """The C of a function whose outputs are the blocks qq, vv, qv and, last, by q and a (or tau)."""
    declaration, made = planned.declaration, layout(model, planned.declaration.scalar)
    source, kernels = begun(robot, planned, model, version)
    given = [p.name for p in declaration.inputs if p.kind is not Kind.WEIGHTS]
    (weight,) = (p.name for p in declaration.inputs if p.kind is Kind.WEIGHTS)
    qq, vv, qv, last = (p.name for p in declaration.outputs)
    words = {
        **common_words(robot, planned, model, source, kernels, version),
        **first_words(made, model, declaration.scalar),
        "several": any(joint.size > 1 for joint in made.joints),
        "forward": bool(planned.uses),
        "middle": ACCELERATIONS,
        "weight": weight,
        "few": (0, 1, 2),
        "products": made.products,
        "qq": qq,
        "vv": vv,
        "qv": qv,
        "last": last,
        "accelerate": "".join(call_of(robot, use, [*given, ACCELERATIONS]) for use in planned.uses),
    }
    return finished(source, robot, "second_vector.c.jinja", words)


def call_of(robot: str, use: LoopsAlongPaths, arguments: Sequence[str]) -> str:
    """The call of a function that this one uses."""
    return f"{robot}_{use.declaration.name}({', '.join(arguments)})"
