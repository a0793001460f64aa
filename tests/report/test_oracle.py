"""The reference is exact to some 32 digits, what is computed from the model's constants alone too."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from rbdc.functions.catalogue import functions_of
from rbdc.model import Problem
from rbdc.model.numbers import with_numbers
from rbdc.report.accuracy import draw, reference
from rbdc.resources import resolve


def test_sums_of_constants_are_not_rounded() -> None:
    model = Problem.from_urdf(resolve("hyq"), root_joint="free-flyer")
    inertia = reference(model, functions_of(model)["crba"], {"q": draw(model, 1)["q"]})
    mass = sum(Fraction(float(body.inertia.mass)) for body in model.bodies)
    assert Fraction(float(mass)) != mass, "a sum that rounds shows nothing"
    total = Fraction(float(inertia[0, 0, 0])) + Fraction(float(inertia[1, 0, 0]))
    assert abs(total - mass) < Fraction(1, 10**29)


def test_every_float_of_a_model_is_replaced() -> None:
    model = Problem.from_urdf(resolve("panda"))
    seen: list[float] = []

    def number(x: float) -> float:
        seen.append(x)
        return np.float64(x)

    replaced = with_numbers(model, number)
    assert replaced == model
    assert type(replaced.bodies[0].inertia.mass) is np.float64
    assert type(replaced.frames[-1].placement.translation.x) is np.float64
    assert len(seen) > 22 * model.njoints
