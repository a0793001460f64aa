"""The rate of the centroidal momentum by contacts and gravity: the sum of all forces on the bodies, from
their frames.
"""

from __future__ import annotations

from rbdc.algorithms.reference.centroidal import first_moment, total_mass
from rbdc.algorithms.reference.contacts.dynamics import Vector, external
from rbdc.algorithms.tools.kinematics import world_placements
from rbdc.model import Model
from rbdc.spatial import Force, Scalars


def _by_contacts(model: Model, q: Scalars, forces: Scalars) -> Vector:
    """Wrench of the contacts on all bodies about the centre of mass."""
    total = Force.zero()
    for placement, force in zip(world_placements(model, q), external(model, q, forces, None), strict=True):
        total = total + placement.act_force(force)
    centre = first_moment(model, q, with_base=False).scaled(1.0 / total_mass(model, with_base=False))
    return [*total.linear.scalars(), *(total.angular - centre.cross(total.linear)).scalars()]


def centroidal_contact_dynamics(model: Model, q: Scalars, forces: Scalars) -> Vector:
    """hdot (6)."""
    weight = model.gravity.scaled(total_mass(model, with_base=False)).scalars()
    return [x + y for x, y in zip(_by_contacts(model, q, forces), [*weight, 0.0, 0.0, 0.0], strict=True)]
