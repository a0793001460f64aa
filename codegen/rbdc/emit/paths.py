"""The C of second derivatives as loops over the degrees of freedom on each path of the tree."""

from __future__ import annotations

from typing import Any

from rbdc.emit.backend import FunctionSource
from rbdc.emit.c.csource import add_kernels, function_file
from rbdc.emit.c.lanes import lane_functions
from rbdc.emit.render import render
from rbdc.functions.declarations import FunctionDeclaration, Kind
from rbdc.functions.scalar_types import ScalarType
from rbdc.ir.cost import Cost
from rbdc.model import Problem
from rbdc.planning.paths.layout import STATE, Layout, is_weighted, layout, preparation
from rbdc.planning.plans import Paths

RESULTS = ("a", "inverse")
"""The variables of what the functions that forward dynamics calls give."""
HEIGHTS = (6, 5, 4)
"""Rows of a tile of two vectors, as many sums as registers hold, the best first."""


def paths_source(robot: str, declaration: FunctionDeclaration, loops: Paths, total: Cost) -> FunctionSource:
    """The C of the function: of a Hessian of weighted sums, of tensors of forward dynamics, which call
    others, or of inverse dynamics. `loops.programs` compute what `preparation` declares, the first of two
    without the optional input.
    """
    scalar = declaration.scalar
    made = layout(loops.model, scalar)
    sizes = _sizes(made)
    source = FunctionSource(declaration, total, method="paths")
    operators = lane_functions(loops.bodies[:1], scalar)
    words = {"robot": robot, **scalar.words, **sizes}
    source.files[f"{robot}_paths.h"] = render("paths.h.jinja", **words, lane_functions=operators)
    # What is too large for one file goes to files that all functions of a package share, the same in each.
    start = FunctionSource(preparation(declaration, made.size), total, source.files)
    parts, call = add_kernels(robot, f"{robot}_paths_state", loops.programs, start)
    parts[0].declared[:0] = [use.declaration.prototype(robot) for use in loops.uses]
    forward = "paths_forward.c.jinja" if loops.uses else "paths_inverse.c.jinja"
    source.files[f"{robot}_{declaration.name}.c"] = function_file(
        robot,
        source,
        parts=parts,
        call=call,
        body="paths_vector.c.jinja" if is_weighted(declaration) else forward,
        **sizes,
        **_words(robot, declaration, loops),
        drives=_drives(loops.model, scalar),
    )
    return source


def _sizes(made: Layout) -> dict[str, Any]:
    """The words of all templates of paths: the layout, sizes in bytes and numbers, and numbers to count
    by. height: the rows of a tile, as many as leave the fewest of all rows in a lower one.
    """
    height = min(HEIGHTS, key=lambda height: -made.size % height)
    return {
        "layout": made,
        "lanes": made.lanes,
        "root_blocks": len(made.root_parts),
        "joint_count": len(made.joints),
        "state": STATE,
        "inlined": "static inline __attribute__((always_inline))",
        "height": height,
        "rows": range(height),
        "six": range(6),
        "fifteen": range(15),
        "all": range(made.lanes),
        "variants": [(k, k - below) for k in range(1, made.lanes + 1) for below in (0, 1)],
        "begins": (0, made.root) if made.free else (0,),
        "turning": max(len(made.root_parts) - 1, 0),
        "after_root": int(made.free),
    }


def _words(robot: str, declaration: FunctionDeclaration, loops: Paths) -> dict[str, Any]:
    """The words of templates of functions: their bodies, arguments and prototypes, and what they call."""
    outputs = [p.name for p in declaration.outputs]
    called = []
    for use, result in zip(loops.uses, RESULTS, strict=False):
        values = ", ".join([*(p.name for p in use.declaration.inputs), result])
        called.append(f"{robot}_{use.declaration.name}({values})")
    arguments = ", ".join(declaration.arguments(lambda p: p.name))
    return {
        "lane_functions": lane_functions(loops.bodies[1:], declaration.scalar),
        "columns_function": loops.bodies[1].program.name,
        "outputs": outputs,
        **dict(zip(("qq", "vv", "qv", "last"), outputs, strict=True)),
        "weight": "".join(p.name for p in declaration.inputs if p.kind is Kind.WEIGHTS),
        "size": declaration.outputs[0].size,
        "called": called,
        "zeroed_prototype": declaration.prototype(robot, "_into_zeroed"),
        "zeroed": f"{robot}_{declaration.name}_into_zeroed({arguments})",
    }


def _drives(model: Problem, scalar: ScalarType) -> dict[str, str] | None:
    """Terms of drives in the derivatives by v and q, by degrees of freedom; None where there are none."""
    terms = {"damping": model.damping, "stiffness": model.stiffness}
    driven = any(map(any, terms.values()))
    return {key: ", ".join(map(scalar.literal, x)) for key, x in terms.items()} if driven else None
