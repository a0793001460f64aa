"""Closed loops in reduced coordinates. A cluster is a group of loops with one degree of freedom. All joints
of a cluster follow one of them, the motor's joint.

The joints are traced over the motor's range, from the closed configuration nearest to the neutral one.
Polynomials fitted to the results are the initial values of Newton steps, which close the loops to rounding
everywhere in the range. If linear functions close the loops, the joints follow linearly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from rbdc.algorithms.couplings import Linkage
from rbdc.errors import OptionError, UnsupportedError
from rbdc.model import Body, Cluster, Contact, ContactKind, Effect, Note, Problem
from rbdc.model.joints.coupling import Coupling
from rbdc.model.lumping import numbered, of_others
from rbdc.model.xml import shown
from rbdc.reduction.mobility import CLOSED, STEPS, closed_from
from rbdc.runtime._suggestions import suggestion

Array = NDArray[np.float64]

SAMPLES = 129
"""Number of positions in the motor's range at which a loop is traced and checked."""
ATTEMPTS = 10
"""Number of random configurations around the neutral one from which closing the loops is tried."""
DEGREES, MOST_STEPS = range(1, 10), 6
"""Degrees of the polynomials to try, and largest number of Newton steps."""
ERROR = 1e-13
"""Largest Newton step of a follower (m, rad) at which the loops count as closed."""
SINGULAR = 1e-3
"""A configuration is singular if the determinant of the followers' Jacobian is below this fraction of the
largest determinant in the motor's range.
"""
_HOLD = "or leave out `loops='reduce'`"


class _NotReduced(Exception):
    """Why loops are not reduced, and the remedy."""


def with_reduced_loops(model: Problem, motors: Sequence[str] | None) -> Problem:
    """Before: loops are contacts. After: the joints of each cluster follow one of its joints: the one in
    `motors`, or the only one with an actuator. If `motors` is None, loops stay contacts.

    Raises UnsupportedError for loops that are not clusters of one degree of freedom or do not close over the
    whole range, OptionError for motors outside all loops.
    """
    if motors is None:
        return model
    # loops whose rotational rows were redundant are points: their frames cannot rotate relative to each other
    loops = [
        replace(contact, kind=ContactKind.POINT) if max(contact.held) < 3 else contact
        for contact in model.contacts
        if contact.second is not None
    ]
    if not loops:
        raise UnsupportedError(f"{model.place}: there are no loops: declare them with `contacts`, {_HOLD}")
    groups = _groups(model, loops)
    names = [model.bodies[k].joint_name for _, members in groups for k in members]
    for motor in motors:
        if motor not in names:
            problem = f'`loops`: no joint "{shown(motor)}" is in a loop'
            raise OptionError(f"{problem}; {suggestion(shown(motor), map(shown, names))}")
    bodies, clusters, notes = list(model.bodies), [], list(model.notes)
    for loops_of_group, members in groups:
        try:
            cluster, curves = _reduced(model, loops_of_group, members, motors)
        except _NotReduced as refusal:
            listed, (problem, remedy) = ", ".join(shown(loop.name) for loop in loops_of_group), refusal.args
            place = f"{model.place}: `loops='reduce'`: {listed}"
            raise UnsupportedError(f"{place}: {problem}; {remedy}, {_HOLD}") from None
        clusters += [cluster] if cluster.steps or any(len(curve) > 2 for curve in curves) else []
        for k, (offset, multiplier, *higher) in zip(cluster.followers, curves, strict=True):
            bodies[k] = replace(
                bodies[k], coupling=Coupling(cluster.leader, multiplier, offset, tuple(higher))
            )
        followers = ", ".join(f'"{shown(bodies[k].joint_name)}"' for k in cluster.followers)
        leader = shown(bodies[cluster.leader].joint_name)
        notes.append(Note(f'joints {followers} follow "{leader}" through closed loops', effect=Effect.ASKED))
    placed, nq, nv = numbered(bodies)
    bent = {bodies[k].joint_name for cluster in clusters for k in cluster.followers}
    actuators, left_out = of_others(model.actuators, bent)
    return replace(
        model,
        bodies=tuple(placed),
        nq=nq,
        nv=nv,
        contacts=tuple(contact for contact in model.contacts if contact.second is None),
        clusters=tuple(clusters),
        actuators=tuple(actuators),
        notes=(*notes, *left_out),
    )


