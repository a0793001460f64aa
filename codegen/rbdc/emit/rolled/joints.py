"""The C that a model's joint types give to its rolled functions, and what goes with it into the tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from rbdc.emit.rolled.tables import RolledModel
from rbdc.functions.scalar_types import ScalarType
from rbdc.model import Model
from rbdc.model.joints import JointType, RolledJoint, RolledWords


@dataclass(frozen=True)
class JointForm:
    """One type of joint as the templates lay it out: its enumerator, whether it has several degrees of
    freedom, and its C.
    """

    enumerator: str
    several: bool
    c: RolledJoint


Forms: TypeAlias = Mapping[type[JointType], JointForm]


def joint_forms(rolled: RolledModel, prefix: str, scalar: ScalarType, *, given: bool) -> Forms:
    """The form of each type of joint, in the order of `RolledModel.joint_types`; `prefix` that of the tables'
    names; `given`: the function takes joint accelerations.

    Raises UnsupportedError for a type without a rolled form.
    """
    words = _words(rolled.model, prefix, scalar, given)
    return {own: JointForm(own.kind.upper(), own.nv > 1, own.rolled(words)) for own in rolled.joint_types}


def is_rollable(model: Model) -> bool:
    """Whether all types of joint have a rolled form."""
    return all(type(body.joint).has_rolled_form() for body in model.bodies)


def column_of_body(prefix: str, model: Model) -> str:
    """The expression of the first entry in v of body `b`."""
    return f"{prefix}_column[b->first]" if model.coupled else "b->first"


def _words(model: Model, prefix: str, scalar: ScalarType, given: bool) -> RolledWords:
    scale = "b->multiplier * " if model.coupled else ""
    return RolledWords(
        real=scalar.name,
        f=scalar.suffix,
        position="b->multiplier * q[b->q] + b->offset" if model.coupled else "q[b->q]",
        second=f"{scale}a[{column_of_body(prefix, model)}]" if given else None,
        scale=scale,
        assign="+=" if model.coupled else "=",
    )
