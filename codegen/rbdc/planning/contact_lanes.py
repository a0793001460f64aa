"""Contacts of limbs that are alike, and what limbs in lanes exchange of them."""

from __future__ import annotations

from collections.abc import Mapping

from rbdc.algorithms.contacts.constraints import SOLUTION, WEIGHTS
from rbdc.ir.passes.counterparts import Source
from rbdc.model import Contact, Model
from rbdc.model.contacts import row_slices, total_rows, with_the_world
from rbdc.spatial import Placement


def contacts_of(model: Model, index: int) -> list[Placement]:
    """The frames of contacts on a body, in its own."""
    frames = (frame for contact in model.contacts for frame in (contact.first, contact.second))
    return [frame.placement for frame in frames if frame is not None and frame.body == index]


def moved_contacts(model: Model, step: Mapping[int, int]) -> dict[int, int]:
    """A permutation of bodies as one of the contacts; none where limbs are not alike in these."""
    described, moved = ([_likeness(c, way) for c in model.contacts] for way in ({}, step))
    alike = all(_kinds_on(model, here) == _kinds_on(model, there) for here, there in step.items())
    if not alike or set(moved) != set(described) or len(set(moved)) < len(moved):
        return {}
    return {number: described.index(likeness) for number, likeness in enumerate(moved)}


def moved_rows(model: Model, contacts: Mapping[int, int]) -> dict[int, int]:
    """A permutation of contacts as one of their rows."""
    every, of = range(total_rows(model)), list(row_slices(model).values())
    return {
        own: other
        for here, there in contacts.items()
        for own, other in zip(every[of[here]], every[of[there]], strict=True)
    }


def moved_targets(model: Model, contacts: Mapping[int, int]) -> dict[int, int]:
    """A permutation of contacts as one of the numbers that say where those with the world are held."""
    held = [model.contacts.index(contact) for contact in with_the_world(model)]
    places = {number: range(7 * k, 7 * k + 7) for k, number in enumerate(held)}
    return {
        own: other
        for here, there in contacts.items()
        if here in places
        for own, other in zip(places[here], places[there], strict=True)
    }


def moved_solution(model: Model, step: Mapping[int, int], rows: Mapping[int, int]) -> dict[Source, Source]:
    """Forces of contacts and joint accelerations, and their weights, under a permutation of bodies and that
    of their rows, which elimination one contact after the other does not show to be exchanged.
    """
    if not rows:
        return {}
    moves = dict(rows)
    for index, body in enumerate(model.bodies):
        places = [total_rows(model) + b.index_v for b in (body, model.bodies[step.get(index, index)])]
        moves |= {places[0] + k: places[1] + k for k in range(body.joint.nv)}
    return {(name, own): (name, other) for name in (SOLUTION, WEIGHTS) for own, other in moves.items()}


def _kinds_on(model: Model, index: int) -> list[tuple[object, ...]]:
    """Kinds and rows of a body's contacts in the order of `contacts_of`."""
    pairs = ((c, frame) for c in model.contacts for frame in (c.first, c.second))
    return [(c.kind, c.held) for c, frame in pairs if frame is not None and frame.body == index]


def _likeness(contact: Contact, step: Mapping[int, int]) -> tuple[object, ...]:
    """Kind, rows and bodies of a contact, exchanged by a step."""
    bodies = [-1 if frame is None else frame.body for frame in (contact.first, contact.second)]
    return contact.kind, contact.held, contact.second is None, *(step.get(b, b) for b in bodies)