def _groups(model: Problem, loops: Sequence[Contact]) -> list[tuple[list[Contact], list[int]]]:
    groups: list[tuple[list[Contact], set[int]]] = []
    for loop in loops:
        one, two = (set() if f is None else set(model.support(f.body)) for f in (loop.first, loop.second))
        joined, bodies = [loop], one ^ two
        for other in [g for g in groups if g[1] & bodies]:
            groups.remove(other)
            joined, bodies = [*other[0], *joined], bodies | other[1]
        groups.append((joined, bodies))
    return [(joined, sorted(bodies)) for joined, bodies in groups]


def _reduced(
    model: Problem, loops: Sequence[Contact], members: Sequence[int], motors: Sequence[str]
) -> tuple[Cluster, list[list[float]]]:
    """Return the cluster and the coefficients of the followers' polynomials, lowest degree first."""
    (carrier,) = {model.bodies[k].parent for k in members}.difference(members)
    leader = _leader(model, loops, members, motors)
    others = tuple(k for k in members if k != leader)
    body, limits = model.bodies[leader], model.bodies[leader].limits
    if not (np.isfinite([limits.lower, limits.upper]).all() and limits.lower < limits.upper):
        problem = f'the joint "{shown(body.joint_name)}" has no range'
        raise _NotReduced(problem, "give it limits within which the loops close")
    cluster = Cluster(leader, others, carrier, tuple(loops), 0)
    linkage = Linkage(model, cluster)
    places = np.linspace(limits.lower, limits.upper, SAMPLES)
    positions = np.array(_along_range(body, linkage, places)).T
    for steps in range(MOST_STEPS + 1):
        for degree in DEGREES:
            curves: list[Array] = [np.polyfit(places, coordinate, degree)[::-1] for coordinate in positions]
            curves = [np.where(np.abs(c) < 1e-15 * np.abs(c).max(), 0.0, c) for c in curves]
            if _closes(linkage, places, curves, positions, steps):
                return replace(cluster, steps=steps), [c.tolist() for c in curves]
    problem = f"{MOST_STEPS} Newton steps from polynomials do not close the loops over the range of joint "
    raise _NotReduced(f'{problem}"{shown(body.joint_name)}"', "give it narrower limits")


def _leader(model: Problem, loops: Sequence[Contact], members: Sequence[int], motors: Sequence[str]) -> int:
    if any(loop.kind is not ContactKind.POINT for loop in loops):
        raise _NotReduced("only loops of points are reduced", "declare the loops with `point@`")
    bodies = {k: model.bodies[k] for k in members}
    odd = [k for k, b in bodies.items() if b.joint.nv != 1 or not b.joint.euclidean or b.coupling is not None]
    odd += [b.coupling.leader for b in model.bodies if b.coupling and b.coupling.leader in members]
    if odd:
        name = shown(model.bodies[odd[0]].joint_name)
        problem = f'joint "{name}" has several coordinates, or is bound by a <mimic>'
        raise _NotReduced(problem, "replace it by joints with one coordinate each and without <mimic>")
    rows = sum(loop.rows for loop in loops)
    left = len(members) - rows
    if left != 1:
        problem = f"{len(members)} joints and {rows} constraint rows leave {left} degrees of freedom, not one"
        raise _NotReduced(problem, "add or remove joints or loops")
    names = {body.joint_name: k for k, body in bodies.items()}
    driven = [joint for actuator in model.actuators for joint, _, _ in actuator.gains]
    chosen = [name for name in names if name in motors] or [name for name in names if name in driven]
    if len(chosen) == 1:
        return names[chosen[0]]
    listed = ", ".join(f'"{shown(name)}"' for name in chosen or names)
    raise _NotReduced(f"the motor's joint may be any of {listed}", "name it with `loops='reduce:JOINT'`")


def _closes(linkage: Linkage, places: Array, curves: Sequence[Array], positions: Array, steps: int) -> bool:
    z = [np.polyval(curve[::-1], places) for curve in curves]
    with np.errstate(all="ignore"):
        for _ in range(steps):
            z = [a + b for a, b in zip(z, linkage.step(places, z), strict=True)]
        left = np.max(np.abs(np.array(linkage.step(places, z))))
        deviation = np.max(np.abs(np.array(z) - positions))
    return bool(left < ERROR and deviation < 1e3 * ERROR)


