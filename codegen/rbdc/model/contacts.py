"""Rows of contacts, and the optional inputs that functions of contacts have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from rbdc.model.bodies import Contact
from rbdc.model.problem import Problem
from rbdc.spatial import Placement, Rotation, Scalar, Vector3

PROJECTION_STEPS = 8
"""Newton steps in which loops are closed. From random configurations, angles within a radian, they closed a
five-bar in 100 cases of 100 (6 steps in 91) and two arms that hold each other in 12 of 12; a tree whose loop
had to come together over metres in 2 of 20, and a second call goes on from there.
"""
LEAST_PIVOT = 1e-13
"""Added to the diagonal of J J^T, in parts of its mean: where rows of loops are about to depend on others."""


def with_the_world(model: Problem) -> list[Contact]:
    """Return contacts that are no loops, which have a target."""
    return [contact for contact in model.contacts if contact.second is None]


def loops_of(model: Problem) -> Problem:
    """Return the model with closed loops alone."""
    return replace(model, contacts=tuple(c for c in model.contacts if c.second is not None))


def total_rows(model: Problem) -> int:
    """Return number of rows of all contacts."""
    return sum(contact.rows for contact in model.contacts)


def each_row(model: Problem, entries: Sequence[Scalar]) -> list[Scalar]:
    """Return the entry of its contact for each row, of one entry a contact."""
    pairs = zip(model.contacts, entries, strict=True)
    return [entry for contact, entry in pairs for _ in range(contact.rows)]


def row_slices(model: Problem) -> dict[str, slice]:
    """Return the rows of each contact, by its name."""
    ends = accumulate(contact.rows for contact in model.contacts)
    return {own.name: slice(end - own.rows, end) for own, end in zip(model.contacts, ends, strict=True)}


def held_at(target: Sequence[Scalar]) -> Placement:
    """Return the placement of a position and a unit quaternion."""
    return Placement(Rotation.from_quaternion(*target[3:]), Vector3.of(target[:3]))


@dataclass(frozen=True)
class ContactOptions:
    """active: (contacts,), 1 or 0. target: (contacts with the world, 7), where they are held, by positions
    and unit quaternions. gains: (contacts, 2), Baumgarte's Kp (1/s^2) and Kd (1/s). mu: (1,), what is added
    to the diagonal of J M^-1 J^T.

    None: all are active, targets are the world's origin, there are no gains, and mu is zero.
    """

    active: Sequence[Scalar] | None = None
    target: Sequence[Scalar] | None = None
    gains: Sequence[Scalar] | None = None
    mu: Sequence[Scalar] | None = None

    def switches(self, model: Problem) -> list[Scalar]:
        """Return one of `active` for each row."""
        return each_row(model, [1.0] * len(model.contacts) if self.active is None else self.active)

    def target_of(self, model: Problem, contact: Contact) -> Placement:
        """Return the placement in the world that a contact with the world is held at."""
        if self.target is None:
            return Placement.identity()
        start = 7 * with_the_world(model).index(contact)
        return held_at(self.target[start : start + 7])

    def gains_of(self, number: int) -> tuple[Scalar, Scalar]:
        """Return kp and Kd of a contact."""
        return (0.0, 0.0) if self.gains is None else (self.gains[2 * number], self.gains[2 * number + 1])


DEFAULTS = ContactOptions()
"""None of them given."""
