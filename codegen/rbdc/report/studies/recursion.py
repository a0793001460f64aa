"""Caron's tutorial on the recursive Newton-Euler algorithm, step by step on any robot: each intermediate
quantity of the two passes, with a check that does not use the recursion, and with its time; then unknown
contact forces.

Checks differentiate placements in the world along the motion, using dual numbers. Velocities are rates of
placements, forces are rates of momenta in the world, and the power of the torques is the rate of the
energies.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rbdc.algorithms.reference.centroidal import kinetic_energy, potential_energy
from rbdc.algorithms.reference.dual_numbers import stepped
from rbdc.algorithms.reference.rnea import (
    body_forces,
    body_velocities,
    falling,
    forward_pass,
    joint_torques,
    rnea,
)
from rbdc.algorithms.tools.kinematics import world_placements
from rbdc.algorithms.tools.numbers import Numbers
from rbdc.analysis.pages import Part, Table
from rbdc.model import Problem
from rbdc.model.options import RootJoint
from rbdc.native.machine import machine
from rbdc.options import BuildOptions, Progress
from rbdc.pipeline import build_package, read
from rbdc.report.accuracy import draw
from rbdc.report.present.study_page import study_page
from rbdc.report.studies.claims import judged, told
from rbdc.runtime.load import load
from rbdc.spatial import Force, Motion, Placement, Scalar, Vector3
from rbdc.spatial.tangent import rate_of, value_of

Array = NDArray[np.float64]

EXACT = 1e-10
"""Largest error of a check, relative to the largest entry of the quantity."""
SAMPLES = 256
"""Number of states over which the passes are timed; each scalar of the recursion is an array over them."""
STEPS = {
    "velocities": "v_i = iX_p v_p + S_i qd_i",
    "accelerations": "a_i = iX_p a_p + S_i qdd_i + v_i x S_i qd_i, a_0 = -g",
    "body forces": "f_i = I_i a_i + v_i x* I_i v_i",
    "subtree forces": "f_p += iX_p^T f_i",
    "torques": "tau_i = S_i^T f_i",
}
"""Quantities of the tutorial in their order, each with its line of the pseudocode."""


def measured(
    robot: str, root_joint: RootJoint, folder: Path, quick: bool, progress: Progress
) -> dict[str, Any]:
    """Return the study, ready for JSON; a package of the robot with `rnea` is built in `folder`. A `quick`
    study has unoptimised code.
    """
    started = time.monotonic()
    options = BuildOptions(functions=("rnea",), root_joint=root_joint, out=folder)
    if quick:
        options = replace(options, cflags=("-O0",), targets=("c",))
    model, module = read(robot, options), load(build_package(robot, options, progress).directory)
    drawn = draw(model, SAMPLES)
    states = [drawn[name] for name in ("q", "v", "a")]
    one = [x[0].tolist() for x in states]
    by_name, exact = steps(model, *one), checks(model, *one)
    compiled = np.asarray(module.rnea(*(x[0] for x in states)))
    report: dict[str, Any] = {
        "study": "recursion",
        "quick": quick,
        "machine": machine(),
        "robot": {"name": model.name, "root_joint": root_joint, "nv": model.nv},
        "bodies": [body.name for body in model.bodies],
        "steps": {name: values.tolist() for name, values in by_name.items()},
        "errors": {
            **{name: _error(by_name[name], exact[name]) for name in exact},
            "torques": _error(by_name["torques"] @ drawn["v"][0], np.array(power(model, *one))),
        },
        "compiled": _error(compiled, np.array(rnea(model, *one), dtype=float)),
        "seconds_of": timed(model, states),
        "gravity": _gravity(model, *one),
        "contacts": unknown_contacts(model, *one),
    }
    return told(report, claims(report), started)


def steps(model: Problem, q: Sequence[Scalar], v: Sequence[Scalar], a: Sequence[Scalar]) -> dict[str, Array]:
    """Return the quantities of `STEPS` by the recursion: a row (6) for each body, and the torques (nv)."""
    m = Numbers(model, list(q), list(v), list(a))
    velocities, accelerations = forward_pass(m)
    forces = body_forces(m, velocities, accelerations)
    body_wrenches = _rows(_bodies(m, forces))
    tau = m.reduced_vector(joint_torques(m, forces))
    return {
        "velocities": _rows(_bodies(m, velocities)),
        "accelerations": _rows(_bodies(m, accelerations)),
        "body forces": body_wrenches,
        "subtree forces": _rows(_bodies(m, forces)),
        "torques": np.array(tau, dtype=float),
    }


def checks(model: Problem, q: Sequence[Scalar], v: Sequence[Scalar], a: Sequence[Scalar]) -> dict[str, Array]:
    """Return the quantities of `STEPS` from placements in the world and their rates, without the recursions
    of motions and forces. The torques are missing: `power` checks them.
    """
    moving = stepped(model, list(q), list(v), configuration=True)
    world = world_placements(model, moving)
    speeds = _bodies(m := Numbers(model, moving, stepped(model, list(v), list(a), False)), body_velocities(m))
    fixed = [Placement.of([value_of(x) for x in place.scalars()]) for place in world]
    falls = [Motion(place.rotation.apply_transposed(-model.gravity), Vector3.zero()) for place in fixed]
    body_wrenches, wrenches = [], []
    for body, place, still, speed, fall in zip(model.bodies, world, fixed, speeds, falls, strict=True):
        momentum = place.act_force(body.inertia @ speed)
        change = Force(*_halves([rate_of(x) for x in momentum.scalars()]))
        body_wrenches.append(still.act_inverse_force(change) + body.inertia @ fall)
        wrenches.append(still.act_force(body_wrenches[-1]))
    subtrees = []
    for index, still in enumerate(fixed):
        carried = [w for k, w in enumerate(wrenches) if index in model.support(k)]
        subtrees.append(still.act_inverse_force(sum(carried[1:], carried[0])))
    accelerations = [_rates(x.scalars()) + _numbers(fall) for x, fall in zip(speeds, falls, strict=True)]
    return {
        "velocities": np.array([_velocity(place) for place in world]),
        "accelerations": np.array(accelerations),
        "body forces": _rows(body_wrenches),
        "subtree forces": _rows(subtrees),
    }


def power(model: Problem, q: Sequence[Scalar], v: Sequence[Scalar], a: Sequence[Scalar]) -> float:
    """Return the rate of the kinetic and the potential energy along the motion (W), which equals tau^T v."""
    moving = stepped(model, list(q), list(v), configuration=True), stepped(model, list(v), list(a), False)
    (kinetic,), (potential,) = kinetic_energy(model, *moving), potential_energy(model, moving[0])
    return float(rate_of(kinetic) + rate_of(potential))


def timed(model: Problem, states: Sequence[Array]) -> dict[str, float]:
    """Return the seconds of each pass for one state; the passes run over NumPy arrays of `SAMPLES` states."""
    q, v, a = (list(x.T) for x in states)
    m, seconds = Numbers(model, q, v, a), {}

    def once(name: str, work: Callable[[], Any]) -> Any:
        began = time.perf_counter()
        result = work()
        seconds[name] = (time.perf_counter() - began) / SAMPLES
        return result

    once("velocities", lambda: body_velocities(m))
    motions = once("velocities and accelerations", lambda: forward_pass(m))
    forces = once("body forces", lambda: body_forces(m, *motions))
    once("subtree forces and torques", lambda: joint_torques(m, forces))
    return seconds


def _gravity(
    model: Problem, q: Sequence[Scalar], v: Sequence[Scalar], a: Sequence[Scalar]
) -> dict[str, float]:
    """Return the effect of a_0 = -g.

    torques: relative difference from the torques with weights as forces on the bodies.
    accelerations: least difference of a body's acceleration from its physical acceleration (m/s^2).
    of gravity: norm of g (m/s^2).
    """
    m = Numbers(model, list(q), list(v), list(a))
    tricked, physical = forward_pass(m), forward_pass(m, Motion.zero())
    forces = body_forces(m, *physical)
    for b, place in zip(m.down(), world_placements(model, list(q)), strict=True):
        fall = Motion(place.rotation.apply_transposed(-model.gravity), Vector3.zero())
        forces.add(b, model.bodies[b.at].inertia @ fall)
    by_weights = m.reduced_vector(joint_torques(m, forces))
    by_trick = m.reduced_vector(joint_torques(m, body_forces(m, *tricked)))
    changed = _rows(_bodies(m, tricked[1])) - _rows(_bodies(m, physical[1]))
    return {
        "torques": _error(np.array(by_trick, dtype=float), np.array(by_weights, dtype=float)),
        "accelerations": float(np.linalg.norm(changed[:, :3], axis=1).min()),
        "of gravity": float(np.linalg.norm(_numbers(falling(m)))),
    }


def unknown_contacts(
    model: Problem, q: Sequence[Scalar], v: Sequence[Scalar], a: Sequence[Scalar]
) -> dict[str, Any]:
    """Return the contact forces of least norm that balance the root, one at each body without children.

    The root has no motor, so only its equations determine the contact forces.

    contacts: names of these bodies.
    equations, unknowns: nv, and the number of motor torques and contact forces.
    open: number of unknowns that remain undetermined.
    left: largest entry of the unbalanced force and torque on the root (N, N m).
    torques, forces: torques of the motors, and contact forces (N) in the axes of their bodies.
    """
    state = list(q), list(v), list(a)
    leaves = [k for k in range(model.njoints) if all(body.parent != k for body in model.bodies)]
    free = ROOT if model.bodies[0].joint.nv == ROOT else 0
    without = np.array(rnea(model, *state), dtype=float)
    columns = []
    for leaf in leaves:
        for axis in np.eye(3):
            loads = [Force(Vector3.zero(), Vector3.zero()) for _ in model.bodies]
            loads[leaf] = Force(Vector3(*axis.tolist()), Vector3.zero())
            columns.append(without - np.array(rnea(model, *state, loads), dtype=float))
    jacobian = np.array(columns).T
    forces = np.linalg.lstsq(jacobian[:free], without[:free], rcond=None)[0]
    left = without - jacobian @ forces
    rank = int(np.linalg.matrix_rank(jacobian[:free])) if free else 0
    return {
        "contacts": [model.bodies[k].name for k in leaves],
        "equations": model.nv,
        "unknowns": model.nv - free + len(columns),
        "open": len(columns) - rank,
        "left": float(np.abs(left[:free]).max(initial=0.0)),
        "torques": left[free:].tolist(),
        "forces": forces.tolist(),
    }


ROOT = 6
"""Degrees of freedom of a free root."""


def claims(report: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return the statements of the tutorial with their verdicts."""
    errors, gravity, contacts = report["errors"], report["gravity"], report["contacts"]
    of_steps = [
        judged(
            f"Tutorial: {line} gives the {name}.",
            errors[name] < EXACT,
            f"relative error {errors[name]:.1e} {'of their power ' if name == 'torques' else ''}against a "
            "check without the recursion",
        )
        for name, line in STEPS.items()
    ]
    g, least = gravity["of gravity"], gravity["accelerations"]
    return [
        *of_steps,
        judged(
            "Tutorial: the generated and compiled rnea gives the torques of the pseudocode.",
            report["compiled"] < EXACT,
            f"relative error {report['compiled']:.1e}",
        ),
        judged(
            "Tutorial: a_0 = -g gives the right torques, but accelerations that are not the physical ones.",
            gravity["torques"] < EXACT and abs(least - g) < EXACT * max(g, 1.0),
            f"the torques differ by {gravity['torques']:.1e} (relative) from torques computed with a weight "
            f"on each body; the accelerations differ from the physical ones by {least:.4g} m/s^2",
        ),
        judged(
            "Tutorial: with unknown contact forces inverse dynamics is underdetermined.",
            contacts["open"] > 0,
            f"with point contacts at {', '.join(contacts['contacts'])} there are {contacts['equations']} "
            f"equations for {contacts['unknowns']} unknowns (motor torques and contact forces); "
            f"{contacts['open']} unknowns remain undetermined. Contact forces of least norm balance the root "
            f"up to a residual of {contacts['left']:.1e} (N, N m)",
        ),
    ]


