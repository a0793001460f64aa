"""References whose columns stand side by side give what they give column by column."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from rbdc.algorithms.reference import columns
from rbdc.algorithms.reference.crba import crba
from rbdc.algorithms.reference.derivatives import carpentier_mansard, forward_derivatives, idsva
from rbdc.algorithms.reference.minverse import minverse
from rbdc.model import Model
from rbdc.options import BuildOptions
from rbdc.pipeline import build_package
from rbdc.spatial import Scalar
from rbdc.verification.perturbation import Perturbation
from rbdc.verification.rounded import REPLICAS, Rounding, values_of
from tests.support import Array, slow_but
from tests.support_paths import chain
from tests.support_trees import random_tree

STATES = 2
STEP = 1e-12
REFERENCES: dict[str, tuple[Callable[..., object], int]] = {
    "crba": (crba, 1),
    "minverse": (minverse, 1),
    "carpentier-mansard": (carpentier_mansard.rnea_derivatives, 3),
    "idsva": (idsva.rnea_derivatives, 3),
    "forward": (forward_derivatives.aba_derivatives, 3),
}
"""Each with how many of q, v and a it takes."""


def evaluated(model: Model, name: str) -> list[Array]:
    """The matrices (nv, nv, 1 + REPLICAS, STATES) of a reference on scalars that are rounded to `STEP`."""
    function, count = REFERENCES[name]
    rng, perturbation = np.random.default_rng(0), Perturbation(STEP, 0)
    moved = [
        model.neutral() if k == 0 else _moved(model, rng.standard_normal(model.nv)) for k in range(STATES)
    ]
    v, a = rng.standard_normal((2, STATES, model.nv))
    inputs = [
        perturbation.configuration(model, np.array(moved)),
        perturbation.tangent(model, v),
        perturbation.tangent(model, a),
    ]
    made = function(perturbation.model(model), *inputs[:count])
    matrices = made if isinstance(made, tuple) else (made,)
    return [np.array([[_of(x) for x in row] for row in matrix]) for matrix in matrices]


def _moved(model: Model, step: Array) -> list[float]:
    q = model.neutral()
    for index, body in enumerate(model.bodies):
        own, change = q[model.q_slice(index)], step[model.v_slice(index)].tolist()
        q[model.q_slice(index)] = [float(x) for x in body.joint.integrate(own, change)]
    return q


def _of(x: Scalar) -> Array:
    return np.broadcast_to(values_of(x), (1 + REPLICAS, STATES))


@pytest.mark.parametrize("seed", slow_but(range(6), (0, 2)))
def test_side_by_side_is_column_by_column(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without roundings to the bit, with them as far as these go."""
    model = random_tree(seed)
    for name in REFERENCES:
        together = evaluated(model, name)
        with monkeypatch.context() as patch:
            patch.setattr(columns, "_maker", lambda scalars: None)
            alone = evaluated(model, name)
        for x, y in zip(together, alone, strict=True):
            np.testing.assert_array_equal(x[:, :, 0], y[:, :, 0], name)
            spread = np.abs(x - x[:, :, :1]).max()
            assert 0.0 < spread < 1e-4 * np.abs(x).max()
            assert 0.1 < spread / np.abs(y - y[:, :, :1]).max() < 10.0


def test_rows_of_scalars() -> None:
    """Numbers that are the same for all replicas or all columns take their places among others."""
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal((1 + REPLICAS, STATES)) for _ in range(2))
    x, y = (Rounding(0.0, 0).of(values) for values in (a, b))
    row = x.beside([(x, 1), (2.0, 2), (y, 1)])
    np.testing.assert_array_equal(row.values, [a, np.full_like(a, 2.0), np.full_like(a, 2.0), b])
    np.testing.assert_array_equal(values_of(row.part(2, 4) * y), [2.0 * b, b * b])
    assert [values_of(one).tolist() for one in row.of_columns(4)] == [
        row.values[k].tolist() for k in range(4)
    ]
    assert x.of_columns(3) == [x] * 3
    assert x.part(1, 2).values is a


@pytest.mark.exhaustive
@pytest.mark.parametrize("function", ["rnea_derivatives", "minverse", "aba_derivatives"])
def test_three_hundred_joints_are_verified(function: str, tmp_path: Path) -> None:
    result = build_package(chain(300), BuildOptions(out=tmp_path, functions=(function,)))
    assert result.errors is not None
    assert 0.0 < result.errors[function] < 1.0
