"""MJCF: what rbdc reads is what MuJoCo computes with; what it does not have is refused, or named."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest

from rbdc.algorithms.reference.aba import aba
from rbdc.algorithms.reference.couplings import bound
from rbdc.algorithms.reference.crba import crba
from rbdc.algorithms.reference.homogeneous import forward_kinematics
from rbdc.algorithms.reference.manifold import integrate
from rbdc.algorithms.reference.rnea import rnea
from rbdc.emit.python import every_joint
from rbdc.errors import DescriptionError, UnsupportedError
from rbdc.model import Problem
from rbdc.runtime._conversions import Converter
from tests.support import UNOPTIMISED, Array, assert_close, build_module

mj: Any = mujoco
ROBOTS = Path(__file__).parents[1] / "mjcf"
"""From gymnasium, whose licence is beside them."""
BALL = '<geom type="sphere" size=".1" mass="1.3" pos=".05 -.02 .1"/>'
BOX = '<geom type="box" size=".1 .2 .05" pos="0 .03 .1" euler="10 20 30" mass="2"/>'


def scene(*bodies: str, before: str = "", after: str = "") -> str:
    return f'<mujoco model="scene">{before}<worldbody>{"".join(bodies)}</worldbody>{after}</mujoco>'


def body(name: str, inside: str, where: str = 'pos=".1 .2 .3" euler="20 40 10"') -> str:
    named = f'name="{name}"' if name else ""
    return f"<body {named} {where}>{inside}</body>"


HINGE = '<joint name="{}" type="hinge" axis="1 2 .5" pos=".1 -.05 .02" ref="30"/>'
SLIDE = '<joint name="{}" type="slide" axis="0 1 1" ref=".2"/>'

SCENES = {
    "free joint": scene(body("a", f'<freejoint name="f"/>{BOX}{body("b", HINGE.format("h") + BALL)}')),
    "joints in a body": scene(body("a", HINGE.format("h") + SLIDE.format("s") + HINGE.format("k") + BOX)),
    "ball": scene(
        body(
            "a",
            f'<joint name="b" type="ball" pos=".1 0 .2" damping=".3" armature=".2"/>{BOX}'
            + body("c", f'<joint name="d" type="ball"/>{BALL}'),
        )
    ),
    "references": scene(
        body("a", SLIDE.format("s") + BOX + body("b", HINGE.format("h") + BALL)),
        before='<compiler angle="degree"/>',
    ),
    "fixed bodies": scene(
        body("a", BOX + body("b", HINGE.format("h") + BALL + body("c", BOX + body("d", BALL)))),
        body("e", SLIDE.format("s") + BALL),
    ),
    "motors": scene(
        body("a", HINGE.format("h") + BOX + body("b", SLIDE.format("s") + BALL)),
        after='<actuator><motor joint="h" gear="7" armature=".02" damping=".01"/>'
        '<position joint="s" kp="3" armature=".1"/></actuator>',
    ),
    "a tree with two roots": scene(
        body("z", f"<freejoint/>{BOX}{body('y', HINGE.format('h') + BALL)}"), body("a", f"<freejoint/>{BALL}")
    ),
    "defaults": scene(
        body("a", f'<joint name="h"/>{BOX}' + body("b", f'<joint name="k"/>{BALL}')),
        before='<default><joint armature=".3" damping="2" axis="0 1 0" pos="0 0 .1" frictionloss=".4"/>'
        "</default>"
        '<option gravity="1 2 -3"/><compiler angle="radian" boundmass=".5" boundinertia=".01"/>',
    ),
    "sites and springs": scene(
        '<site name="origin" pos="1 2 3"/>',
        body(
            "a",
            '<joint name="h" axis="0 1 0" ref="20" stiffness="7" springref="-15" damping=".2"/>'
            + BOX
            + '<site name="tip" pos=".1 .2 .3" euler="10 20 30"/><site name="b"/>'
            + body("b", '<joint name="s" type="slide" stiffness="30" ref=".1"/><site/>' + BALL),
        ),
    ),
    "without names": scene(
        body("", f'<joint axis="1 0 0"/><joint axis="0 1 0"/>{BOX}{body("", f"<joint/>{BALL}")}')
    ),
    "inertial": scene(
        body(
            "a",
            '<inertial pos=".1 .2 .3" quat=".5 .1 -.3 .2" mass="3" diaginertia=".3 .2 .15"/>'
            + HINGE.format("h")
            + body(
                "b",
                '<inertial pos="0 0 .1" mass="1" fullinertia=".3 .2 .4 .01 .02 -.03"/>' + SLIDE.format("s"),
            ),
        )
    ),
}


class Peer:
    """MuJoCo's model without constraints, of which dry friction is one, and without the forces that rbdc
    leaves out; and the module's way to its coordinates.
    """

    def __init__(self, model: Problem, path: Path) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.model = mj.MjSpec.from_file(str(path)).compile()
        self.data = mj.MjData(self.model)
        self.model.opt.disableflags |= int(mj.mjtDisableBit.mjDSBL_CONSTRAINT)
        self.model.opt.disableflags |= int(mj.mjtDisableBit.mjDSBL_ACTUATION)
        self.model.opt.density = self.model.opt.viscosity = 0.0
        for force in ("body_gravcomp", "tendon_stiffness", "tendon_damping"):
            getattr(self.model, force)[:] = 0.0
        self.converter = Converter(every_joint(model), model.nq, model.nv, np.dtype(float))

    def inverse(self, q: Array, v: Array, a: Array) -> Array:
        self.data.qpos[:], self.data.qvel[:], self.data.qacc[:] = self.converter.to_mujoco(q, v, a, None)
        mj.mj_inverse(self.model, self.data)
        return np.array(self.data.qfrc_inverse)

    def forward(self, q: Array, v: Array, tau: Array) -> Array:
        self.data.qpos[:], self.data.qvel[:], force = self.converter.to_mujoco(q, v, None, tau)
        self.data.qfrc_applied[:] = force
        mj.mj_forward(self.model, self.data)
        return np.array(self.data.qacc)


def state(model: Problem, seed: int) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(seed)
    q = integrate(model, model.neutral(), [float(x) for x in rng.normal(size=model.nv)])
    return np.array(q, dtype=float), rng.normal(size=model.nv), rng.normal(size=model.nv)


DRIVES: dict[str, Any] = {
    "damping": "include",
    "springs": "include",
    "friction": "include",
    "friction_width": 0.2,
}


def friction(peer: Peer, q: Array, v: Array) -> Array:
    """Return the smooth friction of `DRIVES`: MuJoCo's frictionloss, which is a constraint there, is its
    bound.
    """
    qpos, qvel, _ = peer.converter.to_mujoco(q, v, np.zeros_like(v), None)
    force = peer.model.dof_frictionloss * qvel / np.sqrt(qvel**2 + 0.2**2)
    return np.array(peer.converter.from_mujoco(qpos, None, None, force)[1])


def check(path: Path, seed: int) -> None:
    model = Problem.from_file(path, damping="include", springs="include")
    peer = Peer(model, path)
    q, v, a = state(model, seed)
    floats = [[float(x) for x in y] for y in (q, v, a)]
    at, moving, forced = floats
    back = peer.converter.from_mujoco
    qpos, qvel, qacc = peer.converter.to_mujoco(q, v, a, None)
    assert qpos.shape == (peer.model.nq,)
    for got, expected in zip(back(qpos, qvel, qacc, None), (q, v, a), strict=True):
        assert_close(got, expected, 1e-13)
    force = peer.inverse(q, v, a)
    assert_close(rnea(model, at, moving, forced), back(qpos, None, None, force)[1])
    rubbing = rnea(Problem.from_file(path, **DRIVES), at, moving, forced)
    assert_close(rubbing, back(qpos, None, None, force)[1] + friction(peer, q, v))
    acceleration = peer.forward(q, v, a)
    condition = max(1e-10, 1e-15 * float(np.linalg.cond(np.array(crba(model, at), dtype=float))))
    assert_close(aba(model, at, moving, forced), back(qpos, qvel, acceleration, None)[2], condition)
    frames = {frame.name: k for k, frame in enumerate(model.frames)}
    placements = np.array(forward_kinematics(model, at), dtype=float)
    for number in range(peer.model.nbody):
        name = peer.model.body(number).name or f"body{number}"
        placement = np.eye(4)
        placement[:3, :3], placement[:3, 3] = peer.data.xmat[number].reshape(3, 3), peer.data.xpos[number]
        assert_close(placements[frames[name]].reshape(4, 4), placement, what=name)
    for number in range(peer.model.nsite):
        placement = np.eye(4)
        placement[:3, :3], placement[:3, 3] = (
            peer.data.site_xmat[number].reshape(3, 3),
            peer.data.site_xpos[number],
        )
        name = site_frame(peer.model, number)
        assert_close(placements[frames[name]].reshape(4, 4), placement, what=name)


def site_frame(model: Any, number: int) -> str:
    """Return the name of a site's frame: its own, unless a body has it."""
    bodies = {model.body(k).name for k in range(model.nbody)}
    name = str(model.site(number).name) or f"site{number}"
    return f"{name}_" if name in bodies else name


