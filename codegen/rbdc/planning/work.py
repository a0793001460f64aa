"""Operations of planned functions."""

from __future__ import annotations

from rbdc.emit.backend import Form, PlannedFunction
from rbdc.emit.c.columns import column_cost
from rbdc.emit.paths.kernels import KERNELS
from rbdc.emit.second_order.cost import loop_cost
from rbdc.ir.cost import cost
from rbdc.model import Model


def single_work(model: Model, planned: PlannedFunction) -> float:
    """The work of a call for one sample, without the optional input, as `Cost.weight` has it."""
    scalar = planned.declaration.scalar
    if planned.form is Form.WINDOWS:
        return KERNELS[planned.function.policy.windows].cost(model, scalar).weight
    if planned.form is Form.COLUMNS:
        return column_cost(planned.programs[0], model.nv, scalar).weight
    if planned.form is Form.PATHS:
        called = sum(single_work(model, use) for use in planned.uses)
        return cost(planned.programs[0]).weight + loop_cost(planned, model).weight + called
    return cost(planned.programs[0]).weight


def operations_of(model: Model, planned: PlannedFunction) -> int:
    """The operations of a call for one sample, without the optional input, of straight-line code, solves in
    columns, or a kernel along ancestor paths.
    """
    scalar = planned.declaration.scalar
    if planned.form is Form.WINDOWS:
        return KERNELS[planned.function.policy.windows].cost(model, scalar).operations
    if planned.form is Form.COLUMNS:
        return column_cost(planned.programs[0], model.nv, scalar).operations
    return cost(planned.programs[0]).operations
