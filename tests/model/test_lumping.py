"""Links and joints become bodies: order, lumping, joint types, indices in q and v, mimic joints."""

from __future__ import annotations

import math
from pathlib import Path

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
    Model,
    OptionError,
    Placement,
    Rotation,
    Symmetric3,
    Vector3,
)
from rbdc.model import WORLD, Coupling
from rbdc.model.description import STANDARD_GRAVITY
from rbdc.model.joints import FreeFlyer, Planar, Prismatic, Revolute, Spherical
from tests.support_trees import random_inertia, random_placement
from tests.support_urdf import LIMIT, joint, link, messages, model, robot

SOLID = Inertia.about_com(2.0, Vector3(0.1, 0.0, 0.0), Symmetric3.diagonal(0.1, 0.2, 0.2))
UP = Vector3(0.0, 0.0, 1.0)


def one_joint(kind: str, axis: Vector3 = UP) -> Model:
    """Return a model of one joint."""
    return Model.assemble("r", [Link("a", SOLID), Link("b", SOLID)], [Joint("j", kind, "a", "b", axis=axis)])


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("revolute", Revolute(UP)),
        ("continuous", Revolute(UP)),
        ("prismatic", Prismatic(UP)),
        ("planar", Planar(UP)),
        ("floating", FreeFlyer()),
        ("spherical", Spherical()),
    ],
)
def test_joint_types(kind: str, expected: object) -> None:
    model = one_joint(kind)
    assert model.bodies[0].joint == expected
    assert (model.nq, model.nv) == (model.bodies[0].joint.nq, model.bodies[0].joint.nv)
    assert model.neutral() == list(model.bodies[0].joint.neutral())


@pytest.mark.parametrize(
    ("axis", "unit"),
    [
        ((0.0, 0.0, 3.0), (0.0, 0.0, 1.0)),
        ((1e-13, -1.0, 0.0), (0.0, -1.0, 0.0)),
        ((0.0, 3.0, 4.0), (0.0, 0.6, 0.8)),
        ((1e-9, 1.0, 0.0), (1e-9, 1.0, 0.0)),
    ],
)
def test_axes(axis: tuple[float, float, float], unit: tuple[float, float, float]) -> None:
    joint_type = one_joint("revolute", Vector3(*axis)).bodies[0].joint
    assert isinstance(joint_type, Revolute)
    assert joint_type.axis.scalars() == pytest.approx(unit, abs=1e-17, rel=1e-15)
    assert all(math.copysign(1.0, x) == 1.0 for x in joint_type.axis.scalars() if x == 0.0)


@given(st.tuples(*[st.floats(-1e6, 1e6)] * 3).filter(lambda a: math.hypot(*a) > 1e-6))
def test_axes_become_unit(axis: tuple[float, float, float]) -> None:
    joint_type = one_joint("prismatic", Vector3(*axis)).bodies[0].joint
    assert isinstance(joint_type, Prismatic)
    assert math.hypot(*joint_type.axis.scalars()) == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_allclose(joint_type.axis.scalars(), np.array(axis) / math.hypot(*axis), atol=1e-12)


BRANCHES = robot(
    *(link(name) for name in ("base", "plate", "x", "y", "z", "tip")),
    joint("m_z", "base", "z"),
    joint("n_plate", "base", "plate", "", "fixed"),
    joint("b_y", "plate", "y"),
    joint("a_tip", "y", "tip", "", "fixed"),
    joint("a_x", "plate", "x"),
)


@pytest.mark.parametrize(
    ("order", "joints", "frames"),
    [
        ("name", ["m_z", "a_x", "b_y"], ["base", "z", "plate", "x", "y", "tip"]),
        ("file", ["m_z", "b_y", "a_x"], ["base", "z", "plate", "y", "tip", "x"]),
    ],
)
def test_order(order: str, joints: list[str], frames: list[str], tmp_path: Path) -> None:
    """Depth first, through fixed joints, whose names count among their siblings."""
    branches = model(tmp_path, BRANCHES, joint_order=order)
    assert [body.joint_name for body in branches.bodies] == joints
    assert [frame.name for frame in branches.frames] == frames


