"""Contacts of identical limbs: a permutation that moves each limb to the next also moves their contacts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rbdc.algorithms.contacts.dynamics import SOLUTION, WEIGHTS
from rbdc.functions.declarations import Kind, Parameter
from rbdc.ir.passes.counterparts import Source
from rbdc.model import Contact, Frame, Problem
from rbdc.model.contacts import row_slices, total_rows, with_the_world
from rbdc.spatial import Placement


def _on(model: Problem, index: int) -> list[tuple[Contact, Frame]]:
    pairs = ((contact, frame) for contact in model.contacts for frame in (contact.first, contact.second))
    return [(contact, frame) for contact, frame in pairs if frame is not None and frame.body == index]


def contacts_of(model: Problem, index: int) -> list[Placement]:
    """Return the frames of contacts on a body, in the body's frame."""
    return [frame.placement for _, frame in _on(model, index)]


def contact_moves(
    model: Problem, step: Mapping[int, int], inputs: Sequence[Parameter]
) -> dict[Source, Source]:
    """Return how a permutation of bodies (`step`) permutes the entries of contact inputs and of the solution
    (contact forces, accelerations). The result is empty if the contacts of the limbs differ.
    """
    contacts, every = _moved(model, step), range(total_rows(model))

    def moved(places: Mapping[int, range]) -> dict[int, int]:
        pairs = ((places[here], places[there]) for here, there in contacts.items() if here in places)
        return {one: other for pair in pairs for one, other in zip(*pair, strict=True)}

    contacts_of_rows = [model.contacts.index(contact) for contact in with_the_world(model)]
    rows = moved(dict(enumerate(every[one] for one in row_slices(model).values())))
    numbers = moved({number: range(number, number + 1) for number in contacts})
    targets = moved({number: range(7 * k, 7 * k + 7) for k, number in enumerate(contacts_of_rows)})
    moves = {Kind.CONTACT_FORCES: rows, Kind.PLACEMENTS: targets, Kind.PART: numbers}
    input_moves = {
        (p.name, one): (p.name, other) for p in inputs for one, other in moves.get(p.kind, {}).items()
    }
    return input_moves | _moved_solution(model, step, rows)


def _moved(model: Problem, step: Mapping[int, int]) -> dict[int, int]:
    described, moved = ([_likeness(c, way) for c in model.contacts] for way in ({}, step))
    kinds = ([[(c.kind, c.held) for c, _ in _on(model, k)] for k in pair] for pair in step.items())
    alike = all(here == there for here, there in kinds)
    if not alike or set(moved) != set(described) or len(set(moved)) < len(moved):
        return {}
    return {number: described.index(likeness) for number, likeness in enumerate(moved)}


def _moved_solution(model: Problem, step: Mapping[int, int], rows: Mapping[int, int]) -> dict[Source, Source]:
    """Return how a permutation of bodies permutes contact forces, accelerations and weights.

    The program's operations do not show this symmetry, because contacts are eliminated one after the other.
    """
    if not rows:
        return {}
    moves = dict(rows)
    for index, body in enumerate(model.bodies):
        places = [total_rows(model) + b.index_v for b in (body, model.bodies[step.get(index, index)])]
        moves |= {places[0] + k: places[1] + k for k in range(body.joint.nv)}
    return {(name, one): (name, other) for name in (SOLUTION, WEIGHTS) for one, other in moves.items()}


def _likeness(contact: Contact, step: Mapping[int, int]) -> tuple[object, ...]:
    bodies = [-1 if frame is None else frame.body for frame in (contact.first, contact.second)]
    return contact.kind, contact.held, contact.second is None, *(step.get(b, b) for b in bodies)