def _along_range(body: Body, linkage: Linkage, places: Array) -> list[list[float]]:
    """Return the followers' coordinates at `places`, each computed from those at the neighbouring place."""
    start, closed = _regular_start(body, linkage)
    middle = int(np.argmin(np.abs(places - start)))
    by_place: dict[int, list[float]] = {}
    determinants = []
    for order in (range(middle, len(places)), range(middle, -1, -1)):
        y, z = start, closed
        for k in order:
            z = _moved(body, linkage, y, float(places[k]), z)
            y, by_place[k] = float(places[k]), z
            determinants.append(np.linalg.det(np.array(linkage.followed(y, z))))
    sizes = np.array(determinants)
    if np.min(sizes) * np.max(sizes) <= 0.0 or np.min(np.abs(sizes)) < SINGULAR * np.max(np.abs(sizes)):
        raise _singular(body)
    return [by_place[k] for k in range(len(places))]


def _singular(body: Body, where: str = "") -> _NotReduced:
    problem = (
        f'over the range of joint "{shown(body.joint_name)}", {body.limits.lower:.4g} to '
        f"{body.limits.upper:.4g}, the loops do not close or pass a singular configuration{where}"
    )
    return _NotReduced(problem, "give it narrower limits, name another motor")


def _regular_start(body: Body, linkage: Linkage) -> tuple[float, list[float]]:
    """Return the motor's and the followers' coordinates from which the range is traced.

    Of the closed configurations reached from the neutral and from random ones, the nearest to the neutral one
    is chosen. If it is outside the range, or singular like a stretched parallelogram, the motor is held at
    the nearest position in its range, and the followers take the nearest regular coordinates that close the
    loops.
    """
    rng, count = np.random.default_rng(0), linkage.tree.nq
    starts = [np.zeros(count), *rng.uniform(-1.0, 1.0, (ATTEMPTS, count))]
    reached = [closed_from(linkage.tree, start.tolist()) for start in starts]
    closed = [q for q, error in reached if error < CLOSED]
    if not closed:
        raise _NotReduced("cannot be closed", "check the frames of the loops")
    pairs = [(q[linkage.leader], [q[k] for k in linkage.followers]) for q in closed]
    largest = max(_size(linkage, *pair) for pair in pairs)
    y, z = min(pairs, key=lambda pair: float(np.linalg.norm([pair[0], *pair[1]])))
    nearest = float(np.clip(y, body.limits.lower, body.limits.upper))
    if nearest == y and _size(linkage, y, z) >= SINGULAR * largest:
        return y, z
    tried = (_closed_at(linkage, nearest, start) for start in [z, *(others for _, others in pairs)])
    regular = [x for x in tried if x and _size(linkage, nearest, x) >= SINGULAR * largest]
    if not regular:
        raise _singular(body, f" near {nearest:.4g}")
    return nearest, min(regular, key=lambda x: float(np.linalg.norm(np.array(x) - z)))


def _size(linkage: Linkage, y: float, z: list[float]) -> float:
    return abs(float(np.linalg.det(np.array(linkage.followed(y, z)))))


def _closed_at(linkage: Linkage, y: float, z: list[float]) -> list[float] | None:
    with suppress(ZeroDivisionError):  # a singular configuration
        for _ in range(STEPS):
            step = linkage.step(y, z)
            largest = float(np.max(np.abs(step)))
            if not largest >= ERROR:
                return z if math.isfinite(largest) else None
            z = [a + b * min(1.0, 0.5 / largest) for a, b in zip(z, step, strict=True)]
    return None


def _moved(body: Body, linkage: Linkage, start: float, end: float, z: list[float]) -> list[float]:
    with suppress(ZeroDivisionError):  # a singular configuration
        slopes, _ = linkage.derivatives(start, z)
        z = [a + b * (end - start) for a, b in zip(z, slopes, strict=True)]
        for _ in range(MOST_STEPS):
            step = linkage.step(end, z)
            z = [a + b for a, b in zip(z, step, strict=True)]
            if np.max(np.abs(step)) < ERROR:
                return z
    raise _singular(body, f" near {end:.4g}")
