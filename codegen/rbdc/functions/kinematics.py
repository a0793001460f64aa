"""The records of the functions of frames."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rbdc.algorithms import frame_errors, frame_pairs, frame_placements, frames, operational_space
from rbdc.algorithms.derivatives import frame_derivatives
from rbdc.algorithms.derivatives import operational_space as task_derivatives
from rbdc.algorithms.kinematics import expand, forward_kinematics
from rbdc.functions.declarations import ROWS, Kind, Parameter
from rbdc.functions.evaluation import OnJointSpace, on_model
from rbdc.functions.inputs import Declared, declarations
from rbdc.functions.record import (
    ALONE,
    SECOND,
    ChainRule,
    Comparison,
    Differential,
    Function,
    Policy,
    Requirement,
    Start,
)
from rbdc.model import Problem

DECLARATIONS = """
forward_kinematics(q)
    Placements of all frames in the world, as 4x4 matrices.
    placements[frames, 4, 4]: homogeneous matrices of the frames (m)
expand(q, v)
    Configuration and velocity of the whole tree, including joints that follow others.
    q_tree[nq_tree]: configuration of the whole tree (m, rad, unit quaternions)
    v_tree[nv_tree]: velocity of the whole tree (m/s, rad/s)
frame_position(q, offset, frame)
    Position of a frame's origin in the world; `reference` has no effect.
    position[3]: origin of the frame (m)
frame_placement(q, offset, frame)
    Placement of a frame in the world, a 4x4 matrix; `reference` has no effect.
    placement[4, 4]: homogeneous matrix of the frame (m)
frame_position_derivatives(q, offset, frame)
    Derivatives of a frame's position with respect to q (in the tangent space); `reference` has no effect.
    dposition_dq[3, nv]: [i, k]: derivative of position[i] along direction k of q
frame_placement_derivatives(q, offset, frame)
    Derivatives of the entries of a frame's placement with respect to q (in the tangent space); `reference`
    has no effect.
    dplacement_dq[4, 4, nv]: [i, j, k]: derivative of placement[i, j] along direction k of q
frame_position_second_derivatives(q, offset, frame)
    Second derivatives of a frame's position with respect to q (in the tangent space); `reference` has no
    effect.
    d2position_dqdq[3, nv, nv]: [i, j, k]: derivative of position[i] along direction j, then k of q
frame_placement_second_derivatives(q, offset, frame)
    Second derivatives of the entries of a frame's placement with respect to q (in the tangent space);
    `reference` has no effect.
    d2placement_dqdq[4, 4, nv, nv]: [i, j, k, l]: derivative of placement[i, j] along direction k, then l of q
frame_jacobian_derivatives(q, offset, frame)
    Derivatives of a frame's Jacobian with respect to q (in the tangent space).
    dJ_dq[6, nv, nv]: [i, j, k]: derivative of J[i, j] along direction k of q
frame_jacobian(q, offset, frame)
    Jacobian of a frame, linear rows first.
    J[6, nv]: frame Jacobian
frame_jacobian_time_derivative(q, v, offset, frame)
    Time derivative of the entries of a frame's Jacobian, in the coordinates of `reference`.
    dJ[6, nv]: time derivative of the frame Jacobian, linear rows first
frame_drift(q, v, offset, frame)
    (dJ/dt) v: the time derivative of a frame's Jacobian J, times v.
    drift[6]: [linear; angular] (m/s^2, rad/s^2)
frame_velocity(q, v, offset, frame)
    Spatial velocity of a frame.
    velocity[6]: [linear; angular] (m/s, rad/s)
frame_acceleration(q, v, a, offset, frame)
    Spatial acceleration of a frame, without gravity.
    acceleration[6]: [linear; angular] (m/s^2, rad/s^2)
frame_classical_acceleration(q, v, a, offset, frame)
    Classical acceleration of a frame, without gravity: the spatial acceleration, plus the cross product of
    angular and linear velocity in the linear part. The linear part is the acceleration of the body's point at
    the frame's origin, or at the world's origin with WORLD.
    acceleration[6]: [linear; angular] (m/s^2, rad/s^2)
frame_error(q, target, offset, frame)
    Error log6(T^-1 X) of a frame's placement X relative to the target T; `reference` has no effect.
    error[6]: motion e with T exp6(e) = X, [linear; angular] in the frame's axes (m, rad)
frame_error_derivatives(q, target, offset, frame)
    Error log6(T^-1 X) of a frame's placement X relative to the target T, and its derivatives with respect to
    q (in the tangent space), the target and the offset; `reference` has no effect.
    derror_dq[6, nv]: [i, k]: derivative of error[i] (linear first) along direction k of q
    derror_dtarget[6, 7]: derivative with respect to the target, whose quaternion is normalised first
    error[6]: motion e with T exp6(e) = X, [linear; angular] in the frame's axes (m, rad)
    derror_doffset[6, 6]: derivative with respect to s, [linear; angular], if offset O becomes O exp6(s)