def page(report: Mapping[str, Any]) -> str:
    """Return the page of the study: a table for each step."""
    robot = report["robot"]
    lead = (
        'S. Caron, "Recursive Newton-Euler algorithm" (tutorial), step by step on '
        f"{robot['name']} ({robot['root_joint']} base, nv = {robot['nv']}) at one random state."
    )
    tables = [
        Table(
            name,
            ("body", *_HEADS[name]),
            [[body, *(f"{x:.6g}" for x in row)] for body, row in zip(report["bodies"], values, strict=True)],
            f"{STEPS[name]}; relative error {report['errors'][name]:.1e}",
        )
        for name, values in report["steps"].items()
        if name in _HEADS
    ]
    torques = [[str(k), f"{x:.6g}"] for k, x in enumerate(report["steps"]["torques"])]
    times = [[name, f"{1e6 * x:.3g}"] for name, x in report["seconds_of"].items()]
    note = f"Time for one state; the recursion runs in Python over NumPy arrays of {SAMPLES} states."
    tables += [
        Table("torques", ("degree of freedom", "N m"), torques, STEPS["torques"]),
        Table("times", ("pass", "\u00b5s"), times, note),
    ]
    parts: list[Part] = []
    return study_page("Recursive Newton-Euler algorithm", lead, [], report, tables, parts)


