"""Constraint rows of contacts, and the optional inputs that functions of contacts share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from rbdc.model.bodies import Contact
from rbdc.model.problem import Problem
from rbdc.spatial import Placement, Rotation, Scalar, Vector3

PROJECTION_STEPS = 8
"""Number of Newton steps that close loops. From random configurations with angles within a radian, 8 steps
closed a five-bar in 100 cases of 100 (6 steps: 91) and two arms that hold each other in 12 of 12. A tree
whose loop was open by metres was closed in 2 cases of 20; a second call continues from the result.
"""
LEAST_PIVOT = 1e-13
"""Number added to the diagonal of J J^T, relative to the mean of the diagonal, because rows of loops may be
nearly redundant.
"""


def with_the_world(model: Problem) -> list[Contact]:
    """Return the contacts with the world; only these contacts have a target."""
    return [contact for contact in model.contacts if contact.second is None]


def loops_of(model: Problem) -> Problem:
    """Return the problem with only the closed loops among its contacts."""
    return replace(model, contacts=tuple(c for c in model.contacts if c.second is not None))


def total_rows(model: Problem) -> int:
    """Return the number of rows of all contacts."""
    return sum(contact.rows for contact in model.contacts)


def each_row(model: Problem, entries: Sequence[Scalar]) -> list[Scalar]:
    """Repeat the entry of each contact for each of its rows."""
    pairs = zip(model.contacts, entries, strict=True)
    return [entry for contact, entry in pairs for _ in range(contact.rows)]


def row_slices(model: Problem) -> dict[str, slice]:
    """Return the slice of the rows of each contact, by name."""
    ends = accumulate(contact.rows for contact in model.contacts)
    return {one.name: slice(end - one.rows, end) for one, end in zip(model.contacts, ends, strict=True)}


def held_at(target: Sequence[Scalar]) -> Placement:
    """Return the placement that a position and a unit quaternion describe."""
    return Placement(Rotation.from_quaternion(*target[3:]), Vector3.of(target[:3]))


def given_target(options: ContactOptions) -> Sequence[Scalar]:
    """Return the target of a function that requires one. Raises ValueError if there is no target."""
    if options.target is None:
        raise ValueError("no target is given")
    return options.target


@dataclass(frozen=True)
class ContactOptions:
    """Optional inputs of functions of contacts.

    active: 1 for active contacts, 0 for others (number of contacts). None: all are active.
    target: positions and unit quaternions at which contacts with the world are held (number of contacts with
        the world, 7). None: the world's frame.
    gains: Baumgarte's Kp (1/s^2) and Kd (1/s) (number of contacts, 2). None: zero.
    mu: number added to the diagonal of J M^-1 J^T (1). None: zero.
    """

    active: Sequence[Scalar] | None = None
    target: Sequence[Scalar] | None = None
    gains: Sequence[Scalar] | None = None
    mu: Sequence[Scalar] | None = None

    def switches(self, model: Problem) -> list[Scalar]:
        """Return the entry of `active` for each row."""
        return each_row(model, [1.0] * len(model.contacts) if self.active is None else self.active)

    def target_of(self, model: Problem, contact: Contact) -> Placement:
        """Return the placement in the world at which a contact with the world is held."""
        if self.target is None:
            return Placement.identity()
        start = 7 * with_the_world(model).index(contact)
        return held_at(self.target[start : start + 7])

    def gains_of(self, number: int) -> tuple[Scalar, Scalar]:
        """Return Kp and Kd of the contact with this index."""
        return (0.0, 0.0) if self.gains is None else (self.gains[2 * number], self.gains[2 * number + 1])


DEFAULTS = ContactOptions()
"""All inputs omitted."""
