"""Articulated-body algorithm: Featherstone, Rigid Body Dynamics Algorithms, table 7.1. The axes of a joint
are processed one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

from rbdc.algorithms.tools.machine import Array, Body, Machine
from rbdc.spatial import ArticulatedInertia, Force, Motion, Scalar


class Released(NamedTuple):
    """A joint axis s that moves freely and carries a body with the articulated inertia IA.

    u: U = IA s.
    inverse: 1 / D with D = s^T U + armature.
    gain: U D^-1.
    left: inertia that the next axis or the parent carries, IA - U D^-1 U^T.
    """

    u: Force
    inverse: Scalar
    gain: Force
    left: ArticulatedInertia


def released(inertia: ArticulatedInertia, s: Motion, armature: Scalar) -> Released:
    """Return the quantities of an axis s that carries a body with the articulated inertia `inertia`."""
    u = inertia @ s
    inverse = 1.0 / (s.dot(u) + armature)
    gain = u.scaled(inverse)
    return Released(u, inverse, gain, inertia.minus_product([gain], [u]))


def articulated_inertias(m: Machine) -> Array[ArticulatedInertia]:
    """Return the inertia of each body alone, the initial value of its articulated inertia."""
    inertia = m.array("IA", ArticulatedInertia)
    for b in m.down("IA = I"):
        inertia[b] = ArticulatedInertia.from_inertia(b.inertia())
    return inertia


def axes_released(
    b: Body, inertia: ArticulatedInertia, armature: Sequence[Scalar]
) -> Iterator[tuple[int, Released]]:
    """Yield the index and the quantities of each axis of a joint, from the last axis to the first."""
    for c in reversed(range(len(armature))):
        axis = released(inertia, b.columns()[c].s, armature[c])
        b.label("U = IA s", f"U{c or ''}", axis.u.scalars())
        b.label("D = s^T U + armature, U D^-1", f"UD{c or ''}", axis.gain.scalars())
        yield c, axis
        inertia = axis.left


def articulated_factors(m: Machine, inertia: Array[ArticulatedInertia]) -> Array[tuple[Force, Scalar]]:
    """Return U D^-1 and D^-1 of all axes. With all quantities in one frame, M = L^T D L, where
    L_ij = s_j . U_i D_i^-1 for each earlier axis j of the joint of axis i or of an ancestor.
    """
    factors = m.array("factors", tuple)
    for b in m.up("U = IA s, D = s^T U, IA_parent += IA - U D^-1 U^T"):
        left = inertia[b]
        for c, axis in axes_released(b, left, b.armature()):
            factors[b.columns()[c]], left = (axis.gain, axis.inverse), axis.left
        b.add_to_parent(inertia, left)
    return factors


OfJoint: TypeAlias = Callable[[Any], list[Scalar]]
"""(body) -> the entries of a vector (nv) for the body's joint."""


def articulated_accelerations(
    m: Machine, bias: Array[Force], tau: OfJoint, reference: OfJoint, world: Motion, name: str = "ddq"
) -> Array[Scalar]:
    """Return ddq + `reference` (nv) for bodies with the accelerations a = X a_parent + S qddot and the forces
    I a + p. bias: p. tau: torques. world: acceleration of the world.

    For each axis of a joint, from the last to the first, u = tau - s^T p. The next axis or the parent gets
    IA - U D^-1 U^T and p + U D^-1 u. At a leaf, D^-1 u is added last: no other value waits for ddq, and its
    largest term is rounded once.
    """
    inertia, gain = articulated_inertias(m), m.array("UD", Force)
    acceleration, ddq = m.array("a", Motion, world), m.vector(name)
    for b in m.up("U = IA s, D = s^T U, IA_parent += IA - U D^-1 U^T"):
        left, p, armature, columns = inertia[b], bias[b], b.armature(), b.columns()
        remaining = list(tau(b))
        for c, axis in axes_released(b, left, armature):
            remaining[c] = remaining[c] - columns[c].s.dot(p)
            left, p = axis.left, p + axis.gain.scaled(remaining[c])
            gain[columns[c]], ddq[columns[c]] = axis.gain, remaining[c] * axis.inverse
        b.label("u = tau - s^T pA, pA: bias force", "u", remaining)
        b.add_to_parent(inertia, left)
        b.add_to_parent(bias, p, "pA_parent += X* (pA + U D^-1 u)", "pA")
    for b in m.down("qddot = D^-1 (u - U^T a), a += s qddot"):
        a = b.from_parent(acceleration[b.parent])
        for k, chosen in zip(b.columns(), reference(b), strict=True):
            solved, moved = ddq[k], a.dot(gain[k])
            rate = solved - moved
            ddq[k] = solved + (chosen - moved) if b.leaf and b.joint.nv == 1 else chosen + rate
            a = a + k.s.scaled(rate)
        acceleration[b] = a
        b.label("qddot = D^-1 (u - U^T a'), a = a' + S qddot, a' = X a_parent", "a", a.scalars())
    return ddq
