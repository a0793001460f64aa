"""Functions that are not defined for a robot are refused by name and left out of presets, with the reason."""

from __future__ import annotations

import pytest

from rbdc import Inertia, Joint, Link, Placement, SingularModelError, Vector3
from rbdc.functions.catalogue import functions_of, requiring
from rbdc.functions.record import Requirement
from rbdc.model import Problem
from rbdc.options import BuildOptions
from rbdc.pipeline import read
from rbdc.planning.availability import buildable
from rbdc.spatial import Symmetric3


def robot(base: float, tip: float) -> Problem:
    """Return two links on one joint, with these masses."""
    inertias = (
        Inertia.about_com(m, Vector3(0.1, 0.0, 0.0), Symmetric3.diagonal(0.1 * m, 0.1 * m, 0.1 * m))
        for m in (base, tip)
    )
    links = [Link(name, inertia) for name, inertia in zip(("base", "tip"), inertias, strict=True)]
    joint = Joint("hinge", "revolute", "base", "tip", Placement.identity(), Vector3(0.0, 0.0, 1.0))
    return Problem.assemble("pair", links, [joint])


def test_all_of_a_robot_with_mass_can_be_built() -> None:
    model = robot(1.0, 2.0)
    assert buildable(model, list(functions_of(model)), None) == (list(functions_of(model)), [])


def test_nothing_has_no_centre_of_mass() -> None:
    model = robot(0.0, 0.0)
    names, messages = buildable(model, [*requiring(Requirement.MASS), "crba", "aba"], None)
    assert names == ["crba"]
    assert messages == [
        'the joint-space inertia is singular in every configuration (joints "hinge"), so aba were left out',
        f"no link has mass, so {' and '.join(requiring(Requirement.MASS))} were left out",
    ]
    with pytest.raises(
        SingularModelError, match="no link has mass, so com cannot be built; give a link an <inertial>"
    ):
        buildable(model, ["com"], ["com"])
    touching = read(model, BuildOptions(contacts=("toe=point@tip",)))
    assert "centroidal_contact_dynamics" in functions_of(touching)
    assert "centroidal_contact_dynamics" not in buildable(touching, list(functions_of(touching)), None)[0]


def test_a_base_with_mass_has_a_centre_but_its_massless_tip_no_momentum() -> None:
    model = robot(1.0, 0.0)
    names, messages = buildable(model, requiring(Requirement.MASS), None)
    assert (names, messages) == (
        [
            *[
                "com",
                "com_jacobian",
                "com_acceleration",
                "com_second_derivatives",
                "com_acceleration_derivatives",
            ]
        ],
        [f"no moving link has mass, so {' and '.join(requiring(Requirement.MOVING_MASS))} were left out"],
    )
