"""Rolled functions: recursions as loops, by the names that records have for them
(`rbdc.functions.record.Policy.rolled`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from rbdc.functions.declarations import FunctionDeclaration
from rbdc.functions.record import Function
from rbdc.ir.indices import tables_in
from rbdc.ir.loops import Clear, Loop, LoopNest, Sines, Statement, Step, Switch, every
from rbdc.model import Problem
from rbdc.planning.loops import body_frames, one_frame
from rbdc.planning.loops.body_frames import drives, inverse_dynamics
from rbdc.planning.loops.factors import BLOCK, Factors, subtract
from rbdc.planning.loops.tree import ARTICULATED, FACTOR, INERTIA, Tree

MAXIMUM_BODIES = 1000
"""Some 700 bytes of stack for each body."""

_LARGEST_ON_STACK = 48
"""Entries of v up to which forward dynamics may keep the factors of M on the stack."""

_ARTICULATED = "articulated_bodies"
"""The recursion that keeps nothing of the size of M, and does not know that one joint follows another."""

_SIZES: Mapping[str, Callable[[Tree], int]] = {
    "X": lambda tree: 12 * tree.model.njoints,
    "motion": lambda tree: body_frames.MOTION * tree.model.njoints,
    "I": lambda tree: INERTIA * tree.model.njoints,
    "B": lambda tree: FACTOR * tree.model.njoints,
    "IA": lambda tree: ARTICULATED * tree.model.njoints,
    **dict.fromkeys(("f", "V", "A", "F"), lambda tree: 6 * tree.model.njoints),
    **dict.fromkeys(("S", "U"), lambda tree: 6 * len(tree.dofs)),
    "psi": lambda tree: 18 * len(tree.dofs),
    "row": lambda tree: 27,
    "r": lambda tree: 6,
    "l": lambda tree: tree.nv,
    "s": lambda tree: BLOCK,
    "H": lambda tree: tree.nv**2,
    "x": lambda tree: tree.nv,
}
"""Numbers of each array of a function's own."""


def _composite_bodies(tree: Tree, inertia: str) -> list[Statement]:
    sums = one_frame.composites(tree, ("I", INERTIA))
    return [one_frame.world(tree), sums, *one_frame.mass(tree, inertia)]


def _inverse_inertia(tree: Tree, inverse: str) -> list[Statement]:
    factors = Factors(tree.nv, inverse)
    return [*_composite_bodies(tree, inverse), *factors.factorise(), *factors.invert()]


def _articulated_bodies(tree: Tree, ddq: str) -> list[Statement]:
    return [one_frame.world(tree), *one_frame.forces(tree), *one_frame.articulated_bodies(tree, ddq)]


def _accelerations(tree: Tree, ddq: str, h: str) -> list[Statement]:
    """Accelerations, and the factors of M."""
    made = [one_frame.world(tree), *one_frame.forces(tree)]
    rest = [*one_frame.torque(tree, ddq), *drives(tree, ddq), *subtract(tree, ddq, "tau")]
    factors, sums = Factors(tree.nv, h), one_frame.composites(tree, ("I", INERTIA))
    return [*made, *rest, sums, *one_frame.mass(tree, h), *factors.factorise(), *factors.solve(ddq)]


_SUMS = (("I", INERTIA), ("B", FACTOR), ("F", 6))


def _inverse_dynamics_derivatives(tree: Tree, *outputs: str) -> list[Statement]:
    made = [one_frame.world(tree), *one_frame.forces(tree, accelerating="a"), *one_frame.directions(tree)]
    return [*made, one_frame.composites(tree, *_SUMS), *one_frame.derivatives(tree, *outputs)]


def _forward_dynamics_derivatives(tree: Tree, by_q: str, by_v: str, inverse: str) -> list[Statement]:
    """d qddot = -M^-1 d ID at qddot: Carpentier and Mansard (2018), equation (24)."""
    factors = Factors(tree.nv, inverse)
    made = [*_accelerations(tree, "x", inverse), one_frame.world(tree)]
    made += [*one_frame.forces(tree, accelerating="x"), *one_frame.directions(tree)]
    made += [one_frame.composites(tree, *_SUMS), *one_frame.derivatives(tree, by_q, by_v)]
    return [*made, *factors.solve_rows(by_q), *factors.solve_rows(by_v), *factors.invert()]


RECURSIONS: Mapping[str, Callable[..., list[Statement]]] = {
    "inverse_dynamics": partial(inverse_dynamics, moving=True, accelerating=True, external=True),
    "nonlinear_effects": partial(inverse_dynamics, moving=True),
    "gravity": inverse_dynamics,
    "composite_bodies": _composite_bodies,
    "inverse_inertia": _inverse_inertia,
    _ARTICULATED: _articulated_bodies,
    "forward_dynamics_by_factors": partial(_accelerations, h="H"),
    "inverse_dynamics_derivatives": _inverse_dynamics_derivatives,
    "forward_dynamics_derivatives": _forward_dynamics_derivatives,
}


def rolled(model: Problem, function: Function) -> tuple[str, LoopNest]:
    """The method that executes the fewest operations for this model, of a function whose record has
    recursions as loops, and these loops.
    """
    named, tree = function.policy.rolled, Tree(model)
    made = {name: nest(tree, named[name], function.declaration) for name in _methods(named, model)}
    method = min(made, key=lambda name: made[name].cost().operations)
    return method, made[method]


def nest(tree: Tree, recursion: str, declaration: FunctionDeclaration) -> LoopNest:
    """A recursion as loops, with the tables and arrays that it uses."""
    outputs = [p.name for p in declaration.outputs]
    lanes = declaration.scalar.lanes_of_angles(len(tree.turning))
    statements = [*body_frames.sines(tree, lanes), *RECURSIONS[recursion](tree, *outputs)]
    names = dict.fromkeys(_names(statements))
    sines = [s for s in statements if isinstance(s, Sines)]
    arrays = {name: s.whole for s in sines for name in (s.angles, s.sines, s.cosines)}
    arrays |= {name: size(tree) for name, size in _SIZES.items() if name in names and name not in outputs}
    tables = tuple(table for name in names if (table := tree.table(name)) is not None)
    return LoopNest(tables, arrays, tuple(statements))


def _methods(named: Mapping[str, str], model: Problem) -> list[str]:
    """Recursions of several that suit the model."""
    if len(named) > 1 and model.coupled:
        return [name for name in named if named[name] != _ARTICULATED]
    if len(named) > 1 and model.nv > _LARGEST_ON_STACK:
        return [name for name in named if named[name] == _ARTICULATED]
    return list(named)


def _names(statements: Sequence[Statement]) -> Iterator[str]:
    """Arrays and tables that statements use, in their order."""
    for statement in every(statements):
        match statement:
            case Step():
                for place in statement.places.values():
                    yield place.array
                    yield from (table for index, _ in place.strides for table in tables_in(index))
            case Loop():
                yield from (*tables_in(statement.start), *tables_in(statement.stop))
            case Switch():
                yield from tables_in(statement.on)
            case Clear():
                yield statement.array
