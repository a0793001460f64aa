"""Helical, cylindrical and universal joints: Pinocchio's, the chains that they equal, and every way to
describe them.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from rbdc import Joint, Link, Mimic, Vector3
from rbdc.algorithms.reference.rnea import rnea
from rbdc.errors import RbdcError
from rbdc.functions.catalogue import presets, rollable
from rbdc.model import Problem
from rbdc.model.joints import Cylindrical, Helical
from tests.laws.test_motion import rate
from tests.peers.test_pinocchio_trees import inertia, se3
from tests.support import UNOPTIMISED, Array, assert_close, build_module, slow_but
from tests.support_pinocchio import pin
from tests.support_trees import random_inertia, random_placement, screw_tree, vector

FUNCTIONS = ("rnea", "aba", "crba", "rnea_derivatives")
X, Y, Z = Vector3(1.0, 0.0, 0.0), Vector3(0.0, 1.0, 0.0), Vector3(0.0, 0.0, 1.0)
KINDS = ("universal", "helical", "cylindrical", "helical", "universal")
AXES = ((X, Y), (Z, Y), (vector(np.array([1.0, 2.0, -1.0])), Y), (vector(np.array([0.3, -0.5, 1.0])), Y))
OTHER = (vector(np.array([1.0, 1.0, 0.0])), vector(np.array([0.2, -1.0, 0.4])))
"""Axes of a universal joint that are not at right angles."""


def described() -> tuple[list[Link], list[Joint]]:
    """Return links and joints of a chain of the kinds."""
    rng = np.random.default_rng(8)
    links = [Link("base"), *(Link(f"link{k}", random_inertia(rng)) for k in range(len(KINDS)))]
    joints = []
    for k, (kind, (axis, second)) in enumerate(zip(KINDS, (*AXES, OTHER), strict=True)):
        pitch = (0.05, -0.3)[k // 2] if kind == "helical" else 0.0
        above = f"link{k - 1}" if k else "base"
        joints.append(
            Joint(
                f"joint{k}",
                kind,
                above,
                f"link{k}",
                random_placement(rng),
                axis,
                pitch=pitch,
                second_axis=second,
            )
        )
    return links, joints


def unit(axis: Vector3) -> Array:
    x: Array = np.array(axis.scalars(), dtype=float)
    return x / np.linalg.norm(x)


def peer_joint(joint: Joint) -> Any:
    """Return Pinocchio's joint; of a slide and a hinge for a cylindrical one, which Pinocchio has not."""
    if joint.kind == "universal":
        return pin.JointModelUniversal(unit(joint.axis), unit(joint.second_axis))
    if joint.kind == "helical":
        name, arguments = joint.joint_type().pinocchio() or ("", [])
        return getattr(pin, name)(*(np.array(x) if isinstance(x, list) else x for x in arguments))
    both = pin.JointModelComposite(2)
    both.addJoint(pin.JointModelPrismaticUnaligned(unit(joint.axis)))
    both.addJoint(pin.JointModelRevoluteUnaligned(unit(joint.axis)))
    return both


@cache
def case() -> tuple[ModuleType, Any]:
    """Return the compiled chain, and Pinocchio's."""
    links, joints = described()
    model, above = pin.Model(), 0
    for link, joint in zip(links[1:], joints, strict=True):
        above = model.addJoint(above, peer_joint(joint), se3(joint.placement), joint.name)
        assert link.inertia is not None
        model.appendBodyToJoint(above, inertia(link.inertia.scalars()), pin.SE3.Identity())
    chain = Problem.assemble("screws", links, joints)
    return build_module(chain, functions=FUNCTIONS, cflags=UNOPTIMISED, verify=False), model