_MOTION, _FORCE = ("x", "y", "z", "about x", "about y", "about z"), ("fx", "fy", "fz", "nx", "ny", "nz")
_HEADS = {"velocities": _MOTION, "accelerations": _MOTION, "body forces": _FORCE, "subtree forces": _FORCE}


def _bodies(m: Numbers, array: Any) -> list[Any]:
    return [array[b] for b in m.down()]


def _rows(of: Sequence[Motion | Force]) -> Array:
    return np.array([_numbers(x) for x in of])


def _numbers(of: Motion | Force) -> Array:
    return np.array([float(value_of(x)) for x in of.scalars()])


def _rates(scalars: Sequence[Scalar]) -> Array:
    return np.array([float(rate_of(x)) for x in scalars])


def _halves(entries: Sequence[Scalar]) -> tuple[Vector3, Vector3]:
    return Vector3(*entries[:3]), Vector3(*entries[3:])


def _velocity(place: Placement) -> Array:
    """Return the velocity of a frame in the frame's axes, from the rates of its placement in the world."""
    rows, p = place.rotation.rows(), place.translation
    turned = np.array([[float(value_of(x)) for x in row] for row in rows])
    spin = turned.T @ np.array([[float(rate_of(x)) for x in row] for row in rows])
    linear = turned.T @ _rates([p.x, p.y, p.z])
    return np.array([*linear, spin[2, 1], spin[0, 2], spin[1, 0]])


def _error(values: Array, exact: Array) -> float:
    return float(np.abs(values - exact).max() / max(np.abs(exact).max(), 1e-300))
