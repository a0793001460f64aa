"""Reading of descriptions into a validated kinematic tree."""

from rbdc.model.description import Description, Joint, Limits, Link, Mimic, Note
from rbdc.model.tree import WORLD, Body, Coupling, Frame, Model

__all__ = [
    "WORLD",
    "Body",
    "Coupling",
    "Description",
    "Frame",
    "Joint",
    "Limits",
    "Link",
    "Mimic",
    "Model",
    "Note",
]
