"""Motion of the bodies and of the contacts, all in the coordinates of a common frame.

The common frame is that of the root if the whole tree hangs on one free root, otherwise the world's.
Velocities and accelerations are relative to the world, along the axes of the common frame. With the columns
J = X_i S of the joint of body i, about the origin of the common frame,

    V_i = V_parent + J qdot,     A_i = A_parent + J qddot + V_parent x J qdot

Derivatives along a degree of freedom k use V and A of the parent of k's joint (Carpentier and Mansard,
section III-D):

    psi_k = V x J_k,     chi_k = A x J_k + V x psi_k

A contact holds point p1 of body 1 to point p2 of the world or of body 2. The residual r of a contact must be
zero. Kp and Kd are Baumgarte's gains. A contact that holds points (three components) uses their classical
accelerations alpha and their velocities nu:

    r = alpha_1 - alpha_2 + Kd (nu_1 - nu_2) + Kp (p1 - p2)

A contact that holds bodies (six components) uses their spatial motions at p1, e_v = V_1 - V_2, and the
placement 2_M_1 of its first frame in its second frame:

    r = A_1 - A_2 + e_v x V_2 + Kd e_v + Kp log6(2_M_1)

With the argument `local`, rows are along the axes that users see: those of the contact's first frame, or the
world's if the model is `world_aligned`. Otherwise rows are along the axes of the common frame. Loops that
hold only some components always use the axes of their first frames. Rows of forces have the same axes and
points as rows of motions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rbdc.algorithms.kinematics import TreeMotion, tree_motion
from rbdc.algorithms.logarithm import logarithm_of
from rbdc.algorithms.tools.joint_coordinates import reduce_columns
from rbdc.algorithms.tools.linear import Matrix, Vector, transposed
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import WORLD, Contact, Frame, Problem
from rbdc.model.contacts import DEFAULTS, ContactOptions, row_slices
from rbdc.spatial import AnyRotation, Force, Forces, Motion, Placement, Rotation, Scalar, Scalars, Vector3
from rbdc.spatial.scalars import is_zero
from rbdc.spatial.vectors import SpatialVector


def at(point: Vector3, m: Motion) -> Motion:
    """Express at a point a motion that is given at the origin."""
    return Motion(m.linear + m.angular.cross(point), m.angular)


def about_origin(point: Vector3, force: Force) -> Force:
    """Express about the origin a force that is given at a point."""
    return Force(force.linear, force.angular + point.cross(force.linear))


@dataclass(frozen=True)
class ContactMotion:
    """A contact on moving bodies. Placements are in the common frame.

    tree: motion of the bodies.
    contact: the contact.
    first: placement of its first frame.
    second: placement of its second frame, or of its target in the world.
    kp, kd: Baumgarte's gains.
    axes: axes of its rows, in the common frame.
    along_the_world: whether `axes` are the world's axes.
    places: slice of its rows among the rows of all contacts.
    known: logarithm log6(2_M_1) to use, or None to compute it.
    """

    tree: TreeMotion
    contact: Contact
    first: Placement
    second: Placement
    kp: Scalar
    kd: Scalar
    axes: AnyRotation
    along_the_world: bool
    places: slice
    known: Motion | None = None

    @staticmethod
    def of(
        tree: TreeMotion,
        contact: Contact,
        placements: tuple[Placement, Placement],
        gains: tuple[Scalar, Scalar],
        places: slice,
        *,
        local: bool,
    ) -> ContactMotion:
        """Return a contact. placements: `first` and `second`. local: see the module's docstring."""
        along_the_world = local and contact.whole and tree.model.world_aligned
        axes: AnyRotation = placements[0].rotation if local or not contact.whole else Rotation.identity()
        axes = tree.frame.inverse().rotation if along_the_world else axes
        return ContactMotion(tree, contact, *placements, *gains, axes, along_the_world, places)

    @property
    def bodies(self) -> tuple[int, int]:
        """Indices of body 1 and of body 2 (WORLD for a contact with the world)."""
        other = self.contact.second
        return self.contact.first.body, WORLD if other is None else other.body

    @property
    def of_points(self) -> bool:
        """Whether the contact holds points, not bodies."""
        return self.contact.kind.components == 3

    @property
    def points(self) -> tuple[Vector3, Vector3]:
        """The points at which motions and forces of body 1 and of body 2 are taken: p1 and p2, or p1 twice if
        the contact holds bodies.
        """
        return self.first.translation, (self.second if self.of_points else self.first).translation

    @property
    def has_logarithm(self) -> bool:
        """Whether the residual contains a logarithm, which dual numbers do not support."""
        return not self.of_points and not is_zero(self.kp)

    def rows(self, m: SpatialVector) -> Vector:
        """Return the components that the contact holds (rows) of a motion or a force m at the contact."""
        entries = m.turned(self.axes.apply_transposed).scalars()
        return [entries[k] for k in self.contact.held]

    def force(self, rows: Scalars) -> Force:
        """Return the force of this contact, at the contact, along the axes of the common frame. rows: forces
        of all contacts (nc).
        """
        entries: list[Scalar] = [0.0] * 6
        for k, row in zip(self.contact.held, rows[self.places], strict=True):
            entries[k] = row
        return Force.of(entries).turned(self.axes.apply)

    def forces(self, rows: Scalars) -> tuple[Force, Force]:
        """Return the contact's forces on body 1 and on body 2, about the origin of the common frame. rows:
        forces of all contacts (nc).
        """
        force, (one, two) = self.force(rows), self.points
        return about_origin(one, force), -about_origin(two, force)

    def relative(self, one: Motion, other: Motion) -> Motion:
        """Return the difference at the contact of the motions of body 1 and body 2. one, other: these motions
        at the origin.
        """
        here, there = self.points
        return at(here, one) - at(there, other)

    def supports(self) -> dict[int, tuple[bool, bool]]:
        """Return, for each body that carries body 1 or body 2, whether it carries body 1 and whether it
        carries body 2. Bodies that carry both are included only if the contact holds points, which can be
        apart.
        """
        one, two = (set(self.tree.model.support(body)) for body in self.bodies)
        carriers = sorted(one | two) if self.of_points else sorted(one ^ two)
        return {index: (index in one, index in two) for index in carriers}

    def matrix(self, columns: Mapping[int, Sequence[SpatialVector]]) -> Matrix:
        """Return the matrix (rows, nv) of the held components. columns: for each body, a motion or force at
        the contact for each degree of freedom of its joint; a body without an entry has zeros.
        """
        full = [
            self.rows(change)
            for index, body in enumerate(self.tree.model.bodies)
            for change in columns.get(index, [Motion.zero()] * body.joint.nv)
        ]
        return reduce_columns(self.tree.model, transposed(full))

    def jacobian(self) -> Matrix:
        """Return J (rows, nv)."""
        columns, carried = self.tree.columns, self.supports().items()
        return self.matrix({k: [self.moved_by(s, *which) for s in columns[k]] for k, which in carried})

    def moved_by(self, s: Motion, one: bool, two: bool) -> Motion:
        """Return the relative velocity at the contact per unit rate of a degree of freedom with the column s.
        one, two: whether the degree of freedom carries body 1 and body 2.
        """
        zero = Motion.zero()
        return self.relative(s if one else zero, s if two else zero)

    def turning(self, m: SpatialVector) -> Matrix:
        """Return w_k x m (rows, nv), with the angular velocity w_k of body 1 per unit rate of degree of
        freedom k.

        This is the change of the rows of a motion or a force m that moves with body 1, if the rows are along
        the world's axes. Otherwise the result is zero.
        """
        along = self.tree.model.support(self.bodies[0]) if self.along_the_world else ()
        return self.matrix(
            {index: [m.turned(s.angular.cross) for s in self.tree.columns[index]] for index in along}
        )

    def velocity(self) -> Motion:
        """Return the velocity of body 1 relative to body 2 at the contact."""
        return self.relative(*map(self.tree.velocity, self.bodies))

    def residual(self) -> Motion:
        """Return r as a motion at the contact."""
        return self.stabilised(self.acceleration())

    def acceleration(self) -> Motion:
        """Return the acceleration of body 1 relative to body 2 at the contact."""
        one, two = self.bodies
        tree = self.tree
        if self.of_points:
            return Motion(
                self._classical(one, self.first) - self._classical(two, self.second), Vector3.zero()
            )
        relative = tree.velocity(one) - tree.velocity(two)
        spatial = tree.acceleration(one) - tree.acceleration(two) + relative.cross(tree.velocity(two))
        return at(self.first.translation, spatial)

    def stabilised(self, acceleration: Motion) -> Motion:
        """Return the residual: `acceleration` plus Baumgarte's terms."""
        residual = acceleration + self.velocity().scaled(self.kd)
        return residual if is_zero(self.kp) else residual + self.error().scaled(self.kp)

    def _classical(self, body: int, frame: Placement) -> Vector3:
        velocity, spatial = (
            at(frame.translation, m(body)) for m in (self.tree.velocity, self.tree.acceleration)
        )
        return spatial.linear + velocity.angular.cross(velocity.linear)

    def error(self) -> Motion:
        """Return the placement error along the axes of the common frame: p1 - p2 if the contact holds points,
        log6(2_M_1) if it holds bodies.
        """
        if self.of_points:
            return Motion(self.first.translation - self.second.translation, Vector3.zero())
        return self.logarithm().turned(self.first.rotation.apply)

    def logarithm(self) -> Motion:
        """Return log6 of the first frame's placement in the second, along the axes of the first."""
        return self.known or logarithm_of(self.second.inverse().compose(self.first))


