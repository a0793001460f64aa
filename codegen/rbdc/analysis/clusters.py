"""Closed loops in reduced coordinates: clusters of one degree of freedom follow their motor's joint.

A cluster's joints are traced over the motor's range from where its loops close nearest to the neutral
configuration. Polynomials through what is found are the start of so few Newton steps as close the loops to
rounding everywhere in the range; where they are lines that close them, joints follow along lines.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rbdc.algorithms.couplings import Linkage
from rbdc.analysis.mobility import CLOSED, closed_from, with_independent_loops
from rbdc.errors import OptionError, UnsupportedError
from rbdc.model import WORLD, Cluster, Contact, ContactKind, Model, Note
from rbdc.model.joints.coupling import Coupling
from rbdc.model.lumping import numbered, of_others
from rbdc.model.notes import place_of
from rbdc.model.xml import shown

Array = NDArray[np.float64]

SAMPLES = 129
"""Places in the motor's range at which a loop is traced and checked."""
ATTEMPTS = 10
"""Configurations around the neutral one from which loops are closed."""
REFINED = 2
"""Steps from one of them to the next."""
DEGREES, MOST_STEPS = range(1, 10), 6
"""Degrees of polynomials, and numbers of Newton steps, that are tried."""
ERROR = 1e-13
"""Error that is left of a closed loop at most (m, rad)."""
SINGULAR = 1e-3
"""Determinant of the followers' Jacobian, in parts of the largest in the range, at which it is singular."""
_HOLD = "or leave out --loops reduce"


class _Group(NamedTuple):
    """Loops that share bodies, these, and the body that carries them."""

    loops: tuple[Contact, ...]
    bodies: tuple[int, ...]
    carrier: int


def settled(model: Model, motors: Sequence[str] | None) -> Model:
    """The model with independent rows of loops, its loops reduced where motors are given, if only by an empty
    tuple.
    """
    if model.contacts:
        model = with_independent_loops(model)
    return model if motors is None else with_reduced_loops(model, motors)


def with_reduced_loops(model: Model, motors: Sequence[str]) -> Model:
    """Before: loops among the contacts. After: their joints follow one of each cluster: that which is among
    the motors named, or has the only actuator. Raises UnsupportedError for loops that are no clusters of one
    degree of freedom, or do not close over the whole range, OptionError for motors that none has.
    """
    loops = [_of_points(contact) for contact in model.contacts if contact.second is not None]
    if not loops:
        raise UnsupportedError(f"{place_of(model)}: there are no loops: declare them with --loop, {_HOLD}")
    groups = list(_groups(model, loops))
    names = [model.bodies[k].joint_name for group in groups for k in group.bodies]
    for motor in motors:
        if motor not in names:
            known = ", ".join(map(shown, names))
            raise OptionError(f'--loops: no joint "{shown(motor)}" is in a loop; there are {known}')
    bodies, clusters, notes = list(model.bodies), [], list(model.notes)
    for group in groups:
        leader = _leader(model, group, motors)
        others = tuple(k for k in group.bodies if k != leader)
        traced = _traced(model, Cluster(leader, others, group.carrier, group.loops, 0))
        clusters += [traced.cluster] if traced.curved else []
        for k, curve in traced.curves.items():
            offset, multiplier, *higher = curve
            bodies[k] = replace(bodies[k], coupling=Coupling(leader, multiplier, offset, tuple(higher)))
        followers = ", ".join(f'"{shown(bodies[k].joint_name)}"' for k in traced.cluster.followers)
        notes.append(Note(f'joints {followers} follow "{shown(bodies[leader].joint_name)}" by closed loops'))
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


def _of_points(loop: Contact) -> Contact:
    """A loop by points where it holds no more: that frames do not turn against each other follows."""
    return replace(loop, kind=ContactKind.POINT) if max(loop.held) < 3 else loop