@pytest.mark.parametrize("name", SCENES)
def test_scenes_agree_with_mujoco(name: str, tmp_path: Path) -> None:
    path = tmp_path / "scene.xml"
    path.write_text(SCENES[name])
    for seed in range(3):
        check(path, seed)


@pytest.mark.parametrize("name", ["ant", "half_cheetah", "humanoid"])
def test_robots_agree_with_mujoco(name: str) -> None:
    check(ROBOTS / f"{name}.xml", 0)


MIMIC = scene(
    body(
        "a",
        HINGE.format("h") + BOX + body("b", HINGE.format("k") + BALL) + body("c", SLIDE.format("s") + BALL),
    ),
    after='<equality><joint joint1="k" joint2="h" polycoef=".1 -2"/>'
    '<joint joint1="s" joint2="k"/></equality>',
)


@pytest.mark.parametrize("poly", [(0.1, -2.0), (0.1, -2.0, 0.3, 0.4)])
def test_equalities_of_joints_are_mimics(tmp_path: Path, poly: tuple[float, ...]) -> None:
    path = tmp_path / "scene.xml"
    path.write_text(MIMIC.replace(".1 -2", " ".join(map(str, poly))))
    check(path, 0)
    model = Problem.from_file(path, mimic="coupled")
    peer = Peer(model, path)
    assert (model.nq, peer.model.nq) == (1, 3)
    q, v, a = state(model, 1)
    qpos = peer.converter.to_mujoco(q, None, None, None)
    ref = np.deg2rad(30.0)
    assert qpos[1] - ref == pytest.approx(np.polyval(poly[::-1], qpos[0] - ref))
    assert qpos[2] - 0.2 == pytest.approx(qpos[1] - ref)
    force = peer.inverse(q, v, a)
    expected = peer.converter.from_mujoco(qpos, None, None, force)[1]
    at, moving, forced = ([float(x) for x in y] for y in (q, v, a))
    assert_close(bound(rnea)(model, at, moving, forced), expected)


