"""Descriptions that make no robot are refused; odd descriptions that build are noted."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rbdc import (
    DescriptionError,
    Inertia,
    Joint,
    Limits,
    Link,
    Mimic,
    Placement,
    Rotation,
    Symmetric3,
    Vector3,
)
from rbdc.model import Model
from rbdc.model.description import Description
from rbdc.model.options import ModelOptions
from rbdc.model.validation import validate
from tests.support import Array
from tests.support_trees import random_inertia

SOLID = Inertia.about_com(1.0, Vector3(0.0, 0.0, 0.1), Symmetric3.diagonal(0.1, 0.1, 0.1))
X = Vector3(1.0, 0.0, 0.0)


def lump(description: Description, **options: Any) -> Model:
    """Return the model of a description."""
    return Model.of_description(description, ModelOptions.of(options))


def chain(*joints: Joint, links: int = 0, inertia: Inertia | None = SOLID) -> Description:
    """Return links l0, l1, ... of the same inertia, and the joints."""
    return Description(
        "r", tuple(Link(f"l{k}", inertia, k) for k in range(links or len(joints) + 1)), joints, file="r.urdf"
    )


def joint(parent: int, child: int, name: str = "j", kind: str = "revolute", **more: object) -> Joint:
    """Return a joint on line 7."""
    return Joint(name, kind, f"l{parent}", f"l{child}", line=7, **more)  # type: ignore[arg-type]


def with_limits(*bounds: float) -> Description:
    """Return a joint with limits."""
    return chain(joint(0, 1, limits=Limits(*bounds)))


def with_rows(rows: list[list[float]]) -> Description:
    """Return a joint whose placement has these rows for a rotation."""
    return chain(joint(0, 1, placement=Placement(Rotation.from_rows(rows), Vector3.zero())))


def mimics(*leaders: str | None, kind: str = "revolute") -> Description:
    """Return joints j0, j1, ... in a chain, each mimicking the one named."""
    joints = [
        joint(k, k + 1, f"j{k}", kind, mimic=None if leader is None else Mimic(leader))
        for k, leader in enumerate(leaders)
    ]
    return chain(*joints)


REFUSED = {
    "unknown kind": (chain(joint(0, 1, kind="screw")), "unknown kind 'screw'"),
    "nan in the placement": (
        chain(joint(0, 1, placement=Placement(Rotation.identity(), Vector3(math.nan, 0.0, 0.0)))),
        "not finite",
    ),
    "infinite damping": (chain(joint(0, 1, damping=math.inf)), "not finite"),
    "mirrored placement": (with_rows([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, -1.0]]), "not a rotation"),
    "stretched placement": (with_rows([[1.1, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]), "not a rotation"),
    "zero axis": (chain(joint(0, 1, axis=Vector3.zero())), "axis"),
    "tiny axis": (chain(joint(0, 1, axis=Vector3(1e-200, 0.0, 0.0))), "axis"),
    "huge axis": (chain(joint(0, 1, axis=Vector3(1e200, 0.0, 0.0))), "axis"),
    "zero normal": (chain(joint(0, 1, kind="planar", axis=Vector3.zero())), "axis"),
    "nan limit": (with_limits(math.nan), "not a number"),
    "crossed limits": (with_limits(1.0, -1.0), "lower limit 1.0 above the upper -1.0"),
    "negative velocity": (with_limits(-1.0, 1.0, -1.0), "negative"),
    "no links": (Description("r", (), ()), "no links"),
    "two parents": (chain(joint(0, 2, "j"), joint(1, 2, "k")), 'child of two joints, "j" and "k"'),
    "cycle": (chain(joint(0, 1, "j"), joint(1, 0, "k"), links=2), "cycle"),
    "cycle beside the tree": (chain(joint(0, 1, "i"), joint(2, 3, "j"), joint(3, 2, "k")), "cycle"),
    "own parent": (chain(joint(0, 1, "j"), joint(2, 2, "k")), "cycle"),
    "three roots": (chain(joint(0, 1), links=4), '3 root links: "l0", "l2", "l3"'),
    "unknown parent": (chain(joint(9, 1)), 'parent link "l9"'),
    "unknown child": (chain(joint(0, 9)), 'child link "l9"'),
    "infinite multiplier": (
        chain(joint(0, 1, "j0"), joint(1, 2, "j1", mimic=Mimic("j0", math.inf))),
        "not finite",
    ),
    "huge multiplier": (
        chain(joint(0, 1, "j0"), joint(1, 2, "j1", mimic=Mimic("j0", 1e200))),
        "has a mimic multiplier, offset or coefficient that is not finite or beyond 1e+30",
    ),
    "huge coefficient": (
        chain(joint(0, 1, "j0"), joint(1, 2, "j1", mimic=Mimic("j0", 1.0, 0.0, (1e308,)))),
        "coefficient that is not finite or beyond 1e+30",
    ),
    "huge damping": (chain(joint(0, 1, damping=1e308)), "not finite or beyond 1e+30"),
    "far joint": (
        chain(joint(0, 1, placement=Placement(Rotation.identity(), Vector3(1e154, 0.0, 0.0)))),
        "not finite or beyond 1e+30",
    ),
    "negative mass": (
        chain(joint(0, 1), inertia=Inertia(-1.0, Vector3.zero(), Symmetric3.zero())),
        "negative mass",
    ),
    "moment without mass": (
        chain(joint(0, 1), inertia=Inertia(0.0, X, Symmetric3.zero())),
        "no mass but a first moment",
    ),
    "nan inertia": (chain(joint(0, 1), inertia=Inertia(math.nan, X, Symmetric3.zero())), "not finite"),
    "indefinite": (
        chain(joint(0, 1), inertia=Inertia(1.0, Vector3.zero(), Symmetric3(1.0, 2.0, 1.0, 0.0, 0.0, 1.0))),
        "negative principal moment -1",
    ),
    "too little about the origin": (
        chain(joint(0, 1), inertia=Inertia(1.0, X, Symmetric3.diagonal(1.0, 0.5, 1.0))),
        "negative principal",
    ),
    "beyond all measure": (
        chain(
            joint(0, 1), inertia=Inertia(1e-300, Vector3(1e10, 0.0, 0.0), Symmetric3.diagonal(1.0, 1.0, 1.0))
        ),
        "an inertia that is too large",
    ),
}


@pytest.mark.parametrize("what", sorted(REFUSED))
def test_refused(what: str) -> None:
    description, expected = REFUSED[what]
    with pytest.raises(DescriptionError) as caught:
        lump(description)
    assert expected in caught.value.problem
    assert caught.value.remedy
    assert caught.value.file == description.file


BAD_MIMICS = {
    "unknown leader": (mimics("ghost"), 'mimics "ghost"'),
    "own leader": (mimics("j0"), "mimics itself"),
    "leaders in a ring": (mimics("j2", "j0", "j1"), "mimics itself"),
    "ring beyond the leader": (mimics("j1", "j2", "j1"), "mimics itself"),
    "mimic of several dof": (mimics(None, "j0", kind="spherical"), "coordinate"),
    "fixed leader": (chain(joint(0, 1, "j0", "fixed"), joint(1, 2, "j1", mimic=Mimic("j0"))), "coordinate"),
    "floating leader": (
        chain(joint(0, 1, "j0", "floating"), joint(1, 2, "j1", mimic=Mimic("j0"))),
        "coordinate",
    ),
    "floating follower": (
        chain(joint(0, 1, "j0"), joint(1, 2, "j1", "floating", mimic=Mimic("j0"))),
        "coordinate",
    ),
    "leader with a fixed leader": (
        chain(
            joint(0, 1, "j0", "fixed"),
            joint(1, 2, "j1", mimic=Mimic("j0")),
            joint(2, 3, "j2", mimic=Mimic("j1")),
        ),
        "coordinate",
    ),
}


@pytest.mark.parametrize("what", sorted(BAD_MIMICS))
def test_mimic_joints_that_cannot_follow(what: str) -> None:
    """They are refused where they have to, and noted where every joint is independent."""
    description, expected = BAD_MIMICS[what]
    with pytest.raises(DescriptionError) as caught:
        lump(description, mimic="coupled")
    assert expected in caught.value.problem and caught.value.line == 7
    assert caught.value.remedy.endswith(", or build with `mimic='independent'`")
    model = lump(description)
    alone = replace(description, joints=tuple(replace(each, mimic=None) for each in description.joints))
    assert (model.bodies, model.nq, model.nv) == (lump(alone).bodies, lump(alone).nq, lump(alone).nv)
    assert any(
        expected in note.message and note.message.endswith("its <mimic> is ignored") and note.line == 7
        for note in model.notes
    )


@pytest.mark.parametrize("mode", ["independent", "coupled"])
@pytest.mark.parametrize("leader", ["j0", "j1", "ghost"])
def test_mimic_of_a_fixed_joint_is_noted(mode: str, leader: str) -> None:
    """It does not move, whatever its leader does."""
    model = lump(chain(joint(0, 1, "j0"), joint(1, 2, "j1", "fixed", mimic=Mimic(leader))), mimic=mode)
    assert [(note.message, note.line) for note in model.notes] == [
        ('joint "j1" is fixed: its <mimic> is ignored', 7)
    ]
    assert (model.nq, model.nv, model.coupled) == (1, 1, False)


def test_only_joints_that_could_follow_are_counted() -> None:
    description = chain(
        joint(0, 1, "j0"),
        joint(1, 2, "j1", mimic=Mimic("j0")),
        joint(2, 3, "j2", mimic=Mimic("ghost")),
        joint(3, 4, "j3", "fixed", mimic=Mimic("j0")),
    )
    assert "1 mimic joints are taken as independent; `mimic='coupled'` removes them from q" in [
        n.message for n in lump(description).notes
    ]


INDEFINITE = Inertia.about_com(1.0, Vector3.zero(), Symmetric3.diagonal(-1e-2, 1e-2, 1e-2))
HEAVY = Inertia.about_com(1.0, Vector3.zero(), Symmetric3.diagonal(1.0, 1.0, 1.0))


def with_inertias(*inertias: Inertia | None, fixed: int) -> Description:
    """Return a chain of links of these inertias, whose joint number `fixed` is so."""
    joints = [
        joint(k, k + 1, f"j{k}", "fixed" if k == fixed else "revolute") for k in range(len(inertias) - 1)
    ]
    return Description(
        "r",
        tuple(Link(f"l{k}", inertia, k + 2) for k, inertia in enumerate(inertias)),
        tuple(joints),
        file="r.urdf",
    )


def test_indefinite_links_that_do_not_move_are_noted() -> None:
    """No function of the model changes: only mass and first moment of the base count."""
    model = lump(with_inertias(INDEFINITE, INDEFINITE, SOLID, fixed=0))
    start = "has an inertia with the negative principal moment -0.01: it does not move"
    assert [(start in note.message, note.line) for note in model.notes] == [(True, 2), (True, 3)]
    assert model.bodies == lump(with_inertias(None, None, SOLID, fixed=0)).bodies
    with pytest.raises(
        DescriptionError, match='^r.urdf:2: link "l0" has an inertia with the negative principal moment'
    ):
        lump(with_inertias(INDEFINITE, INDEFINITE, SOLID, fixed=0), root_joint="free-flyer")


def test_of_a_body_the_sum_counts() -> None:
    model = lump(with_inertias(None, HEAVY, INDEFINITE, fixed=1))
    (note,) = model.notes
    assert note.message.startswith(
        'link "l2" has an inertia with the negative principal moment -0.01: used as written, because'
    )
    assert note.line == 4
    assert model.bodies[0].inertia == HEAVY + INDEFINITE
    with pytest.raises(DescriptionError, match='^r.urdf:4: link "l2" .* `allow_invalid_inertia=True`$'):
        lump(with_inertias(None, Inertia.zero(), INDEFINITE, fixed=1))


def test_indefinite_inertias_allowed() -> None:
    description = with_inertias(None, INDEFINITE, SOLID, fixed=-1)
    with pytest.raises(
        DescriptionError, match="check the signs of ixy, ixz, iyz, or give `allow_invalid_inertia=True`"
    ):
        lump(description)
    model = lump(description, allow_invalid_inertia=True)
    (note,) = model.notes
    assert (note.message.split(": ")[1], note.line) == (
        "used as written; forward dynamics may not be defined",
        3,
    )
    assert model.bodies[0].inertia == INDEFINITE
    again = Model.assemble("r", description.links, description.joints, allow_invalid_inertia=True)
    assert again.bodies == model.bodies


def test_negative_masses_are_not_allowed_with_them() -> None:
    with pytest.raises(DescriptionError, match="negative mass"):
        lump(
            with_inertias(None, Inertia(-1.0, Vector3.zero(), Symmetric3.zero()), fixed=-1),
            allow_invalid_inertia=True,
        )


def test_errors_name_the_joint_s_line() -> None:
    with pytest.raises(DescriptionError, match=r'^r\.urdf:7: joint "j" has the axis') as caught:
        validate(chain(joint(0, 1, axis=Vector3.zero())))
    assert caught.value.line == 7


@pytest.mark.parametrize("twice", ["link", "joint"])
def test_names_are_unique(twice: str) -> None:
    links = ("a", "b", "b" if twice == "link" else "c")
    joints = (Joint("j", "revolute", "a", "b"), Joint("k" if twice == "link" else "j", "revolute", "b", "c"))
    with pytest.raises(DescriptionError, match=f"two {twice}s are named"):
        validate(Description("r", tuple(Link(name) for name in links), joints))


def test_a_link_may_have_the_name_of_a_joint() -> None:
    links = (Link("a"), Link("b"))
    assert validate(Description("r", links, (Joint("a", "revolute", "a", "b"),))) == []


@pytest.mark.parametrize("name", ["", "\n"])
def test_names_are_not_empty(name: str) -> None:
    links = (Link("a"), Link(name))
    description = Description("r", links, (Joint("j", "revolute", "a", name),))
    if name:
        assert validate(description) == []
    else:
        with pytest.raises(DescriptionError, match="empty name"):
            validate(description)


def test_long_chains_need_no_recursion() -> None:
    count = 5_000
    assert validate(chain(*(joint(k, k + 1, f"j{k}") for k in range(count)))) == []


def test_long_mimic_chains() -> None:
    assert validate(mimics(None, *(f"j{k}" for k in range(300))), coupled=True) == []


def test_loose_axis_is_noted() -> None:
    (note,) = validate(chain(joint(0, 1, axis=Vector3(0.0, 2.0, 0.0))))
    assert (note.message, note.line) == ('joint "j" has an axis of length 2: normalised', 7)


@pytest.mark.parametrize("kind", ["fixed", "floating", "spherical"])
def test_axis_does_not_matter_where_there_is_none(kind: str) -> None:
    assert validate(chain(joint(0, 1, kind=kind, axis=Vector3.zero()))) == []


NOTED = {
    "no mass": (Inertia(0.0, Vector3.zero(), Symmetric3.diagonal(1.0, 1.0, 1.0)), "an inertia but no mass"),
    "triangle": (
        Inertia(1.0, Vector3.zero(), Symmetric3.diagonal(1.0, 1.0, 3.0)),
        "break the triangle inequality",
    ),
    "all entries alike": (
        Inertia(1e-6, Vector3.zero(), Symmetric3(*[1e-6] * 6)),
        "break the triangle inequality",
    ),
    "few digits": (
        Inertia(1.0, Vector3.zero(), Symmetric3(1.0, 1.0001, 1.0, 0.0, 0.0, 1.0)),
        "slightly negative principal moment",
    ),
}


@pytest.mark.parametrize("what", sorted(NOTED))
def test_odd_inertias_are_noted(what: str) -> None:
    inertia, expected = NOTED[what]
    description = Description("r", (Link("l0", SOLID), Link("l1", inertia, 3)), (joint(0, 1),))
    (note,) = validate(description)
    assert note.message.startswith('link "l1"')
    assert expected in note.message
    assert note.line == 3


def test_damping_and_friction_are_counted() -> None:
    description = chain(
        joint(0, 1, "a", damping=1.0),
        joint(1, 2, "b", damping=2.0, friction=1.0),
        joint(2, 3, "c", "fixed", damping=1.0),
    )
    assert [note.message for note in validate(description)] == [
        "2 joints have damping; rnea does not include it (`damping='include'` does)",
        "1 joint has friction; rnea does not include it (`friction='include'` does)",
    ]


@given(st.integers(0, 2**32 - 1), st.floats(1e-9, 1e9), st.floats(1e-3, 1e3))
def test_inertias_of_real_bodies_pass(seed: int, mass: float, length: float) -> None:
    """Bodies made of point masses, of any size and weight, seen from any frame up to ten times as far off as
    they are large.
    """
    rng = np.random.default_rng(seed)
    body = random_inertia(rng)
    scaled = Inertia(
        mass * body.mass, body.first_moment.scaled(mass * length), body.about_origin.scaled(mass * length**2)
    )
    far = Placement(
        Rotation.from_rpy(*rng.uniform(-3, 3, 3)), Vector3.of([length * x for x in rng.uniform(-6, 6, 3)])
    )
    assert validate(Description("r", (Link("l0"), Link("l1", scaled.moved(far))), (joint(0, 1),))) == []


@given(st.integers(0, 2**32 - 1), st.floats(0.01, 10.0))
def test_clearly_negative_moments_never_pass(seed: int, size: float) -> None:
    rng = np.random.default_rng(seed)
    basis: Array = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    matrix = basis @ np.diag([1.0, 1.0, -size]) @ basis.T
    entries = [float(matrix[i, k]) for i, k in ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))]
    with pytest.raises(DescriptionError, match="negative principal moment"):
        lump(chain(joint(0, 1), inertia=Inertia.about_com(1.0, Vector3(0.1, 0.2, 0.3), Symmetric3(*entries))))
