"""The kernels of windows as nests of loops, one for each width of registers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from rbdc.functions.declarations import FRICTION_WIDTH
from rbdc.functions.record import Function
from rbdc.ir.indices import TableEntry, Variable
from rbdc.ir.loops import (
    Call,
    Clear,
    ConstantTable,
    Loop,
    LoopNest,
    Place,
    Routine,
    Statement,
    WhereGiven,
    names_in,
)
from rbdc.model import Problem
from rbdc.planning.loops.places import PlaceRecorder
from rbdc.planning.windows import entries as at
from rbdc.planning.windows import inverse, products, root, rows, tiles
from rbdc.planning.windows.bodies import window_bodies
from rbdc.planning.windows.kernels import kernel_of
from rbdc.planning.windows.layout import J, WindowLayout, integers
from rbdc.planning.windows.widths import widths_of
from rbdc.reduction.constants import constants_of
from rbdc.reduction.schedules import LIMBS, scheduled
from rbdc.spatial import Scalar
from rbdc.spatial.scalars import sqrt


def window_layout(model: Problem, function: Function) -> WindowLayout:
    """Return the layout of a function's kernel for the longest registers."""
    kernel, schedule = kernel_of(function), scheduled(model)
    constants = constants_of(schedule, moving=kernel.moving)
    bodies = {body.name: body for body in window_bodies(model, kernel)}
    longest = widths_of(schedule, function.declaration.scalar)[0]
    return WindowLayout(function, kernel, schedule, constants, bodies, longest)


def narrower_nests(layout: WindowLayout) -> tuple[LoopNest, ...]:
    """Return the kernel's nests of loops for shorter registers."""
    _, *others = widths_of(layout.schedule, layout.scalar)
    return tuple(window_nest(replace(layout, width=width)) for width in others)


def window_nest(layout: WindowLayout) -> LoopNest:
    """Return the kernel's nest of loops for registers of one width, with its tables and arrays."""
    statements = _KERNELS[layout.function.policy.windows](layout)
    names = set(names_in(statements))
    tables = [*rows.row_tables(layout), *_tables(layout)]
    vectors = {name: size for name, size in _vectors(layout).items() if name in names}
    arrays = {name: size for name, size in _numbers(layout).items() if name in names} | vectors
    inputs = {p.name for p in layout.function.declaration.inputs}
    return LoopNest(
        tuple(table for table in tables if table.name in names and table.name not in inputs),
        arrays,
        tuple(statements),
        widths=dict.fromkeys(vectors, LIMBS),
    )


def _tables(layout: WindowLayout) -> Iterator[ConstantTable]:
    yield integers("slot_of", layout.slot_of)
    yield from root.root_tables(layout)
    if layout.kernel.moving:
        yield from tiles.tile_tables(layout)
    if layout.kernel.factors:
        yield from inverse.inverse_tables(layout)
    if layout.kernel.solved:
        yield from products.product_tables(layout)
    if layout.model.coupled:
        yield integers("column_in_v", _columns(layout.model))


def _columns(model: Problem) -> Iterator[int]:
    return (body.index_v + n for body in model.bodies for n in range(body.joint.nv))


