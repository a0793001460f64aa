"""The rate of the centroidal momentum by contacts and gravity, and its derivatives.

With W = [F; N] the wrench of the contacts on the bodies about the world's origin, c and m the centre and the
mass of what moves

    hdot = [F + m g; N - c x F],     d hdot = [dF; dN - dc x F - c x dF]

A step of k changes the forces on its subtree, which are fixed to the bodies, by J_k x* their sum; what a loop
does to body 2 follows body 1 (`rbdc.algorithms.contacts.derivatives`).
"""

from __future__ import annotations

from collections.abc import Sequence

from rbdc.algorithms.centroidal import centre_of_moving_links
from rbdc.algorithms.contacts.derivatives import followed
from rbdc.algorithms.contacts.dynamics import forces_on_bodies, turning_of_forces
from rbdc.algorithms.contacts.motion import ContactMotion, contact_motions
from rbdc.algorithms.dynamics.external_forces import of_subtrees
from rbdc.algorithms.kinematics import TreeMotion, tree_motion
from rbdc.algorithms.momentum import com_jacobian, total_mass
from rbdc.algorithms.tools.joint_coordinates import reduce_columns
from rbdc.algorithms.tools.linear import Matrix, plus, product, transposed
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import Model
from rbdc.model.contacts import total_rows
from rbdc.spatial import Force, Scalar, Scalars, Vector3

Vector = list[Scalar]


def centroidal_contact_dynamics(model: Model, q: Scalars, forces: Scalars, trace: Trace = silent) -> Vector:
    """hdot (6; N, N m) of the moving links about their centre of mass, world axes, linear part first, where
    contacts and gravity alone act on them, as on robots with a free root. Test: `centroidal_momentum_matrix`,
    `contact_forward_dynamics`.
    """
    tree = tree_motion(model, q, trace=trace)
    total = _wrench(tree, contact_motions(tree, local=True), forces)
    about = _about(centre_of_moving_links(model, q, trace), total)
    weight = model.gravity.scaled(total_mass(model, with_base=False))
    return [*(about.linear + weight).scalars(), *about.angular.scalars()]


def _about(centre: Vector3, force: Force) -> Force:
    """A force about the world's origin, about the centre of mass."""
    return Force(force.linear, force.angular - centre.cross(force.linear))


def _wrench(tree: TreeMotion, contacts: Sequence[ContactMotion], forces: Scalars) -> Force:
    """Wrench of the contacts on all bodies about the world's origin."""
    return tree.frame.act_force(sum(forces_on_bodies(tree, contacts, forces), Force.zero()))


def centroidal_contact_dynamics_derivatives(
    model: Model, q: Scalars, forces: Scalars, trace: Trace = silent
) -> tuple[Matrix, Matrix]:
    """hdot by q (6, nv), the forces constant along their axes, and by the forces (6, nc). Test: complex
    step of the reference.
    """
    tree = tree_motion(model, q, trace=trace)
    contacts = contact_motions(tree, local=True)
    centre, total = centre_of_moving_links(model, q, trace), _wrench(tree, contacts, forces)
    changes = (x for own in _changes(tree, contacts, forces) for x in own)
    full = [_about(centre, tree.frame.act_force(change)).scalars() for change in changes]
    by_q = transposed(reduce_columns(model, transposed(full)))
    share = total_mass(model) / total_mass(model, with_base=False)
    shifts = [Vector3.of(x).scaled(share) for x in transposed(com_jacobian(model, q, trace))]
    for column, shift in zip(by_q, shifts, strict=True):
        column[3:] = [x - y for x, y in zip(column[3:], shift.cross(total.linear).scalars(), strict=True)]
    rows = range(total_rows(model))
    units = ([float(i == k) for i in rows] for k in rows)
    by_forces = transposed([_about(centre, _wrench(tree, contacts, unit)).scalars() for unit in units])
    turning = [[-x for x in row] for row in turning_of_forces(contacts, forces)]
    return plus(transposed(by_q), product(by_forces, turning)), by_forces


def _changes(tree: TreeMotion, contacts: Sequence[ContactMotion], forces: Scalars) -> list[list[Force]]:
    """Changes of the wrench of all contacts, about the origin of the one frame, by each joint's steps."""
    subtrees = of_subtrees(tree.model, forces_on_bodies(tree, contacts, forces))
    changes = [[s.cross_force(force) for s in own] for own, force in zip(tree.columns, subtrees, strict=True)]
    for contact in contacts:
        for index, more in followed(contact, forces).items():
            changes[index] = [x - y for x, y in zip(changes[index], more, strict=True)]
    return changes
