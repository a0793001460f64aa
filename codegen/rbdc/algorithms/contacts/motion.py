"""Motion of the bodies and of the contacts, all in the coordinates of one frame.

That frame is a free root's, where the tree hangs on one, or the world's (`in_one_frame`): at this instant it
is at rest, so that placements, velocities and accelerations are those in the world, written along its axes.
With the columns J_k = X_i S of each degree of freedom, at the frame's origin,

    V_i = V_parent + J qdot,     A_i = A_parent + J qddot + V_parent x J qdot

and V_i, A_i moved by a degree of freedom k below a body with V, A (Carpentier and Mansard, section III-D):

    psi_k = V x J_k,     chi_k = A x J_k + V x psi_k

A contact holds body 1 at p1 to the world or to body 2 at p2. Its residual is wanted zero: of a point, the
difference of the classical accelerations of both, of a body that of the spatial ones, with e_v = V_1 - V_2,

    r = alpha_1(p1) - alpha_2(p2) + Kd (nu_1 - nu_2) + Kp (p1 - p2)
    r = A_1 - A_2 + e_v x V_2 + Kd e_v + Kp log6(2_M_1)

the last two at p1. Rows are along the axes of the one frame; `local` says those that users have: of the
contact's first frame, or the world's where the model is `world_aligned`. Loops that hold less than vectors
keep the axes of their frames.
"""

from __future__ import annotations

from dataclasses import dataclass

from rbdc.algorithms.kinematics import TreeMotion
from rbdc.algorithms.logarithm import logarithm_of
from rbdc.algorithms.tools.joint_coordinates import reduce_columns
from rbdc.algorithms.tools.linear import Matrix, transposed
from rbdc.model import WORLD, Contact
from rbdc.model.contacts import DEFAULTS, ContactOptions
from rbdc.spatial import Motion, Placement, Scalar, Vector3
from rbdc.spatial.scalars import is_zero


def at(point: Vector3, m: Motion) -> Motion:
    """A motion at a point."""
    return Motion(m.linear + m.angular.cross(point), m.angular)