frame_velocity_derivatives(q, v, offset, frame)
    Derivatives of a frame's spatial velocity with respect to q (in the tangent space) and v.
    dv_dq dv_dv[6, nv]: [i, k]: derivative of velocity[i] (linear first) along direction k of <x>
frame_acceleration_derivatives(q, v, a, offset, frame)
    Derivatives of a frame's spatial acceleration, without gravity, with respect to q (in the tangent space),
    v and a.
    da_dq da_dv da_da[6, nv]: [i, k]: derivative of acceleration[i] (linear first) along direction k of <x>
frame_classical_acceleration_derivatives(q, v, a, offset, frame)
    Derivatives of a frame's classical acceleration, without gravity, with respect to q (in the tangent
    space), v and a.
    da_dq da_dv da_da[6, nv]: [i, k]: derivative of acceleration[i] (linear first) along direction k of <x>
relative_jacobian(q, frame, other)
    Jacobian J of `frame` relative to `other`, linear rows first: J v is the velocity of `frame` minus that of
    `other`, both at the origin and in the axes that `reference` selects for `frame`.
    J[6, nv]: relative Jacobian
manipulability_gradient(q, frame)
    Manipulability sqrt(det(J J^T)) of a frame and its gradient with respect to q (in the tangent space). Both
    are 0 if the rows of J are dependent; `reference` has no effect.
    manipulability[]: sqrt(det(J J^T)) (m^3)
    gradient[nv]: entry k: derivative along direction k of q (m^3 / rad, m^2)
"""

OF_TASKS = f"""
operational_space_inertia(q, offset, mu, {ROWS}, parameters, frame)
    Operational-space inertia of a frame with Jacobian J: Lambda = (J M^-1 J^T + mu 1)^-1.
    inertia[6, 6]: Lambda, zero in rows and columns where `rows` is 0 (kg, kg m, kg m^2)
operational_space_inertia_derivatives(q, offset, mu, {ROWS}, parameters, frame)
    Operational-space inertia of a frame and its derivatives with respect to q (in the tangent space).
    dinertia_dq[6, 6, nv]: [i, j, k]: derivative of inertia[i, j] along direction k of q
    inertia[6, 6]: Lambda, zero in rows and columns where `rows` is 0 (kg, kg m, kg m^2)
operational_space(q, v, offset, mu, {ROWS}, parameters, frame)
    Operational-space dynamics of a frame: tau = J^T F with the force F = Lambda (J ddq + dJ/dt v) + bias +
    gravity.
    inertia[6, 6]: Lambda = (J M^-1 J^T + mu 1)^-1, zero where `rows` is 0 (kg, kg m, kg m^2)
    inverse[nv, 6]: dynamically consistent inverse of J, M^-1 J^T Lambda
    bias[6]: Coriolis and centrifugal force, inverse^T C v - Lambda (dJ/dt) v (N, N m)
    gravity[6]: inverse^T g (N, N m)
"""


def kinematics(model: Problem) -> list[Function]:
    """Return all records, in the order of the documentation."""
    meaning = "desired placement of the frame, x y z qx qy qz qw (m, unit quaternion)"
    declared = declarations(model, DECLARATIONS, Parameter("target", (7,), meaning, Kind.PLACEMENTS))
    placements = Function(
        declared["forward_kinematics"],
        {"products": on_model(forward_kinematics)},
        preset="control",
        differential=Differential("forward_kinematics_derivatives"),
        references={"featherstone": "homogeneous:forward_kinematics"},
        comparison=Comparison(peers={"pinocchio": ("forward_kinematics",)}, checks_only=True),
    )
    whole_tree = Function(  # its results differ from q and v if joints follow others
        declared["expand"],
        {"joints": on_model(expand)},
        preset="control" if model.curves else ALONE,
        references={"dual numbers": "couplings:expand"},
        comparison=Comparison(checks_only=True),
    )
    framed = [_framed(declared, *fields) for fields in FRAMED]
    manipulability = Function(
        declared["manipulability_gradient"],
        {},
        at_frame=frame_pairs.manipulability_gradient,
        policy=Policy(sample_by_sample=True),
        references={"yoshikawa": "frames:manipulability_gradient"},
        comparison=Comparison(checks_only=True),
    )
    return [placements, whole_tree, *framed, manipulability, *_of_tasks(model)]


ROOMS = (
    *(frames, frame_placements, frame_pairs, frame_errors, frame_derivatives),
    *(operational_space, task_derivatives),
)
"""Modules of algorithms."""

PEERS = {"frame_jacobian": ("frame_jacobian",), "frame_error": ("frame_error", "frame_error_path")}
"""Pinocchio's algorithms for functions of a frame."""

