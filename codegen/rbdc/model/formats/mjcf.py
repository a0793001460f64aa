"""Reading of MJCF. MuJoCo's compiler resolves defaults, inertias from geoms and the like.

A body with several joints becomes as many links; all but the last have no mass. In MuJoCo joint k turns about
the point pos_k of the body's frame, which the earlier joints have moved, by its coordinate qpos_k less ref_k.
With T a translation, J_k the motion of joint k, and X_body the described pose of the body in its parent, the
body's pose is

    X = X_body  prod_k  T(pos_k) J_k(-ref_k) J_k(qpos_k) T(-pos_k)

A free joint replaces X_body. So q equals qpos, except for the order of the entries of quaternions.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NoReturn

from rbdc.errors import UnsupportedError
from rbdc.model.description import Description, DriveTerm, Joint, Limits, Link, Loop, Mimic, Note
from rbdc.model.formats import mjcf_elements as elements
from rbdc.model.formats.mjcf_compiler import CompiledModel
from rbdc.model.formats.mjcf_compiler import compiled as compiled_by_mujoco
from rbdc.model.formats.mjcf_elements import BALL, CONNECT, FREE, HINGE, SLIDE
from rbdc.model.joints.coupling import composed, trimmed
from rbdc.model.rearranged import snapped
from rbdc.model.text import UNNAMED
from rbdc.model.xml import Document, free_name, shown
from rbdc.spatial import Inertia, Placement, Rotation, Symmetric3, Vector3

_KINDS = {FREE: "floating", BALL: "spherical", SLIDE: "prismatic", HINGE: "revolute"}

_SITE = 6
"""MuJoCo's code of the object type "site"."""

_EVEN = 1e-12
"""Largest difference between numbers of a joint (one for each direction) that count as equal, relative to the
largest number.
"""

WORLD_LINK = "world"
"""MuJoCo's name of the body 0."""


def read_mjcf(document: Document, snap: float) -> Description:
    """Return the links and joints of an MJCF file; `snap` as in `read_description`.

    Raises:
        DescriptionError: MuJoCo refuses the file.
        UnsupportedError: an element changes the dynamics and is not supported, or MuJoCo is not installed.
    """
    compilation = compiled_by_mujoco(document)
    compiled = compilation.model
    elements.refuse(compiled, document.file)
    reader = _MjcfReader(compilation, document.file, snap)
    links, joints = reader.tree()
    notes = [*document.notes, *compilation.notes, *elements.left_out(compiled), *map(Note, reader.renamed)]
    x, y, z = (0.0 if elements.disabled(compiled, "GRAVITY") else float(x) for x in compiled.opt.gravity)
    return Description(
        document.root.get("model") or UNNAMED,
        tuple(links),
        tuple(joints),
        tuple(notes),
        document.file,
        hashlib.sha256(document.text).hexdigest(),
        gravity=(x, y, z),
        in_order=True,
        loops=tuple(reader.loops()),
        actuators=tuple(elements.actuators(compiled, reader.joint_names)),
        snapped=snap,
    )


