"""Whether a model's joint-space inertia is singular whatever the configuration, so that forward dynamics is not defined."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rbdc.algorithms.crba import crba
from rbdc.algorithms.manifold import integrate
from rbdc.catalogue import FORWARD_DYNAMICS
from rbdc.errors import SingularModelError
from rbdc.model import Model
from rbdc.model.xml import shown

_SAMPLES = 4
_TOLERANCE = 1e-13
"""Of the smallest eigenvalue of M scaled to a unit diagonal: beyond what rounding leaves of a regular robot."""


def singular_joints(model: Model) -> list[str]:
    """The joints along which the motion of zero inertia runs, empty where M is regular in some of a few random configurations."""
    rng, involved = np.random.default_rng(0), set[str]()
    for _ in range(_SAMPLES):
        q = integrate(model, model.neutral(), [float(x) for x in rng.uniform(-1.5, 1.5, model.nv)])
        inertia = np.array(crba(model, [float(x) for x in q]), dtype=float)
        scale = np.sqrt(np.maximum(np.diag(inertia), 0.0))
        if np.all(scale > 0.0):
            values, vectors = np.linalg.eigh(inertia / np.outer(scale, scale))
            if values[0] > _TOLERANCE:
                return []
            weak = np.abs(vectors[:, 0]) > 1e-3
        else:
            weak = scale == 0.0
        involved |= {
            body.joint_name
            for index, body in enumerate(model.bodies)
            if body.coupling is None and np.any(weak[model.v_slice(index)])
        }
    return [body.joint_name for body in model.bodies if body.joint_name in involved]


def without_forward_dynamics(model: Model, names: Sequence[str], asked: Sequence[str] | None) -> tuple[list[str], list[str]]:
    """The functions that can be built, and a message where forward dynamics had to be left out of a preset.

    Raises SingularModelError where it was asked for by name.
    """
    wanted = [name for name in names if name in FORWARD_DYNAMICS]
    joints = singular_joints(model) if wanted else []
    if not joints:
        return list(names), []
    listed = ", ".join(f'"{shown(joint)}"' for joint in joints[:6]) + (", ..." if len(joints) > 6 else "")
    problem = f"the joint-space inertia is singular in every configuration (joints {listed}), so {' and '.join(wanted)}"
    if asked is not None:
        raise SingularModelError(f"{problem} cannot be built; give mass to the links that these joints carry")
    return [name for name in names if name not in FORWARD_DYNAMICS], [f"{problem} were left out"]
