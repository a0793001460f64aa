"""The records of steps on the configuration manifold, and of their derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rbdc.algorithms.manifold import difference, integrate
from rbdc.algorithms.manifold_derivatives import ddifference, dintegrate
from rbdc.functions.declarations import FunctionDeclaration, Parameter
from rbdc.functions.evaluation import on_model
from rbdc.functions.inputs import configuration, over_joints, step
from rbdc.functions.record import ALONE, Comparison, Differential, Function
from rbdc.model import Model

INTEGRATE = "integrate"
"""The function that finite differences step with."""


def manifold(model: Model) -> list[Function]:
    """The steps and their derivatives, in the order of the documentation."""
    q0, q1, q = (configuration(model, name) for name in ("q0", "q1", "q"))
    dv = step(model)
    return [
        _step(
            FunctionDeclaration(
                INTEGRATE,
                "q (+) dv: the configuration reached by the constant velocity dv in unit time.",
                (q, dv),
                over_joints("q_next", (model.nq,), "configuration"),
            ),
            ("exponential", integrate),
            Differential("dintegrate", configuration=True),
        ),
        _step(
            FunctionDeclaration(
                "difference",
                "The dv with q0 (+) dv = q1.",
                (q0, q1),
                over_joints(dv.name, dv.shape, dv.meaning),
            ),
            ("logarithm", difference),
            Differential("ddifference"),
        ),
        _step(
            FunctionDeclaration(
                "dintegrate",
                "Derivatives of q (+) dv by q and dv, all in the tangent spaces.",
                (q, dv),
                _by(model, "q_next", q, dv),
            ),
            ("right-jacobian", dintegrate),
        ),
        _step(
            FunctionDeclaration(
                "ddifference",
                "Derivatives of the difference by q0 and q1, in the tangent spaces.",
                (q0, q1),
                _by(model, dv.name, q0, q1),
            ),
            ("right-jacobian", ddifference),
        ),
    ]


def _by(model: Model, of: str, *inputs: Parameter) -> tuple[Parameter, ...]:
    """The derivatives of a step by some inputs."""
    shape, meaning = (model.nv, model.nv), "derivative by {}; row and column: directions"
    return tuple(p for x in inputs for p in over_joints(f"d{of}_d{x.name}", shape, meaning.format(x.name)))


def _step(
    declaration: FunctionDeclaration,
    method: tuple[str, Callable[..., Any]],
    differential: Differential | None = None,
) -> Function:
    """A step or its derivatives. method: its name, and the algorithm."""
    name, algorithm = method
    known, place = differential is not None, declaration.name
    return Function(
        declaration,
        {name: on_model(algorithm)},
        preset="control" if known else ALONE,
        references={"murray-li-sastry": f"manifold:{place}"},
        comparison=Comparison(peers={"pinocchio": (place,)} if known else {}, checks_only=True),
        differential=differential,
    )
