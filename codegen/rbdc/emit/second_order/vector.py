"""The C of the Hessian of weighted sums of torques or accelerations, without the tensors."""

from __future__ import annotations

from rbdc.emit.backend import FunctionSource
from rbdc.emit.c.csource import batch_view, figures
from rbdc.emit.names import comment
from rbdc.emit.render import render
from rbdc.emit.second_order.cost import loop_cost
from rbdc.emit.second_order.forward import ACCELERATIONS, begun, call_of
from rbdc.emit.second_order.loops import LoopsAlongPaths
from rbdc.emit.second_order.paths import OPERATORS, STATE, first_words, layout, view
from rbdc.functions.declarations import Kind
from rbdc.model import Model


def vector_source(robot: str, planned: LoopsAlongPaths, model: Model, version: str) -> FunctionSource:
    """The C of a function whose outputs are the blocks qq, vv, qv and, last, by q and a (or tau)."""
    declaration, made = planned.declaration, layout(model, planned.declaration.scalar)
    source, kernels, own = begun(robot, planned, declaration, model, version)
    source.cost += loop_cost(planned, model)
    scalar, name = declaration.scalar, f"{robot}_{declaration.name}"
    given = [p.name for p in declaration.inputs if p.kind is not Kind.WEIGHTS]
    (weight,) = (p.name for p in declaration.inputs if p.kind is Kind.WEIGHTS)
    qq, vv, qv, last = (p.name for p in declaration.outputs)
    calls = [call_of(robot, use, [*given, ACCELERATIONS]) for use in planned.uses]
    source.files[f"{name}.c"] = render(
        "second_vector.c.jinja",
        **view(robot, made, scalar, version),
        function=declaration.name,
        summary=comment(declaration.summary),
        figures=figures(source.cost),
        headers=own,
        firsts=[use.declaration.c_prototype(robot, batch=False) for use in planned.uses],
        foreign=kernels.foreign,
        parts=kernels.parts,
        call=kernels.call,
        joints=made.joints,
        joint_count=len(made.joints),
        several=any(joint.size > 1 for joint in made.joints),
        state=STATE * made.size + made.lanes,
        used=STATE * made.size,
        operators=OPERATORS * made.columns,
        forward=bool(planned.uses),
        middle=ACCELERATIONS,
        weight=weight,
        few=(0, 1, 2),
        products=made.products,
        qq=qq,
        vv=vv,
        qv=qv,
        last=last,
        accelerate="".join(calls),
        **first_words(made, model, scalar),
        prototype=declaration.c_prototype(robot, batch=False),
        batch=batch_view(robot, declaration) if planned.plain_loop else None,
    )
    source.statements += sum(line.endswith(";") for line in source.files[f"{name}.c"].splitlines())
    return source