@dataclass(frozen=True)
class ContactMotion:
    """A contact on bodies that move: its first frame, and the second one or that which it is held at in the
    world; Kp and Kd. local: whether rows are along the axes that users have.
    """

    tree: TreeMotion
    contact: Contact
    first: Placement
    second: Placement
    kp: Scalar
    kd: Scalar
    local: bool

    @property
    def bodies(self) -> tuple[int, int]:
        """Both bodies."""
        other = self.contact.second
        return self.contact.first.body, WORLD if other is None else other.body

    @property
    def of_points(self) -> bool:
        """Whether it holds points, not bodies."""
        return self.contact.kind.components == 3

    @property
    def has_logarithm(self) -> bool:
        """Whether its residual has one, whose derivative is known: dual numbers do not go through it."""
        return not self.of_points and not is_zero(self.kp)

    @property
    def along_the_world(self) -> bool:
        """Whether rows are along the world's axes."""
        return self.local and self.contact.whole and self.tree.model.world_aligned

    def along_rows(self, v: Vector3) -> Vector3:
        """A vector along the axes of the one frame, along those of the rows."""
        if self.along_the_world:
            return self.tree.frame.rotation.apply(v)
        return self.first.rotation.apply_transposed(v) if self.local or not self.contact.whole else v

    def from_rows(self, v: Vector3) -> Vector3:
        """A vector along the axes of the rows, along those of the one frame."""
        if self.along_the_world:
            return self.tree.frame.rotation.apply_transposed(v)
        return self.first.rotation.apply(v) if self.local or not self.contact.whole else v

    def rows(self, m: Motion) -> list[Scalar]:
        """The rows of a motion that is given at the contact."""
        entries = Motion(self.along_rows(m.linear), self.along_rows(m.angular)).scalars()
        return [entries[k] for k in self.contact.held]

    def relative(self, one: Motion, other: Motion) -> Motion:
        """The difference, at the contact, of motions of body 1 and of body 2 that are given at the origin."""
        there = at(self.second.translation if self.of_points else self.first.translation, other)
        return at(self.first.translation, one) - there

    def supports(self) -> dict[int, tuple[bool, bool]]:
        """For each body that carries one of the two, which ones; those that carry both only where this moves
        the contact: points that lie apart.
        """
        one, two = (set(self.tree.model.support(body)) for body in self.bodies)
        carriers = sorted(one | two) if self.of_points else sorted(one ^ two)
        return {index: (index in one, index in two) for index in carriers}

    def matrix(self, columns: dict[int, list[list[Scalar]]]) -> Matrix:
        """(rows, nv) from the columns of degrees of freedom, by bodies."""
        full = [
            column
            for index, body in enumerate(self.tree.model.bodies)
            for column in columns.get(index, [[0.0] * self.contact.rows] * body.joint.nv)
        ]
        return reduce_columns(self.tree.model, transposed(full))

    def jacobian(self) -> Matrix:
        """J (rows, nv)."""
        zero = Motion.zero()
        return self.matrix(
            {
                index: [
                    self.rows(self.relative(s if one else zero, s if two else zero))
                    for s in self.tree.columns[index]
                ]
                for index, (one, two) in self.supports().items()
            }
        )

    def turning(self, m: Motion) -> Matrix:
        """w_k x m (rows, nv), w_k the angular velocity that degree of freedom k gives to body 1: what rows of
        a motion along the world's axes change by that go along with the body; zeros along its own axes.
        """
        along = self.tree.model.support(self.bodies[0]) if self.along_the_world else ()
        turns = {
            index: [Motion(Vector3.zero(), s.angular) for s in self.tree.columns[index]] for index in along
        }
        return self.matrix({index: [self.rows(w.cross(m)) for w in own] for index, own in turns.items()})

    def velocity(self) -> Motion:
        """Velocity at the contact, of body 1 relative to body 2."""
        return self.relative(*map(self.tree.velocity, self.bodies))

    def residual(self) -> list[Scalar]:
        """r (rows)."""
        return self.rows(self.residual_motion())

    def residual_motion(self) -> Motion:
        """r as a motion at the contact."""
        one, two = self.bodies
        tree, velocity = self.tree, self.velocity()
        if self.of_points:
            found = Motion(
                self._classical(one, self.first) - self._classical(two, self.second), Vector3.zero()
            )
        else:
            apart = tree.velocity(one) - tree.velocity(two)
            spatial = tree.acceleration(one) - tree.acceleration(two) + apart.cross(tree.velocity(two))
            found = at(self.first.translation, spatial)
        found = found + velocity.scaled(self.kd)
        return found if is_zero(self.kp) else found + self.error().scaled(self.kp)

    def _classical(self, body: int, frame: Placement) -> Vector3:
        """Classical acceleration of a body's point: a + w x v."""
        velocity, spatial = (
            at(frame.translation, m(body)) for m in (self.tree.velocity, self.tree.acceleration)
        )
        return spatial.linear + velocity.angular.cross(velocity.linear)

    def error(self) -> Motion:
        """How far the first frame is from the second: p1 - p2, or log6 of its placement there, along the axes
        of the one frame.
        """
        if self.of_points:
            return Motion(self.first.translation - self.second.translation, Vector3.zero())
        return self.from_own(self.logarithm())

    def logarithm(self) -> Motion:
        """log6 of the first frame's placement in the second, along the axes of the first."""
        return logarithm_of(self.second.inverse().compose(self.first))

    def own(self, m: Motion) -> Motion:
        """A motion at the contact, along the axes of its own frame."""
        turn = self.first.rotation
        return Motion(turn.apply_transposed(m.linear), turn.apply_transposed(m.angular))

    def from_own(self, m: Motion) -> Motion:
        """A motion along the axes of the contact's own frame, along those of the one frame."""
        return Motion(self.first.rotation.apply(m.linear), self.first.rotation.apply(m.angular))


def contact_motions(
    tree: TreeMotion, options: ContactOptions | None = None, *, local: bool = False
) -> list[ContactMotion]:
    """The contacts of the model, on its bodies."""
    given, model = options or DEFAULTS, tree.model
    targets = given.targets(model)
    found = []
    for number, contact in enumerate(model.contacts):
        other = contact.second
        second = (
            tree.frame.inverse().compose(targets[contact.name])
            if other is None
            else _placed(tree, other.body, other.placement)
        )
        first = _placed(tree, contact.first.body, contact.first.placement)
        gains = given.stiffness(number), given.damping(number)
        found.append(ContactMotion(tree, contact, first, second, *gains, local))
    return found


def _placed(tree: TreeMotion, body: int, placement: Placement) -> Placement:
    """A frame of a body, as described, in the one frame."""
    if body == WORLD:
        return tree.frame.inverse().compose(placement)
    return tree.placements[body].compose(tree.model.bodies[body].own_placement(placement))
