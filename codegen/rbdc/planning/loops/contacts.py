"""Contacts with the world as loops. Contacts that hold the same components (of translation and rotation) are
traced once. Rows of a contact have entries in the columns on the path from the root to the contact's body.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from rbdc.algorithms.body_motion import SpatialMotion
from rbdc.algorithms.contacts import dynamics
from rbdc.algorithms.contacts.motion import ContactMotion
from rbdc.algorithms.kinematics import TreeMotion
from rbdc.algorithms.tools.machine import Index
from rbdc.errors import UnsupportedError
from rbdc.ir.indices import TableEntry, plus
from rbdc.ir.loops import Loop
from rbdc.model import WORLD, Contact
from rbdc.model.contacts import held_at
from rbdc.planning.loops.arrays import LoopResult, Where
from rbdc.planning.loops.bodies import LoopColumn
from rbdc.planning.loops.machine import Loops
from rbdc.planning.loops.recording import CONTACT
from rbdc.planning.loops.tree import kind_of
from rbdc.spatial import Motion, Placement, Rotation, Scalar, Vector3

SWITCHES, MU, TARGETS = "switches", "mu_or_0", "targets"
"""Local arrays of the optional inputs `active`, `mu` and `target` of contacts. The array of an omitted input
holds defaults.
"""


class LoopContact:
    """All contacts that hold the same components."""

    def __init__(self, m: Loops, contact: Contact) -> None:
        if contact.second is not None or contact.first.body == WORLD:
            raise UnsupportedError(
                f"loops support only contacts of a moving body with the world, not contact {contact.name}"
            )
        self.m, self.contact = m, contact
        self.rows = [Index(Where("held_row", r, "held_row", counts_all=True)) for r in range(contact.rows)]

    @property
    def switch(self) -> Scalar:
        """1 while the contact is active, 0 otherwise."""
        return self.m.read(SWITCHES, 1, c=1)[0]

    def motion(self, *, local: bool = False, gains: bool = False) -> ContactMotion:
        """Return the motion of the contact for zero joint accelerations.

        local: whether its rows are along the user's axes, not along those of the common frame.
        gains: whether to include the contact's gains and target.
        """
        m, body = self.m, self.contact.first.body
        origin = m.from_first_loop("O", Vector3, Index(Where("held_root"))) if gains else Vector3.zero()
        moved = m.array("motion", SpatialMotion)[Index(Where("held"))]
        frame, gravity = Placement(Rotation.identity(), origin), Motion(m.gravity, Vector3.zero())
        tree = TreeMotion(m.tree.model, (), (), {body: moved.v}, {body: moved.a + gravity}, frame)
        gain = self.m.read("gains", 2, c=2) if gains else [0.0, 0.0]
        target = held_at(self.m.read(TARGETS, 7, c=7)) if gains else Placement.identity()
        placements = (self.first, frame.inverse().compose(target))
        rows = slice(0, self.contact.rows)
        return ContactMotion.of(tree, self.contact, placements, (gain[0], gain[1]), rows, local=local)

    @property
    def first(self) -> Placement:
        """Placement of the contact's frame on the body."""
        frame = self.m.constants("contact_frame", "c", self.m.tree.model.contacts.index(self.contact))
        return self.m.from_first_loop("X", Placement, Index(Where("held"))).compose(Placement.of(frame))

    def columns(self) -> Iterator[dynamics.Column]:
        """Yield the columns of J, for the joints that carry the contact."""
        motion, last = self.motion(), TableEntry("contact_dof_of", CONTACT)
        place = motion.first.translation if motion.contact.whole else motion.first
        loop = Loop(
            "d", TableEntry("up_start", last), plus(TableEntry("up_own", last), 1), (), "columns of J"
        )
        column = LoopColumn(self.m, Where("up", 0, "up_column"))
        for k, (carried, switch) in self.m.inner(loop, column, (place, self.switch)):
            first = carried if isinstance(carried, Placement) else Placement(Rotation.identity(), carried)
            here = replace(motion, first=first, axes=first.rotation)
            yield k, switch, here.rows(here.moved_by(k.s, True, False))


def contacts(m: Loops, about: str) -> Iterator[LoopContact]:
    """Yield contacts in a loop over all of them; contacts that hold the same components are yielded once."""
    every = m.tree.model.contacts
    firsts = [next(contact for contact in every if kind_of(contact) == kind) for kind in m.tree.contact_kinds]
    titled = [(f"{contact.kind} of {contact.rows} rows", LoopContact(m, contact)) for contact in firsts]
    return m.by_kind(Loop("c", 0, len(every), (), about), TableEntry("contact_kind_of", CONTACT), titled)


def hold(m: Loops, matrix: str, x: str) -> None:
    """Set the rows of contacts in the system of `rbdc.algorithms.contacts.dynamics`: the diagonal -E, -J and
    the right-hand side gamma.
    """
    h, gamma = LoopResult(m, matrix, adds=m.tree.coupled), m.result(x)
    count = len(m.tree.model.contacts)
    _fill(m, "active", SWITCHES, count, [1.0])
    _fill(m, "mu", MU, 1, [0.0])
    for contact in contacts(m, "rows of contacts: diagonal -(mu + 1 - active), -J, and gamma"):
        motion, switch, (mu,) = contact.motion(), contact.switch, m.read(MU, 1)
        dynamics.hold(h, contact.rows, switch, mu, contact.columns())
        for r, residual in zip(contact.rows, motion.rows(motion.residual()), strict=True):
            gamma[r] = switch * residual
    _stabilise(m, gamma)


def _stabilise(m: Loops, gamma: LoopResult) -> None:
    with m.where_given("gains"):
        _fill(m, "target", TARGETS, len(m.tree.model.contacts), [*[0.0] * 6, 1.0])
        for contact in contacts(m, "gamma += Kd velocity + Kp error"):
            motion = contact.motion(gains=True)
            for r, term in zip(contact.rows, motion.rows(motion.stabilised(Motion.zero())), strict=True):
                gamma.add(r, contact.switch * term)


def take_forces(m: Loops, x: str, forces: str) -> None:
    """Store the forces of contacts along the user's axes."""
    solution, out = m.result(x), m.result(forces)
    for contact in contacts(m, "forces of contacts"):
        rows = [solution[r] for r in contact.rows]
        contact_forces = dynamics.along_axes(contact.motion(local=True), contact.motion(), rows)
        for r, force in zip(contact.rows, contact_forces, strict=True):
            out[r] = force


def _fill(m: Loops, name: str, local: str, count: int, absent: list[Scalar]) -> None:
    size, each = len(absent), Index(Where("c"))
    m.sizes[local] = size * count
    for _ in m.over(count, each, ""):
        m.scope.write(local, absent, c=size)
    with m.where_given(name):
        for _ in m.over(count, each, ""):
            m.scope.write(local, m.read(name, size, c=size), c=size)