def test_names_are_sorted_by_code_point(tmp_path: Path) -> None:
    parts = [
        link("base"),
        *(link(n) for n in "abc"),
        *(joint(n, "base", c) for n, c in zip(("j10", "J2", "j2"), "abc", strict=True)),
    ]
    assert [body.joint_name for body in model(tmp_path, robot(*parts)).bodies] == ["J2", "j10", "j2"]


@pytest.mark.parametrize("seed", range(10))
def test_fixed_joints_are_lumped(seed: int) -> None:
    """Splitting a body into links that are fixed to one another changes nothing but the list of frames."""
    rng = np.random.default_rng(seed)
    parts, places = [random_inertia(rng) for _ in range(4)], [random_placement(rng) for _ in range(3)]
    names = ["arm", "one", "two", "three"]
    joints = [Joint("j", "revolute", "base", "arm")]
    joints += [Joint(f"f{k}", "fixed", names[k], names[k + 1], places[k]) for k in range(3)]
    model = Model.assemble(
        "r", [Link("base"), *(Link(n, i) for n, i in zip(names, parts, strict=True))], joints
    )
    (body,) = model.bodies
    total, here = parts[0], Placement.identity()
    for inertia, place, frame in zip(parts[1:], places, model.frames[2:], strict=True):
        here = here.compose(place)
        total = total + inertia.moved(here)
        assert frame.body == 0
        np.testing.assert_allclose(frame.placement.scalars(), here.scalars(), atol=1e-15)
    np.testing.assert_allclose(body.inertia.scalars(), total.scalars(), rtol=1e-13, atol=1e-14)


def fixed_base() -> tuple[list[Link], list[Joint]]:
    """Return a base with a plate fixed to it, and an arm on the plate."""
    links = [Link(name, SOLID) for name in ("base", "plate", "arm")]
    place = Placement(Rotation.from_rpy(0.3, 0.0, 0.0), Vector3(1.0, 2.0, 3.0))
    return links, [
        Joint("weld", "fixed", "base", "plate", place),
        Joint("j", "revolute", "plate", "arm", place),
    ]


def test_what_is_fixed_to_the_world() -> None:
    links, joints = fixed_base()
    model = Model.assemble("r", links, joints)
    assert [frame.body for frame in model.frames] == [WORLD, WORLD, 0]
    np.testing.assert_allclose(
        model.base_inertia.scalars(), (SOLID + SOLID.moved(joints[0].placement)).scalars(), rtol=1e-15
    )
    assert model.bodies[0].inertia == SOLID
    assert model.bodies[0].parent == WORLD
    np.testing.assert_allclose(
        model.bodies[0].placement.scalars(), joints[0].placement.compose(joints[1].placement).scalars()
    )


def test_free_flyer_carries_what_was_fixed() -> None:
    links, joints = fixed_base()
    model = Model.assemble("r", links, joints, root_joint="free-flyer")
    root, arm = model.bodies
    assert (root.name, root.joint_name, root.joint, root.parent, root.placement) == (
        "base",
        "root_joint",
        FreeFlyer(),
        WORLD,
        Placement.identity(),
    )
    assert (arm.parent, arm.index_q, arm.index_v, model.nq, model.nv) == (0, 7, 6, 8, 7)
    assert model.base_inertia == Inertia.zero()
    assert [frame.body for frame in model.frames] == [0, 0, 1]


def test_a_namesake_of_the_root_s_joint_is_noted() -> None:
    links, joints = [Link("a", SOLID), Link("b", SOLID)], [Joint("root_joint", "revolute", "a", "b")]
    assert Model.assemble("r", links, joints).notes == ()
    model = Model.assemble("r", links, joints, root_joint="free-flyer")
    assert messages(model) == ['joint "root_joint" has the name of a joint of the free root: rename it']
    assert (model.nq, [body.name for body in model.bodies]) == (8, ["a", "b"])


def test_a_lone_link_can_fly() -> None:
    model = Model.assemble("r", [Link("stone", SOLID)], [], root_joint="free-flyer")
    assert (model.nq, model.nv, model.bodies[0].inertia) == (7, 6, SOLID)
    assert model.neutral() == [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]


def test_nothing_moves() -> None:
    with pytest.raises(DescriptionError, match="nothing moves"):
        one_joint("fixed")


