"""The batch of a function (one call for many samples): samples side by side in SIMD lanes, or one by one."""

from __future__ import annotations

from collections.abc import Sequence

from rbdc.errors import OptionError
from rbdc.functions.record import Function
from rbdc.functions.scalar_types import DOUBLE, REGISTERS, SHORTEST_BYTES
from rbdc.ir.cost import cost
from rbdc.ir.nodes import Program
from rbdc.ir.passes.angles import gathered_calls
from rbdc.ir.passes.sums import chain_sums
from rbdc.ir.verify import verify
from rbdc.planning.calibration import ROLLED
from rbdc.planning.candidates import has_paths, of_samples
from rbdc.planning.forms import Subject
from rbdc.planning.plans import UNTOLD, BatchPlan, FormChoice, Plan
from rbdc.planning.policy import (
    ALWAYS_IN_COLUMNS,
    MAXIMUM_DOF,
    MOSTLY_COPIED,
    ONE_REGISTER_BEYOND,
    SECOND_ORDER_IN_LANES,
    WORTH_A_BATCH,
)
from rbdc.planning.tracing import frame_step_programs

FOUR_LIMBS = frozenset({1, 4})
"""Numbers of lanes of the values in a program of a single call whose only vectors hold four limbs.

Measured for the derivatives of inverse dynamics of quadrupeds, whose 972 results are transposed if samples
run side by side: time of a sample one by one, divided by its time side by side.

    processor         robot    clang 19       gcc 12
    Zen 3 (AVX2)      Solo12   0.61 to 0.67   0.51 to 0.58
    Zen 3 (AVX2)      HyQ      0.75 to 0.82   0.60 to 0.63
    Zen 4 (AVX-512)   Solo12   0.56 to 1.0 with both
    Zen 4 (AVX-512)   HyQ      0.87 to 1.1 with both

On a Xeon HyQ's single call takes 258 ns with clang, 367 ns with gcc. A sample in blocks (batches in lane
layout), which are not transposed, takes 475 ns with clang, 395 ns with gcc. For other functions of quadrupeds
samples run side by side, although their ratios on the Zen 3 core are 0.6 to 1.1 (rnea_jvp, coriolis,
aba_jvp). Other processors are faster side by side: on the Xeon with gcc HyQ's rnea_jvp takes 81 ns instead of
134 ns, its aba_jvp 158 ns instead of 315 ns.
"""


def batch_plan(subject: Subject, plan: Plan, choice: FormChoice = UNTOLD) -> BatchPlan:
    """Return how several samples are computed. The choice sets the number of samples side by side; without a
    choice, thresholds decide.

    Raises OptionError if the choice names a number of lanes for which the function has no batch.
    """
    small = plan.form == ROLLED and choice.form is None
    function, samples = subject.function, () if small else side_by_side_programs(subject, plan)
    there = widths(function, samples)
    for lanes in (choice.lanes, choice.kernel):
        if lanes is not None and lanes not in there:
            problem = f"{choice.place}: {function.name} has no batch of {lanes} lanes for this model"
            raise OptionError(f"{problem}; give {' or '.join(map(str, there))}, or remove the choice")
    measured = goes_one_by_one(function, plan, samples)
    one_by_one = measured if choice.lanes is None else bool(samples) and choice.lanes == 1
    return BatchPlan(samples, one_by_one, kernel_widths(function, samples, choice.kernel))


def widths(function: Function, samples: Sequence[Program], register: int = SHORTEST_BYTES) -> tuple[int, ...]:
    """Return the numbers of samples that a batch in row layout can compute side by side with registers of
    this size (bytes); 1 stands for one by one.
    """
    scalar = function.declaration.scalar
    wide = (scalar.lanes,) if function.declaration.framed else scalar.widths(register)
    return (1, *wide) if samples else (1,)


def kernel_widths(
    function: Function, samples: Sequence[Program], chosen: int | None = None
) -> dict[int, int]:
    """Return the number of samples side by side in a function's kernels, by register size (bytes).

    Without a chosen number it is a block (as many as the longest register holds), or as many as one register
    holds if the function has more operations than `ONE_REGISTER_BEYOND`.
    """
    if chosen is not None:
        return dict.fromkeys(REGISTERS, chosen)
    scalar = function.declaration.scalar
    operations = 0 if function.declaration.framed or not samples else cost(samples[0]).operations
    return {
        size: scalar.lanes if operations <= most else size // scalar.size
        for size, most in ONE_REGISTER_BEYOND.items()
    }


def side_by_side_programs(subject: Subject, plan: Plan) -> tuple[Program, ...]:
    """Return the programs of a kernel for several samples; none if the kernel would be too large to save
    time.
    """
    model, function = subject.model, subject.function
    if function.declaration.framed:
        small = plan.cost.operations <= WORTH_A_BATCH
        return tuple(frame_step_programs(model)) if small and not function.policy.sample_by_sample else ()
    if model.nv > _most(subject):
        return ()
    samples = of_samples(subject.candidates)
    if cost(samples[-1]).operations > WORTH_A_BATCH:
        return ()
    return tuple(verify(chain_sums(sample)) for sample in samples)


def _most(subject: Subject) -> int:
    if has_paths(subject.model, subject.function):
        return SECOND_ORDER_IN_LANES
    return MAXIMUM_DOF if subject.function.to_solve is None else ALWAYS_IN_COLUMNS


def goes_one_by_one(function: Function, plan: Plan, samples: Sequence[Program]) -> bool:
    """Return whether samples of doubles are faster one by one on Intel and AMD, with clang and gcc.

    They are if the function mostly copies (`MOSTLY_COPIED`). For functions whose policy has
    `one_by_one_in_limbs`, they are if four limbs run in lanes in a single call (`FOUR_LIMBS`).
    """
    declaration = function.declaration
    if not samples or not plan.kernels or declaration.scalar != DOUBLE:
        return False
    single = plan.kernels[0]
    if function.policy.one_by_one_in_limbs:
        return {value.width for value in single.values} == FOUR_LIMBS
    numbers = sum(p.size for p in (*declaration.required, *declaration.outputs))
    return not gathered_calls(single) and cost(samples[0]).operations < MOSTLY_COPIED * numbers
