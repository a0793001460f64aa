"""Reading of descriptions into a validated kinematic tree."""

from rbdc.model.attachments import Cluster, Contact, ContactKind, Frame
from rbdc.model.description import Description, DriveTerm, Joint, Limits, Link, Mimic, Note
from rbdc.model.joints.coupling import Coupling
from rbdc.model.tree import WORLD, Body, Model

__all__ = [
    "WORLD",
    "Body",
    "Cluster",
    "Contact",
    "ContactKind",
    "Coupling",
    "Description",
    "DriveTerm",
    "Frame",
    "Joint",
    "Limits",
    "Link",
    "Mimic",
    "Model",
    "Note",
]
