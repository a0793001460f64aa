"""Derivatives of the residuals of contacts by q, in the tangent space, and by v.

A step of the degree of freedom k of a body, whose parent moves by V_p and A_p, changes the motion of what it
carries, in its own coordinates, by

    dV/dq = psi, dA/dq = A_p x J + V_p x psi - V x psi,     dA/dqdot = psi + J x (V - V_k)

with psi = V_p x J and V_k the velocity of the body itself. Seen from body 1, whose coordinates rows are in,
body 2 changes moreover by what a step turns body 1 against it, Omega = J where k carries body 1 and not body
2, and -J the other way: w = V_2 by dV_2 + w x Omega, likewise A_2, and its frame by -Omega. The residual
follows from these over dual numbers. Rows along the world's axes also turn with body 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from rbdc.algorithms.contacts.motion import ContactMotion, Contacts, at
from rbdc.algorithms.kinematics import TreeMotion
from rbdc.algorithms.logarithm import rate_of_logarithm
from rbdc.algorithms.tools.linear import Matrix, plus
from rbdc.model import WORLD
from rbdc.spatial import Motion, Placement, Vector3
from rbdc.spatial.tangent import rate_of, tangents
from rbdc.spatial.vectors import motion_sum

Pushes = tuple[Matrix, Matrix] | None
"""Changes of accelerations by q and by v (nv, nv), of which a joint's columns have entries in its own rows
alone.
"""


@dataclass(frozen=True)
class Step:
    """A degree of freedom k at the origin of the one frame: J_k; by q_k the change of the velocity and of the
    acceleration of a body that it carries, by qdot_k of the acceleration.
    """

    s: Motion
    velocity: Motion
    acceleration: Motion
    by_rate: Motion


NOTHING = Step(Motion.zero(), Motion.zero(), Motion.zero(), Motion.zero())
"""A body that a degree of freedom does not carry does not change."""


def _steps(tree: TreeMotion, index: int, body: int, pushes: Pushes) -> list[Step]:
    """The degrees of freedom of the joint `index`, as they change the motion of `body`."""
    parent = tree.model.bodies[index].parent
    above, pulled = tree.velocity(parent), tree.acceleration(parent)
    found, moving = [], tree.velocity(body)
    below = moving - tree.velocity(index) if body != index else Motion.zero()
    for s, (by_q, by_v) in zip(tree.columns[index], _pushed(tree, index, pushes), strict=True):
        psi = above.cross(s)
        acceleration = pulled.cross(s) + (above - moving).cross(psi) + by_q
        found.append(Step(s, psi, acceleration, psi + s.cross(below) + by_v))
    return found


def _pushed(tree: TreeMotion, index: int, pushes: Pushes) -> list[list[Motion]]:
    """For each degree of freedom of a joint what its own accelerations change by with q and with v."""
    columns, first = tree.columns[index], tree.model.bodies[index].index_v
    if pushes is None:
        return [[Motion.zero(), Motion.zero()] for _ in columns]
    own = range(first, first + len(columns))
    return [[motion_sum(columns, [push[row][k] for row in own]) for push in pushes] for k in own]


def row_derivatives(
    contacts: Contacts, quantity: Callable[[ContactMotion], Motion], pushes: Pushes = None
) -> tuple[Matrix, Matrix]:
    """The derivatives by q and by v (nc, nv) of the rows of a quantity; accelerations are held, but for what
    `pushes` says of these.
    """
    by_q, by_v = (_rows(contacts, x, quantity, pushes) for x in (_by_q, _by_v))
    return plus(by_q, contacts.turning(quantity)), by_v


Moved = Callable[[ContactMotion, Step, Step], ContactMotion]
"""A contact with changes by a degree of freedom, as it moves body 1 and body 2, as rates of dual numbers."""


def _rows(
    contacts: Contacts, moved: Moved, quantity: Callable[[ContactMotion], Motion], pushes: Pushes
) -> Matrix:
    """The change of a quantity of all contacts by every degree of freedom (nc, nv)."""
    rows: Matrix = []
    for contact in contacts.each:
        tree, (first, second) = contact.tree, contact.bodies
        columns: dict[int, list[Motion]] = {}
        for index, (one, two) in contact.supports().items():
            nothing = [NOTHING] * len(tree.columns[index])
            ones = _steps(tree, index, first, pushes) if one else nothing
            twos = _steps(tree, index, second, pushes) if two else nothing
            made = (quantity(moved(contact, *pair)) for pair in zip(ones, twos, strict=True))
            columns[index] = [Motion.of([rate_of(x) for x in m.scalars()]) for m in made]
        rows += contact.matrix(columns)
    return rows


def _by_q(contact: ContactMotion, one: Step, two: Step) -> ContactMotion:
    """By q, the contact as seen from body 1."""
    turn, second, frame = one.s - two.s, contact.bodies[1], contact.second
    w, b = contact.tree.velocity(second), contact.tree.acceleration(second)
    velocities = one.velocity, two.velocity + w.cross(turn)
    accelerations = one.acceleration, two.acceleration + b.cross(turn)
    place = tangents(frame.translation.scalars(), (-at(frame.translation, turn).linear).scalars())
    known = moving_logarithm(contact, contact.relative(one.s, two.s)) if contact.has_logarithm else None
    moved = replace(contact, second=Placement(frame.rotation, Vector3.of(place)), known=known)
    return _moving(moved, velocities, accelerations)


def _by_v(contact: ContactMotion, one: Step, two: Step) -> ContactMotion:
    return _moving(contact, (one.s, two.s), (one.by_rate, two.by_rate))


def moving_logarithm(contact: ContactMotion, step: Motion) -> Motion:
    """The logarithm of a contact of bodies as dual numbers, where body 1 moves so at the contact against body
    2.
    """
    logarithm, own = contact.logarithm(), step.turned(contact.first.rotation.apply_transposed)
    return _dual(logarithm, rate_of_logarithm(logarithm, own))


def _moving(
    contact: ContactMotion, velocities: tuple[Motion, Motion], accelerations: tuple[Motion, Motion]
) -> ContactMotion:
    """The contact with changes of the motions of body 1 and of body 2 as rates of dual numbers."""
    tree = contact.tree
    made = replace(tree, velocities=[*tree.velocities], accelerations=[*tree.accelerations])
    for body, velocity, acceleration in zip(contact.bodies, velocities, accelerations, strict=True):
        if body != WORLD:
            made.velocities[body] = _dual(tree.velocity(body), velocity)
            made.accelerations[body] = _dual(tree.acceleration(body), acceleration)
    return replace(contact, tree=made)


def _dual(value: Motion, rate: Motion) -> Motion:
    return Motion.of(tangents(value.scalars(), rate.scalars()))
