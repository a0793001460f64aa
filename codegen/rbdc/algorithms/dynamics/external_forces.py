"""External forces, in the frames of the bodies or in the frame of the world.

In the frame of the world, a force f is [force; moment about the world's origin] along the world's axes. In
the frame of body i it is iX0* f with the full Pluecker transform (Caron). If the tree hangs on one free body,
f is first expressed in the frame of this body: then only the moments of the inputs grow with the distance
from the world's origin.
"""

from __future__ import annotations

from collections.abc import Sequence

from rbdc.algorithms.body_motion import subtree_sums
from rbdc.algorithms.tools.machine import Array, Machine
from rbdc.algorithms.tools.numbers import Entries, Numbers
from rbdc.algorithms.tools.one_frame import OneFrame, free_root, in_one_frame
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import Problem
from rbdc.spatial import Force, Forces, Scalar, Scalars, Vector3


def external_torque(model: Problem, q: Scalars, fext: Sequence[Force], trace: Trace = silent) -> list[Scalar]:
    """Return the sum of J_i^T fext_i (nv; N, N m) at q (nq), with fext (N, N m) in the bodies' frames, or the
    world's if the model has `world_forces`.
    Checked against inverse dynamics without fext minus inverse dynamics with fext.
    """
    m = loaded_machine(model, q, fext=fext, trace=trace)
    force = m.array("f", Force)
    for b in m.loaded():
        force[b] = b.external_force()
    return m.reduced_vector(joint_torques(m, force))


def load_torque(
    model: Problem, q: Scalars, wrenches: Scalars, arms: Scalars, trace: Trace = silent
) -> list[Scalar]:
    """Return the sum of J_i^T (F_i, U_i) (nv; N, N m) at q (nq), with J_i the Jacobian of a point of body i.

    `wrenches`: force F and moment U on each body (N, N m), along the axes of the world. `arms`: the body's
    point at which F acts, in the body's frame (m). Zhakatayev, Rogovchenko and Paetzold (2023) describe these
    loads. Checked against virtual work and Pinocchio's Jacobians.
    """
    m, root = Numbers(model, q, trace=trace), free_root(model)
    there, force = in_one_frame(model, m.placements, trace), m.array("f", Force)
    for b in m.down():
        pair = (Vector3.of(wrenches[k : k + 3]) for k in (6 * b.at, 6 * b.at + 3))
        seen = pair if root is None else (m.placements[root].rotation.apply_transposed(x) for x in pair)
        load, moment = (there[b.at].rotation.apply_transposed(x) for x in seen)
        arm = Vector3.of(arms[3 * b.at : 3 * b.at + 3])
        force[b] = wrench = Force(load, moment + arm.cross(load))
        b.label("load on the body, in the body's frame", "fx", wrench.scalars())
    return m.reduced_vector(joint_torques(m, force))


def loaded_machine(
    model: Problem,
    q: Scalars,
    v: Scalars | None = None,
    a: Scalars | None = None,
    fext: Forces | None = None,
    trace: Trace = silent,
) -> Numbers:
    """Return a machine for q, v, a and the external forces, if any."""
    m = Numbers(model, q, v, a, trace=trace)
    if fext is not None:
        m.fext = in_bodies(m, fext)
    return m


def joint_torques(m: Machine, force: Array[Force], name: str = "tau") -> Array[Scalar]:
    """Return tau = S^T f. Replace each body's entry of `force` by the force f on its subtree."""
    tau = m.vector(name)
    for b in m.up("tau = S^T f, f_parent += X* f"):
        torques = [k.s.dot(force[b]) for k in b.columns()]
        b.label("tau = S^T f", "tau", torques)
        for k, x in zip(b.columns(), torques, strict=True):
            tau[k] = x
        b.add_to_parent(force, force[b], "f_parent = f_parent + X* f", "f")
    return tau


def take_external_forces(m: Machine, force: Array[Force]) -> None:
    """Subtract external forces from the forces that joints must exert on bodies."""
    for b in m.loaded():
        force.add(b, -b.external_force())


def in_bodies(m: Numbers, fext: Forces) -> Forces:
    """Return external forces in the frames of the bodies."""
    if not m.model.world_forces:
        return fext
    there, seen = in_one_frame(m.model, m.placements, m.trace), from_one_frame(m, fext)
    local = [placement.act_inverse_force(force) for placement, force in zip(there, seen, strict=True)]
    for b, force in zip(m.bodies, local, strict=True):
        b.label("external force in the body's frame, iX0* f", "fx", force.scalars())
    return local


def from_one_frame(m: Numbers, fext: Forces) -> list[Force]:
    """Map forces from the world's frame to that of the free root on which the tree hangs, if there is one."""
    root = free_root(m.model)
    return list(fext) if root is None else [m.placements[root].act_inverse_force(force) for force in fext]


def of_subtrees(model: Problem, forces: Sequence[Force]) -> list[Force]:
    """Return, for each body, the sum of the forces on its subtree. All forces are in one frame."""
    m = OneFrame(model)
    return m.in_order(subtree_sums(m, Entries(known=dict(enumerate(forces)))))
