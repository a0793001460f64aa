"""The model: a validated kinematic tree of moving bodies; it holds numbers only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from rbdc.model.bodies import WORLD, Body, Contact, Frame
from rbdc.model.description import STANDARD_GRAVITY, Actuator, Description, Joint, Link, Note
from rbdc.spatial import Inertia, Scalar, Vector3

if TYPE_CHECKING:
    from rbdc.model.options import ModelOptions


class Assembly(NamedTuple):
    """The links and joints that a model was assembled from, and its options."""

    description: Description
    options: ModelOptions


@dataclass(frozen=True)
class Model:
    """A kinematic tree. Bodies are numbered so that a parent comes before its children (depth first).

    name: name of the robot.
    bodies: moving bodies.
    frames: frames of all links.
    nq, nv: sizes of configuration and velocity; coupled mimic joints (followers) have no entries.
    base_inertia: inertia of the links fixed to the world, about the world's origin. This inertia counts only
        in the centre of mass and the potential energy.
    gravity: gravity (m/s^2).
    notes: warnings.
    file, description_hash: path of the description, and SHA-256 of its text.
    loops: closed loops of the description.
    actuators: motors.
    assembly: links, joints and options that the model was assembled from; ignored in comparisons.
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
    loops: tuple[Contact, ...] = ()
    actuators: tuple[Actuator, ...] = ()
    assembly: Assembly | None = field(default=None, compare=False, repr=False)

    def __hash__(self) -> int:
        """Return the hash of all fields. It is computed once, because functions of a model are looked up for
        every frame.
        """
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash(tuple(getattr(self, entry.name) for entry in fields(self) if entry.compare))

    def __getstate__(self) -> dict[str, Any]:
        """Leave the hash out: hashes of strings differ between processes."""
        return {name: value for name, value in vars(self).items() if name != "_hash"}

    @classmethod
    def assemble(cls, name: str, links: Sequence[Link], joints: Sequence[Joint], **options: Any) -> Self:
        """Build a model in code from links and joints, with the same validation and lumping as for a file.

        Args:
            name: the robot's name.
            links, joints: as a description has them; see `rbdc.model.description`.
            options: root_joint and the other options of `rbdc.model.options.ModelOptions`.

        Raises:
            OptionError: an option does not exist or does not accept this value.
            DescriptionError: the links and joints are not a tree with physical inertias.
        """
        from rbdc.model.options import ModelOptions

        values = ModelOptions.of(options)
        return cls.of_description(Description(name, tuple(links), tuple(joints)), values)

    @classmethod
    def from_file(cls, path: str | PathLike[str], **options: Any) -> Self:
        """Read a URDF, xacro, MJCF or D-H file and return its model. The content tells the format; options as
        in `assemble`.

        Raises:
            DescriptionError: the file is malformed.
            UnsupportedError: an element changes the dynamics and is not supported.
        """
        from rbdc.model.formats.reading import read_description
        from rbdc.model.options import ModelOptions

        values = ModelOptions.of(options)
        return cls.of_description(read_description(path, values), values)

    @classmethod
    def from_text(cls, text: str, **options: Any) -> Self:
        """Read a description that is passed as text, in any format of `from_file`, and return its model;
        arguments and errors as in `from_file`.
        """
        from rbdc.model.formats.reading import read_text
        from rbdc.model.options import ModelOptions

        values = ModelOptions.of(options)
        return cls.of_description(read_text(text, values), values)

    @classmethod
    def from_urdf(cls, path: str | PathLike[str], **options: Any) -> Self:
        """Read a URDF file and return its model; same as `from_file`."""
        return cls.from_file(path, **options)

    @classmethod
    def of_description(cls, description: Description, options: ModelOptions) -> Self:
        """Return the model of links and joints under options; errors as of `assemble`."""
        from rbdc.model.lumping import lumped

        return cls(**lumped(description, options), assembly=Assembly(description, options))

    @property
    def place(self) -> str:
        """The beginning of messages about the model: its file, or its name if it was built in code."""
        return self.name if self.file is None else self.file

    @property
    def warnings(self) -> list[str]:
        """The notes as messages with their places."""
        return [self.located(note) for note in self.notes]

    def located(self, note: Note) -> str:
        """Return the message of a note with its place."""
        line = "" if note.line is None else f":{note.line}"
        return f"{self.place}{line}: {note.message}"

    @property
    def moving_mass(self) -> Scalar:
        """The mass of all bodies (kg), without the links fixed to the world."""
        return sum((body.inertia.mass for body in self.bodies), 0.0)

    @property
    def actuation(self) -> list[list[float]]:
        """The matrix B (nv, number of `actuators`) in tau = B u, with u the forces of motors. The force of a
        motor on a follower, times the follower's multiplier, acts on the leader.
        """
        bodies = {body.joint_name: body for body in self.bodies}
        matrix = [[0.0] * len(self.actuators) for _ in range(self.nv)]
        for column, actuator in enumerate(self.actuators):
            for joint, direction, gain in actuator.gains:
                body = bodies[joint]
                factor = 1.0 if body.coupling is None else body.coupling.multiplier
                matrix[body.index_v + direction][column] += factor * gain
        return matrix

    @property
    def njoints(self) -> int:
        """Number of moving bodies, each carried by one joint; coupled mimic joints are included."""
        return len(self.bodies)

    @property
    def coupled(self) -> bool:
        """Whether any joint follows another."""
        return any(body.coupling is not None for body in self.bodies)

    def children(self, index: int) -> list[int]:
        """Return the indices of the bodies that body `index` (or the world) carries."""
        return [k for k, body in enumerate(self.bodies) if body.parent == index]

    def support(self, index: int) -> list[int]:
        """Return the indices of the bodies from the root to body `index`, both included."""
        chain: list[int] = []
        while index != WORLD:
            chain.append(index)
            index = self.bodies[index].parent
        return chain[::-1]

    def q_slice(self, index: int) -> slice:
        """Return the entries of q that belong to body `index` (a follower: its leader's)."""
        body = self.bodies[index]
        return slice(body.index_q, body.index_q + body.joint.nq)

    def v_slice(self, index: int) -> slice:
        """Return the entries of v that belong to body `index` (a follower: its leader's)."""
        body = self.bodies[index]
        return slice(body.index_v, body.index_v + body.joint.nv)

    def neutral(self) -> list[float]:
        """Return the neutral configuration (nq): zero for angles and positions, the identity for
        quaternions.
        """
        q = [0.0] * self.nq
        for index, body in enumerate(self.bodies):
            if body.coupling is None:
                q[self.q_slice(index)] = body.joint.neutral()
        return q

    def draws(self) -> list[tuple[str, int]]:
        """Return how to draw a configuration: words of `rbdc.model.joints.base.SAMPLINGS`, each with the
        index of the first entry of q that it draws.
        """
        return [
            (way, body.index_q + place)
            for body in self.bodies
            if body.coupling is None
            for way, place in body.joint.draws()
        ]
