"""Derivatives of the residuals of contacts with respect to q (tangent space) and v.

A degree of freedom k has the column J, and its joint's body the velocity V_k. The parent body has the
velocity V_p and the acceleration A_p. A step of k changes the velocity V and the acceleration A of each body
that k carries. In coordinates that move with these bodies, with psi = V_p x J,

    dV/dq = psi, dA/dq = A_p x J + V_p x psi - V x psi,     dV/dqdot = J, dA/dqdot = psi + J x (V - V_k)

The residual is in coordinates that move with body 1. A step of k moves them relative to body 2 by Omega = J
if k carries body 1 but not body 2, and by Omega = -J if k carries body 2 but not body 1. In these coordinates
V_2 changes by dV_2 + V_2 x Omega, A_2 by dA_2 + A_2 x Omega, and the frame of body 2 moves by -Omega. The
residual is then differentiated with dual numbers. `Contacts.turning` is added for rows along the world's
axes.

If the whole recursion ran over dual numbers instead, it would take 0.85 to 1.05 times the operations for legs
and linkages, up to 1.36 times for an arm of seven joints, and 2 to 5 times the time to record.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from rbdc.algorithms.contacts.motion import ContactMotion, Contacts, at
from rbdc.algorithms.kinematics import TreeMotion
from rbdc.algorithms.logarithm import rate_of_logarithm
from rbdc.algorithms.tools.linear import Matrix, plus
from rbdc.model import WORLD
from rbdc.spatial import Motion, Placement, Vector3
from rbdc.spatial.tangent import rate_of, tangents
from rbdc.spatial.vectors import motion_sum


class ResidualStep(NamedTuple):
    """Effect of a degree of freedom k on a body, at the origin of the common frame. The effect is zero if k
    does not carry the body.

    s: J_k.
    velocity, acceleration: derivatives of the body's velocity and acceleration with respect to q_k.
    by_rate: derivative of the body's acceleration with respect to qdot_k.
    """

    s: Motion = Motion.zero()
    velocity: Motion = Motion.zero()
    acceleration: Motion = Motion.zero()
    by_rate: Motion = Motion.zero()


def row_derivatives(
    contacts: Contacts, quantity: Callable[[ContactMotion], Motion], pushes: Sequence[Matrix]
) -> tuple[Matrix, Matrix]:
    """Return the derivatives of the rows of a quantity with respect to q and to v (nc, nv each). pushes:
    derivatives of joint accelerations with respect to q and v (nv, nv each), with entries only between
    degrees of freedom of one joint.
    """
    by_q, by_v = (
        [row for contact in contacts.each for row in _rows(contact, moved, quantity, pushes)]
        for moved in (_by_q, _by_v)
    )
    return plus(by_q, contacts.turning(quantity)), by_v


def _rows(
    contact: ContactMotion,
    moved: Callable[[ContactMotion, ResidualStep, ResidualStep], ContactMotion],
    quantity: Callable[[ContactMotion], Motion],
    pushes: Sequence[Matrix],
) -> Matrix:
    """Return the derivatives of a quantity of one contact (rows, nv). moved: (contact, effect of a degree of
    freedom on body 1, effect on body 2) -> the contact over dual numbers.
    """
    columns: dict[int, list[Motion]] = {}
    for index, carried in contact.supports().items():
        pairs = zip(contact.bodies, carried, strict=True)
        steps = [_steps(contact.tree, index, *pair, pushes) for pair in pairs]
        changes = (quantity(moved(contact, *pair)) for pair in zip(*steps, strict=True))
        columns[index] = [Motion.of([rate_of(x) for x in m.scalars()]) for m in changes]
    return contact.matrix(columns)


def _steps(
    tree: TreeMotion, index: int, body: int, carried: bool, pushes: Sequence[Matrix]
) -> list[ResidualStep]:
    columns, joint = tree.columns[index], tree.model.bodies[index]
    if not carried:
        return [ResidualStep()] * len(columns)
    above, pulled, moving = tree.velocity(joint.parent), tree.acceleration(joint.parent), tree.velocity(body)
    below = moving - tree.velocity(index) if body != index else Motion.zero()
    steps, entries = list[ResidualStep](), range(joint.index_v, joint.index_v + len(columns))
    for k, s in zip(entries, columns, strict=True):
        by_q, by_v = (motion_sum(columns, [push[row][k] for row in entries]) for push in pushes)
        psi = above.cross(s)
        acceleration = pulled.cross(s) + (above - moving).cross(psi) + by_q
        steps.append(ResidualStep(s, psi, acceleration, psi + s.cross(below) + by_v))
    return steps


def _by_q(contact: ContactMotion, one: ResidualStep, two: ResidualStep) -> ContactMotion:
    turn, second, frame = one.s - two.s, contact.bodies[1], contact.second
    w, b = contact.tree.velocity(second), contact.tree.acceleration(second)
    velocities = one.velocity, two.velocity + w.cross(turn)
    accelerations = one.acceleration, two.acceleration + b.cross(turn)
    place = tangents(frame.translation.scalars(), (-at(frame.translation, turn).linear).scalars())
    known = moving_logarithm(contact, contact.relative(one.s, two.s)) if contact.has_logarithm else None
    moved = replace(contact, second=Placement(frame.rotation, Vector3.of(place)), known=known)
    return _moving(moved, velocities, accelerations)


def _by_v(contact: ContactMotion, one: ResidualStep, two: ResidualStep) -> ContactMotion:
    return _moving(contact, (one.s, two.s), (one.by_rate, two.by_rate))


def moving_logarithm(contact: ContactMotion, step: Motion) -> Motion:
    """Return the logarithm of a contact that holds bodies, over dual numbers. step: motion of body 1 relative
    to body 2.
    """
    logarithm, local_step = contact.logarithm(), step.turned(contact.first.rotation.apply_transposed)
    return _dual(logarithm, rate_of_logarithm(logarithm, local_step))


def _moving(
    contact: ContactMotion, velocities: tuple[Motion, Motion], accelerations: tuple[Motion, Motion]
) -> ContactMotion:
    tree = contact.tree
    moving = [body for body in contact.bodies if body != WORLD]
    v, a = (dict(zip(contact.bodies, changes, strict=True)) for changes in (velocities, accelerations))
    moved_tree = replace(
        tree,
        velocities={body: _dual(tree.velocity(body), v[body]) for body in moving},
        accelerations={body: _dual(tree.acceleration(body), a[body]) for body in moving},
    )
    return replace(contact, tree=moved_tree)


def _dual(value: Motion, rate: Motion) -> Motion:
    return Motion.of(tangents(value.scalars(), rate.scalars()))