def test_pinocchio() -> None:
    """The motion subspace of Pinocchio's universal joint depends on q; that of the chain does not."""
    module, model = case()
    data, rng = model.createData(), np.random.default_rng(2)
    assert (module.nq, module.nv) == (model.nq, model.nv) == (8, 8)
    q, v, a = rng.uniform(-2.0, 2.0, (3, module.nv))
    assert_close(module.rnea(q, v, a), pin.rnea(model, data, q, v, a), 1e-12)
    assert_close(module.aba(q, v, a), pin.aba(model, data, q, v, a), 1e-10)
    upper = np.triu(pin.crba(model, data, q))
    assert_close(module.crba(q), upper + np.triu(upper, 1).T, 1e-12)
    for k, matrix in enumerate(module.rnea_derivatives(q, v, a)):
        # Pinocchio's derivatives omit the change of a universal joint's subspace

        def along(t: float, unit: Array, k: int = k) -> Array:
            inputs = [x + t * unit * (j == k) for j, x in enumerate((q, v, a))]
            return np.array(pin.rnea(model, data, *inputs))

        expected = [rate(lambda t, unit=unit: along(t, unit)) for unit in np.eye(8)]  # type: ignore[misc]
        assert_close(matrix, np.stack(expected, axis=1), 1e-8)
    assert all(np.array_equal(x, y) for x, y in zip(module.to_pinocchio(q, v), (q, v), strict=True))


def test_states_of_mujoco() -> None:
    """A cylindrical joint has the entries of a slide and a hinge; a screw has not those of any joint."""
    module, _ = case()
    with pytest.raises(ValueError, match="joint 'joint1': MuJoCo has no helical joint"):
        module.to_mujoco(module.q_neutral)
    slides = Problem.assemble(
        "rod",
        [Link("base"), Link("rod", random_inertia(np.random.default_rng(0)))],
        [Joint("rod", "cylindrical", "base", "rod")],
    )
    rod = build_module(slides, functions=("nle",), cflags=UNOPTIMISED, verify=False)
    assert np.array_equal(rod.to_mujoco(np.array([0.2, 0.3])), [0.2, 0.3])


def torques(model: Problem) -> Array:
    q, v, a = np.random.default_rng(1).uniform(-1.0, 1.0, (3, model.nv)).tolist()
    return np.array(rnea(model, q, v, a), dtype=float)


BODY = """<mujoco model="m"><compiler angle="radian"/><worldbody>
<body name="b" pos="0.1 0.2 0.3" euler="0.3 0.1 0.2">
{joints}<inertial pos="0.1 0 0.2" mass="2" diaginertia="0.1 0.2 0.25"/></body></worldbody></mujoco>"""
SLIDE, HINGE = (
    '<joint name="{name}" type="{kind}" axis="{axis}"/>'.replace("{kind}", k) for k in ("slide", "hinge")
)


@pytest.mark.parametrize("kind", ["cylindrical", "universal"])
def test_mjcf_has_them_as_joints_of_one_body(kind: str) -> None:
    first, second = (SLIDE, HINGE) if kind == "cylindrical" else (HINGE, HINGE)
    axes = ("0 0 1", "0 0 1") if kind == "cylindrical" else ("1 0 0", "0 1 0")
    joints = first.format(name="one", axis=axes[0]) + second.format(name="two", axis=axes[1])
    chain = Problem.from_text(BODY.format(joints=joints))
    placement, link = chain.bodies[0].placement, Link("b", chain.bodies[1].inertia)  # type: ignore[arg-type]
    axis = Z if kind == "cylindrical" else X
    joint = Joint("both", kind, "base", "b", placement, axis)
    assert_close(torques(Problem.assemble("m", [Link("base"), link], [joint])), torques(chain), 1e-13)


