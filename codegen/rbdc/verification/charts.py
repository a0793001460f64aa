"""Configurations by their entries: unit quaternions, cosines and sines, and the directions of the tangent
space, from what joints say of their rates.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rbdc.model import Body, Model

Array = NDArray[np.floating[Any]]

_QUATERNIONS = ((2.0, -4.0, 5.0, 6.0), (1.0, 3.0, -5.0, 1.0), (-4.0, 1.0, 2.0, 2.0))
_PAIRS = ((5.0, -12.0), (8.0, 15.0), (-3.0, 4.0))
"""Cosines and sines of whole length, as `_QUATERNIONS`: units are the same numbers however a sum of squares
is rounded.
"""
_STEP = 1e-30


class Chart:
    """The entries of q of a model, and where unit quaternions, cosines and sines are among them."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._bodies = [body for body in model.bodies if body.coupling is None]

    def unit(self, q: Array) -> Array:
        """q (states, nq) with what is of unit length so."""
        made = q.copy()
        for body in self._bodies:
            if (part := _unit_part(body)) is not None:
                made[:, part] /= np.sqrt(np.sum(q[:, part] ** 2, axis=1, keepdims=True))
        return made

    def rates(self, q: Array) -> Array:
        """The rates of the entries of a unit q along each direction of the tangent space (states, nq, nv)."""
        made = np.zeros((len(q), self._model.nq, self._model.nv))
        for state, one in enumerate(q):
            for body in self._bodies:
                own = one[body.index_q : body.index_q + body.joint.nq].tolist()
                for k, unit in enumerate(np.eye(body.joint.nv).tolist()):
                    rate = body.joint.rate(own, unit)
                    made[state, body.index_q : body.index_q + body.joint.nq, body.index_v + k] = rate
        return made

    def by_entries(self, q: Array) -> Array:
        """The step in the tangent space, (states, nv, nq), that a step of each entry of q is once q is
        normalised: of qdot = R v the inverse, and the derivative of q / |q|.
        """
        return np.array([self._steps(one) for one in q])

    def by_entries_twice(self, q: Array) -> Array:
        """Its derivatives by the entries of q, (states, nv, nq, nq), by complex steps."""
        made = np.zeros((len(q), self._model.nv, self._model.nq, self._model.nq))
        for body in self._bodies:
            if not body.joint.euclidean:
                for n in range(body.index_q, body.index_q + body.joint.nq):
                    for state, one in enumerate(q):
                        moved = one.astype(complex)
                        moved[n] += 1j * _STEP
                        made[state, :, :, n] = self._steps(moved).imag / _STEP
        return made

    def _steps(self, q: NDArray[Any]) -> NDArray[Any]:
        made = np.zeros((self._model.nv, self._model.nq), q.dtype)
        for body in self._bodies:
            rows = slice(body.index_v, body.index_v + body.joint.nv)
            columns = slice(body.index_q, body.index_q + body.joint.nq)
            made[rows, columns] = _steps(body, q[columns])
        return made


def far_from_unit(model: Model, q: Array) -> Array:
    """Configurations (states, nq) in which what is of unit length is of another."""
    made = q.copy()
    for body in model.bodies:
        if body.coupling is None and (part := _unit_part(body)) is not None:
            choices = np.array(_QUATERNIONS if part.stop - part.start == 4 else _PAIRS)
            made[:, part] = choices[np.arange(len(q)) % len(choices)]
    return made


def _unit_part(body: Body) -> slice | None:
    """The entries of q that are of unit length: all that are not lengths."""
    joint = body.joint
    if joint.euclidean:
        return None
    return slice(body.index_q + joint.lengths, body.index_q + joint.nq)


def _steps(body: Body, q: NDArray[Any]) -> NDArray[Any]:
    """(nv, nq) of one joint."""
    joint, lengths = body.joint, body.joint.lengths
    if joint.euclidean:
        return np.eye(joint.nv, dtype=q.dtype)
    part, normalised = q[lengths:], np.eye(joint.nq, dtype=q.dtype)
    size = np.sqrt(np.sum(part * part))
    unit = part / size
    normalised[lengths:, lengths:] = (np.eye(len(part)) - np.outer(unit, unit)) / size
    at = [*q[:lengths], *unit]
    rates = np.array([joint.rate(at, direction) for direction in np.eye(joint.nv).tolist()], q.dtype).T
    made: NDArray[Any] = np.linalg.solve(rates.T @ rates, rates.T) @ normalised
    return made