def test_a_module_converts_batches(tmp_path: Path) -> None:
    path = tmp_path / "scene.xml"
    path.write_text(SCENES["free joint"])
    module = build_module(str(path), functions=("rnea", "integrate"), cflags=UNOPTIMISED)
    assert list(module.joint_names) == ["f", "h"]
    peer = Peer(Problem.from_file(path), path)
    q = np.array([module.random_configuration(k) for k in range(4)])
    v, a = np.random.default_rng(0).normal(size=(2, 4, module.nv))
    qpos, qvel, qacc, force = module.to_mujoco(q, v, a, module.rnea(q, v, a))
    for k in range(4):
        assert_close(force[k], peer.inverse(q[k], v[k], a[k]))
    for got, expected in zip(module.from_mujoco(qpos, qvel, qacc), (q, v, a), strict=True):
        assert_close(got, expected, 1e-13)
    with pytest.raises(ValueError, match="its last dimension is 8"):
        module.to_mujoco(q[:, :3])
    with pytest.raises(ValueError, match="give the velocity"):
        module.to_mujoco(q, a=a)


MOTORS = scene(
    body("a", HINGE.format("h") + BOX + '<site name="s"/>' + body("b", SLIDE.format("s") + BALL)),
    body("c", f'<joint name="b" type="ball"/>{BOX}'),
    after='<tendon><fixed name="t"><joint joint="h" coef="2"/><joint joint="s" coef="-.5"/></fixed></tendon>'
    '<actuator><motor joint="h" gear="7"/><motor name="pull" tendon="t" gear="3"/><motor site="s" gear="1"/>'
    '<position joint="s" kp="3"/><motor joint="b" gear="1 2 -3"/></actuator>',
)


