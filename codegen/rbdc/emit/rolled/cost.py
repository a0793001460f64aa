"""Operations that the rolled functions execute: each C function of the templates has its count here, by the
same name.

A test compiles the C with a counting type in place of double and finds the same numbers, so that the two
cannot drift. External forces are not counted: they may be NULL.
"""

from __future__ import annotations

from rbdc.emit.rolled.joints import joint_forms
from rbdc.emit.rolled.tables import Paths, RolledModel
from rbdc.errors import UnsupportedError
from rbdc.functions.scalar_types import DOUBLE
from rbdc.ir.cost import Cost
from rbdc.model import WORLD
from rbdc.model.joints import Operations, RolledJoint

BLOCK = 8
"""Columns that a row operation takes at a time: as many sums as hide the latency of an addition."""


def blocks_of(columns: int) -> list[int]:
    """The widths of the blocks that a row of so many columns is taken in: the usual one, and what is left."""
    usual = min(BLOCK, columns)
    return [width for width in (usual, columns % usual) if width]


def _times(count: int, cost: Cost) -> Cost:
    return cost.times(count)


def _cost(operations: Operations) -> Cost:
    return Cost(**operations._asdict())


def _sum(*costs: Cost) -> Cost:
    return sum(costs, Cost())


_ADD = Cost(additions=3)
_ADD_SCALED = Cost(additions=3, multiplications=3)
_SCALE = Cost(multiplications=3)
_DOT = Cost(additions=2, multiplications=3)
_CROSS = Cost(additions=3, multiplications=6)
_ROTATE = _SYMMETRIC_TIMES = _times(3, _DOT)
_MOTION_ADD = _times(2, _ADD)
_MOTION_ADD_SCALED = _times(2, _ADD_SCALED)
_POWER = _sum(_DOT, _DOT, Cost(additions=1))
_CROSS_MOTION = _CROSS_FORCE = _sum(_times(3, _CROSS), _ADD)
_INERTIA_TIMES = _sum(_CROSS, _ADD_SCALED, _SYMMETRIC_TIMES, _CROSS, _ADD)
_INERTIA_ACCUMULATE = Cost(additions=10)
_FORCE_TO_PARENT = _sum(_ROTATE, _ROTATE, _CROSS, _ADD)

_MOVED = _sum(
    _times(4, _ROTATE),
    _ADD_SCALED,
    _ADD,
    _times(6, Cost(additions=2, multiplications=3)),
    Cost(additions=12, multiplications=12),
)

_SET_COLUMNS = Cost(additions=9, multiplications=6, negations=3)
_ACCELERATION_AT = _times(3, _ADD_SCALED)
_NEWTON_EULER = _sum(_times(2, _SYMMETRIC_TIMES), _CROSS, _ADD, _SCALE, _times(3, _ADD_SCALED), _CROSS, _ADD)

_ARTICULATED_SET = Cost(negations=3)
_ARTICULATED_TIMES = _sum(
    _times(2, _SYMMETRIC_TIMES), _SCALE, _times(2, _ADD_SCALED), _times(3, _DOT), _times(2, _ADD)
)
_ARTICULATED_ACCUMULATE = Cost(additions=21)

_CORIOLIS_OF = _sum(
    Cost(additions=2, multiplications=1),  # half the trace
    _times(2, _ADD),
    _times(3, _sum(_CROSS, _ADD_SCALED, Cost(additions=1, negations=2))),
    _CROSS,
    _ADD_SCALED,
    Cost(additions=3, negations=6),
)
_CORIOLIS_TIMES = _sum(_CROSS, _SCALE, _times(2, _ADD_SCALED))
_CORIOLIS_TRANSPOSED_TIMES = _sum(_CROSS, _times(3, _DOT), _ADD)
_CORIOLIS_ACCUMULATE = _times(4, _ADD)


