"""Passes for the contacts, closed loops and frames of forces that the build requests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rbdc.errors import OptionError, UnsupportedError
from rbdc.model import WORLD, Contact, Effect, Frame, Note, Problem
from rbdc.model.formats.contacts import ContactOption, Side
from rbdc.model.xml import shown
from rbdc.runtime._suggestions import suggestion
from rbdc.spatial import Placement, Rotation, Vector3


def with_contacts(model: Problem, options: Sequence[ContactOption]) -> Problem:
    """Return the problem with additional contacts and loops. Raises OptionError for unknown links, for names
    of the description's contacts, and for frames that do not move relative to each other.
    """
    contacts = [_contact(model, option) for option in options]
    names = {contact.name for contact in model.contacts}
    if twice := [contact.name for contact in contacts if contact.name in names]:
        raise OptionError(
            f"`contacts`: {shown(twice[0])}: the description has a contact of this name: give another name"
        )
    return replace(model, contacts=(*model.contacts, *contacts))


def _contact(model: Problem, option: ContactOption) -> Contact:
    first, *others = (_frame(model, option, side) for side in option.sides)
    second = others[0] if others else None
    if first.body == (WORLD if second is None else second.body):
        fixed = "does not move" if second is None else f"is fixed to {shown(second.name)}"
        raise OptionError(f'{option.place}: "{shown(first.name)}" {fixed}: name a link that moves')
    return Contact(option.name, option.kind, first, second, tuple(range(option.kind.components)))


def _frame(model: Problem, option: ContactOption, side: Side) -> Frame:
    frame = next((f for f in model.frames if f.name == side.link), None)
    if frame is None:
        there = suggestion(shown(side.link), (shown(f.name) for f in model.frames))
        raise OptionError(f'{option.place}: no link "{shown(side.link)}"; {there}')
    x, y, z, *rpy = side.origin
    placement = frame.placement.compose(Placement(Rotation.from_rpy(*rpy), Vector3(x, y, z)))
    return replace(frame, placement=placement)


def with_frames_of_forces(model: Problem, external: str | None, contact: str | None) -> Problem:
    """Return the problem with external forces in the frame `external` ("local" or "world"), and rows and
    forces of contacts along the axes of `contact` ("local" or "local-world-aligned"). None changes nothing.
    Raises UnsupportedError for "world" with contacts, and for "local-world-aligned" without contacts.
    """
    if external is not None:
        model = replace(model, world_forces=external == "world")
    if contact is not None:
        aligned = contact == "local-world-aligned"
        model = _world_aligned(model) if aligned else replace(model, world_aligned=False)
    if model.contacts and model.world_forces:
        raise UnsupportedError(
            "`fext_frame='world'`: with contacts, forces must be in the bodies' frames; leave the option out"
        )
    return model


def _world_aligned(model: Problem) -> Problem:
    if not model.contacts:
        raise UnsupportedError(
            f"{model.place}: there are no contacts for `contact_frame='local-world-aligned'`: "
            "declare contacts with `contacts`, or leave the option out"
        )
    notes = [
        Note(
            f'loop "{shown(contact.name)}": {contact.rows} of {contact.kind.components} components are held, '
            "along the axes of its own frame, not along the world's",
            effect=Effect.ASKED,
        )
        for contact in model.contacts
        if not contact.whole
    ]
    return replace(model, world_aligned=True, notes=(*model.notes, *notes))
