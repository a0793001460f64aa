"""Functions as loops along the paths of the tree."""

from __future__ import annotations

from dataclasses import dataclass

from rbdc.emit.second_order.paths import Layout
from rbdc.functions.declarations import FunctionDeclaration, Kind
from rbdc.ir.lanes import LaneProgram
from rbdc.ir.nodes import Program

SHARED = ("operators",)
"""Bodies that the shared header has."""


@dataclass(frozen=True)
class LoopsAlongPaths:
    """A function as loops along the paths of the tree, or one that such loops call.

    programs: the straight-line code that the loops start from, or that the called function is; of two the
    first goes without the optional input. method: of a called function. uses: functions that this one calls,
    under names of their own. bodies: of the loops, those that all share first. plain_loop: its batch is a
    loop over samples beside the function.
    """

    declaration: FunctionDeclaration
    programs: tuple[Program, ...]
    method: str = ""
    uses: tuple[LoopsAlongPaths, ...] = ()
    bodies: tuple[LaneProgram, ...] = ()
    plain_loop: bool = True

    def operations(self, name: str) -> int:
        """Operations of a body, 0 of one that the function does without."""
        return sum(body.cost.operations for body in self.bodies if body.program.name == name)


def is_weighted(declaration: FunctionDeclaration) -> bool:
    """Whether it is the Hessian of weighted sums."""
    return any(p.kind is Kind.WEIGHTS for p in declaration.inputs)


def body_names(declaration: FunctionDeclaration, made: Layout, *, forward: bool) -> tuple[str, ...]:
    """The bodies of a function's loops (`rbdc.planning.loops.path_bodies`): of a Hessian of weighted sums,
    of tensors of forward dynamics, or of inverse dynamics.
    """
    if is_weighted(declaration):
        pairs = any(joint.size > 1 for joint in made.joints)
        return (*SHARED, "rows_of", *(("pair",) if pairs else ()))
    if forward:
        own = ("weigh", "terms_of_columns", "terms_above", "own_terms", "turned", "by_velocities")
        return (*SHARED, *own, *(("pair_of_sums",) if made.same else ()))
    columns = ("columns_of_several", "of_one_joint") if made.several else ("columns",)
    return (*SHARED, *columns, *(("columns_of_root",) if made.free else ()))
