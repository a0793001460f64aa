"""Problems: a robot model with the requests of a build, such as contacts. Recursions take a problem; passes
of `rbdc.reduction` map one problem to another.
"""

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
    from rbdc.model.options import Integrator, ModelOptions, RegressorPart


class DryFriction(NamedTuple):
    """Smooth law of dry friction: force v / sqrt((slope v)^2 + width^2), with v the velocity of a joint.

    force: friction at full speed (N, N m).
    width: speed at which the friction has 0.7 of this force (m/s, rad/s).
    slope: factor of the velocity: 1, or the multiplier of a mimic joint along a curve.
    """

    force: Scalar
    width: Scalar
    slope: Scalar = 1.0

    def square(self, v: Scalar) -> Scalar:
        """Return (slope v)^2 + width^2."""
        rate = self.slope * v
        return rate * rate + self.width * self.width

    def at(self, v: Scalar) -> Scalar:
        """Return the friction at velocity v."""
        return self.force * v * (1.0 / sqrt(self.square(v)))

    def rate(self, v: Scalar) -> Scalar:
        """Return the derivative of the friction with respect to v."""
        square = self.square(v)
        return self.force * self.width * self.width * (1.0 / (square * sqrt(square)))


@dataclass(frozen=True)
class Problem(Model):
    """A robot model and the requests of a build.

    drive_terms: forces of joint drives, besides armature, in the dynamics.
    friction_width: speed at which dry friction has 0.7 of its full value (m/s, rad/s).
    parameters: inertial parameters that functions take at run time.
    world_forces: whether external forces are expressed in the world's frame instead of the bodies' frames.
    contacts: contacts with the world and closed loops, in the order of their rows.
    redundant: whether some rows of the contacts are redundant in every configuration.
    world_aligned: whether rows and forces of contacts with `Contact.whole` are along the world's axes instead
        of the axes of their frames.
    clusters: joints that closed loops bind to one coordinate.
    integrator: integrator of time steps.
    regressor: groups of columns of the torque regressor.
    time_order: highest order of time derivatives along a motion.
    """

    drive_terms: tuple[DriveTerm, ...] = ()
    friction_width: Scalar = 0.01
    parameters: tuple[ParameterRow, ...] = ()
    world_forces: bool = False
    contacts: tuple[Contact, ...] = ()
    redundant: bool = False
    world_aligned: bool = False
    clusters: tuple[Cluster, ...] = ()
    integrator: Integrator = "semi-implicit"
    regressor: tuple[RegressorPart, ...] = ("links",)
    time_order: int = 2

    __hash__ = Model.__hash__

    @classmethod
    def of(cls, model: Model) -> Self:
        """Return the problem of a model: loops are constraints, drives follow the model's options, and
        nothing else is requested. A problem is returned unchanged.
        """
        if isinstance(model, cls):
            return model
        robot = {f.name: getattr(model, f.name) for f in fields(Model)}
        problem = cls(**robot, contacts=model.loops)
        if model.assembly is None:
            return problem
        options = model.assembly.options
        return replace(problem, drive_terms=options.drive_terms, friction_width=options.friction_width)

    @classmethod
    def of_description(cls, description: Description, options: ModelOptions) -> Self:
        """Return the problem of the model of links and joints under some options."""
        return cls.of(Model.of_description(description, options))

    @property
    def armature(self) -> list[Scalar]:
        """Inertia that motors add to the diagonal of M (nv). The armature of a follower (coupled mimic joint)
        is multiplied by the square of its multiplier.
        """
        return self._along_joints([body.armature for body in self.bodies])

    @property
    def damping(self) -> list[Scalar]:
        """Viscous damping in the dynamics (nv); a follower's damping is mapped like its armature."""
        return self._along_joints(self._counting(DriveTerm.DAMPING, "damping"))

    @property
    def friction(self) -> list[list[DryFriction]]:
        """Dry friction in the dynamics: for each direction of v, the law of its joint, and the laws of the
        joints that follow this joint.
        """
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
        """Stiffness of springs in the dynamics (nv; N/m, N m/rad); a follower's stiffness is mapped like its
        armature.
        """
        return self._along_joints(self._counting(DriveTerm.SPRINGS, "stiffness"))

    @property
    def preload(self) -> list[Scalar]:
        """Forces of the springs at zero coordinates (nv; N, N m)."""
        forces: list[Scalar] = []
        for body, stiffness in zip(self.bodies, self._counting(DriveTerm.SPRINGS, "stiffness"), strict=True):
            at_zero = 0.0 if body.coupling is None else body.coupling.offset
            forces.append(0.0 if is_zero(stiffness) else stiffness * (at_zero - body.spring_rest))
        return self._along_joints(forces, squared=False)

    @property
    def only_damped(self) -> bool:
        """Whether armature and damping are the only terms of drives: no springs, no dry friction."""
        return not any(self.stiffness) and not any(self.friction)

    def _counting(self, term: DriveTerm, name: str) -> list[Scalar]:
        """Return the field `name` of each body; zeros unless `term` is in the dynamics."""
        return [getattr(body, name) if term in self.drive_terms else 0.0 for body in self.bodies]

    def _along_joints(self, numbers: Sequence[Scalar], *, squared: bool = True) -> list[Scalar]:
        """Sum numbers of joints over the directions of v (nv). A follower's number is multiplied by its
        multiplier, `squared` or not. Joints that follow along curves are skipped, except in a model at one
        configuration (`CouplingAt`).
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
        """Polynomials of joints that follow others along curves (not linearly), by index of the body. In
        clusters the polynomials give only initial values of Newton steps.
        """
        clustered = {k for cluster in self.clusters for k in cluster.followers}
        curves = {}
        for index, body in enumerate(self.bodies):
            coupling = body.coupling
            if coupling is not None and (coupling.higher or index in clustered):
                law = coupling.law if isinstance(coupling, CouplingAt) else None
                curves[index] = law or coupling
        return curves