@dataclass(frozen=True)
class Contacts:
    """All contacts of a model.

    tree: motion of the bodies.
    each: the contacts, in the model's order.
    """

    tree: TreeMotion
    each: Sequence[ContactMotion]

    def rows(self, quantity: Callable[[ContactMotion], SpatialVector]) -> Vector:
        """Return the rows of all contacts (nc). quantity: returns a motion or a force at a contact."""
        return [x for contact in self.each for x in contact.rows(quantity(contact))]

    def turning(self, quantity: Callable[[ContactMotion], SpatialVector]) -> Matrix:
        """Return `ContactMotion.turning` for all contacts (nc, nv). quantity: returns m at a contact."""
        return [row for contact in self.each for row in contact.turning(quantity(contact))]

    def jacobian(self) -> Matrix:
        """Return J (nc, nv)."""
        return [row for contact in self.each for row in contact.jacobian()]

    def on_bodies(self, forces: Scalars, fext: Forces | None = None) -> list[Force]:
        """Return the sum of contact forces and `fext` on each body, in the body's frame. forces: (nc), along
        the axes of the contacts' rows.
        """
        wrenches = [Force.zero()] * self.tree.model.njoints
        for contact in self.each:
            for body, force in zip(contact.bodies, contact.forces(forces), strict=True):
                if body != WORLD:
                    wrenches[body] = wrenches[body] + force
        local = [x.act_inverse_force(force) for x, force in zip(self.tree.placements, wrenches, strict=True)]
        return local if fext is None else [f + g for f, g in zip(fext, local, strict=True)]


def contacts_at(
    model: Problem,
    q: Scalars,
    v: Scalars | None = None,
    a: Scalars | None = None,
    options: ContactOptions = DEFAULTS,
    trace: Trace = silent,
    *,
    local: bool = True,
) -> Contacts:
    """Return the contacts at q (nq), v and a (nv); v and a default to zero. local: see the module's
    docstring.
    """
    tree, motions = tree_motion(model, q, v, a, trace), []
    world, places = tree.frame.inverse(), row_slices(model)
    for number, contact in enumerate(model.contacts):
        other = contact.second
        first = _placed(tree, contact.first)
        second = world.compose(options.target_of(model, contact)) if other is None else _placed(tree, other)
        gains, rows = options.gains_of(number), places[contact.name]
        motions.append(ContactMotion.of(tree, contact, (first, second), gains, rows, local=local))
    return Contacts(tree, motions)


def _placed(tree: TreeMotion, frame: Frame) -> Placement:
    if frame.body == WORLD:
        return tree.frame.inverse().compose(frame.placement)
    return tree.placements[frame.body].compose(tree.model.bodies[frame.body].own_placement(frame.placement))
