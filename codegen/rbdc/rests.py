"""What rounding takes from the constants of a model, for functions whose sums are to have it back."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from rbdc.algorithms.momentum import resting_moment, share_of_mass
from rbdc.emit.cdecl import FunctionDeclaration
from rbdc.evaluation import Evaluate, InLanes
from rbdc.model import Model
from rbdc.model.rounding import exact_parameters, exact_resting
from rbdc.reduction import reduced


def rests_of(model: Model, declaration: FunctionDeclaration, evaluate: Evaluate) -> dict[float, float]:
    """By the magnitude of constants of a function what rounding them to doubles leaves; nothing where its errors are others.

    Forward dynamics brings out errors of the parameters in full: UR5's errs 0.76 times as much with the rests. The largest term of an arm's
    centre of mass is constant: panda_arm's errs 0.42 times as much.
    """
    if declaration.name not in ("aba", "com", "potential_energy"):
        return {}
    small = reduced(model, evaluate.space if isinstance(evaluate, InLanes) else "regrouped")
    exact = exact_parameters(model, small) if declaration.name == "aba" else _resting(model, small, of_mass=declaration.name == "com")
    return {held: float(number - held) for held, number in exact.items()}


def _resting(model: Model, small: Model, *, of_mass: bool) -> Mapping[float, Any]:
    """By the magnitude of the first moments of all that rests what they are exactly, both over the mass of all links or not."""
    mass = sum((Fraction(link.mass) for link in (*(body.inertia for body in model.bodies), model.base_inertia)), Fraction(0))
    factor, divisor = (share_of_mass(small), mass) if of_mass else (1.0, Fraction(1))
    pairs = zip(resting_moment(small, factor).scalars(), exact_resting(model, small), strict=True)
    return {abs(float(held)): abs(exact) * divisor.denominator / divisor.numerator for held, exact in pairs if held != 0.0}
