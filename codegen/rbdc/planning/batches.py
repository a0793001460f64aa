"""The choice between samples side by side and samples one by one, for samples that are stored one after the
other, and whether results go past the caches.
"""

from __future__ import annotations

from rbdc.emit.backend import Form, PlannedFunction
from rbdc.functions.scalar_types import DOUBLE
from rbdc.ir.cost import cost
from rbdc.ir.passes.angles import gathered_calls
from rbdc.model import Model
from rbdc.planning.policy import MOSTLY_COPIED, WORTH_PAST_CACHES
from rbdc.planning.work import single_cost

FOUR_LIMBS = frozenset({1, 4})
"""Widths of the values of a single call in which four limbs run side by side, and nothing else does.

Measured for the derivatives of inverse dynamics of quadrupeds, whose 972 results are transposed side by side:
time of a sample one by one over that side by side, by clang 19 and gcc 12, on a Zen 3 core (AVX2) Solo12 0.61
to 0.67 and 0.51 to 0.58, HyQ 0.75 to 0.82 and 0.60 to 0.63; on a Zen 4 core (AVX-512) 0.56 to 1.0 and 0.87 to
1.1; on a Xeon HyQ's single call takes 258 and 367 ns, blocks that need no transposition 475 and 395. Other
functions of quadrupeds lose side by side on the Zen 3 core too (rnea_jvp 0.78 to 0.86 and 0.6, coriolis 0.63
to 0.78; aba_jvp 0.9 to 1.1), but gain elsewhere: on the Xeon by gcc HyQ's rnea_jvp takes 81 ns in place of
134, its aba_jvp 158 in place of 315. They go side by side.
"""


def goes_one_by_one(planned: PlannedFunction) -> bool:
    """Whether samples of doubles take less time one by one, on processors of both makers and by both
    compilers: those of functions that mostly copy, by the measurement at `MOSTLY_COPIED`, and where four
    limbs run in lanes in a single call those of functions whose policy says so, by that at `FOUR_LIMBS`.
    """
    declaration = planned.declaration
    if not planned.samples or not planned.programs or declaration.scalar is not DOUBLE:
        return False
    if planned.form not in (Form.STRAIGHT_LINE, Form.COLUMNS):
        return False
    single = planned.programs[0]
    if planned.function.policy.one_by_one_in_limbs:
        return {value.width for value in single.values} == FOUR_LIMBS
    numbers = sum(p.size for p in (*declaration.required, *declaration.outputs))
    return not gathered_calls(single) and cost(planned.samples[0]).operations < MOSTLY_COPIED * numbers


def has_large_results(model: Model, planned: PlannedFunction) -> bool:
    """Whether a batch that is a loop is worth writing past the caches where they cannot hold it."""
    if planned.samples and not planned.one_by_one:
        return False
    if planned.form not in (Form.STRAIGHT_LINE, Form.COLUMNS, Form.WINDOWS):
        return False
    results = sum(p.size for p in planned.declaration.outputs)
    return results >= WORTH_PAST_CACHES * single_cost(model, planned).weight