def test_a_screw_is_a_hinge_with_a_slide_that_follows() -> None:
    inertia = random_inertia(np.random.default_rng(4))
    placement, axis = random_placement(np.random.default_rng(5)), vector(np.array([1.0, 2.0, 2.0]))
    links = [Link("base"), Link("between"), Link("nut", inertia)]
    turn = Joint("turn", "revolute", "base", "between", placement, axis)
    slide = Joint("slide", "prismatic", "between", "nut", axis=axis, mimic=Mimic("turn", -0.4))
    split = Problem.assemble("nut", links, [turn, slide], mimic="coupled")
    screw = Joint("screw", "helical", "base", "nut", placement, axis, pitch=-0.4)
    assert_close(torques(Problem.assemble("nut", [links[0], links[2]], [screw])), torques(split), 1e-13)


DRAKE = """<robot name="r" xmlns:drake="http://drake.mit.edu"><link name="base"/>
<link name="tip"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
<drake:joint name="j" type="{kind}"><parent link="base"/><child link="tip"/><axis xyz="0 0 1"/>{more}
</drake:joint>
</robot>"""


def test_joints_of_drake() -> None:
    pitch = '<drake:screw_thread_pitch value="0.5"/>'
    (screw,) = Problem.from_text(DRAKE.format(kind="screw", more=pitch)).bodies
    assert screw.joint == Helical(Z, 0.5 / (2.0 * np.pi))
    chain = Problem.from_text(DRAKE.format(kind="universal", more=""))
    assert [body.joint.main_axis() for body in chain.bodies] == [X, Y]
    assert [body.joint_name for body in chain.bodies] == ["j_1", "j_2"]
    assert any("1 x <axis> of a universal joint: ignored" in text for text in chain.warnings)
    with pytest.raises(
        RbdcError, match=r"has no <drake:screw_thread_pitch>; give it .*in metres per revolution"
    ):
        Problem.from_text(DRAKE.format(kind="screw", more=""))


def test_joints_of_denavit_and_hartenberg() -> None:
    text = """{"convention": "standard", "joints": [
        {"type": "helical", "pitch": 0.01, "q_sign": -1, "mass": 1, "inertia_com": [1, 0, 0, 1, 0, 1]},
        {"type": "cylindrical", "a": 0.1, "mass": 1, "inertia_com": [1, 0, 0, 1, 0, 1]}]}"""
    first, second = Problem.from_text(text).bodies
    assert (first.joint, second.joint) == (Helical(-Z, 0.01), Cylindrical(Z))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"kind": "helical"}, "has the pitch 0.0; give the advance of its thread, in m/rad"),
        ({"kind": "revolute", "pitch": 0.1}, "is revolute and has a pitch; describe it as helical"),
        (
            {"kind": "universal", "second_axis": X},
            "universal with parallel axes; give two directions that differ",
        ),
        (
            {"kind": "universal", "stiffness": 1.0},
            "universal and has a spring; give springs only to joints with",
        ),
        (
            {"kind": "universal", "mimic": Mimic("other")},
            "universal and follows another; only joints with one",
        ),
    ],
)
def test_what_is_refused(change: dict[str, Any], problem: str) -> None:
    joint = replace(Joint("j", "revolute", "base", "tip"), **change)
    with pytest.raises(RbdcError, match=f'joint "j" {problem}' if "has" in problem[:3] else problem):
        Problem.assemble("r", [Link("base"), Link("tip", random_inertia(np.random.default_rng(0)))], [joint])


@pytest.mark.parametrize(("first", "root"), slow_but([(0, "fixed"), (3, "free-flyer"), (6, "fixed")], (), ()))
def test_every_function_is_verified(first: int, root: str) -> None:
    build_module(
        screw_tree(first, root=root), functions=presets()["full"], cflags=UNOPTIMISED, root_joint="fixed"
    )


@pytest.mark.parametrize("first", slow_but((0, 3), (), (0,)))
def test_loops_and_second_derivatives_are_verified(first: int) -> None:
    tree = screw_tree(first)
    build_module(tree, functions=rollable(), style="rolled", name="rolled", cflags=UNOPTIMISED)
    build_module(tree, functions=presets()["second"], name="second", cflags=UNOPTIMISED)
