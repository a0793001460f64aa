"""The programs that can compute a function, and the choice among them by work (weighted operations)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from rbdc.errors import UnsupportedError
from rbdc.functions.declarations import FunctionDeclaration, Parameter
from rbdc.functions.record import Function
from rbdc.functions.scalar_types import ScalarType
from rbdc.ir.cost import cost
from rbdc.ir.nodes import Program
from rbdc.ir.passes.angles import gather_angles
from rbdc.ir.passes.sections import gather_labels, order_sections
from rbdc.ir.passes.simplify import optimise, without_input
from rbdc.ir.passes.sums import chain_sums
from rbdc.ir.passes.vectorise.slp_vectorise import join_neighbours
from rbdc.ir.verify import verify
from rbdc.model import Problem
from rbdc.planning.columns.plan import preparation
from rbdc.planning.limb_lanes import laned
from rbdc.planning.paths.layout import preparation as preparation_of_paths
from rbdc.planning.policy import (
    STRAIGHT_SECOND_ORDER,
    STRAIGHT_TENSORS,
    WORK_OF_METHODS,
    WORTH_A_FORM,
    WORTH_A_KERNEL,
    WORTH_TWO_STARTS,
)
from rbdc.planning.tracing import traced


def over(function: Function, scalar: ScalarType) -> Function:
    """Return the function with another scalar type."""
    return replace(function, declaration=replace(function.declaration, scalar=scalar))


@dataclass(frozen=True)
class Candidate:
    """A function with one of its methods. Its programs are simplified, and created on first use."""

    model: Problem
    function: Function
    method: str

    @cached_property
    def whole(self) -> Program:
        """The program for one sample with all inputs."""
        return traced(self.model, self.function, self.method)

    @cached_property
    def without(self) -> Program:
        """The program of one sample without the optional inputs."""
        program, optional = self.whole, self.function.declaration.optional
        for p in optional:
            program = without_input(program, p.name, p.absent)
        return optimise(program) if optional else program

    @cached_property
    def first(self) -> Program:
        """The program for calls without the optional inputs: with limbs in lanes if there are limbs; else
        `without` if it saves enough operations; else `whole`.

        Lanes took 0.31 to 0.76 of the work on all tested robots with limbs. The exception is an arm of seven
        joints with two fingers of two joints each: lanes took 0.73 to 0.91 of the work and 0.85 to 1.06 of
        the time (a Xeon, clang 19 and gcc 12).
        """
        limbs = laned(self.model, self.function, self.method)
        if limbs is not None:
            return limbs
        return self.without if self._saves(WORTH_A_KERNEL) else self.whole

    @property
    def work(self) -> float:
        """Work of a single call, times the factor of the method in `WORK_OF_METHODS`."""
        return WORK_OF_METHODS.get(self.method, 1.0) * cost(self.first).weight

    @property
    def kernels(self) -> list[Program]:
        """Programs for one sample; if there are two, the first takes no optional inputs."""
        split = self.function.declaration.optional and self.first is not self.whole
        return [self.first, self.whole] if split else [self.first]

    @property
    def samples(self) -> list[Program]:
        """Programs for several samples, one in each lane; if there are two, the first takes no optional
        inputs.
        """
        return [self.without, self.whole] if self._saves(WORTH_A_FORM) else [self.whole]

    def _saves(self, part: float) -> bool:
        return cost(self.whole).operations > (1.0 + part) * cost(self.without).operations


def candidates(model: Problem, function: Function) -> list[Candidate]:
    """Return one candidate for each method of the function."""
    return [Candidate(model, function, method) for method in function.methods]


def least(candidates: Sequence[Candidate]) -> Candidate:
    """Return the candidate with the least work; ties go to the first."""
    return min(candidates, key=lambda candidate: candidate.work)


def chosen(model: Problem, function: Function) -> tuple[str, list[Program]]:
    """Return the method with the least work for this model, and its programs."""
    best = least(candidates(model, function))
    return best.method, finished(best.kernels)


def of_samples(candidates: Sequence[Candidate]) -> list[Program]:
    """Return the `Candidate.samples` with the least work."""
    return min((candidate.samples for candidate in candidates), key=lambda samples: cost(samples[0]).weight)


def programs(model: Problem, function: Function, method: str) -> list[Program]:
    """Return the programs of a function with one of its methods, in their final form."""
    return finished(Candidate(model, function, method).kernels)


def finished(kernels: Sequence[Program]) -> list[Program]:
    """Return kernels in their final form: sums as chains, neighbouring outputs computed in one vector, sines
    and cosines of joint angles first.
    """
    ordered = (order_sections(join_neighbours(chain_sums(kernel))) for kernel in kernels)
    return [verify(gather_labels(gather_angles(kernel))) for kernel in ordered]


def left_to_solve(model: Problem, function: Function) -> list[Program] | None:
    """Return the programs that compute the linear system that is solved in columns; None for functions
    without one.
    """
    if function.to_solve is None:
        return None
    left = Function(preparation(function.declaration), {"columns": function.to_solve})
    return programs(model, left, "columns")


def climb_starts(model: Problem, function: Function) -> list[Program]:
    """Return the straight-line programs that a function of a frame runs before its loops."""
    declaration, starts = function.declaration, list[Program]()
    for start in function.starts:
        takes = tuple(p for p in declaration.inputs if p.name in start.takes)
        gives = tuple(Parameter(name, (0,), "") for name in start.gives)
        beginning = FunctionDeclaration(
            f"{function.name}_start", "", (*takes, *start.reads), gives, scalar=declaration.scalar
        )
        starts += programs(model, Function(beginning, {"start": start.evaluate}), "start")
    return starts


def has_paths(model: Problem, function: Function) -> bool:
    """Return whether a function of second derivatives can have the form `paths` for this model.

    Raises UnsupportedError if neither this form nor straight-line code is possible.
    """
    if function.paths is None or model.nv <= STRAIGHT_SECOND_ORDER:
        return False
    if not (model.coupled or any(model.friction)):
        return True
    if model.nv > STRAIGHT_TENSORS:
        what, remedy = "dry friction", "`friction='report'`"
        if model.coupled:
            what, remedy = "coupled joints", "`mimic='independent'`"
        raise UnsupportedError(
            f"{function.name} with {what} supports at most {STRAIGHT_TENSORS} degrees of freedom, "
            f"and the model has {model.nv}; build with {remedy}"
        )
    return False


def path_start(model: Problem, function: Function) -> list[Program] | None:
    """Return the straight-line programs before the loops of the form `paths`; None if the function cannot
    have this form for the model.

    Raises UnsupportedError if neither this form nor straight-line code is possible.
    """
    if function.paths is None or not has_paths(model, function):
        return None
    start = Function(preparation_of_paths(function.declaration, model), {"paths": function.paths})
    straight = programs(model, start, "paths")
    return straight if cost(straight[-1]).operations <= WORTH_TWO_STARTS else straight[-1:]
