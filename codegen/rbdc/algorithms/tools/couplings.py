"""Joints that follow others along curves: q_k = f_k(y), v_k = f_k' ydot, a_k = f_k' yddot + f_k'' ydot^2,
where y is the coordinate of the leader.

At one configuration, the curves are replaced by their tangents, which are linear couplings. Joint
accelerations also include f_k'' ydot^2 (`joint_coordinates.joint_accelerations`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from rbdc.model import WORLD, Cluster, Contact, Frame, Problem
from rbdc.model.joints.coupling import CouplingAt
from rbdc.spatial import Scalar


class Curve(NamedTuple):
    """The coordinate f of a joint that follows another, as a function of the leader's coordinate.

    place: f.
    slope, curvature, jerk, snap: the first, second, third and fourth derivative of f.
    """

    place: Scalar
    slope: Scalar
    curvature: Scalar
    jerk: Scalar = 0.0
    snap: Scalar = 0.0


def at_curves(model: Problem, q: list[Scalar], curves: Mapping[int, Curve]) -> Problem:
    """Return the model at q, with the coupling of each body in `curves` replaced by its curve's tangent."""
    bodies = list(model.bodies)
    for index, law in model.curves.items():
        curve = curves[index]
        offset = curve.place - curve.slope * q[bodies[index].index_q]
        line = (law.leader, curve.slope, offset, law.higher)
        tangent = CouplingAt(*line, curve.place, curve.curvature, curve.jerk, law)
        bodies[index] = replace(bodies[index], coupling=tangent)
    return replace(model, bodies=tuple(bodies))


def tree_of(model: Problem, cluster: Cluster) -> Problem:
    """Return the tree of a cluster (joints that closed loops bind to one coordinate) as a model.

    The world replaces the carrier, contacts replace the loops, and no joint follows another. The order of
    bodies is kept.
    """
    indices = sorted([cluster.leader, *cluster.followers])
    numbers = {cluster.carrier: WORLD} | {k: i for i, k in enumerate(indices)}
    bodies = [
        replace(
            model.bodies[k],
            parent=numbers[model.bodies[k].parent],
            coupling=None,
            index_q=numbers[k],
            index_v=numbers[k],
        )
        for k in indices
    ]
    loops = tuple(_within(model, cluster, loop, numbers) for loop in cluster.loops)
    count = len(bodies)
    alone = replace(model, bodies=tuple(bodies), frames=(), nq=count, nv=count, contacts=loops, clusters=())
    return replace(alone, world_aligned=False)


def _within(model: Problem, cluster: Cluster, loop: Contact, numbers: Mapping[int, int]) -> Contact:
    """Return a loop with the body numbers of the cluster's tree, and frames on the carrier in the carrier's
    chosen frame.
    """

    def frame(outer: Frame) -> Frame:
        placement = outer.placement
        if outer.body == cluster.carrier != WORLD:
            placement = model.bodies[outer.body].own_placement(placement)
        return replace(outer, body=numbers[outer.body], placement=placement)

    second = None if loop.second is None else frame(loop.second)
    return replace(loop, first=frame(loop.first), second=second)
