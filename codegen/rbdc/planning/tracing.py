"""Tracing: from an algorithm on symbols to a straight-line program."""

from __future__ import annotations

from functools import cache, lru_cache

from rbdc.algorithms.couplings import at_configuration
from rbdc.algorithms.frames import frame_step
from rbdc.functions.record import Function
from rbdc.ir.from_casadi import Recorder, from_casadi, symbols
from rbdc.ir.nodes import Program
from rbdc.ir.passes.simplify import optimise
from rbdc.ir.passes.sums import chain_sums
from rbdc.ir.verify import verify
from rbdc.model import Problem
from rbdc.model.contacts import held_at
from rbdc.model.joints.coupling import CouplingAt
from rbdc.spatial import Placement


def traced(model: Problem, function: Function, method: str) -> Program:
    """Return the optimised program of a function by one of its methods, with all inputs."""
    recorder = Recorder()
    arguments = {p.name: symbols(p.name, p.size) for p in function.declaration.inputs}
    values = function.methods[method](model, arguments, recorder.record)
    outputs = [(p.name, value) for p, value in zip(function.declaration.outputs, values, strict=True)]
    return optimise(verify(from_casadi(function.name, list(arguments.items()), outputs, recorder)))


@cache
def frame_offset_program() -> Program:
    """Return the program (offset, x) -> up that moves a frame by an offset in the frame's axes.

    offset: position and unit quaternion (7).
    x, up: placement of the frame before and after (twelve numbers each).
    """
    offset, x = symbols("offset", 7), symbols("x", 12)
    up, recorder = Placement.of(x).compose(held_at(offset)).scalars(), Recorder()
    recorder.record("offset", "X X_offset", "up", up)
    return verify(
        chain_sums(optimise(from_casadi("moved", [("offset", offset), ("x", x)], [("up", up)], recorder)))
    )


@lru_cache(maxsize=1)
def frame_step_programs(model: Problem) -> list[Program]:
    """Return, for each body, the program (q, x) -> (J, up) of one step from a frame towards the root.

    x: placement of the frame in the body (twelve numbers).
    J: columns of the body's joint in the frame's Jacobian. A mimic joint along a curve has three sets of
        these columns: times the curve's slope, times its curvature, times its jerk.
    up: placement of the frame in the body's parent (twelve numbers).
    """
    programs = []
    for index, body in enumerate(model.bodies):
        q, x, recorder = symbols("q", model.nq), symbols("x", 12), Recorder()
        at_q = at_configuration(model, q)
        columns, up = frame_step(at_q, index, q, Placement.of(x))
        coupling = at_q.bodies[index].coupling
        if isinstance(coupling, CouplingAt):
            bends = (coupling.multiplier, coupling.curvature, coupling.jerk)
            columns = [s.scaled(x) for x in bends for s in columns]
        outputs = {"J": [entry for column in columns for entry in column.scalars()], "up": up.scalars()}
        recorder.record(body.name, "J = X^-1 S", "J", outputs["J"])
        recorder.record(body.name, "X_parent = X_T X_J(q) X", "up", outputs["up"])
        program = from_casadi(f"step_{index}", [("q", q), ("x", x)], list(outputs.items()), recorder)
        programs.append(verify(chain_sums(optimise(program))))
    return programs
