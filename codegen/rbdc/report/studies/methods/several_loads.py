"""Several forces on one link by the recursion of Zhakatayev, Rogovchenko and Paetzold (2023), which has one
force and one torque for each link: equations (8), (9), (16) and (17).

Torques and sensitivities are linear in the loads, so the results for forces f_1 and f_2 at points r_1 and r_2
of a link add up. The net load f_1 + f_2 at r_1 with the torque R (r_2 - r_1) x f_2 (R: rotation of the link)
gives the same torques. But the recursion holds the net torque fixed in the world while the link turns, so the
sensitivities with respect to q lack the change of R (r_2 - r_1).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from rbdc.algorithms.reference.lagrangian import Loaded, loaded_inverse_dynamics, loaded_sensitivities
from rbdc.algorithms.tools.kinematics import world_placements
from rbdc.model import Problem
from rbdc.report.studies.claims import judged
from rbdc.spatial import Vector3

Array = NDArray[np.float64]

FORCES = Vector3(30.0, -20.0, 400.0), Vector3(-10.0, 25.0, 300.0)
POINTS = Vector3(0.02, 0.0, -0.1), Vector3(-0.03, 0.04, 0.15)
"""Two forces (N) on a foot, in the world's axes, and where they act (m), in the frame of the link."""
EXACT = 1e-10


def measured(model: Problem, link: int) -> dict[str, float]:
    """Return the largest differences between results for a net force and torque on a link and results for
    two forces, relative to the largest entry: of `torques`, and of sensitivities `by q`, `by v` and `by a`.
    """
    rng = np.random.default_rng(0)
    q, v, a = (rng.standard_normal(model.nv).tolist() for _ in range(3))
    arm = world_placements(model, q)[link].rotation.apply(POINTS[1] - POINTS[0])
    none = Vector3.zero()
    net = _loads(model, link, FORCES[0] + FORCES[1], arm.cross(FORCES[1]), POINTS[0])
    one, other = (_loads(model, link, f, none, r) for f, r in zip(FORCES, POINTS, strict=True))
    unloaded = _loads(model, link, none, none, none)

    def results(loads: Loaded) -> list[Array]:
        parts = [loaded_inverse_dynamics(model, q, v, a, loads), *loaded_sensitivities(model, q, v, a, loads)]
        return [np.array(x, dtype=float) for x in parts]

    together = [x + y - z for x, y, z in zip(*map(results, (one, other, unloaded)), strict=True)]
    off = [float(np.abs(x - y).max() / np.abs(y).max()) for x, y in zip(results(net), together, strict=True)]
    return dict(zip(("torques", "by q", "by v", "by a"), off, strict=True))


def claim(off: Mapping[str, float]) -> dict[str, str]:
    """Return the claim that one force and one torque on a link replace several forces."""
    return judged(
        "Section 3.2: the net force and the net torque on a link replace several forces on it.",
        max(off.values()) < EXACT,
        "results for the net load differ from the sum of the results for each force alone, in torques and in "
        f"their derivatives, by (relative): {', '.join(f'{of} {x:.1e}' for of, x in off.items())}. Equation "
        "(16) holds the net torque fixed in the world, while the points where the forces act move with the "
        "link. Torques and derivatives are linear in the loads",
    )


def _loads(model: Problem, link: int, force: Vector3, torque: Vector3, point: Vector3) -> Loaded:
    every: Sequence[list[Vector3]] = [[Vector3.zero()] * model.njoints for _ in range(3)]
    for values, x in zip(every, (force, torque, point), strict=True):
        values[link] = x
    return every[0], every[1], every[2]
