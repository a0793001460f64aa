"""The records of steps on the configuration manifold and of their derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rbdc.algorithms.frame_errors import exp6, log6
from rbdc.algorithms.manifold import ddifference, difference, dintegrate, integrate
from rbdc.functions.declarations import Kind, Parameter
from rbdc.functions.evaluation import on_model
from rbdc.functions.inputs import Declared, configuration, declarations
from rbdc.functions.record import ALONE, Comparison, Differential, Function
from rbdc.model import Problem

INTEGRATE = "integrate"
"""The function whose steps finite differences use."""

DECLARATIONS = """
integrate(q, dv)
    Configuration q (+) dv, reached by the constant velocity dv in unit time.
    q_next[nq]: configuration
difference(q0, q1)
    Tangent step dv with q0 (+) dv = q1.
    dv[nv]: tangent step (m, rad)
dintegrate(q, dv)
    Derivatives of q (+) dv by q and dv, all in the tangent spaces.
    dq_next_dq dq_next_ddv[nv, nv]: derivative by <x>; row and column: directions
log6(pose)
    Logarithm of a placement in SE(3), any robot's: turns of at most half a revolution.
    twist[6]: motion in unit time, linear part first (m, rad)
exp6(twist)
    Exponential of a motion in SE(3), any robot's.
    pose[7]: x y z qx qy qz qw (m, unit quaternion)
ddifference(q0, q1)
    Derivatives of the difference by q0 and q1, in the tangent spaces.
    ddv_dq0 ddv_dq1[nv, nv]: derivative by <x>; row and column: directions
"""


def manifold(model: Problem) -> list[Function]:
    """Return the steps and their derivatives, in the order of the documentation."""
    ends = (configuration(model, name) for name in ("q0", "q1"))
    step = Parameter("dv", (model.nv,), "tangent step (m, rad)", Kind.TANGENT)
    pose = Parameter("pose", (7,), "x y z qx qy qz qw (m, unit quaternion)", Kind.PLACEMENTS)
    twist = Parameter("twist", (6,), "motion in unit time, linear part first (m, rad)", Kind.MOTION)
    declared = declarations(model, DECLARATIONS, *ends, step, pose, twist)
    return [
        _step(declared, integrate, "exponential", Differential("dintegrate", configuration=True)),
        _step(declared, difference, "logarithm", Differential("ddifference")),
        _step(declared, dintegrate, "right-jacobian"),
        _step(declared, ddifference, "right-jacobian"),
        _of_placements(declared, log6, "logarithm"),
        _of_placements(declared, exp6, "exponential"),
    ]


def _step(
    declared: Declared, algorithm: Callable[..., Any], method: str, differential: Differential | None = None
) -> Function:
    """Return the record of a step or its derivatives, with the algorithm and the reference of its name."""
    known, name = differential is not None, algorithm.__name__
    return Function(
        declared[name],
        {method: on_model(algorithm)},
        preset="control" if known else ALONE,
        references={"murray-li-sastry": f"manifold:{name}"},
        comparison=Comparison(peers={"pinocchio": (name,)} if known else {}, checks_only=True),
        differential=differential,
    )


def _of_placements(declared: Declared, algorithm: Callable[..., Any], method: str) -> Function:
    """Return the record of a map between placements and motions, the same for every robot."""
    name = algorithm.__name__
    return Function(
        declared[name],
        {method: on_model(algorithm)},
        preset="full",
        references={"murray-li-sastry": f"manifold:{name}"},
        comparison=Comparison(checks_only=True),
    )
