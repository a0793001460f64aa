"""Derivatives of the residuals of contacts by q, in the tangent space, and by v.

A step of the degree of freedom k of a body, whose parent moves by V_p and A_p, changes the motion of what it
carries, in its own coordinates, by

    dV/dq = psi, dA/dq = A_p x J + V_p x psi - V x psi,     dA/dqdot = psi + J x (V - V_k)

with psi = V_p x J and V_k the velocity of the body itself. Seen from body 1, whose coordinates rows are in,
body 2 changes moreover by what a step turns body 1 against it, Omega = J where k carries body 1 and not body
2, and -J the other way: w = V_2 by dV_2 + w x Omega, likewise A_2. Where points are held, body 2's is its
own, and only the axes turn. Rows along the world's axes also turn with body 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rbdc.algorithms.contacts.logarithm import rate_of_logarithm
from rbdc.algorithms.contacts.motion import ContactMotion, TreeMotion, at
from rbdc.algorithms.tools.linear import Matrix, plus
from rbdc.model import WORLD
from rbdc.spatial import Motion, Placement, Scalar, Vector3
from rbdc.spatial.scalars import is_zero
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


def residual_derivatives(contacts: Sequence[ContactMotion], pushes: Pushes = None) -> tuple[Matrix, Matrix]:
    """r_q and r_v (nc, nv), r's forces and accelerations held, but for what `pushes` says of these."""
    by_q = [
        row
        for contact in contacts
        for row in plus(_matrix(contact, _by_q, pushes), contact.turning(contact.residual_motion()))
    ]
    by_v = [row for contact in contacts for row in _matrix(contact, _by_v, pushes)]
    return by_q, by_v


def velocity_derivatives(contacts: Sequence[ContactMotion]) -> Matrix:
    """Derivative of J u by q (nc, nv), u being the velocity of the tree."""
    return [
        row
        for contact in contacts
        for row in plus(_matrix(contact, _velocity_by_q), contact.turning(contact.velocity()))
    ]


Change = Callable[[ContactMotion, Step, Step], Motion]
"""Change at the contact by a degree of freedom, as it moves body 1 and body 2."""


def _matrix(contact: ContactMotion, change: Change, pushes: Pushes = None) -> Matrix:
    tree, (first, second) = contact.tree, contact.bodies
    columns: dict[int, list[list[Scalar]]] = {}
    for index, (one, two) in contact.supports().items():
        nothing = [NOTHING] * len(tree.columns[index])
        ones = _steps(tree, index, first, pushes) if one else nothing
        twos = _steps(tree, index, second, pushes) if two else nothing
        columns[index] = [contact.rows(change(contact, a, b)) for a, b in zip(ones, twos, strict=True)]
    return contact.matrix(columns)


def _by_q(contact: ContactMotion, one: Step, two: Step) -> Motion:
    change = _points_by_q(contact, one, two) if contact.of_points else _bodies_by_q(contact, one, two)
    if not is_zero(contact.kd):
        change = change + _velocity_by_q(contact, one, two).scaled(contact.kd)
    if not is_zero(contact.kp):
        change = change + _error_by_q(contact, one, two).scaled(contact.kp)
    return change


def _by_v(contact: ContactMotion, one: Step, two: Step) -> Motion:
    change = _points_by_v(contact, one, two) if contact.of_points else _bodies_by_v(contact, one, two)
    if is_zero(contact.kd):
        return change
    return change + contact.relative(one.s, two.s).scaled(contact.kd)


def _bodies_by_q(contact: ContactMotion, one: Step, two: Step) -> Motion:
    """dA_1 - db + de_v x w + e_v x dw."""
    first, second = contact.bodies
    tree = contact.tree
    w, b = tree.velocity(second), tree.acceleration(second)
    change = one.acceleration
    if second != WORLD:
        apart, turn = tree.velocity(first) - w, one.s - two.s
        dw = two.velocity + w.cross(turn)
        db = two.acceleration + b.cross(turn)
        change = change - db + (one.velocity - dw).cross(w) + apart.cross(dw)
    return at(contact.first.translation, change)


def _bodies_by_v(contact: ContactMotion, one: Step, two: Step) -> Motion:
    """dA_1 - dA_2 + J x w + e_v x J_2."""
    first, second = contact.bodies
    change = one.by_rate
    if second != WORLD:
        w = contact.tree.velocity(second)
        apart = contact.tree.velocity(first) - w
        change = change - two.by_rate + (one.s - two.s).cross(w) + apart.cross(two.s)
    return at(contact.first.translation, change)


def _points_by_q(contact: ContactMotion, one: Step, two: Step) -> Motion:
    """dalpha_1 - (dalpha_2 + alpha_2 x Omega), Omega = w of J_1 - J_2."""
    change = _classical(contact, 0, one.velocity, one.acceleration)
    if contact.bodies[1] != WORLD:
        change = change - _classical(contact, 1, two.velocity, two.acceleration)
        alpha = _point_acceleration(contact, 1)
        change = change - alpha.cross(one.s.angular - two.s.angular)
    return Motion(change, Vector3.zero())


def _points_by_v(contact: ContactMotion, one: Step, two: Step) -> Motion:
    change = _classical(contact, 0, one.s, one.by_rate)
    if contact.bodies[1] != WORLD:
        change = change - _classical(contact, 1, two.s, two.by_rate)
    return Motion(change, Vector3.zero())


def _side(contact: ContactMotion, side: int) -> tuple[int, Placement]:
    return contact.bodies[side], (contact.first, contact.second)[side]


def _classical(contact: ContactMotion, side: int, velocity: Motion, acceleration: Motion) -> Vector3:
    """How the classical acceleration of a side's point changes with its spatial velocity and acceleration:
    da + w x dv - v x dw.
    """
    body, frame = _side(contact, side)
    point = frame.translation
    moving, dv, da = at(point, contact.tree.velocity(body)), at(point, velocity), at(point, acceleration)
    return da.linear + moving.angular.cross(dv.linear) - moving.linear.cross(dv.angular)


def _point_acceleration(contact: ContactMotion, side: int) -> Vector3:
    body, frame = _side(contact, side)
    velocity, spatial = (
        at(frame.translation, m(body)) for m in (contact.tree.velocity, contact.tree.acceleration)
    )
    return spatial.linear + velocity.angular.cross(velocity.linear)


def _velocity_by_q(contact: ContactMotion, one: Step, two: Step) -> Motion:
    """dv_1 - dw, or of points dnu_1 - (dnu_2 + nu_2 x Omega)."""
    second = contact.bodies[1]
    if not contact.of_points:
        dw = two.velocity + contact.tree.velocity(second).cross(one.s - two.s)
        return at(contact.first.translation, one.velocity - dw)
    point = contact.second.translation
    nu = at(point, contact.tree.velocity(second)).linear
    turned = at(point, two.velocity).linear + nu.cross(one.s.angular - two.s.angular)
    return Motion(at(contact.first.translation, one.velocity).linear - turned, Vector3.zero())


def _error_by_q(contact: ContactMotion, one: Step, two: Step) -> Motion:
    """Jlog6 J, or of points J + d x w of J_1, d = p1 - p2."""
    moved = contact.relative(one.s, two.s)
    if contact.of_points:
        apart = contact.first.translation - contact.second.translation
        return Motion(moved.linear + apart.cross(one.s.angular), Vector3.zero())
    return contact.from_own(rate_of_logarithm(contact.logarithm(), contact.own(moved)))
