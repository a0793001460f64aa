"""The torque regressor Y over the parameters pi of links, payloads and joint drives
(`rbdc.algorithms.tools.parameters`), products with Y that do not form Y, and derivatives with respect to pi:

    w^T dtau/dpi = w^T Y,     dddq/dpi = -M^-1 Y,     w^T dddq/dpi = -(M^-1 w)^T Y

In the last two formulas, Y is taken at the accelerations that forward dynamics returns. The ten entries of
w^T Y for a body are its ten unit wrenches (`body_regressor`) times its velocity at the joint velocities w.
"""

from __future__ import annotations

from collections.abc import Iterator

from rbdc.algorithms.body_motion import BodyMotion, body_motions
from rbdc.algorithms.dynamics.crba import crba
from rbdc.algorithms.dynamics.forward_dynamics import Dynamics, accelerations
from rbdc.algorithms.dynamics.regressor import (
    PARAMETERS_PER_BODY,
    Regressor,
    body_regressor,
    pulled_back,
    regressor_by_axes,
    regressor_of_chosen_frames,
)
from rbdc.algorithms.tools.joint_coordinates import (
    first_dofs,
    full_size,
    joint_accelerations,
    joint_positions,
    joint_velocities,
    reduce_vector,
)
from rbdc.algorithms.tools.linear import Factorisation, Matrix, Vector, dot, transposed
from rbdc.algorithms.tools.numbers import Numbers
from rbdc.algorithms.tools.parameters import drive_columns
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import Problem
from rbdc.model.contacts import held_at
from rbdc.model.joint_space import JointSpaceBody
from rbdc.model.problem import DryFriction
from rbdc.spatial import Forces, Inertia, Motion, Scalar, Scalars


def whole_regressor(
    links: Regressor, model: Problem, q: Scalars, v: Scalars, a: Scalars, trace: Trace = silent
) -> Matrix:
    """Return Y (nv, np): the columns of links, then of payloads, then of drives. links: returns the columns
    of links. Checked: Y times `rbdc.algorithms.tools.parameters.linear_parameters` = rnea(q, v, a).
    """
    rows: Matrix = [[] for _ in range(model.nv)]
    if "links" in model.regressor:
        rows = [[*row, *_of_payloads(model, row)] for row in links(model, q, v, a, trace)]
    columns = [_column(model, body, entries) for body, entries in _of_drives(model, q, v, a)]
    for (quantity, index), column in zip(drive_columns(model), columns, strict=True):
        symbol = f"Y_{quantity.replace('*', '_')}{index}"
        trace(model.bodies[index].name, f"column of {quantity}", symbol, column)
    return [[*row, *(column[k] for column in columns)] for k, row in enumerate(rows)]


def weighted_regressor(
    model: Problem, q: Scalars, v: Scalars, a: Scalars, w: Scalars, trace: Trace = silent
) -> Vector:
    """Return w^T Y (np) without forming Y. Parameters are in the bodies' own frames, also if the model is a
    `JointSpaceModel` with chosen frames. Checked: w^T Y parameters = w . rnea(q, v, a).
    """
    products: Vector = []
    if "links" in model.regressor:
        products = _weighted_links(model, q, v, a, w, trace)
        products += _of_payloads(model, products)
    moving = joint_velocities(model, w)
    return [*products, *(dot(moving[body], entries) for body, entries in _of_drives(model, q, v, a))]


def aba_weighted_regressor(
    dynamics: Dynamics,
    model: Problem,
    q: Scalars,
    v: Scalars,
    tau: Scalars,
    *weights: Scalars,
    fext: Forces | None = None,
    trace: Trace = silent,
) -> Vector:
    """Return w^T dddq/dpi (np). dynamics: returns ddq, and the solve with M. Checked against finite
    differences of `aba` with respect to the parameters.
    """
    (w,) = weights
    a, solve = dynamics(model, q, v, tau, fext, trace)
    return weighted_regressor(model, q, v, a, [-x for x in solve(list(w))], trace)


def aba_by_parameters(
    model: Problem, q: Scalars, v: Scalars, tau: Scalars, fext: Forces | None = None, trace: Trace = silent
) -> Matrix:
    """Return dddq/dpi (nv, np), each column by a solve with the factors of M.
    Checked against `aba_weighted_regressor` with unit weights.
    """
    solve = Factorisation(crba(model, q, trace)).solve
    a = accelerations(model, q, v, tau, fext, trace, solve)
    columns = transposed(whole_regressor(_in_own_frames, model, q, v, a, trace))
    return transposed([solve([-x for x in column]) for column in columns])


def _in_own_frames(model: Problem, q: Scalars, v: Scalars, a: Scalars, trace: Trace) -> Matrix:
    return regressor_of_chosen_frames(regressor_by_axes, model, q, v, a, trace)


def _weighted_links(
    model: Problem, q: Scalars, v: Scalars, a: Scalars, w: Scalars, trace: Trace
) -> list[Scalar]:
    m, rates = Numbers(model, q, v, a, trace=trace), joint_velocities(model, w)
    moving, products = m.array("W", Motion, Motion.zero()), list[Scalar]()
    motions = body_motions(m, BodyMotion.of_world(m.gravity))
    for b, body, (_, _, motion, _) in zip(m.bodies, model.bodies, motions, strict=True):
        moving[b] = b.from_parent(moving[b.parent]) + b.motion(rates[b.at])
        of_body = [moving[b].dot(force) for force in body_regressor(motion)]
        products += pulled_back(of_body, body.chosen) if isinstance(body, JointSpaceBody) else of_body
    return products


def _of_payloads(model: Problem, row: Scalars) -> list[Scalar]:
    added = [one for one in model.parameters if one.added]
    starts = [(one, PARAMETERS_PER_BODY * one.body) for one in added]
    return [
        x
        for one, start in starts
        for x in pulled_back(list(row[start : start + PARAMETERS_PER_BODY]), one.placement.inverse())
    ]


def _of_drives(model: Problem, q: Scalars, v: Scalars, a: Scalars) -> Iterator[tuple[int, list[Scalar]]]:
    """Yield, for each drive column of Y, the body's index and the entries along its joint's directions."""
    places, rates = joint_positions(model, q), joint_velocities(model, v)
    seconds = joint_accelerations(model, v, a)
    unit = DryFriction(1.0, model.friction_width)
    for quantity, index in drive_columns(model):
        match quantity:
            case "armature":
                yield index, seconds[index]
            case "damping":
                yield index, rates[index]
            case "friction":
                yield index, [unit.at(rate) for rate in rates[index]]
            case "stiffness":
                yield index, places[index]
            case _:
                yield index, [-1.0]


def _column(model: Problem, index: int, entries: Scalars) -> list[Scalar]:
    full: Vector = [0.0] * full_size(model)
    start = first_dofs(model)[index]
    full[start : start + len(entries)] = entries
    return reduce_vector(model, full)


def moved_parameters(model: Problem, inertia: Scalars, pose: Scalars, trace: Trace = silent) -> list[Scalar]:
    """Return the ten parameters of a body in another frame. pose: placement of the body's frame in the other
    frame, x y z qx qy qz qw. Checked against Pinocchio's `Inertia.se3Action`.
    """
    del model, trace
    return Inertia.of(inertia).moved(held_at(pose)).scalars()
