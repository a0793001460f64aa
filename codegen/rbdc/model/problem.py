"""A build's request about a robot. Recursions take one, passes of `rbdc.reduction` make one of another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, NamedTuple, Self

from rbdc.model.bodies import Cluster, Contact, ParameterRow
from rbdc.model.description import Description, DriveTerm
from rbdc.model.joints.coupling import Coupling, CouplingAt
from rbdc.model.tree import Model
from rbdc.spatial import Scalar, Vector3
from rbdc.spatial.scalars import is_zero, sqrt

if TYPE_CHECKING:
    from rbdc.model.options import ModelOptions


class DryFriction(NamedTuple):
    """A smooth law of dry friction, force v / sqrt((slope v)^2 + width^2) of the velocity v of a joint."""

    force: Scalar
    width: Scalar
    slope: Scalar = 1.0

    def square(self, v: Scalar) -> Scalar:
        """Return (slope v)^2 + width^2."""
        rate = self.slope * v
        return rate * rate + self.width * self.width

    def at(self, v: Scalar) -> Scalar:
        """Return the friction."""
        return self.force * v * (1.0 / sqrt(self.square(v)))

    def rate(self, v: Scalar) -> Scalar:
        """Return its derivative by v."""
        square = self.square(v)
        return self.force * self.width * self.width * (1.0 / (square * sqrt(square)))


@dataclass(frozen=True)
class Problem(Model):
    """A robot, and what is asked of it.

    `drive_terms`: what of the joints' drives counts besides armature; `friction_width`: the speed (m/s,
    rad/s) at which dry friction has 0.7 of its full value. `parameters`: what functions take at run time.
    `world_forces`: external forces are given in the world's frame, not in those of the bodies. `contacts`:
    with the world, and closed loops, in the order of their rows; `redundant`: some of these rows depend on
    others in every configuration; `world_aligned`: rows and forces of those that hold vectors are along the
    world's axes, not along those of their frames. `clusters`: joints that closed loops bind to one of them.
    """

    drive_terms: tuple[DriveTerm, ...] = ()
    friction_width: Scalar = 0.01
    parameters: tuple[ParameterRow, ...] = ()
    world_forces: bool = False
    contacts: tuple[Contact, ...] = ()
    redundant: bool = False
    world_aligned: bool = False
    clusters: tuple[Cluster, ...] = ()

    __hash__ = Model.__hash__

    @classmethod
    def of(cls, model: Model) -> Self:
        """Return the problem that a model poses by itself: its loops are held, drives count as its options
        say, and nothing more is asked. A problem is given back as it is.
        """
        if isinstance(model, cls):
            return model
        robot = {f.name: getattr(model, f.name) for f in fields(Model)}
        made = cls(**robot, contacts=model.loops)
        if model.assembly is None:
            return made
        options = model.assembly.options
        return replace(made, drive_terms=options.drive_terms, friction_width=options.friction_width)

    @classmethod
    def of_description(cls, description: Description, options: ModelOptions) -> Self:
        """Return the problem of the model of links and joints under some options."""
        return cls.of(Model.of_description(description, options))

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
        """Return a number of each joint's drive; zeros unless its term counts."""
        return [getattr(body, name) if term in self.drive_terms else 0.0 for body in self.bodies]

    def _along_joints(self, numbers: Sequence[Scalar], *, squared: bool = True) -> list[Scalar]:
        """Return numbers of joints along v, a follower's times its multiplier, as a rule `squared`: along a
        curve only of a model at one configuration.
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

    def of_inertia(self) -> Self:
        """Return the model without gravity and the forces of drives: its inverse dynamics at rest is M a."""
        return replace(self, gravity=Vector3.zero(), drive_terms=())

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
