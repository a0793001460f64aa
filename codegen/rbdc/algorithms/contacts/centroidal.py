"""The rate of the centroidal momentum that contacts and gravity cause, and the derivatives of this rate.

With the total wrench [F; N] of the contacts on the bodies about the world's origin, the centre of mass c and
the mass m of the moving links, and the acceleration of gravity g,

    hdot = [F + m g; N - c x F],     d hdot = [dF; dN - dc x F - c x dF]

The force of a contact turns with body 1: if a degree of freedom k with the column J_k carries body 1, a step
of k changes the wrench on body 1 by J_k x* this wrench. The forces of a loop on its two bodies cancel, but if
a loop holds point p1 to point p2 by a force f, the moment N = (p1 - p2) x f remains.
"""

from __future__ import annotations

from rbdc.algorithms.centroidal import about_centre, derivatives_about_centre
from rbdc.algorithms.contacts.motion import ContactMotion, Contacts, about_origin, at, contacts_at
from rbdc.algorithms.momentum import centre_of_moving_links, com_jacobian, total_mass
from rbdc.algorithms.tools.joint_coordinates import reduce_columns
from rbdc.algorithms.tools.linear import Matrix, Vector, identity, plus, product, transposed
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import WORLD
from rbdc.model.contacts import total_rows
from rbdc.model.joint_space import JointSpaceModel
from rbdc.spatial import Force, Scalars, Vector3


def centroidal_contact_dynamics(
    model: JointSpaceModel, q: Scalars, forces: Scalars, trace: Trace = silent
) -> Vector:
    """Return the rate of the centroidal momentum of the moving links (6; N, N m), world axes, linear part
    first, if only contacts and gravity act on the links, as on a robot with a free root. Checked against
    `centroidal_momentum_matrix` and `contact_forward_dynamics`.
    """
    total = _wrench(contacts_at(model, q, trace=trace), forces)
    weight = Force(model.gravity.scaled(total_mass(model, with_base=False)), Vector3.zero())
    return (about_centre(centre_of_moving_links(model, q, trace), total) + weight).scalars()


def _acting(contacts: Contacts) -> list[ContactMotion]:
    """Return the contacts with the world and the loops that join points. The forces of other loops cancel."""
    return [contact for contact in contacts.each if contact.bodies[1] == WORLD or contact.of_points]


def _wrench(contacts: Contacts, forces: Scalars) -> Force:
    total = Force.zero()
    for contact in _acting(contacts):
        one, two = contact.forces(forces)
        total = total + (one if contact.bodies[1] == WORLD else one + two)
    return contacts.tree.frame.act_force(total)


def centroidal_contact_dynamics_derivatives(
    model: JointSpaceModel, q: Scalars, forces: Scalars, trace: Trace = silent
) -> tuple[Matrix, Matrix]:
    """Return the derivatives of hdot with respect to q (6, nv) and to the forces (6, nc). For q, the forces
    are constant along the axes of their contacts. Checked against the complex step of the reference.
    """
    contacts = contacts_at(model, q, trace=trace)
    centre, total = centre_of_moving_links(model, q, trace), _wrench(contacts, forces)
    changes = (x for wrenches in _changes(contacts, forces) for x in wrenches)
    full = transposed([contacts.tree.frame.act_force(change).scalars() for change in changes])
    share = total_mass(model) / total_mass(model, with_base=False)
    shifts = [Vector3.of(x).scaled(share) for x in transposed(com_jacobian(model, q, trace))]
    by_q = derivatives_about_centre(reduce_columns(model, full), centre, shifts, total.linear)
    units = identity(total_rows(model))
    by_forces = transposed([about_centre(centre, _wrench(contacts, unit)).scalars() for unit in units])
    turning = [[-x for x in row] for row in contacts.turning(lambda contact: contact.force(forces))]
    return plus(by_q, product(by_forces, turning)), by_forces


def _changes(contacts: Contacts, forces: Scalars) -> list[list[Force]]:
    """Return the derivatives of the wrench about the origin of the common frame, by joint and direction."""
    columns = contacts.tree.columns
    changes = [[Force.zero()] * len(of_body) for of_body in columns]
    for contact in _acting(contacts):
        (one, two), (_, there) = contact.forces(forces), contact.points
        for index, (first, second) in contact.supports().items():
            for k, s in enumerate(columns[index]):
                if first:
                    changes[index][k] = changes[index][k] + s.cross_force(one)
                if first and contact.bodies[1] != WORLD:
                    turned = Force(s.angular.cross(two.linear), Vector3.zero())
                    changes[index][k] = changes[index][k] + about_origin(there, turned)
                if second:
                    moment = at(there, s).linear.cross(two.linear)
                    changes[index][k] = changes[index][k] + Force(Vector3.zero(), moment)
    return changes