def _groups(model: Model, loops: Sequence[Contact]) -> Iterator[_Group]:
    """Loops by the bodies that they share."""
    groups: list[tuple[list[Contact], set[int]]] = []
    for loop in loops:
        one, two = (set() if f is None else set(model.support(f.body)) for f in (loop.first, loop.second))
        own, bodies = [loop], one ^ two
        for other in [g for g in groups if g[1] & bodies]:
            groups.remove(other)
            own, bodies = [*other[0], *own], bodies | other[1]
        groups.append((own, bodies))
    for own, bodies in groups:
        carriers = {model.bodies[k].parent for k in bodies} - bodies
        if len(carriers) > 1:
            raise _refused(model, own, "hang at several bodies", "make one loop of each")
        yield _Group(tuple(own), tuple(sorted(bodies)), carriers.pop() if carriers else WORLD)


def _refused(model: Model, loops: Sequence[Contact], problem: str, remedy: str) -> UnsupportedError:
    names = ", ".join(shown(loop.name) for loop in loops)
    return UnsupportedError(f"{place_of(model)}: --loops reduce: {names}: {problem}; {remedy}, {_HOLD}")


def _leader(model: Model, group: _Group, motors: Sequence[str]) -> int:
    """The joint that the others follow."""
    bodies = [model.bodies[k] for k in group.bodies]
    if any(loop.kind is not ContactKind.POINT for loop in group.loops):
        raise _refused(model, group.loops, "only loops of points are reduced", "declare them as point@")
    odd = [b.joint_name for b in bodies if b.joint.nv != 1 or not b.joint.euclidean or b.coupling]
    odd += [
        bodies[group.bodies.index(b.coupling.leader)].joint_name
        for b in model.bodies
        if b.coupling is not None and b.coupling.leader in group.bodies
    ]
    if odd:
        problem = f'joint "{shown(odd[0])}" has several coordinates, or is bound by a <mimic>'
        raise _refused(model, group.loops, problem, "model it by joints of one coordinate of their own")
    rows = sum(loop.rows for loop in group.loops)
    if len(bodies) - rows != 1:
        problem = (
            f"{len(bodies)} joints in {rows} rows leave {len(bodies) - rows} degrees of freedom, not one"
        )
        raise _refused(model, group.loops, problem, "hold them as loops")
    driven = [joint for actuator in model.actuators for joint, _, _ in actuator.gains]
    names = [body.joint_name for body in bodies]
    for wanted in (motors, driven):
        chosen = [name for name in names if name in wanted]
        if len(chosen) == 1:
            return group.bodies[names.index(chosen[0])]
        if chosen:
            names = chosen
            break
    listed = ", ".join(f'"{shown(name)}"' for name in names)
    raise _refused(
        model, group.loops, f"any of {listed} may be the motor's joint", "name it, --loops reduce:JOINT"
    )


class _Traced(NamedTuple):
    """A cluster with its steps, and the polynomials of its followers; curved: they alone do not close it."""

    cluster: Cluster
    curves: dict[int, list[float]]
    curved: bool


def _traced(model: Model, cluster: Cluster) -> _Traced:
    """The polynomials and the steps that close a cluster's loops over the range of its motor's joint."""
    limits, name = model.bodies[cluster.leader].limits, model.bodies[cluster.leader].joint_name
    if not (np.isfinite([limits.lower, limits.upper]).all() and limits.lower < limits.upper):
        problem = f'the joint "{shown(name)}" has no range'
        raise _refused(model, cluster.loops, problem, "give it limits within which the loops close")
    linkage = Linkage(model, cluster)
    places = np.linspace(limits.lower, limits.upper, SAMPLES)
    found = np.array(_along_range(model, cluster, linkage, places)).T
    for steps in range(MOST_STEPS + 1):
        for degree in DEGREES:
            curves: list[Array] = [np.polyfit(places, own, degree)[::-1] for own in found]
            curves = [np.where(np.abs(c) < 1e-15 * np.abs(c).max(), 0.0, c) for c in curves]
            if _closes(linkage, places, curves, found, steps):
                laws = {k: [float(x) for x in c] for k, c in zip(cluster.followers, curves, strict=True)}
                return _Traced(replace(cluster, steps=steps), laws, steps > 0 or degree > 1)
    problem = f"{MOST_STEPS} Newton steps from polynomials do not close them over the range of {shown(name)}"
    raise _refused(model, cluster.loops, problem, "give narrower limits")


