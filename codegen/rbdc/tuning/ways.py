"""The C of a function in all forms, with the entry point that comparisons time: for one sample, and for
batches with samples one after the other or side by side.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from rbdc.emit.backend import Package, PlannedFunction
from rbdc.emit.printing import printed
from rbdc.emit.registry import assembled, backends_of, emitted
from rbdc.functions.catalogue import functions_of
from rbdc.functions.scalar_types import SINGLE_CALL_BYTES, ScalarType
from rbdc.model import Problem
from rbdc.planning.batches import batch_plan, widths
from rbdc.planning.calibration import ROLLED
from rbdc.planning.candidates import over
from rbdc.planning.forms import Subject, least_time, plans_of
from rbdc.planning.plans import FormChoice, Plan
from rbdc.processes import uncollected
from rbdc.report.methods.contenders import alone
from rbdc.report.methods.implementation import BATCH, BLOCKS, ROBOT, Implementation, of_files


@dataclass(frozen=True)
class Ways:
    """A function as C.

    name: name of the function.
    default: form that the table of `rbdc.planning.calibration` chooses.
    forms: C for one sample, by form.
    loops: C for batches with samples one after the other, by form.
    kernels, blocks: C for batches in row layout and in lane layout, by the number of samples that a kernel
        computes side by side; empty if the batch is a loop.
    lanes: number of samples that planning computes side by side in row layout; 1 for a loop.
    width: number of samples side by side in the kernel that planning chooses.
    nanoseconds: time of a call (ns) according to the table.
    """

    name: str
    default: str
    forms: Mapping[str, Implementation]
    loops: Mapping[str, Implementation] = field(default_factory=dict)
    kernels: Mapping[int, Implementation] = field(default_factory=dict)
    blocks: Mapping[int, Implementation] = field(default_factory=dict)
    lanes: int = 1
    width: int = 1
    nanoseconds: float = 0.0


def ways_of(model: Problem, scalar: ScalarType, name: str, *, register: int = 0) -> Ways:
    """Return the forms of a function and of its batch. There is a kernel for each number of samples side by
    side, from those of one register (of at most 32 bytes) to a block.

    register: size of the processor's registers (bytes); 0: no batches.
    """
    with uncollected():
        subject = Subject(model, over(functions_of(model)[name], scalar))
        plans = plans_of(subject)
        best = least_time(plan for form, plan in plans.items() if form != ROLLED) or plans[ROLLED]
        sources = {form: printed(ROBOT, plan) for form, plan in plans.items()}
        forms = {form: alone(model, source) for form, source in sources.items()}
        single = Ways(name, best.form, forms, nanoseconds=best.nanoseconds)
        usual = batch_plan(subject, best)
        if not register or not usual.samples:
            return single
        loops = {form: of_files(model, forms[form].files, one, BATCH) for form, one in sources.items()}
        least = min(register, SINGLE_CALL_BYTES)
        counts = [count for count in widths(subject.function, usual.samples, least) if count > 1]
        kernels, blocks = (
            {count: _kernel(model, subject, best, FormChoice(lanes=count), layout) for count in counts}
            for layout in (BATCH, BLOCKS)
        )
        width = usual.widths[register]
        batches = replace(single, loops=loops, kernels=kernels, blocks=blocks, width=width)
        return replace(batches, lanes=1 if usual.one_by_one else width)


def _kernel(model: Problem, subject: Subject, plan: Plan, choice: FormChoice, layout: str) -> Implementation:
    scalar, backends = subject.function.declaration.scalar, backends_of(("c", "batch"))
    package = Package(model, ROBOT, tuple(functions_of(model)), scalar)
    planned = PlannedFunction(plan, batch_plan(subject, plan, choice), None)
    source = emitted(package, planned, backends)
    return of_files(model, assembled(package, [source], backends).files, source, layout)
