"""Passes: program -> program with the outputs' values unchanged. Each module says what it removes.

A rule looks at one operation whose arguments are already simplified; `optimise` runs all rules in one sweep,
then removes what nothing uses.
"""

from __future__ import annotations

from rbdc.ir.builder import rewrite
from rbdc.ir.nodes import Program
from rbdc.ir.passes.dead_code import remove_dead_code
from rbdc.ir.passes.like_terms import gather_like_terms
from rbdc.ir.passes.reciprocals import share_reciprocals
from rbdc.ir.passes.rules import RULES, fold_constants, join_choices, normalise_signs, order_operands


def optimise(program: Program) -> Program:
    """The program after all passes that simplify scalars.

    Constant folding, choices, sign normalisation, commutative ordering and hash-consing in one sweep; then
    shared reciprocals, and what they make equal; then dead code away and like terms of each sum together.
    """
    simplified = rewrite(program, RULES)
    equal = remove_dead_code(share_reciprocals(simplified, RULES))
    gathered = gather_like_terms(equal, RULES)
    return gathered if gathered is equal else remove_dead_code(gathered)


__all__ = [
    "RULES",
    "fold_constants",
    "gather_like_terms",
    "join_choices",
    "normalise_signs",
    "optimise",
    "order_operands",
    "remove_dead_code",
    "share_reciprocals",
]
