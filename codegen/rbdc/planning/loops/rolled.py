"""Rolled functions: recursions as loops over bodies. Records of functions name the recursions of `RECURSIONS`
(`rbdc.functions.record.Policy.rolled`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from rbdc.algorithms.body_motion import BodyMotion, SpatialMotion
from rbdc.algorithms.derivatives.geometry import geometry_derivatives
from rbdc.algorithms.derivatives.rnea_derivatives import Sweeping, inverse_dynamics_derivatives
from rbdc.algorithms.dynamics.articulated_bodies import articulated_accelerations
from rbdc.algorithms.dynamics.crba import composite_inertias, inertia_matrix
from rbdc.algorithms.dynamics.newton_euler import forces_needed, inverse_dynamics
from rbdc.algorithms.tools.elimination import factorise, lower_down, raise_up
from rbdc.functions.declarations import FunctionDeclaration
from rbdc.functions.record import Function
from rbdc.ir.loops import LoopNest, Sines, names_in
from rbdc.model import Problem
from rbdc.model.contacts import total_rows
from rbdc.planning.loops import contacts, drives
from rbdc.planning.loops.bodies import LoopBody
from rbdc.planning.loops.factors import LoopRows, invert, solve_rows
from rbdc.planning.loops.machine import Loops
from rbdc.planning.loops.tree import TreeTables
from rbdc.spatial import Motion, Scalar

MAXIMUM_BODIES = 1000
"""Largest number of moving bodies. Each body takes some 700 bytes of stack."""

_LARGEST_ON_STACK = 48
"""Largest nv for which forward dynamics may keep the factors of M on the stack."""

_ARTICULATED = "articulated_bodies"
"""Name of the recursion of forward dynamics without an array of the size of M. It does not support mimic
joints.
"""


def _inverse_dynamics(m: Loops, tau: str, *, v: str = "", a: str = "", external: bool = False) -> None:
    m.one_frame, m.v, m.a, m.external = False, v, a, external
    inverse_dynamics(m, BodyMotion.of_world(m.gravity), tau)
    if v:
        drives.drives(m, tau, accelerating=bool(a))


def _composite_bodies(m: Loops, inertia: str) -> None:
    inertia_matrix(m, composite_inertias(m), inertia)
    drives.diagonal(m, inertia, "armature")


def _inverse_inertia(m: Loops, inverse: str) -> None:
    _composite_bodies(m, inverse)
    factorise(LoopRows(m), m.result(inverse))
    invert(m, inverse)


def _articulated_bodies(m: Loops, ddq: str) -> None:
    m.v, m.external = "v", True
    damping = "damping" if any(m.tree.model.damping) else ""

    def torque(b: LoopBody) -> list[Scalar]:
        resisted = zip(b.entries("tau"), b.entries(damping), b.rates(), strict=True)
        return [tau - factor * rate for tau, factor, rate in resisted]

    bias, _ = forces_needed(m, SpatialMotion.of_world(m.gravity))
    articulated_accelerations(m, bias, torque, lambda b: [0.0] * b.joint.nv, Motion.zero(), ddq)


def _accelerations(m: Loops, ddq: str, h: str = "H") -> None:
    _moving(m, ddq)
    _composite_bodies(m, h)
    _solve(m, LoopRows(m), h, ddq)


def _moving(m: Loops, ddq: str) -> None:
    m.v, m.a, m.external = "v", "", True
    inverse_dynamics(m, SpatialMotion.of_world(m.gravity), ddq)
    drives.drives(m, ddq)
    x = m.result(ddq)
    for at in m.over(m.tree.nv, drives.ENTRY, "tau minus the bias forces (zero acceleration)"):
        x[at] = m.result("tau")[at] - x[at]


def _solve(m: Loops, rows: LoopRows, h: str, b: str) -> None:
    """Replace the vector b by h^-1 b, and the matrix h by its factors."""
    factors, x = m.result(h), m.result(b)
    factorise(rows, factors)
    raise_up(rows, factors, x)
    lower_down(rows, factors, x, scaled=True)


def _constrained_dynamics(m: Loops, ddq: str, forces: str) -> None:
    """Solve the system of `rbdc.algorithms.contacts.dynamics`, with the rows of contacts before those
    of M.
    """
    _moving(m, ddq)
    m.before = total_rows(m.tree.model)
    _composite_bodies(m, "H")
    m.sizes["x"], x, accelerations = m.size, m.result("x"), m.result(ddq)
    contacts.hold(m, "H", "x")
    for at in m.over(m.tree.nv, drives.ENTRY, ""):
        x[at] = accelerations[drives.ALONE]
    _solve(m, LoopRows(m, "held"), "H", "x")
    contacts.take_forces(m, "x", forces)
    for at in m.over(m.tree.nv, drives.ENTRY, ""):
        accelerations[drives.ALONE] = x[at]


def _inverse_dynamics_derivatives(m: Loops, *outputs: str, v: str = "v", a: str = "a") -> None:
    m.v, m.a, m.external = v, a, bool(a)
    inverse_dynamics_derivatives(m, Sweeping.of_world(m.gravity), outputs)
    for name, table in zip(outputs[1:], ("damping", "armature"), strict=True):
        if name:
            drives.diagonal(m, name, table)


def _derivatives_at_rest(m: Loops, *outputs: str, v: str = "") -> None:
    """Compute the derivatives of inverse dynamics with respect to q, and to v unless `v` is "", for zero
    accelerations and external forces.
    """
    _inverse_dynamics_derivatives(m, *[*outputs, "", ""][:3], v=v, a="")


def _forward_dynamics_derivatives(m: Loops, by_q: str, by_v: str, inverse: str) -> None:
    """Compute M^-1 and the derivatives -M^-1 dtau, with dtau the derivatives of inverse dynamics at qddot:
    Carpentier and Mansard (2018), equation (24).
    """
    _accelerations(m, "x", inverse)
    _inverse_dynamics_derivatives(m, by_q, by_v, "", a="x")
    for matrix in (by_q, by_v):
        solve_rows(m, inverse, matrix)
    invert(m, inverse)


def _geometry_derivatives(m: Loops, by_placement: str) -> None:
    m.v, m.a, m.external = "v", "a", True
    geometry_derivatives(m, name=by_placement)


RECURSIONS: Mapping[str, Callable[..., None]] = {
    "inverse_dynamics": partial(_inverse_dynamics, v="v", a="a", external=True),
    "nonlinear_effects": partial(_inverse_dynamics, v="v"),
    "gravity": _inverse_dynamics,
    "composite_bodies": _composite_bodies,
    "inverse_inertia": _inverse_inertia,
    _ARTICULATED: _articulated_bodies,
    "forward_dynamics_by_cholesky": _accelerations,
    "inverse_dynamics_derivatives": _inverse_dynamics_derivatives,
    "nonlinear_effects_derivatives": partial(_derivatives_at_rest, v="v"),
    "gravity_derivatives": _derivatives_at_rest,
    "forward_dynamics_derivatives": _forward_dynamics_derivatives,
    "constrained_dynamics": _constrained_dynamics,
    "geometry_derivatives": _geometry_derivatives,
}


def rolled(model: Problem, function: Function) -> tuple[str, LoopNest]:
    """Return the name and the loops of that rolled method of a function which has the fewest operations for
    this model. The function's record must name rolled methods.
    """
    named, tree = function.policy.rolled, TreeTables(model)
    nests = {
        name: nest(tree, RECURSIONS[named[name]], function.declaration) for name in _methods(named, model)
    }
    method = min(nests, key=lambda name: nests[name].cost().operations)
    return method, nests[method]


def nest(tree: TreeTables, text: Callable[..., None], declaration: FunctionDeclaration) -> LoopNest:
    """Return a text (a recursion) as loops, with the tables and arrays that the loops use.

    The text is called with a machine and the names of the function's outputs.
    """
    outputs = [p.name for p in declaration.outputs]
    lanes = declaration.scalar.lanes_of_angles(len(tree.turning))
    m = Loops(tree)

    def whole(m: Loops) -> None:
        drives.sines(m, lanes)
        text(m, *outputs)

    statements = m.run(whole)
    names = dict.fromkeys(names_in(statements))
    sines = [s for s in statements if isinstance(s, Sines)]
    arrays = {name: s.whole for s in sines for name in (s.angles, s.sines, s.cosines)}
    arrays |= {name: size for name, size in m.sizes.items() if name in names and name not in outputs}
    tables = tuple(table for name in names if (table := tree.table(name)) is not None)
    return LoopNest(tables, arrays, tuple(statements))


def _methods(named: Mapping[str, str], model: Problem) -> list[str]:
    if len(named) > 1 and model.coupled:
        return [name for name in named if named[name] != _ARTICULATED]
    if len(named) > 1 and model.nv > _LARGEST_ON_STACK:
        return [name for name in named if named[name] == _ARTICULATED]
    return list(named)