CHOOSING = ("frame_error", "frame_error_derivatives")
"""Functions of a frame that choose formulas from the values of each sample."""

FRAMED: tuple[tuple[str, str, str | ChainRule], ...] = (
    ("frame_position", "control", "frame_position_derivatives"),
    ("frame_placement", "control", "frame_placement_derivatives"),
    ("frame_position_derivatives", "optimisation", "frame_position_second_derivatives"),
    ("frame_placement_derivatives", "optimisation", "frame_placement_second_derivatives"),
    ("frame_position_second_derivatives", SECOND, ChainRule("frame_position_derivatives", ("q",))),
    ("frame_placement_second_derivatives", SECOND, ChainRule("frame_placement_derivatives", ("q",))),
    ("frame_jacobian_derivatives", SECOND, ChainRule("frame_jacobian", ("q",))),
    ("frame_jacobian", "control", "frame_jacobian_derivatives"),
    ("frame_jacobian_time_derivative", "full", ChainRule("frame_jacobian", ("q",), directions=("v",))),
    ("frame_drift", "full", ChainRule("frame_velocity", ("q",), directions=("v",))),
    ("frame_velocity", "full", "frame_velocity_derivatives"),
    ("frame_acceleration", "full", "frame_acceleration_derivatives"),
    ("frame_classical_acceleration", "full", "frame_classical_acceleration_derivatives"),
    ("frame_error", "control", "frame_error_derivatives"),
    ("frame_error_derivatives", "control", ""),
    ("frame_velocity_derivatives", "optimisation", ChainRule("frame_velocity", ("q", "v"))),
    ("frame_acceleration_derivatives", "optimisation", ChainRule("frame_acceleration", ("q", "v", "a"))),
    (
        "frame_classical_acceleration_derivatives",
        "optimisation",
        ChainRule("frame_classical_acceleration", ("q", "v", "a")),
    ),
    ("relative_jacobian", "full", ""),
)
"""Functions of a frame, each with its preset and the name of its derivatives or of the function that it
differentiates. Algorithms have the same names.
"""


def _algorithm(name: str) -> Callable[..., Any]:
    algorithm: Callable[..., Any] = next(vars(room)[name] for room in ROOMS if name in vars(room))
    return algorithm


def _framed(declared: Declared, name: str, preset: str, related: str | ChainRule) -> Function:
    chain = related if isinstance(related, ChainRule) else None
    return Function(
        declared[name],
        {},
        at_frame=_algorithm(name),
        preset=preset,
        references={} if chain else {"featherstone": f"frames:{name}"},
        chain=chain,
        policy=Policy(sample_by_sample=name in CHOOSING),
        differential=Differential(related) if isinstance(related, str) and related else None,
        comparison=Comparison(
            peers={"pinocchio": PEERS[name]} if name in PEERS else {},
            checks_only=True,
            beside="frame_jacobian" if name in CHOOSING else "",
        ),
    )


DERIVATIVES_OF_TASK = "operational_space_inertia_derivatives"
FACTORS = ("lower", "pivots")
"""Factors of M."""


def _starts(model: Problem, name: str) -> tuple[Start, ...]:
    if name == "operational_space":
        gives = *FACTORS, "velocity_forces", "gravity_forces"
        return (Start(("q", "v", "parameters"), gives, OnJointSpace(operational_space.factors_and_forces)),)
    factors = Start(("q", "parameters"), FACTORS, OnJointSpace(operational_space.factors_of_inertia))
    if name != DERIVATIVES_OF_TASK:
        return (factors,)
    changes, inverse = OnJointSpace(task_derivatives.inertia_changes), Parameter("inverse", (model.nv, 6), "")
    return factors, Start(("q", "parameters"), ("changes",), changes, (inverse,))


def _of_tasks(model: Problem) -> list[Function]:
    mu = Parameter("mu", (), "added to the diagonal of J M^-1 J^T", Kind.NOT_NEGATIVE, optional=True)
    rows = Parameter(ROWS, (6,), "1 for each row of J in the task, 0 for others", Kind.TASK, True, (1.0,) * 6)
    declared = declarations(model, OF_TASKS, mu, rows)
    return [
        Function(
            declaration,
            {},
            at_frame=_algorithm(name),
            starts=_starts(model, name),
            preset=ALONE,
            requires=frozenset({Requirement.REGULAR_INERTIA, Requirement.INDEPENDENT_TASK}),
            policy=Policy(sample_by_sample=True),
            references={"khatib": f"frames:{name}"},
            differential=Differential(DERIVATIVES_OF_TASK) if name == "operational_space_inertia" else None,
            comparison=Comparison(
                peers={} if name == DERIVATIVES_OF_TASK else {"pinocchio": (name, f"{name}_minverse")},
                checks_only=True,
            ),
        )
        for name, declaration in declared.items()
    ]
