"""Who takes part in the measurement of batches, compiled; and who is absent, with the reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from os import cpu_count

from rbdc.functions.scalar_types import FLOAT
from rbdc.model import Model
from rbdc.options import Progress
from rbdc.report.assembly import Measured
from rbdc.report.batch_methods import BATCH, LOOP, casadi_map, generated, loop_over_peer
from rbdc.report.batches import MEMORY, Batches, BatchMethod
from rbdc.report.contenders import Contender, compiled
from rbdc.report.implementation import SINGLE, Implementation, without_optional
from rbdc.report.options import CompareOptions, peer_of
from rbdc.report.toolchains import Toolchains
from rbdc.report.wording import NO_SUCH_METHOD

Made = list[tuple[Implementation, list[BatchMethod]]]
"""C files, and the methods that are in them."""


def prepare(
    model: Model,
    measured: Sequence[Measured],
    absent: Mapping[str, str],
    options: CompareOptions,
    tools: Toolchains,
    progress: Progress,
) -> None:
    """Give every function, once timed, its batches; some compile while the next is generated. absent: peers, and why.

    Raises ToolchainError with the compiler's output.
    """
    pending = []
    with ThreadPoolExecutor(options.build.jobs or cpu_count() or 1) as pool:
        for one in measured:
            progress(f"{one.name}: batches")
            one.batches, made = _of_function(model, one, absent, options.batch_sizes)
            pending += [(one.batches, methods, pool.submit(compiled, code, tools.compiler, tools.flags)) for code, methods in made]
        for batches, methods, job in pending:
            batches.methods += [replace(method, library=job.result().library) for method in methods]


def _of_function(model: Model, one: Measured, absent: Mapping[str, str], wanted: Sequence[int]) -> tuple[Batches, Made]:
    """The batches of one function, and the C of what takes part."""
    code = generated(model, one.function)
    read, written = _sample_bytes(one)
    fitting = [n for n in wanted if n * (read + written) <= MEMORY]
    flops = next(c.flops for c in one.contenders if c.method == "generated")
    batches = Batches(fitting, [n for n in wanted if n not in fitting], code.lanes, flops)
    made = [(code.made, _generated_methods(code.lanes, read + written))]
    if any(contender.method == SINGLE for contender in one.contenders):
        floats = generated(model, one.function, FLOAT)
        how = "in single precision, " + _how(floats.lanes)
        method = BatchMethod(f"{SINGLE}-batch", SINGLE, "single", how, (read + written) // 2, BATCH, dtype=FLOAT.dtype)
        made.append((floats.made, [method]))
    pinocchio, casadi = _fastest(one, "pinocchio"), _fastest(one, "casadi")
    if pinocchio is not None:
        words = "Pinocchio's function, sample by sample; its results stay in its own data"
        method = BatchMethod("pinocchio-loop", pinocchio.method, pinocchio.family, words, read, LOOP, pinocchio)
        made.append((loop_over_peer(one.function.declaration), [method]))
    if casadi is not None:
        method = BatchMethod("casadi-map", casadi.method, casadi.family, "CasADi's C of its map", read + written, BATCH)
        made.append((casadi_map(model, one.function, casadi.method, fitting), [method]))
    for name, peer, found in (("pinocchio-loop", "pinocchio", pinocchio), ("casadi-map", "casadi", casadi)):
        if found is None:
            batches.absent[name] = _reason(one, absent, peer)
    return batches, made


def _how(lanes: int | None) -> str:
    return "the generated batch function: " + ("a loop over samples" if lanes is None else f"{lanes} samples side by side")


def _generated_methods(lanes: int | None, moved: int) -> list[BatchMethod]:
    loop = "the generated function for one sample, sample by sample"
    return [
        BatchMethod("generated-batch", "generated", "generated", _how(lanes), moved, BATCH),
        BatchMethod("generated-loop", "generated", "generated", loop, moved, LOOP),
    ]


def _sample_bytes(one: Measured) -> tuple[int, int]:
    """Of the inputs and of the outputs of one sample."""
    declaration = without_optional(one.function.declaration)
    return 8 * sum(p.size for p in declaration.inputs), 8 * sum(p.size for p in declaration.outputs)


def _fastest(one: Measured, peer: str) -> Contender | None:
    """The method of a peer, and of its builds, that took the least time for one sample after the other."""
    theirs = [c for c in one.contenders if peer_of(c.method) == peer]
    return min(theirs, key=lambda c: float(one.times[c.method]["minimum"]), default=None)


def _reason(one: Measured, absent: Mapping[str, str], peer: str) -> str:
    """Why a peer did not take part in the comparison of single calls either."""
    reasons = [a.reason for a in one.absent if peer_of(a.method) == peer]
    return next(iter(reasons), absent.get(peer, NO_SUCH_METHOD))