class _MjcfReader:
    def __init__(self, compilation: CompiledModel, file: str, snap: float) -> None:
        self.m, self.file, self.snap = compilation.model, file, snap
        self.joint_lines, self.body_lines = compilation.joint_lines, compilation.body_lines
        compiled = compilation.model
        self.taken: set[str] = set()
        self.renamed: list[str] = []
        self.joint_names = [self._unique(compiled.joint(j).name, f"joint{j}") for j in range(compiled.njnt)]
        self.taken = set()
        self.body_names = [
            self._unique(compiled.body(b).name, f"body{b}" if b else WORLD_LINK)
            for b in range(compiled.nbody)
        ]

    def _unique(self, name: str, otherwise: str) -> str:

        name = free_name(name or otherwise, self.taken)
        self.taken.add(name)
        return name

    def tree(self) -> tuple[list[Link], list[Joint]]:
        """Return the links and joints, bodies in MuJoCo's order."""
        links, joints = [Link(WORLD_LINK, self._inertia(0))], list[Joint]()
        for body in range(self.m.nbody):
            above = self.body_names[int(self.m.body_parentid[body])]
            for joint, link in (*(self._chain(body, above) if body else ()), *self._sites(body)):
                joints.append(joint)
                links.append(link)
        return links, self._coupled(joints)

    def _chain(self, body: int, above: str) -> Iterator[tuple[Joint, Link]]:
        """Yield the joints of a body with the links that they carry. The last link is the body's own."""
        name = self.body_names[body]
        link = Link(name, self._inertia(body), self.body_lines.get(body))
        first, count = int(self.m.body_jntadr[body]), int(self.m.body_jntnum[body])
        at = _pose(self.m.body_pos[body], self.m.body_quat[body])
        at = Placement(snapped(at.rotation, self.snap), at.translation)
        for j in range(first, first + count):
            at = Placement.identity() if int(self.m.jnt_type[j]) == FREE else at
            here = _vector(self.m.jnt_pos[j])
            joint = self._joint(j, above, at)
            at = Placement(Rotation.identity(), -here)
            if j == first + count - 1 and not any(here.scalars()):
                yield replace(joint, child=name), link
                return
            above = self._unique(f"{name}:{self.joint_names[j]}", "")
            yield replace(joint, child=above), Link(above)
        yield Joint(free_name(f"{name}:fixed", self.joint_names), "fixed", above, name, at), link

    def _sites(self, body: int) -> Iterator[tuple[Joint, Link]]:
        """Yield the sites of a body as links without mass, fixed to it. A site with the name of a link gets
        underscores.
        """
        for number in range(self.m.nsite):
            if int(self.m.site_bodyid[number]) == body:
                written = self.m.site(number).name
                name = self._unique(written, f"site{number}")
                if written and name != written:
                    told = f'site "{shown(written)}" has the name of a body or a link'
                    self.renamed.append(f'{told}: its frame is "{shown(name)}"')
                place = _pose(self.m.site_pos[number], self.m.site_quat[number])
                fixed = free_name(f"{name}:fixed", self.joint_names)
                yield Joint(fixed, "fixed", self.body_names[body], name, place), Link(name)

    def _joint(self, j: int, above: str, at: Placement) -> Joint:
        """Return a joint of MuJoCo. `at` is the body's frame, as the earlier joints have moved it, in the
        link `above`.
        """
        kind = int(self.m.jnt_type[j])
        axis, ref = _vector(self.m.jnt_axis[j]), float(self.m.joint(j).qpos0[0])
        place = Placement.identity()
        if kind != FREE:
            place = at.compose(Placement(Rotation.identity(), _vector(self.m.jnt_pos[j])))
        drive = self._drive(j, kind)
        joint = Joint(self.joint_names[j], _KINDS[kind], above, "", place, axis, self._limits(j), **drive)
        joint = replace(joint, line=self.joint_lines.get(j))
        if kind in (SLIDE, HINGE) and ref != 0.0:
            joint = replace(joint, placement=place.compose(joint.joint_type().placement([-ref])))
        return joint

    def _drive(self, j: int, kind: int) -> dict[str, Any]:
        """Return the numbers of a joint's drive by the field names of `Joint`."""
        armature, damping = self._summed(j, "armature"), self._summed(j, "damping")
        friction = (
            0.0
            if elements.disabled(self.m, "FRICTIONLOSS", "CONSTRAINT")
            else float(self.m.joint(j).frictionloss[0])
        )
        if elements.disabled(self.m, "DAMPER"):
            damping = [0.0] * len(damping)
        others = list(self._other_drives(j, kind, damping, friction))
        named = {term for term, _ in others}
        if max(armature) - min(armature) > _EVEN * max(map(abs, armature)):
            remedy = "give it one armature along all directions"
            self._unsupported(j, f"has a different armature along each direction: {armature}", remedy)
        if kind == FREE and armature[0] != 0.0:
            problem = "has armature, which MuJoCo applies along the world's axes"
            self._unsupported(j, f"is free and {problem}", "set armature=0 there, or use <freejoint/>")
        sprung = DriveTerm.SPRINGS not in named and not elements.disabled(self.m, "SPRING")
        stiffness = float(self.m.jnt_stiffness[j]) if sprung else 0.0
        return {
            "armature": armature[0],
            "damping": 0.0 if DriveTerm.DAMPING in named else damping[0],
            "friction": 0.0 if DriveTerm.FRICTION in named else friction,
            "stiffness": stiffness,
            "spring_rest": float(self.m.joint(j).qpos_spring[0]) if stiffness else 0.0,
            "other_drives": tuple(others),
        }

    def _other_drives(
        self, j: int, kind: int, damping: list[float], friction: float
    ) -> Iterator[tuple[DriveTerm, str]]:
        """Yield the terms of a joint's drive whose laws no function has, with descriptions."""
        dof = int(self.m.jnt_dofadr[j])
        if self.m.dof_dampingpoly[dof].any() and not elements.disabled(self.m, "DAMPER"):
            yield DriveTerm.DAMPING, "polynomial damping"
        elif max(damping) - min(damping) > _EVEN * max(map(abs, damping)):
            yield DriveTerm.DAMPING, f"damping that differs by direction: {damping}"
        if elements.disabled(self.m, "SPRING"):
            pass
        elif self.m.jnt_stiffnesspoly[j].any():
            yield DriveTerm.SPRINGS, "a polynomial spring"
        elif self.m.jnt_stiffness[j] and self.m.jnt_springyield[j]:
            yield DriveTerm.SPRINGS, "a spring that yields"
        elif self.m.jnt_stiffness[j] and kind in (FREE, BALL):
            yield DriveTerm.SPRINGS, "a spring that is not linear in q, as on every free or ball joint"
        if friction and kind == FREE:
            yield DriveTerm.FRICTION, "friction, which MuJoCo applies along the world's axes"

    def _summed(self, j: int, what: str) -> list[float]:
        """Return `what` (armature or damping) of a joint along its directions, plus `what` of its actuators
        times the squares of their gears.
        """
        values = [float(x) for x in getattr(self.m.joint(j), what)]
        for actuator in range(elements.actuator_count(self.m)):
            if elements.acts_on_joint(self.m, actuator) and int(self.m.actuator_trnid[actuator][0]) == j:
                of_actuator = float(getattr(self.m, f"actuator_{what}")[actuator])
                gear = map(float, self.m.actuator_gear[actuator])  # six numbers for every joint
                values = [value + of_actuator * g * g for value, g in zip(values, gear, strict=False)]
        return values

    def _unsupported(self, j: int, problem: str, remedy: str) -> NoReturn:
        line = self.joint_lines.get(j)
        place = self.file if line is None else f"{self.file}:{line}"
        raise UnsupportedError(f'{place}: joint "{shown(self.joint_names[j])}" {problem}; {remedy}')

    def _limits(self, j: int) -> Limits:
        lower, upper, effort = -math.inf, math.inf, math.inf
        if self.m.jnt_limited[j] and int(self.m.jnt_type[j]) in (SLIDE, HINGE):
            lower, upper = (float(x) for x in self.m.jnt_range[j])
        if self.m.jnt_actfrclimited[j]:
            effort = max(abs(float(x)) for x in self.m.jnt_actfrcrange[j])
        return Limits(lower, upper, effort=effort)

    def _inertia(self, body: int) -> Inertia | None:
        mass, moments = float(self.m.body_mass[body]), [float(x) for x in self.m.body_inertia[body]]
        if mass == 0.0 and not any(moments):
            return None
        pose = _pose(self.m.body_ipos[body], self.m.body_iquat[body])
        xx, yy, zz = moments
        about = pose.rotation.rotate_symmetric(Symmetric3(xx, 0.0, yy, 0.0, 0.0, zz))
        return Inertia.about_com(mass, pose.translation, about)

    def _coupled(self, joints: list[Joint]) -> list[Joint]:
        """Return the joints; joints that equality constraints bind to others become mimic joints: q1 - ref1 =
        c0 + c1 (q2 - ref2) + c2 (q2 - ref2)^2 + ...
        """
        mimics: dict[str, Mimic] = {}
        for e in range(self.m.neq):
            if not elements.is_mimic(self.m, e):
                continue
            follower, leader = int(self.m.eq_obj1id[e]), int(self.m.eq_obj2id[e])
            home, other = (float(self.m.joint(j).qpos0[0]) for j in (follower, leader))
            curve = composed(trimmed([float(x) for x in self.m.eq_data[e][:5]]), [-other, 1.0])
            offset, multiplier, *higher = curve
            mimics[self.joint_names[follower]] = Mimic(
                self.joint_names[leader], multiplier, home + offset, tuple(higher)
            )
        return [replace(joint, mimic=mimics.get(joint.name)) for joint in joints]

    def loops(self) -> list[Loop]:
        """Return the equality constraints of bodies and of sites as loops. The side that moves comes
        first.
        """
        loops = []
        for e in range(self.m.neq):
            if not elements.closes_loop(self.m, e):
                continue
            name = self._unique(self.m.equality(e).name, f"equality{e}")
            sides = [self._side(e, side) for side in (0, 1)]
            if sides[0][0] == WORLD_LINK:
                sides.reverse()
            kind = "point" if int(self.m.eq_type[e]) == CONNECT else "weld"
            loops.append(Loop(name, kind, sides[0], sides[1]))
        return loops

    def _side(self, e: int, side: int) -> tuple[str, Placement]:
        """Return the link and the frame of one side: a site, or a frame in the compiled data. A weld stores
        the point of the second body first, then the second body's frame in the first's.
        """
        number, data = int((self.m.eq_obj1id, self.m.eq_obj2id)[side][e]), self.m.eq_data[e]
        if int(self.m.eq_objtype[e]) == _SITE:
            body = int(self.m.site_bodyid[number])
            return self.body_names[body], _pose(self.m.site_pos[number], self.m.site_quat[number])
        if int(self.m.eq_type[e]) == CONNECT:
            frame = Placement(Rotation.identity(), _vector(data[3 * side : 3 * side + 3]))
        elif side == 0:
            frame = _pose(data[3:6], data[6:10])
        else:
            frame = Placement(Rotation.identity(), _vector(data[:3]))
        return self.body_names[number], frame


def _vector(values: Any) -> Vector3:
    return Vector3.of([float(x) for x in values])


def _pose(position: Any, quaternion: Any) -> Placement:
    """Return a pose from MuJoCo, which stores the real part of quaternions first."""
    w, x, y, z = (float(value) for value in quaternion)
    size = math.sqrt(w * w + x * x + y * y + z * z)
    return Placement(Rotation.from_quaternion(x / size, y / size, z / size, w / size), _vector(position))