def test_the_actuation_matrix_is_mujocos(tmp_path: Path) -> None:
    """The matrix has all motors except one on a site, whose force depends on q."""
    (tmp_path / "scene.xml").write_text(MOTORS)
    module = build_module(str(tmp_path / "scene.xml"), functions=("rnea",), cflags=UNOPTIMISED)
    compiled = mj.MjModel.from_xml_path(str(tmp_path / "scene.xml"))
    data = mj.MjData(compiled)
    data.ctrl[:] = (0.3, -1.2, 0.0, 0.7, 2.0)
    data.qpos[0] = 0.4
    mj.mj_forward(compiled, data)
    assert module.actuator_names == ("actuator0", "pull", "actuator3", "actuator4")
    assert_close(module.actuation @ data.actuator_force[[0, 1, 3, 4]], data.qfrc_actuator)
    assert "not in the actuation matrix: their forces on joints depend on q" in " ".join(module.warnings)
    header = Path(str(module.__file__)).with_name("scene.h").read_text()
    assert f"#define SCENE_ACTUATION {{{', '.join(repr(float(x)) for x in module.actuation.flat)}}}" in header


JOINT = body("a", HINGE.format("h") + BOX + '<site name="s"/>')
REFUSED = {
    "tendon's armature": (
        scene(
            JOINT, after='<tendon><fixed name="t" armature="3"><joint joint="h" coef="1"/></fixed></tendon>'
        ),
        'tendon "t" has armature',
    ),
    "armature at a tendon": (
        scene(
            JOINT,
            after='<tendon><fixed name="t"><joint joint="h" coef="1"/></fixed></tendon>'
            '<actuator><motor tendon="t" armature="2"/></actuator>',
        ),
        "does not act on a joint",
    ),
    "free armature": (scene(body("a", f'<joint type="free" armature="1"/>{BOX}')), "along the world's axes"),
    "uneven armature": (
        scene(
            body("a", f'<joint name="b" type="ball"/>{BOX}'),
            after='<actuator><motor joint="b" gear="1 2 3" armature="2"/></actuator>',
        ),
        "different armature along",
    ),
    "flexible": (
        scene('<flexcomp name="f" type="grid" count="2 2 2" spacing=".1 .1 .1" dim="3" mass="1"/>'),
        "flexible bodies",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_supported_is_refused(name: str, tmp_path: Path) -> None:
    text, message = REFUSED[name]
    (tmp_path / "scene.xml").write_text(text)
    with pytest.raises(UnsupportedError, match=message):
        Problem.from_file(tmp_path / "scene.xml")


TENDON = '<tendon><fixed name="t" {}><joint joint="h" coef="1"/></fixed></tendon>'
LEFT_OUT = {
    "spring": (scene(JOINT.replace('ref="30"', 'stiffness="3"')), "1 joint has a spring; rnea does not"),
    "medium": (scene(JOINT, before='<option density="1"/>'), "the medium"),
    "gravcomp": (
        scene(body("a", HINGE.format("h") + BOX).replace("<body ", '<body gravcomp="1" ')),
        "1 bodies have gravcomp",
    ),
    "mocap": (scene(JOINT, '<body mocap="true"/>'), "1 mocap bodies"),
    "tendon": (scene(JOINT, after=TENDON.format('stiffness="3"')), "1 tendons have stiffness"),
    "limit": (scene(JOINT, after=TENDON.format('limited="true" range="0 1"')), "1 tendons have limits"),
    "ball's limit": (
        scene(JOINT, body("b", f'<joint name="b" type="ball" range="0 90"/>{BALL}')),
        "1 ball joints have limits",
    ),
    "tendon that is held": (
        scene(JOINT, after=TENDON.format("") + '<equality><tendon tendon1="t"/></equality>'),
        "1 equality constraints are ignored",
    ),
    "held": (
        scene(JOINT, after='<equality><joint joint1="h"/></equality>'),
        "1 equality constraints are ignored",
    ),
    "inactive": (
        scene(JOINT, after='<equality><weld body1="a" body2="world" active="false"/></equality>'),
        "1 equality constraints are not active",
    ),
    "motor": (scene(JOINT, after='<actuator><motor joint="h"/></actuator>'), "1 actuators"),
    "site of a body's name": (scene(JOINT.replace('"s"', '"a"')), 'its frame is "a_"'),
}


@pytest.mark.parametrize("name", LEFT_OUT)
def test_what_is_left_out_is_named(name: str, tmp_path: Path) -> None:
    """The warnings are those of the default options, and all alike."""
    text, message = LEFT_OUT[name]
    (tmp_path / "scene.xml").write_text(text)
    model = Problem.from_file(tmp_path / "scene.xml")
    assert message in " ".join(note.message for note in model.notes)
    assert not any(model.stiffness)


OTHER_LAWS = {
    "damping": (scene(JOINT.replace('ref="30"', 'damping="1 2"')), "polynomial damping"),
    "springs": (
        scene(body("a", f'<joint name="h" type="ball" stiffness="3"/>{BOX}')),
        "a spring that is not linear in q",
    ),
    "friction": (
        scene(body("a", f'<joint name="h" type="free" frictionloss="3"/>{BOX}')),
        "friction, which MuJoCo applies along the world's axes",
    ),
}


@pytest.mark.parametrize("term", OTHER_LAWS)
def test_drives_by_other_laws_are_left_out_or_refused(term: str, tmp_path: Path) -> None:
    text, what = OTHER_LAWS[term]
    (tmp_path / "scene.xml").write_text(text)
    model = Problem.from_file(tmp_path / "scene.xml")
    assert f"`{term}='include'`" in " ".join(note.message for note in model.notes)
    included: dict[str, Any] = {term: "include"}
    with pytest.raises(UnsupportedError, match=f"joint .h. has {what}.*`{term}='report'`"):
        Problem.from_file(tmp_path / "scene.xml", **included)


def test_friction_is_smooth(tmp_path: Path) -> None:
    """MuJoCo's frictionloss bounds the force, which is zero at rest."""
    (tmp_path / "scene.xml").write_text(scene(JOINT.replace('ref="30"', 'frictionloss=".4"')))
    options: dict[str, Any] = {"friction": "include", "friction_width": 0.1}
    smooth, plain = (Problem.from_file(tmp_path / "scene.xml", **how) for how in (options, {}))
    for speed, share in ((0.0, 0.0), (0.1, 0.5**0.5), (-0.1, -(0.5**0.5)), (1e3, 1.0)):
        force = rnea(smooth, [0.3], [speed], [0.2])[0] - rnea(plain, [0.3], [speed], [0.2])[0]
        assert force == pytest.approx(0.4 * share, abs=1e-8)


def test_gravity_is_the_files(tmp_path: Path) -> None:
    (tmp_path / "scene.xml").write_text(scene(JOINT, before='<option gravity="0 0 -1.62"/>'))
    model = Problem.from_file(tmp_path / "scene.xml")
    assert model.gravity.z == -1.62
    assert "gravity is taken from the description" in " ".join(note.message for note in model.notes)
    moon = Problem.from_file(tmp_path / "scene.xml", gravity=(0.0, 0.0, -1.0))
    assert moon.gravity.z == -1.0
    with pytest.raises(DescriptionError, match="nothing moves"):
        Problem.from_file(tmp_path / "scene.xml", lock=(("h", 0.0),))


def test_what_mujoco_refuses(tmp_path: Path) -> None:
    (tmp_path / "scene.xml").write_text("<mujoco><worldbody><body/><nonsense/></worldbody></mujoco>")
    with pytest.raises(DescriptionError, match="MuJoCo refuses the description"):
        Problem.from_file(tmp_path / "scene.xml")


def test_what_mujoco_says_is_whole(tmp_path: Path) -> None:
    """It names the file last."""
    mesh = tmp_path / "in a folder of meshes with a long name" / "the left side of the hand.stl"
    asset = f'<asset><mesh name="hand" file="{mesh}"/></asset>'
    hand = body("a", '<joint/><geom type="mesh" mesh="hand"/>')
    (tmp_path / "scene.xml").write_text(scene(hand, before=asset))
    with pytest.raises(DescriptionError, match=mesh.name) as refused:
        Problem.from_file(tmp_path / "scene.xml")
    assert "..." not in str(refused.value) and len(str(refused.value).splitlines()) == 1


def test_without_mujoco(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "scene.xml").write_text(SCENES["ball"])
    monkeypatch.setitem(__import__("sys").modules, "mujoco", None)
    with pytest.raises(UnsupportedError, match=r"pip install 'rbdc\[mjcf\]'"):
        Problem.from_file(tmp_path / "scene.xml")