def _vectors(layout: WindowLayout) -> dict[str, int]:
    count = layout.rows
    sizes = {
        "motions": (count + 1 + bool(layout.moved)) * at.MOTION_SIZE,
        "joints": -(-count // LIMBS) * LIMBS * at.JOINT_SIZE,
        "sums": (count + 1) * layout.sum_size,
        "inertias": (count + 1) * layout.inertia_size,
        "posed": count * len(layout.constants.values),
        "gain": 7,
        "left": layout.inertia_size,
        "forces": 9,
        "f": 6,
        "kept": max(layout.sum_size, layout.inertia_size),
    }
    return {name: LIMBS * size for name, size in sizes.items()}


def _numbers(layout: WindowLayout) -> dict[str, int]:
    size, columns, first = len(layout.slots), layout.columns, layout.first
    by_slot = ("angles", "sines", "cosines", "slides", *(name for name, _ in layout.kernel.inputs))
    return {
        **dict.fromkeys(by_slot, size),
        **dict.fromkeys(("rests", "seconds"), max(size, LIMBS * layout.rows + first + LIMBS)),
        **dict.fromkeys(("owns", "factors"), layout.records),
        "by": at.JOINT_SIZE * layout.padded,
        "driving": columns,
        "g": 3,
        "force": 6,
        "total": max(layout.sum_size, 6),
        "carried": at.CARRIED,
        "whole": 36,
        "response": first * columns,
        "width": 1,
        **dict.fromkeys(_FULL.values(), columns * columns),
    }


_FULL = {"q": "full_q", "v": "full_v", "a": "full_a"}
"""Names of the matrices that include the degrees of freedom of coupled mimic joints."""


def _called(routine: Routine, **arrays: str) -> Call:
    return Call(routine, {name: Place(arrays.get(name, name)) for name in routine.arguments})


def _start(layout: WindowLayout) -> list[Statement]:
    return [*rows.posed(layout), *rows.coordinates(layout), *root.carrying(layout)]


def _inverse_inertia(layout: WindowLayout) -> list[Statement]:
    free = root.root_joints(layout) if layout.schedule.free else []
    down = rows.down(layout, "placed_row", "axes and inertias")
    (output,) = layout.outputs
    return [
        *_start(layout),
        down,
        rows.articulated(layout),
        *free,
        _called(inverse.invert(layout), inverse=output),
    ]


def _inverse_dynamics_derivatives(layout: WindowLayout) -> list[Statement]:
    matrices = _FULL if layout.model.coupled else dict(zip("qva", layout.outputs, strict=True))
    statements = [
        *_start(layout),
        rows.down(layout, "forward_row", "motions, inertias and forces"),
        rows.external(layout),
        rows.backward(layout),
        *rows.turned(layout),
    ]
    if layout.schedule.free:
        statements += [*root.root_forces(layout), _called(root.root_columns(layout, *matrices.values()))]
    statements.append(_called(tiles.derivatives(layout, matrices)))
    if layout.model.coupled:
        statements += _followed(layout)
    return [*statements, *_diagonal(layout)]


def _followed(layout: WindowLayout) -> list[Statement]:
    m, i, nv = PlaceRecorder(), Variable("i"), layout.model.nv
    for array, output in zip(_FULL.values(), layout.outputs, strict=True):
        to = Place(output, ((TableEntry("column_in_v", i), nv), (TableEntry("column_in_v", J), 1)))
        m.store([m.number(layout.matrix(array, i, J))], to, adds=True)
    inner = Loop("j", 0, layout.columns, (m.step(),))
    loop = Loop(
        "i",
        0,
        layout.columns,
        (inner,),
        "add entries of mimic joints to those of the joints that they follow",
    )
    return [*(Clear(output, nv * nv) for output in layout.outputs), loop]


def _diagonal(layout: WindowLayout) -> list[Statement]:
    model, outputs, m = layout.model, layout.outputs, PlaceRecorder()
    for output, values in zip(outputs, (model.stiffness, model.damping, model.armature), strict=True):
        along: dict[int, Scalar] = {k: float(x) for k, x in enumerate(values) if x != 0.0}
        if output == outputs[1]:
            for k, slope in _slopes(model, m):
                along[k] = along.get(k, 0.0) + slope
        if along:
            m.add_scattered({k * (model.nv + 1): x for k, x in along.items()}, Place(output))
    step = m.step()
    if not step.places:
        return []
    return [*(_width(model.friction_width) if any(model.friction) else ()), step]


def _slopes(model: Problem, m: PlaceRecorder) -> Iterator[tuple[int, Scalar]]:
    """Yield (k, derivative by v_k) for each term of dry friction of a degree of freedom k."""
    for k, terms in enumerate(model.friction):
        for force, width, _ in terms:
            v, width_of_call = m.numbers(model.nv, Place("v"))[k], m.number(Place("width"))
            least = (width / model.friction_width) ** 2 * (width_of_call * width_of_call)
            square = v * v + least
            yield k, float(force) * least / (square * sqrt(square))


def _width(known: float) -> list[Statement]:
    from_model, from_input = PlaceRecorder(), PlaceRecorder()
    from_model.store([known], Place("width"))
    from_input.store([from_input.number(Place(FRICTION_WIDTH))], Place("width"))
    return [from_model.step(), WhereGiven((FRICTION_WIDTH,), (from_input.step(),))]


def _forward_dynamics_derivatives(layout: WindowLayout) -> list[Statement]:
    """Compute -M^-1 times the derivatives of inverse dynamics at the accelerations that the torques cause."""
    by_q, by_v, inverse_of = layout.outputs
    free = layout.schedule.free
    statements = [
        products.driving(layout),
        *_start(layout),
        rows.down(layout, "forward_row", "motions and forces at zero joint accelerations"),
        rows.external(layout),
        rows.articulated(layout),
    ]
    if free:
        statements += [*root.root_joints(layout), *root.root_torques(layout)]
    statements += [
        _called(inverse.invert(layout), inverse=inverse_of),
        Clear("seconds", len(layout.slots)),
        _called(products.accelerated(layout), inverse=inverse_of),
        root.accelerating(layout),
        rows.down(layout, "corrected_row", "add joint accelerations to motions and forces", at.ACCELERATION),
        rows.backward(layout),
        *rows.turned(layout),
    ]
    if free:
        statements += root.root_forces(layout)
        statements.append(_called(products.root_columns(layout, by_q, by_v), inverse=inverse_of))
        statements.append(_called(products.root_response(layout), inverse=inverse_of))
    statements.append(_called(products.columns(layout, by_q, by_v), inverse=inverse_of))
    return [*statements, *([root.root_itself(layout, by_q, by_v)] if free else [])]


_KERNELS: Mapping[str, Callable[[WindowLayout], list[Statement]]] = {
    "inverse_inertia": _inverse_inertia,
    "inverse_dynamics_derivatives": _inverse_dynamics_derivatives,
    "forward_dynamics_derivatives": _forward_dynamics_derivatives,
}
