"""The choice between samples side by side and samples one by one."""

from __future__ import annotations

from rbdc.emit.backend import Form, PlannedFunction
from rbdc.emit.c.columns import column_weight
from rbdc.emit.paths.kernels import KERNELS
from rbdc.emit.second_order.cost import loop_cost
from rbdc.ir.cost import cost
from rbdc.ir.passes.angles import gathered_calls
from rbdc.model import Model
from rbdc.planning.policy import (
    BLOCK_ENTRY,
    BLOCK_LIMBS,
    BLOCK_OPERATION,
    BLOCK_START,
    CALL_ELEMENTARIES,
    CALL_ELEMENTARY,
    CALL_ENTRY,
    WORTH_PAST_CACHES,
)


def single_work(model: Model, planned: PlannedFunction) -> float:
    """The work of a call for one sample, without the optional input, in operations."""
    scalar = planned.declaration.scalar
    if planned.form is Form.WINDOWS:
        return KERNELS[planned.function.policy.windows].cost(model, scalar).weight
    if planned.form is Form.COLUMNS:
        return column_weight(planned.programs[0], model.nv, scalar)
    if planned.form is Form.PATHS:
        called = sum(single_work(model, use) for use in planned.uses)
        return cost(planned.programs[0]).weight + loop_cost(planned, model).weight + called
    return cost(planned.programs[0]).weight


def goes_one_by_one(model: Model, planned: PlannedFunction) -> bool:
    """Whether samples that are stored one after the other take less time one by one than side by side, by the
    measurement at `BLOCK_OPERATION`; of loops along paths never, by that at `SECOND_ORDER_IN_LANES`.
    """
    if not planned.samples or planned.form in (Form.CLIMB, Form.PATHS):
        return False
    declaration, side_by_side = planned.declaration, cost(planned.samples[0]).weight
    single = single_work(model, planned)
    results = sum(p.size for p in declaration.outputs)
    entries = sum(p.size for p in declaration.required) + results
    calls = gathered_calls(planned.programs[0]) if planned.programs else 0
    block = BLOCK_OPERATION * side_by_side + BLOCK_LIMBS * max(0.0, side_by_side - single)
    block += BLOCK_ENTRY * entries + BLOCK_START
    one_by_one = single + CALL_ENTRY * results + CALL_ELEMENTARY * calls
    one_by_one += CALL_ELEMENTARIES if calls else 0.0
    return declaration.scalar.lanes * one_by_one < block


def has_large_results(model: Model, planned: PlannedFunction) -> bool:
    """Whether a batch that is a loop is worth writing past the caches where they cannot hold it."""
    if planned.samples and not planned.one_by_one:
        return False
    if planned.form not in (Form.STRAIGHT_LINE, Form.COLUMNS, Form.WINDOWS):
        return False
    results = sum(p.size for p in planned.declaration.outputs)
    return results >= WORTH_PAST_CACHES * single_work(model, planned)
