"""Operations of planned functions."""

from __future__ import annotations

from rbdc.emit.backend import Form, PlannedFunction
from rbdc.emit.c.columns import column_cost
from rbdc.emit.paths.kernels import KERNELS
from rbdc.emit.second_order.cost import loop_cost
from rbdc.ir.cost import Cost, cost
from rbdc.model import Model


def single_cost(model: Model, planned: PlannedFunction) -> Cost:
    """The operations of a call for one sample, without the optional input, the functions that it calls
    included.
    """
    scalar = planned.declaration.scalar
    if planned.form is Form.WINDOWS:
        return KERNELS[planned.function.policy.windows].cost(model, scalar)
    if planned.form is Form.COLUMNS:
        return column_cost(planned.programs[0], model.nv, scalar)
    if planned.form is Form.PATHS:
        called = sum((single_cost(model, use) for use in planned.uses), Cost())
        return cost(planned.programs[0]) + loop_cost(planned, model) + called
    return cost(planned.programs[0])