class _Counter:
    """The counts of one model."""

    def __init__(self, rolled: RolledModel) -> None:
        self.rolled, self.model = rolled, rolled.model
        self.bodies, self.nv = self.model.njoints, self.model.nv
        self.dofs = len(rolled.paths.depth)
        self.pairs = sum(rolled.paths.depth)
        forms = joint_forms(rolled, "", DOUBLE, given=True)
        self.joints = [forms[type(body.joint)].c for body in self.model.bodies]
        self.counts = [body.joint.nv for body in self.model.bodies]
        # What += takes where followers add to their leader's entry, and = does not.
        self.entry = Cost(additions=1 if self.model.coupled else 0)

    def count(self, form: str) -> Cost:
        """The cost of an entry point of one of `rbdc.emit.rolled.rolled.FORMS`."""
        mass = _sum(self.world(), self.mass())
        match form:
            case "inverse_dynamics" | "nonlinear_effects":
                return self.rnea(given=form == "inverse_dynamics")
            case "gravity":
                return self.gravity_torque()
            case "composite_bodies":
                return mass
            case "inverse_inertia":
                return _sum(mass, self.factor(), self.invert())
            case "articulated_bodies":
                return self.aba()
            case "forward_dynamics_by_factors":
                return _sum(mass, self.factor(), self.bias(), self.solve())
            case "inverse_dynamics_derivatives":
                return _sum(self.world(), self.forces(given=True), self.derivatives(inertia=True))
            case "forward_dynamics_derivatives":
                derivatives = _sum(self.forces(given=True), self.derivatives(inertia=False))
                solved = _sum(self.solve(), derivatives, _times(2, self.solve_rows()), self.invert())
                return _sum(mass, self.factor(), self.bias(), solved)
        raise UnsupportedError(f"no rolled form {form}")

    def bias(self) -> Cost:
        """tau - the forces at rest."""
        return _sum(self.forces(given=False), self.torque(), Cost(additions=self.nv), self.damping())

    def damping(self) -> Cost:
        """Damping times v, and the sum with torques."""
        count = self.nv if any(self.model.damping) else 0
        return Cost(additions=count, multiplications=count)

    def armature(self) -> Cost:
        """A sum along the diagonal."""
        return Cost(additions=self.nv if any(self.model.armature) else 0)

    def placements(self) -> Cost:
        follow = sum(count == 1 for count in self.counts) if self.model.coupled else 0
        if self.model.coupled and 1 in self.counts:
            follow = self.bodies  # the position is computed whatever the kind
        own = (_cost(joint.placement_cost) for joint in self.joints)
        return _sum(*own, Cost(additions=follow, multiplications=follow))

    def world(self) -> Cost:
        carried = sum(body.parent != WORLD for body in self.model.bodies)
        columns = _sum(*(_cost(joint.columns_cost) for joint in self.joints))
        scaled = sum(count == 1 for count in self.counts) if self.model.coupled else 0
        return _sum(
            self.placements(),
            _times(carried, _sum(_times(4, _ROTATE), _ADD)),
            columns,
            _times(scaled, _times(2, _SCALE)),
            _times(self.bodies, _MOVED),
        )

    def forces(self, given: bool) -> Cost:
        body = _sum(_MOTION_ADD, _CROSS_MOTION, _times(2, _INERTIA_TIMES), _CROSS_FORCE, _MOTION_ADD)
        return _sum(_times(self.bodies, body), _times(self.dofs * (2 if given else 1), _MOTION_ADD_SCALED))

    def torque(self) -> Cost:
        return _sum(_times(self.dofs, _sum(_POWER, self.entry)), _times(self.bodies, _MOTION_ADD))

    def mass(self) -> Cost:
        entries = _sum(_times(self.pairs + self.dofs, _POWER), _times(2 * self.pairs + self.dofs, self.entry))
        return _sum(
            _times(self.dofs, _INERTIA_TIMES),
            entries,
            _times(self.bodies, _INERTIA_ACCUMULATE),
            self.armature(),
        )

    def subtract_rows(self, columns: int, rows: int) -> Cost:
        usual = blocks_of(self.nv)[0]
        whole = self.nv - self.nv % usual
        taken = usual * -(-min(columns, whole) // usual) + (self.nv - whole if columns > whole else 0)
        return _times(taken * rows, Cost(additions=1, multiplications=1))

    def factor(self) -> Cost:
        below = _below(self.rolled.rows)
        rows = (
            _sum(self.subtract_rows(i + 1, n), Cost(multiplications=n, divisions=1))
            for i, n in enumerate(below)
        )
        return _sum(*rows, Cost(multiplications=self.nv * (self.nv - 1) // 2))

    def solve(self) -> Cost:
        above = sum(self.rolled.rows.depth)
        return Cost(additions=2 * above, multiplications=2 * above + self.nv)

    def solve_rows(self) -> Cost:
        rows = sum(_below(self.rolled.rows)) + sum(self.rolled.rows.depth)
        scaled = Cost(multiplications=self.nv**2, negations=self.nv**2)
        return _sum(self.subtract_rows(self.nv, rows), scaled)

    def invert(self) -> Cost:
        depth = self.rolled.rows.depth
        diagonal = Cost(additions=sum(depth), multiplications=sum(depth))
        return _sum(*(self.subtract_rows(k, d) for k, d in enumerate(depth)), diagonal)

    def rnea(self, given: bool) -> Cost:
        total = _sum(self.placements(), self.damping())
        if given:
            total += _sum(self.armature(), Cost(multiplications=self.armature().additions))
        scale = Cost(multiplications=1 if self.model.coupled else 0)
        for joint, body in zip(self.joints, self.model.bodies, strict=True):
            total += _sum(_times(3, _ROTATE), _ACCELERATION_AT, _SET_COLUMNS, _NEWTON_EULER)
            one = body.joint.nv == 1
            total += self.joint_rates(joint, given, scale) if one else self.several_rates(given)
            total += _sum(_FORCE_TO_PARENT, _MOTION_ADD) if body.parent != WORLD else Cost()
            total += _sum(scale, self.entry, _cost(joint.torque_cost)) if one else Cost()
        return total

    def joint_rates(self, joint: RolledJoint, given: bool, scale: Cost) -> Cost:
        second = _sum(scale, _cost(joint.second_cost)) if given else Cost()
        return _sum(scale, _cost(joint.moving_cost), second)

    def several_rates(self, given: bool) -> Cost:
        return _sum(_times(2, _CROSS), _times(5, _ADD), _times(2 if given else 0, _ADD))

    def gravity_torque(self) -> Cost:
        one_dof = sum(count == 1 for count in self.counts)
        single = (joint for joint, count in zip(self.joints, self.counts, strict=True) if count == 1)
        coupled = Cost(additions=1, multiplications=1) if self.model.coupled else Cost()
        carried = sum(body.parent != WORLD for body in self.model.bodies)
        return _sum(
            self.placements(),
            _times(self.bodies, _sum(_ROTATE, _SCALE, _CROSS)),
            _times(carried, _sum(_FORCE_TO_PARENT, _MOTION_ADD)),
            _times(one_dof, coupled),
            *(_cost(joint.torque_cost) for joint in single),
        )

    def aba(self) -> Cost:
        axis = _sum(
            _ARTICULATED_TIMES,
            _times(3, _POWER),
            Cost(additions=2, multiplications=1, divisions=1, negations=3),
            _times(2, _SCALE),
            Cost(additions=12, multiplications=12),  # the symmetric blocks
            _times(3, _ADD_SCALED),
            _times(2, _MOTION_ADD_SCALED),
        )
        carried = sum(body.parent != WORLD for body in self.model.bodies)
        return _sum(
            self.world(),
            self.forces(given=False),
            _times(self.bodies + 1, _ARTICULATED_SET),
            _times(self.dofs, axis),
            self.armature(),
            self.damping(),
            _times(carried, _sum(_ARTICULATED_ACCUMULATE, _MOTION_ADD)),
        )

    def derivatives(self, inertia: bool) -> Cost:
        """`inertia`: M is asked for as well."""
        directions = _times(self.dofs, _sum(_times(3, _CROSS_MOTION), _times(2, _MOTION_ADD)))
        several = [n for n in self.counts if n > 1]
        joints = _sum(
            _times(len(several), _MOTION_ADD_SCALED), _times(sum(several), _sum(_CROSS_MOTION, _MOTION_ADD))
        )
        columns = _sum(
            _times(2, _CORIOLIS_TIMES),
            _times(3, _INERTIA_TIMES),
            _times(3, _MOTION_ADD),
            _CORIOLIS_TRANSPOSED_TIMES,
            _CROSS_FORCE,
        )
        bodies = _sum(_CORIOLIS_OF, _INERTIA_ACCUMULATE, _CORIOLIS_ACCUMULATE, _MOTION_ADD)
        above = sum(
            count * self.rolled.paths.depth[first]
            for first, count in zip(self.firsts(), self.counts, strict=True)
        )
        own = sum(n * n for n in self.counts)
        matrices = 3 if inertia else 2
        entries = _sum(
            _times(matrices * own, _sum(_POWER, self.entry)), _times(2 * matrices * above, self.entry)
        )
        pairs = _sum(_times(4 + (1 if inertia else 0), _POWER), _times(2, _DOT), Cost(additions=2))
        diagonal = Cost(additions=self.damping().additions + (self.armature().additions if inertia else 0))
        return _sum(
            directions,
            joints,
            _times(self.dofs, columns),
            _times(self.bodies, bodies),
            entries,
            _times(above, pairs),
            diagonal,
        )

    def firsts(self) -> list[int]:
        return [sum(self.counts[:k]) for k in range(self.bodies)]


def _below(paths: Paths) -> list[int]:
    return [end - number - 1 for number, end in enumerate(paths.end)]


def rolled_cost(rolled: RolledModel, form: str) -> Cost:
    """The cost of one call of a function in a rolled form, without external forces."""
    return _Counter(rolled).count(form)
