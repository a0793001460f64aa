"""Configurations by their entries, and the directions of the tangent space. What is of unit length in q, a
quaternion or a cosine and a sine, may be of any for CasADi, which takes it as if it were divided by that.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rbdc.model import Model

Array = NDArray[Any]

_QUATERNIONS = ((2.0, -4.0, 5.0, 6.0), (1.0, 3.0, -5.0, 1.0), (-4.0, 1.0, 2.0, 2.0))
_PAIRS = ((5.0, -12.0), (8.0, 15.0), (-3.0, 4.0))
"""Cosines and sines of whole length, as `_QUATERNIONS`: units are the same numbers however a sum of squares
is rounded.
"""
_STEP = 1e-30


def far_from_unit(model: Model, q: Array) -> Array:
    """Configurations (states, nq) in which what is of unit length is of another."""
    made = q.copy()
    for part in _unit_parts(model):
        choices = np.array(_QUATERNIONS if part.stop - part.start == 4 else _PAIRS)
        made[:, part] = choices[np.arange(len(q)) % len(choices)]
    return made


def unit(model: Model, q: Array) -> tuple[Array, Array]:
    """q (states, nq) with what is of unit length so, and its derivatives by the entries of q, (states, nq,
    nq).
    """
    made, slopes = q.copy(), np.tile(np.eye(model.nq, dtype=q.dtype), (len(q), 1, 1))
    for part in _unit_parts(model):
        size = np.sqrt(np.sum(q[:, part] ** 2, axis=1, keepdims=True))
        made[:, part] /= size
        own = made[:, part, None]
        slopes[:, part, part] = (slopes[:, part, part] - own * own.swapaxes(1, 2)) / size[:, None]
    return made, slopes


def rates(model: Model, q: Array) -> Array:
    """The rates of the entries of a unit q along each direction of the tangent space (states, nq, nv)."""
    made = np.zeros((len(q), model.nq, model.nv), q.dtype)
    for index, body in enumerate(model.bodies):
        if body.coupling is None:
            own, first = model.q_slice(index), body.index_v
            for k, direction in enumerate(np.eye(body.joint.nv).tolist()):
                for entry, rate in enumerate(body.joint.rate(list(q[:, own].T), direction)):
                    made[:, own.start + entry, first + k] = rate
    return made


def by_entries(model: Model, q: Array) -> Array:
    """The step in the tangent space, (states, nv, nq), that a step of each entry of q is once q is
    normalised: of qdot = R v the inverse, and the derivative of q / |q|.
    """
    normalised, slopes = unit(model, q)
    along = rates(model, normalised)
    transposed = along.swapaxes(1, 2)
    made: Array = np.linalg.solve(transposed @ along, transposed) @ slopes
    return made


def by_entries_twice(model: Model, q: Array) -> Array:
    """Its derivatives by the entries of q, (states, nv, nq, nq), by complex steps; by lengths it has none."""
    made = np.zeros((len(q), model.nv, model.nq, model.nq))
    for n in (n for part in _unit_parts(model) for n in range(part.start, part.stop)):
        moved = q.astype(complex)
        moved[:, n] += 1j * _STEP
        made[..., n] = by_entries(model, moved).imag / _STEP
    return made


def _unit_parts(model: Model) -> list[slice]:
    """The entries of q that are of unit length: of joints that have such, all that are not lengths."""
    joints = [(body.joint, body.index_q) for body in model.bodies if body.coupling is None]
    return [slice(at + one.lengths, at + one.nq) for one, at in joints if not one.euclidean]