def test_numbers_given_in_code_become_floats() -> None:
    inertia = Inertia(1, Vector3(np.float64(0.5), 0, 0), Symmetric3(1, 0, 1, 0, 0, 1))
    place = Placement(Rotation.identity(), Vector3(np.float32(1.0), 0, 0))
    joint = Joint("j", "revolute", "a", "b", place, Vector3(0, 0, 1), Limits(-1, 1))
    body = Model.assemble("r", [Link("a"), Link("b", inertia)], [joint], gravity=(0, 0, -10)).bodies[0]
    numbers = [*body.inertia.scalars(), *body.placement.scalars(), *body.joint.axis.scalars()]  # type: ignore[attr-defined]
    assert {type(x) for x in (*numbers, body.limits.lower, body.limits.upper, body.damping)} == {float}


@pytest.mark.parametrize("option", ["root_joint", "mimic", "joint_order"])
def test_unknown_options(option: str) -> None:
    with pytest.raises(OptionError, match="='sideways'`: there are"):
        joints = [Joint("j", "revolute", "a", "b")]
        Model.assemble("r", [Link("a"), Link("b")], joints, **{option: "sideways"})


@pytest.mark.parametrize(
    "gravity", [(0.0, 0.0, math.nan), (0.0, math.inf, 0.0), (0.0, 1.0), (0.0, 0.0, 1e300)]
)
def test_bad_gravity(gravity: tuple[float, float, float]) -> None:
    with pytest.raises(OptionError, match="three finite numbers"):
        Model.assemble("r", [Link("a"), Link("b")], [Joint("j", "revolute", "a", "b")], gravity=gravity)


def test_gravity() -> None:
    assert one_joint("revolute").gravity == STANDARD_GRAVITY
    links, joints = [Link("a"), Link("b", SOLID)], [Joint("j", "revolute", "a", "b")]
    assert Model.assemble("r", links, joints, gravity=(1.0, 2.0, 3.0)).gravity == Vector3(1.0, 2.0, 3.0)


def test_overflow_is_refused() -> None:
    far = Placement(Rotation.identity(), Vector3(1e20, 0.0, 0.0))
    links = [Link("a"), Link("b", SOLID), Link("c", SOLID, 9)]
    joints = [Joint("j", "revolute", "a", "b"), Joint("k", "fixed", "b", "c", far)]
    with pytest.raises(DescriptionError, match="too large"):
        Model.assemble("r", links, joints)
    fast = [
        Joint("i", "revolute", "a", "b"),
        Joint("j", "revolute", "b", "c", mimic=Mimic("i", 1e20)),
        Joint("k", "revolute", "c", "d", mimic=Mimic("j", 1e20)),
    ]
    with pytest.raises(DescriptionError, match='joint "k" follows "i" to positions that are too large'):
        Model.assemble("r", [*links, Link("d", SOLID)], fast, mimic="coupled")


def test_massless_ends_are_noted() -> None:
    links = [Link("a"), Link("b"), Link("c", SOLID), Link("d"), Link("e")]
    joints = [Joint(f"j{p}{c}", "revolute", p, c) for p, c in ("ab", "bc", "cd", "de")]
    assert [note.message for note in Model.assemble("r", links, joints).notes] == [
        'no link in the subtree of "d", "e" has mass: forward dynamics is not defined'
    ]


