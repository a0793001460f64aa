"""The model: a validated kinematic tree of moving bodies, numbers only. Every algorithm takes one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from rbdc.model.attachments import Cluster, Contact, Frame, ParameterRow
from rbdc.model.description import Actuator, Description, DriveTerm, Joint, Limits, Link, Note
from rbdc.model.joints import JointType
from rbdc.model.joints.coupling import Coupling, CouplingAt
from rbdc.spatial import Force, Inertia, MomentInertia, Placement, RigidInertia, Scalar, Vector3
from rbdc.spatial.scalars import is_zero, sqrt

if TYPE_CHECKING:
    from os import PathLike

    from rbdc.model.options import ModelOptions

WORLD = -1
"""The parent index of a body that hangs from the fixed world."""

STANDARD_GRAVITY = Vector3(0.0, 0.0, -9.81)


class DryFriction(NamedTuple):
    """A smooth law of dry friction, force v / sqrt((slope v)^2 + width^2) of the velocity v of a joint."""

    force: Scalar
    width: Scalar
    slope: Scalar = 1.0

    def square(self, v: Scalar) -> Scalar:
        """(slope v)^2 + width^2."""
        rate = self.slope * v
        return rate * rate + self.width * self.width

    def at(self, v: Scalar) -> Scalar:
        """The friction."""
        return self.force * v * (1.0 / sqrt(self.square(v)))

    def rate(self, v: Scalar) -> Scalar:
        """Its derivative by v."""
        square = self.square(v)
        return self.force * self.width * self.width * (1.0 / (square * sqrt(square)))


@dataclass(frozen=True)
class Body:
    """One moving body: a link with all that is fixed to it, and the joint that carries it.

    `placement` is the joint's frame in the parent body's frame (or the world's); `inertia` is about the
    origin of the body's frame, which is the frame of link `name`: an `Inertia`, but in a `JointSpaceBody`.
    `index_q`, `index_v` are where its joint's entries begin in q and v; a follower (with `coupling`) has
    those of its leader. `armature` is what the joint's motor adds to its inertia, along each of its
    directions (kg, kg m^2), `damping` viscous, `friction` dry, `stiffness` that of a spring which is at rest
    at the configuration `spring_rest`; `described` is the joint's kind in the description.
    """

    name: str
    joint_name: str
    joint: JointType
    parent: int
    placement: Placement
    inertia: RigidInertia
    limits: Limits
    index_q: int
    index_v: int
    coupling: Coupling | None = None
    damping: Scalar = 0.0
    friction: Scalar = 0.0
    armature: Scalar = 0.0
    stiffness: Scalar = 0.0
    spring_rest: Scalar = 0.0
    described: str = ""

    def placement_at(self, q: Sequence[Scalar]) -> Placement:
        """X_T X_J(q): the body's frame in its parent's at the joint's configuration q."""
        return self.placement.compose(self.joint.placement(q))

    def own_force(self, force: Force) -> Force:
        """A force given in the body's frame, in the frame that `placement_at` places: here the same."""
        return force

    def own_placement(self, placement: Placement) -> Placement:
        """A placement given in the body's frame, in the frame that `placement_at` places: here the same."""
        return placement

    def own_inertia(self, inertia: RigidInertia) -> RigidInertia:
        """An inertia given in the body's frame, as `inertia` has it: here the same."""
        return inertia


class Assembly(NamedTuple):
    """The links and joints that a model was assembled from, and the options that it was given."""

    description: Description
    options: ModelOptions


@dataclass(frozen=True)
class Model:
    """A kinematic tree. Bodies are numbered so that a parent comes before its children (depth first).

    nq, nv: sizes of configuration and velocity (followers of coupled mimic joints have no entries).
    `base_inertia` is that of the links fixed to the world, about the world's origin: it counts for the centre
    of mass and the potential energy only. `resting` is what moving links have that stays where it is whatever
    the joints do, about the world's origin, where regrouping has taken it from them (joint-space models).
    `gravity` in m/s^2. `drive_terms`: what of the joints' drives counts besides armature;
    `friction_width`: the speed (m/s, rad/s) at which dry friction has 0.7 of its full value. `parameters`:
    what functions take at run time. `world_forces`: external forces are given in the world's frame, not in
    those of the bodies. `contacts`: with the world, and closed loops, in the order of their rows;
    `redundant`: some of these rows depend on others in every configuration; `world_aligned`: rows and forces
    of those that hold vectors are along the world's axes, not along those of their frames. `clusters`: joints
    that closed loops bind to one of them. `assembly`: what it was made from, of no account in comparisons.
    """

    name: str
    bodies: tuple[Body, ...]
    frames: tuple[Frame, ...]
    nq: int
    nv: int
    base_inertia: Inertia = field(default_factory=Inertia.zero)
    gravity: Vector3 = STANDARD_GRAVITY
    notes: tuple[Note, ...] = ()
    file: str | None = None
    description_hash: str | None = None
    resting: MomentInertia = field(default_factory=MomentInertia.zero)
    drive_terms: tuple[DriveTerm, ...] = ()
    friction_width: Scalar = 0.01
    parameters: tuple[ParameterRow, ...] = ()
    world_forces: bool = False
    contacts: tuple[Contact, ...] = ()
    redundant: bool = False
    actuators: tuple[Actuator, ...] = ()
    world_aligned: bool = False
    clusters: tuple[Cluster, ...] = ()
    assembly: Assembly | None = field(default=None, compare=False, repr=False)

    def __hash__(self) -> int:
        """The hash of all fields, computed once: functions of a model are looked up for every frame."""
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash(tuple(getattr(self, entry.name) for entry in fields(self) if entry.compare))

    def __getstate__(self) -> dict[str, Any]:
        """Without the hash: those of strings differ between processes."""
        return {name: value for name, value in vars(self).items() if name != "_hash"}

    @staticmethod
    def assemble(name: str, links: Sequence[Link], joints: Sequence[Joint], **options: Any) -> Model:
        """A model built in code from links and joints; the same validation and lumping as for a file.

        Args:
            name: the robot's name.
            links, joints: as a description has them; see `rbdc.model.description`.
            options: root_joint and the others of `rbdc.model.options.ModelOptions`.

        Raises:
            OptionError: there is no such option, or it does not have this value.
            DescriptionError: where the links and joints are not a proper tree with physical inertias.
        """
        from rbdc.model.description import Description
        from rbdc.model.lumping import lump

        return lump(Description(name, tuple(links), tuple(joints)), **options)

    @staticmethod
    def from_file(path: str | PathLike[str], **options: Any) -> Model:
        """The model of a URDF, xacro, MJCF or D-H file, which its content tells; options as in `assemble`.

        Raises DescriptionError with the file, UnsupportedError for what changes the dynamics and is not
        supported.
        """
        from rbdc.model.formats.reading import read_description
        from rbdc.model.lumping import lumped
        from rbdc.model.options import ModelOptions

        given = ModelOptions.of(options)
        return lumped(read_description(path, given), given)

    @staticmethod
    def from_text(text: str, **options: Any) -> Model:
        """The model of a description given as text, of any format that `from_file` reads; arguments and
        errors as there.
        """
        from rbdc.model.formats.reading import read_text
        from rbdc.model.lumping import lumped
        from rbdc.model.options import ModelOptions

        given = ModelOptions.of(options)
        return lumped(read_text(text, given), given)

    @staticmethod
    def from_urdf(path: str | PathLike[str], **options: Any) -> Model:
        """The model of a URDF file; `from_file` under the name of the usual format."""
        return Model.from_file(path, **options)

    @property
    def place(self) -> str:
        """The beginning of a message about it: its file, or the name it was given in code."""
        return self.name if self.file is None else self.file

    @property
    def warnings(self) -> list[str]:
        """The notes as messages, each with its place."""
        return [self.located(note) for note in self.notes]

    def located(self, note: Note) -> str:
        """The message of a note with its place."""
        line = "" if note.line is None else f":{note.line}"
        return f"{self.place}{line}: {note.message}"

    @property
    def armature(self) -> list[Scalar]:
        """Inertia that motors add to the diagonal of M (nv); a follower's counts by the square of its
        multiplier.
        """
        return self._along_joints([body.armature for body in self.bodies])

    @property
    def damping(self) -> list[Scalar]:
        """The viscous damping that counts (nv), a follower's like its armature."""
        return self._along_joints(self._counting(DriveTerm.DAMPING, "damping"))

    @property
    def friction(self) -> list[list[DryFriction]]:
        """The dry friction that counts, for each direction of v: of a joint, and of each that follows it."""
        terms: list[list[DryFriction]] = [[] for _ in range(self.nv)]
        numbers, curves = self._counting(DriveTerm.FRICTION, "friction"), self.curves
        for index, (body, number) in enumerate(zip(self.bodies, numbers, strict=True)):
            slope = 1.0 if body.coupling is None else body.coupling.multiplier
            if is_zero(number) or (is_zero(slope) and index not in curves):
                continue
            if index in curves:
                term = DryFriction(slope * slope * number, self.friction_width, slope)
            else:
                factor = sqrt(slope * slope)
                term = DryFriction(factor * number, self.friction_width / factor)
            for k in range(body.index_v, body.index_v + body.joint.nv):
                terms[k].append(term)
        return terms

    @property
    def stiffness(self) -> list[Scalar]:
        """The stiffness of springs that count (nv; N/m, N m/rad), a follower's like its armature."""
        return self._along_joints(self._counting(DriveTerm.SPRINGS, "stiffness"))

    @property
    def preload(self) -> list[Scalar]:
        """The forces of these springs where all coordinates are zero (nv; N, N m)."""
        forces: list[Scalar] = []
        for body, stiffness in zip(self.bodies, self._counting(DriveTerm.SPRINGS, "stiffness"), strict=True):
            at_zero = 0.0 if body.coupling is None else body.coupling.offset
            forces.append(0.0 if is_zero(stiffness) else stiffness * (at_zero - body.spring_rest))
        return self._along_joints(forces, squared=False)

    @property
    def only_damped(self) -> bool:
        """Whether armature and damping are all that counts of drives: no springs, no dry friction."""
        return not any(self.stiffness) and not any(self.friction)

    def _counting(self, term: DriveTerm, name: str) -> list[Scalar]:
        """A number of each joint's drive; zeros unless its term counts."""
        return [getattr(body, name) if term in self.drive_terms else 0.0 for body in self.bodies]

    def _along_joints(self, numbers: Sequence[Scalar], *, squared: bool = True) -> list[Scalar]:
        """Numbers of joints along v, a follower's times its multiplier, as a rule `squared`: along a curve
        only of a model at one configuration.
        """
        total, curves = [0.0] * self.nv, self.curves
        for index, (body, number) in enumerate(zip(self.bodies, numbers, strict=True)):
            if index in curves and not isinstance(body.coupling, CouplingAt):
                continue
            if body.coupling is not None:
                slope = body.coupling.multiplier
                number = (slope * slope if squared else slope) * number
            for k in range(body.index_v, body.index_v + body.joint.nv):
                total[k] = total[k] + number
        return total

    @property
    def actuation(self) -> list[list[float]]:
        """B (nv, number of `actuators`) of tau = B u, u the forces of motors; what acts on a follower acts on
        its leader by the multiplier.
        """
        bodies = {body.joint_name: body for body in self.bodies}
        matrix = [[0.0] * len(self.actuators) for _ in range(self.nv)]
        for column, actuator in enumerate(self.actuators):
            for joint, direction, gain in actuator.gains:
                body = bodies[joint]
                factor = 1.0 if body.coupling is None else body.coupling.multiplier
                matrix[body.index_v + direction][column] += factor * gain
        return matrix

    def of_inertia(self) -> Self:
        """The model without gravity and the forces of drives: its inverse dynamics at rest is M a."""
        return replace(self, gravity=Vector3.zero(), drive_terms=())

    @property
    def njoints(self) -> int:
        """Number of moving bodies, each carried by one joint; followers of coupled mimic joints included."""
        return len(self.bodies)

    @property
    def coupled(self) -> bool:
        """Whether any joint follows another."""
        return any(body.coupling is not None for body in self.bodies)

    @property
    def curves(self) -> dict[int, Coupling]:
        """The bodies whose joints follow others along curves, with the polynomials (clusters start there)."""
        clustered = {k for cluster in self.clusters for k in cluster.followers}
        found = {}
        for index, body in enumerate(self.bodies):
            coupling = body.coupling
            if coupling is not None and (coupling.higher or index in clustered):
                law = coupling.law if isinstance(coupling, CouplingAt) else None
                found[index] = law or coupling
        return found

    def children(self, index: int) -> list[int]:
        """The bodies carried by body `index` (or by the world)."""
        return [k for k, body in enumerate(self.bodies) if body.parent == index]

    def support(self, index: int) -> list[int]:
        """The bodies from the root to `index`, itself included."""
        chain: list[int] = []
        while index != WORLD:
            chain.append(index)
            index = self.bodies[index].parent
        return chain[::-1]

    def q_slice(self, index: int) -> slice:
        """The entries of q that are the configuration of body `index` (a follower: its leader's)."""
        body = self.bodies[index]
        return slice(body.index_q, body.index_q + body.joint.nq)

    def v_slice(self, index: int) -> slice:
        """The entries of v that are the velocity of body `index` (a follower: its leader's)."""
        body = self.bodies[index]
        return slice(body.index_v, body.index_v + body.joint.nv)

    def neutral(self) -> list[float]:
        """The neutral configuration (nq), zero for each angle and position, identity for each quaternion."""
        q = [0.0] * self.nq
        for index, body in enumerate(self.bodies):
            if body.coupling is None:
                q[self.q_slice(index)] = body.joint.neutral()
        return q

    def draws(self) -> list[tuple[str, int]]:
        """How to draw a configuration: words of `rbdc.model.joints.base.SAMPLINGS`, each with the first of
        the entries of q that it draws.
        """
        return [
            (way, body.index_q + place)
            for body in self.bodies
            if body.coupling is None
            for way, place in body.joint.draws()
        ]
