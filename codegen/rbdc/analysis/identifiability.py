"""Base inertial parameters: which of a robot's inertial parameters its motion and torques can tell apart.

Torques are linear in the inertial parameters, tau = Y(q, v, a) pi. Over many states Y has dependent columns:
of their parameters only combinations are seen. Gautier (1991), Numerical calculation of the base inertial
parameters of robots, by an orthogonal decomposition; Khalil and Dombre, Modeling, Identification and Control
of Robots, chapter 9.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rbdc.algorithms.dynamics.regressor import PARAMETERS_PER_BODY, regressor_by_forces
from rbdc.model import Model
from rbdc.runtime._arrays import random_configuration

Array = NDArray[np.float64]

PARAMETERS = ("m", "mcx", "mcy", "mcz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")
"""Inertial parameters of a body, about the origin of its frame, as the torque regressor has them."""
DEPENDENT = 1e-8
"""A column of unit length of which no more is left beyond the span of others depends on them."""
_ROUNDED = 1e-9
"""Coefficients so close to 0, 1 or -1 are these."""


@dataclass(frozen=True)
class Combination:
    """A base parameter: that of `leading` plus the sum of coefficients times parameters, by their numbers."""

    leading: int
    terms: tuple[tuple[int, float], ...]


@dataclass(frozen=True)
class Identifiability:
    """names: of all 10 parameters of each body. base: combinations that torques determine, each for itself.
    unseen: parameters that no torque depends on. singular_values: of the regressor with columns of length 1
    over the states, the largest first.
    """

    names: tuple[str, ...]
    base: tuple[Combination, ...]
    unseen: tuple[int, ...]
    singular_values: tuple[float, ...]

    @property
    def rank(self) -> int:
        """How many singular values are not rounding."""
        return sum(x > DEPENDENT * self.singular_values[0] for x in self.singular_values)

    def words(self, combination: Combination) -> str:
        """A combination as a formula."""
        text = self.names[combination.leading]
        for k, factor in combination.terms:
            size = "" if abs(factor) == 1.0 else f"{abs(factor):.10g} "
            text += f" {'-' if factor < 0 else '+'} {size}{self.names[k]}"
        return text


def identifiability(model: Model, seed: int = 0) -> Identifiability:
    """The base parameters of a model from its regressor at random states.

    Parameters of bodies near the root come first, so that what is not seen of a body by itself is counted
    with what carries it.
    """
    names = tuple(f"{p}({body.name})" for body in model.bodies for p in PARAMETERS)
    columns = _regressor(model, seed)
    lengths = np.linalg.norm(columns, axis=0)
    seen = [k for k in range(columns.shape[1]) if lengths[k] > DEPENDENT * float(lengths.max(initial=0.0))]
    scaled = columns[:, seen] / lengths[seen]
    independent = _independent(scaled)
    others = [k for k in range(len(seen)) if k not in independent]
    solved = np.linalg.lstsq(scaled[:, independent], scaled[:, others], rcond=None)[0]
    factors = (
        solved * lengths[np.array(seen, int)[others]] / lengths[np.array(seen, int)[independent]][:, None]
    )
    base = tuple(
        Combination(seen[k], _terms([seen[other] for other in others], factors[row]))
        for row, k in enumerate(independent)
    )
    unseen = tuple(k for k in range(len(names)) if k not in seen)
    values = np.linalg.svd(scaled, compute_uv=False)
    return Identifiability(names, base, unseen, tuple(float(x) for x in values))


def _terms(numbers: list[int], factors: Array) -> tuple[tuple[int, float], ...]:
    """The terms that are not rounding."""
    found = []
    for k, factor in zip(numbers, factors.tolist(), strict=True):
        rounded = float(round(factor))
        value = rounded if abs(rounded) <= 1.0 and abs(factor - rounded) <= _ROUNDED else float(factor)
        if value != 0.0:
            found.append((k, value))
    return tuple(found)


def _independent(columns: Array) -> list[int]:
    """The columns, of length 1, that do not depend on those before; twice orthogonalised."""
    found: list[int] = []
    span = np.zeros((columns.shape[0], 0))
    for k in range(columns.shape[1]):
        rest = columns[:, k].copy()
        for _ in range(2):
            rest -= span @ (span.T @ rest)
        length = float(np.linalg.norm(rest))
        if length > DEPENDENT:
            found.append(k)
            span = np.column_stack([span, rest / length])
    return found


def _regressor(model: Model, seed: int) -> Array:
    """The torque regressor at random states, one below the other."""
    rng = np.random.default_rng(seed)
    size = PARAMETERS_PER_BODY * model.njoints
    count = 10 + 2 * size // model.nv
    free = np.full(model.nq, np.inf)
    q = np.array([random_configuration(rng, model.draws(), -free, free) for _ in range(count)])
    v, a = rng.standard_normal((2, count, model.nv))
    rows = regressor_by_forces(model, list(q.T), list(v.T), list(a.T))
    entries = [np.broadcast_to(np.asarray(x, float), (count,)) for row in rows for x in row]
    return np.stack(entries).reshape(model.nv, size, count).transpose(2, 0, 1).reshape(-1, size)