def test_a_long_chain_of_fixed_and_moving_joints() -> None:
    count = 3000
    links = [Link(f"l{k}", SOLID) for k in range(count + 1)]
    joints = [Joint(f"j{k}", "fixed" if k % 2 else "revolute", f"l{k}", f"l{k + 1}") for k in range(count)]
    model = Model.assemble("r", links, joints)
    assert (model.njoints, len(model.frames)) == (count // 2, count + 1)
    assert model.support(count // 2 - 1) == list(range(count // 2))


# --- mimic --------------------------------------------------------------------------------------------------

Follow = tuple[str, float, float]


def comb(follow: dict[str, Follow], limits: dict[str, Limits] | None = None, mode: str = "coupled") -> Model:
    """Return five teeth t0 ... t4 on one base; `follow` says who follows whom, with multiplier and offset."""
    links = [Link("base"), *(Link(f"l{k}", SOLID) for k in range(5))]
    joints = [
        Joint(
            f"t{k}",
            "revolute",
            "base",
            f"l{k}",
            limits=(limits or {}).get(f"t{k}", Limits()),
            mimic=_mimic(follow.get(f"t{k}")),
        )
        for k in range(5)
    ]
    return Model.assemble("comb", links, joints, mimic=mode)


def _mimic(entry: Follow | None) -> Mimic | None:
    return None if entry is None else Mimic(*entry)


def test_followers_have_no_place_of_their_own() -> None:
    model = comb({"t1": ("t0", 2.0, 0.5), "t3": ("t2", -1.0, 0.0)})
    assert (model.nq, model.nv, model.njoints, model.coupled) == (3, 3, 5, True)
    assert [body.coupling for body in model.bodies] == [
        None,
        Coupling(0, 2.0, 0.5),
        None,
        Coupling(2, -1.0, 0.0),
        None,
    ]
    assert [body.index_q for body in model.bodies] == [0, 0, 1, 1, 2]
    assert [body.index_v for body in model.bodies] == [0, 0, 1, 1, 2]


def test_leader_may_come_later() -> None:
    model = comb({"t0": ("t4", 1.0, 0.0), "t1": ("t4", 3.0, -1.0)})
    assert [body.index_q for body in model.bodies] == [2, 2, 0, 1, 2]
    assert model.bodies[1].coupling == Coupling(4, 3.0, -1.0)


def test_chains_are_composed() -> None:
    """t0 = 2 t3 + 1 and t3 = -3 t2 + 0.5 make t0 = -6 t2 + 2."""
    model = comb({"t0": ("t3", 2.0, 1.0), "t3": ("t2", -3.0, 0.5)})
    assert model.bodies[0].coupling == Coupling(2, -6.0, 2.0)
    assert model.bodies[3].coupling == Coupling(2, -3.0, 0.5)


@given(
    st.lists(st.tuples(st.floats(-3, 3), st.floats(-3, 3)), min_size=4, max_size=4),
    st.floats(-3, 3),
    st.permutations(range(5)),
)
def test_composition_is_that_of_the_maps(
    maps: list[tuple[float, float]], angle: float, order: list[int]
) -> None:
    """A chain through all five teeth in any order: each angle is the maps applied one after the other."""
    names = [f"t{k}" for k in order]
    model = comb({names[k + 1]: (names[k], *maps[k]) for k in range(4)})
    assert model.nq == 1
    for k in range(1, 5):
        angle_here = angle
        for multiplier, offset in maps[:k]:
            angle_here = multiplier * angle_here + offset
        coupling = model.bodies[order[k]].coupling
        assert coupling is not None
        assert coupling.leader == order[0]
        assert coupling.multiplier * angle + coupling.offset == pytest.approx(angle_here, abs=1e-12)


def test_independent_is_noted_and_has_all_joints() -> None:
    model = comb({"t1": ("t0", 2.0, 0.5)}, mode="independent")
    assert (model.nq, model.coupled) == (5, False)
    assert messages(model) == [
        "1 mimic joints are taken as independent; `mimic='coupled'` removes them from q"
    ]


def test_leader_keeps_its_limits_and_tighter_followers_are_noted() -> None:
    limits = {"t0": Limits(-1.0, 1.0), "t1": Limits(-1.0, 1.0), "t2": Limits(-2.5, 2.5)}
    model = comb({"t1": ("t0", 2.0, 0.0), "t2": ("t0", -2.0, 0.5)}, limits)
    assert model.bodies[0].limits == Limits(-1.0, 1.0)
    assert messages(model) == [
        "2 mimic joints follow their leaders and have no entries in q",
        'joint "t1" leaves its limits, which are ignored, at positions within its leader\'s limits',
    ]


def test_mimic_from_a_file(tmp_path: Path) -> None:
    follow = '<mimic joint="lead" multiplier="-1" offset="0.25"/>' + LIMIT
    text = robot(
        link("base"), link("a"), link("b"), joint("follow", "base", "a", follow), joint("lead", "base", "b")
    )
    follower = model(tmp_path, text, mimic="coupled")
    assert [body.joint_name for body in follower.bodies] == ["follow", "lead"]
    assert follower.bodies[0].coupling == Coupling(1, -1.0, 0.25)
    assert follower.nq == 1
