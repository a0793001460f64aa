"""Functions as loops along the paths of the tree."""

from __future__ import annotations

from dataclasses import dataclass

from rbdc.functions.declarations import FunctionDeclaration
from rbdc.ir.nodes import Program


@dataclass(frozen=True)
class LoopsAlongPaths:
    """A function as loops along the paths of the tree, or one that such loops call.

    programs: the straight-line code that the loops start from, or that the called function is; of two the
    first goes without the optional input. method: of a called function. uses: functions that this one calls,
    under names of their own. plain_loop: its batch is a loop over samples beside the function.
    """

    declaration: FunctionDeclaration
    programs: tuple[Program, ...]
    method: str = ""
    uses: tuple[LoopsAlongPaths, ...] = ()
    plain_loop: bool = True
