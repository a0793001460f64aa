"""Functions that are undefined for a model: for example forward dynamics if the joint-space inertia is
singular in every configuration, or the centre of mass of a model without mass.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from rbdc.algorithms.reference.couplings import bound
from rbdc.algorithms.reference.crba import crba
from rbdc.errors import SingularModelError
from rbdc.functions.catalogue import requiring
from rbdc.functions.record import Requirement
from rbdc.model import Problem
from rbdc.model.xml import shown
from rbdc.runtime._arrays import random_configuration

_SAMPLES = 4
_TOLERANCE = 1e-13
"""Eigenvalues up to this number count as zero, if M is scaled to a unit diagonal. It is above the rounding
errors of eigenvalues.
"""


def random_placements(rng: np.random.Generator, samples: int, size: int) -> NDArray[np.float64]:
    """Return random placements (samples, size): seven columns for each, a position and a unit quaternion."""
    drawn = rng.normal(size=(samples, size // 7, 7))
    drawn[..., 3:] /= np.linalg.norm(drawn[..., 3:], axis=-1, keepdims=True)
    return drawn.reshape(samples, size)


def random_configurations(
    model: Problem, rng: np.random.Generator, count: int, limited: Iterable[int] | None = None
) -> NDArray[np.float64]:
    """Return random configurations (count, nq).

    limited: indices of bodies whose joints stay within their limits; by default the leaders of reduced loops
        (whose coordinate the other joints of the loop follow).
    """
    lower, upper = np.full((2, model.nq), [[-np.inf], [np.inf]])
    for index in [cluster.leader for cluster in model.clusters] if limited is None else limited:
        entries, limits = model.q_slice(index), model.bodies[index].limits
        lower[entries], upper[entries] = limits.lower, limits.upper
    return np.array([random_configuration(rng, model.draws(), lower, upper) for _ in range(count)])


def singular_joints(model: Problem) -> list[str]:
    """Return the joints that take part in a motion with zero inertia. Return no joints if M is regular in one
    of a few random configurations.
    """
    involved = set[str]()
    for q in random_configurations(model, np.random.default_rng(0), _SAMPLES):
        inertia = np.array(bound(crba)(model, q.tolist()), dtype=float)
        scale = np.sqrt(np.maximum(np.diag(inertia), 0.0))
        scale[scale == 0.0] = 1.0
        values, vectors = np.linalg.eigh(inertia / np.outer(scale, scale))
        weak = np.any(np.abs(vectors[:, values <= _TOLERANCE]) > 1e-3, axis=1)
        if not np.any(weak):
            return []
        involved |= {
            body.joint_name
            for index, body in enumerate(model.bodies)
            if body.coupling is None and np.any(weak[model.v_slice(index)])
        }
    return [body.joint_name for body in model.bodies if body.joint_name in involved]


def buildable(
    model: Problem, names: Sequence[str], asked: Sequence[str] | None
) -> tuple[list[str], list[str]]:
    """Return the functions that are defined for the model, and a message for each reason why functions of a
    preset were left out.

    Raises SingularModelError if an undefined function was requested by name.
    """
    left_out: dict[str, str] = {}
    for undefined, why, cure in _undefined(model, names):
        wanted = [name for name in names if name in undefined]
        if wanted and asked is not None:
            raise SingularModelError(f"{why}, so {' and '.join(wanted)} cannot be built; {cure}")
        left_out |= dict.fromkeys(wanted, f"{why}, so {' and '.join(wanted)} were left out")
    return [name for name in names if name not in left_out], list(dict.fromkeys(left_out.values()))


def _undefined(model: Problem, names: Sequence[str]) -> Iterator[tuple[Sequence[str], str, str]]:
    forward_dynamics = requiring(Requirement.REGULAR_INERTIA, model)
    joints = singular_joints(model) if set(names) & set(forward_dynamics) else []
    if joints:
        listed = ", ".join(f'"{shown(joint)}"' for joint in joints[:6]) + (", ..." if len(joints) > 6 else "")
        why = f"the joint-space inertia is singular in every configuration (joints {listed})"
        yield forward_dynamics, why, "give mass to the links that these joints carry"
    if model.clusters:
        why = "joints of reduced loops follow their motor by a law that depends on the joints' placements"
        yield requiring(Requirement.OPEN_LOOPS, model), why, "leave out `loops`"
    of_moving = requiring(Requirement.MOVING_MASS, model)
    if model.moving_mass + model.base_inertia.mass == 0.0:
        of_all = requiring(Requirement.MASS, model)
        yield (*of_all, *of_moving), "no link has mass", "give a link an <inertial>"
    elif model.moving_mass == 0.0:
        yield of_moving, "no moving link has mass", "give a moving link an <inertial>"
