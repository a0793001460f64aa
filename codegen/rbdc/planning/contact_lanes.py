"""Rows of contacts that limbs in lanes exchange."""

from __future__ import annotations

from collections.abc import Mapping

from rbdc.model import Contact, Model
from rbdc.model.contacts import row_slices


def moved_rows(model: Model, step: Mapping[int, int]) -> dict[int, int]:
    """A permutation of bodies as one of the rows of contacts; none where limbs are not alike in these."""
    described, moved = ([_likeness(c, way) for c in model.contacts] for way in ({}, step))
    alike = all(_kinds_on(model, here) == _kinds_on(model, there) for here, there in step.items())
    if not alike or set(moved) != set(described) or len(set(moved)) < len(moved):
        return {}
    rows, moves = list(row_slices(model).values()), dict[int, int]()
    for number, likeness in enumerate(moved):
        own, other = rows[number], rows[described.index(likeness)]
        moves |= {own.start + k: other.start + k for k in range(own.stop - own.start)}
    return moves


def _kinds_on(model: Model, index: int) -> list[tuple[object, ...]]:
    """Kinds and rows of a body's contacts in the order of `_contacts_of`."""
    pairs = ((c, frame) for c in model.contacts for frame in (c.first, c.second))
    return [(c.kind, c.held) for c, frame in pairs if frame is not None and frame.body == index]


def _likeness(contact: Contact, step: Mapping[int, int]) -> tuple[object, ...]:
    """Kind, rows and bodies of a contact, exchanged by a step."""
    bodies = [-1 if frame is None else frame.body for frame in (contact.first, contact.second)]
    return contact.kind, contact.held, contact.second is None, *(step.get(b, b) for b in bodies)
