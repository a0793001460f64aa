"""The programs by which a function may be computed, and the choice among them by their work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from rbdc.emit.c.columns import preparation
from rbdc.emit.second_order.source import preparation as loop_start
from rbdc.errors import UnsupportedError
from rbdc.functions.catalogue import functions_of
from rbdc.functions.record import Function
from rbdc.functions.scalar_types import ScalarType
from rbdc.ir.cost import cost
from rbdc.ir.nodes import Program
from rbdc.ir.passes import optimise
from rbdc.ir.passes.angles import gather_angles
from rbdc.ir.passes.labels import gather_labels
from rbdc.ir.passes.section_order import order_sections
from rbdc.ir.passes.specialise import without_input
from rbdc.ir.passes.sums import chain_sums
from rbdc.ir.passes.vectorise.slp_vectorise import join_neighbours
from rbdc.ir.verify import verify
from rbdc.model import Model
from rbdc.planning.limb_lanes import laned
from rbdc.planning.policy import (
    STRAIGHT_SECOND_ORDER,
    STRAIGHT_TENSORS,
    WORTH_A_FORM,
    WORTH_A_KERNEL,
    WORTH_FOLLOWING,
    WORTH_LANES,
    WORTH_TWO_STARTS,
)
from rbdc.planning.tracing import traced


def over(function: Function, scalar: ScalarType) -> Function:
    """The function over another type of scalars."""
    return replace(function, declaration=replace(function.declaration, scalar=scalar))


@dataclass(frozen=True)
class Variants:
    """The simplified programs of one method of a function.

    kernels: for one sample; with two of them the first goes without the optional input. samples: for several,
    one in each lane, likewise.
    """

    kernels: list[Program]
    samples: list[Program]


def chosen(model: Model, function: Function) -> tuple[str, list[Program]]:
    """The method of a function that is generated for this model, and its programs: that with the least work,
    the first named of equals.
    """
    made = tried(model, function)
    best = least(made)
    return best, finished(made[best].kernels)


def tried(model: Model, function: Function) -> dict[str, Variants]:
    """The programs by each method that comes into question."""
    catalogue = functions_of(model)
    if any(other.policy.leader == function.name for other in catalogue.values()):
        return _leading(model, function.name)
    leader = function.policy.leader
    methods = function.methods if leader is None else [_following(_by_kernels(_leading(model, leader)))]
    return {method: variants(model, function, method) for method in methods}


@lru_cache(maxsize=1)
def _leading(model: Model, name: str) -> dict[str, Variants]:
    """The programs of a function whose method others take, by each of its methods."""
    function = functions_of(model)[name]
    return {method: variants(model, function, method) for method in function.methods}


def least(made: Mapping[str, Variants]) -> str:
    """The method with the least work, the first named of equals."""
    work = _by_kernels(made)
    return min(work, key=lambda method: work[method])


def of_samples(made: Mapping[str, Variants]) -> list[Program]:
    """The scalar programs for several samples, by the method that takes the least work there."""
    return min(
        (variants.samples for variants in made.values()), key=lambda programs: cost(programs[0]).weight
    )


def _following(work: Mapping[str, float]) -> str:
    """The method that followers take, by the work of each in the function that leads."""
    *_, first, other = work
    return first if work[first] < WORTH_FOLLOWING * work[other] else other


def _by_kernels(made: Mapping[str, Variants]) -> dict[str, float]:
    return {method: cost(variants.kernels[0]).weight for method, variants in made.items()}


def programs(model: Model, function: Function, method: str) -> list[Program]:
    """The optimised program of a function; before it, where leaving out its optional input or running limbs
    in lanes saves enough, that program without the optional input.
    """
    return finished(variants(model, function, method).kernels)


def variants(model: Model, function: Function, method: str) -> Variants:
    """The programs of a function by one of its methods."""
    program = traced(model, function, method)
    optional = function.declaration.optional
    without = program
    for p in optional:
        without = without_input(without, p.name, p.absent)
    without = optimise(without) if optional else program
    limbs = laned(model, function, method)
    if limbs is not None and cost(limbs).weight < WORTH_LANES * cost(without).weight:
        kernels = [limbs, program] if optional else [limbs]
    elif optional and cost(program).operations > (1.0 + WORTH_A_KERNEL) * cost(without).operations:
        kernels = [without, program]
    else:
        kernels = [program]
    both = optional and cost(program).operations > (1.0 + WORTH_A_FORM) * cost(without).operations
    samples = [without, program] if both else [program]
    return Variants(kernels, samples)


def finished(kernels: Sequence[Program]) -> list[Program]:
    """Kernels as they are emitted: sums as chains, neighbours in one vector, joint angles first."""
    ordered = (order_sections(join_neighbours(chain_sums(kernel))) for kernel in kernels)
    return [verify(gather_labels(gather_angles(kernel))) for kernel in ordered]


def left_to_solve(model: Model, function: Function) -> list[Program] | None:
    """The programs of what is left to solve for, where the function has such a form."""
    if function.to_solve is None:
        return None
    left = Function(preparation(function.declaration), {"columns": function.to_solve})
    return programs(model, left, "columns")


def has_loops_along_paths(model: Model, function: Function) -> bool:
    """Whether a function of second derivatives can be loops along the paths of the tree for this model.

    Raises UnsupportedError where neither those nor straight-line code will do.
    """
    if function.along_paths is None or model.nv <= STRAIGHT_SECOND_ORDER:
        return False
    if not (model.coupled or model.world_forces or any(model.friction)):
        return True
    if model.nv > STRAIGHT_TENSORS:
        what, remedy = next(
            reason
            for held, *reason in (
                (model.coupled, "coupled joints", "--mimic independent"),
                (model.world_forces, "external forces in the world's frame", "--fext-frame local"),
                (True, "dry friction", "--friction report"),
            )
            if held
        )
        raise UnsupportedError(
            f"{function.name}: with {what} at most {STRAIGHT_TENSORS} degrees of freedom, "
            f"here {model.nv}; build with {remedy}"
        )
    return False


def along_paths(model: Model, function: Function) -> list[Program] | None:
    """The programs that loops along the paths of the tree start from, where the function and the model have
    such a form.

    Raises UnsupportedError where neither that nor straight-line code will do.
    """
    if function.along_paths is None or not has_loops_along_paths(model, function):
        return None
    start = Function(loop_start(function.declaration, model.nv), {"paths": function.along_paths})
    made = programs(model, start, "paths")
    return made if cost(made[-1]).operations <= WORTH_TWO_STARTS else made[-1:]
