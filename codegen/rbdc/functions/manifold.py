"""The records of steps on the configuration manifold."""

from __future__ import annotations

from rbdc.algorithms.manifold import difference, integrate
from rbdc.functions.declarations import FunctionDeclaration
from rbdc.functions.evaluation import on_model
from rbdc.functions.inputs import configuration, over_joints, step
from rbdc.functions.record import Comparison, Function
from rbdc.model import Model

INTEGRATE = "integrate"
"""The function that finite differences step with."""


def manifold(model: Model) -> list[Function]:
    """Both of them, in the order of the documentation."""
    q0, q1, q = (configuration(model, name) for name in ("q0", "q1", "q"))
    dv = step(model)
    return [
        Function(
            FunctionDeclaration(
                INTEGRATE,
                "q (+) dv: the configuration reached by the constant velocity dv in unit time.",
                (q, dv),
                over_joints("q_next", (model.nq,), "configuration"),
            ),
            {"exponential": on_model(integrate)},
            preset="control",
            references={"murray-li-sastry": "manifold:integrate"},
            comparison=Comparison(peers={"pinocchio": ("integrate",)}, checks_only=True),
        ),
        Function(
            FunctionDeclaration(
                "difference",
                "The dv with q0 (+) dv = q1.",
                (q0, q1),
                over_joints(dv.name, dv.shape, dv.meaning),
            ),
            {"logarithm": on_model(difference)},
            preset="control",
            references={"murray-li-sastry": "manifold:difference"},
            comparison=Comparison(peers={"pinocchio": ("difference",)}, checks_only=True),
        ),
    ]