def _closes(linkage: Linkage, places: Array, curves: Sequence[Array], found: Array, steps: int) -> bool:
    """Whether so many steps from the polynomials are where the loops close, everywhere in the range."""
    z = [np.polyval(curve[::-1], places) for curve in curves]
    for _ in range(steps):
        with np.errstate(all="ignore"):
            z = [a + b for a, b in zip(z, linkage.step(places, z), strict=True)]
    with np.errstate(all="ignore"):
        left = np.max(np.abs(np.array(linkage.step(places, z))))
        apart = np.max(np.abs(np.array(z) - found))
    return bool(left < ERROR and apart < 1e3 * ERROR)


def _along_range(model: Model, cluster: Cluster, linkage: Linkage, places: Array) -> list[list[float]]:
    """The followers' coordinates at places of the motor's range, each from the ones beside it."""
    start, z = _closed_near_neutral(model, cluster, linkage)
    middle = int(np.argmin(np.abs(places - start)))
    first, determinants = _moved(model, cluster, linkage, start, float(places[middle]), z)
    found = {middle: first}
    for order in (range(middle + 1, len(places)), range(middle - 1, -1, -1)):
        y, z = float(places[middle]), first
        for k in order:
            z, passed = _moved(model, cluster, linkage, y, float(places[k]), z)
            determinants += passed
            y, found[k] = float(places[k]), z
    sizes = np.array(determinants)
    if np.min(sizes) * np.max(sizes) <= 0.0 or np.min(np.abs(sizes)) < SINGULAR * np.max(np.abs(sizes)):
        raise _singular(model, cluster)
    return [found[k] for k in range(len(places))]


def _singular(model: Model, cluster: Cluster, at: float | None = None) -> UnsupportedError:
    body = model.bodies[cluster.leader]
    where = "" if at is None else f" near {at:.4g}"
    problem = (
        f'over the range of joint "{shown(body.joint_name)}", {body.limits.lower:.4g} to '
        f"{body.limits.upper:.4g}, they do not close or pass a singular configuration{where}"
    )
    return _refused(model, cluster.loops, problem, "give it narrower limits, name another motor")


def _closed_near_neutral(model: Model, cluster: Cluster, linkage: Linkage) -> tuple[float, list[float]]:
    """The motor's coordinate and the followers' in a closed configuration near the neutral one: the nearest
    of those that are reached from there and from some around it.
    """
    rng, count = np.random.default_rng(0), linkage.tree.nq
    starts = [np.zeros(count), *rng.uniform(-1.0, 1.0, (ATTEMPTS, count))]
    closed = [
        q
        for q, error in (closed_from(linkage.tree, [float(x) for x in start]) for start in starts)
        if error < CLOSED
    ]
    if not closed:
        raise _refused(model, cluster.loops, "cannot be closed", "check the frames of --loop")
    q = min(closed, key=lambda own: float(np.linalg.norm(own)))
    return q[linkage.leader], [q[k] for k in linkage.followers]


def _moved(
    model: Model, cluster: Cluster, linkage: Linkage, start: float, end: float, z: list[float]
) -> tuple[list[float], list[float]]:
    """The followers' coordinates after the motor has moved, and the determinants of J_z on the way."""
    determinants = []
    y = start
    for place in np.linspace(start, end, REFINED + 1)[1:]:
        slopes, _ = linkage.derivatives(y, z)
        z = [a + b * (float(place) - y) for a, b in zip(z, slopes, strict=True)]
        y, step = float(place), [np.inf]
        for _ in range(MOST_STEPS):
            step = linkage.step(y, z)
            z = [a + b for a, b in zip(z, step, strict=True)]
            if np.max(np.abs(step)) < 1e-2 * ERROR:
                break
        if not np.max(np.abs(step)) < ERROR:
            raise _singular(model, cluster, y)
        determinants.append(float(np.linalg.det(np.array(linkage.followed(y, z)))))
    return z, determinants
