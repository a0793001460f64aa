"""References as loops over tables of the model, of the very texts over machines that the oracle runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

from rbdc.algorithms.reference.aba import forward_dynamics, inverse_inertia
from rbdc.algorithms.reference.crba import inertia_matrix
from rbdc.algorithms.reference.derivatives import carpentier_mansard, idsva, idsva_so
from rbdc.algorithms.reference.rnea import inverse_dynamics
from rbdc.errors import UnsupportedError
from rbdc.functions.declarations import EXTERNAL_FORCES
from rbdc.functions.record import Function
from rbdc.ir.loops import Loop, LoopNest
from rbdc.model import Problem
from rbdc.planning.loops import drives
from rbdc.planning.loops.factors import LoopRow, LoopRows
from rbdc.planning.loops.machine import Loops
from rbdc.planning.loops.rolled import nest
from rbdc.planning.loops.tree import Tree

MOST_ON_STACK = 2**19
"""Numbers in arrays of loops, by pairs of bodies and columns for instance: half of a usual stack."""


class Text(NamedTuple):
    """A reference on a machine of loops, called with that and the names of the function's outputs. following:
    it knows joints that follow others.
    """

    run: Callable[..., None]
    following: bool = True


def reference_loops(problem: Problem, function: Function, reference: str) -> LoopNest:
    """Return a function as loops by one of the references that its record names.

    Raises UnsupportedError for a reference without loops, for a model that its loops do not know, or that is
    too large for them.
    """
    known = {name: TEXTS[place] for name, place in function.references.items() if place in TEXTS}
    if reference not in known:
        there_are = f"; those of {', '.join(known)} are" if known else ""
        raise UnsupportedError(f"{function.name}: {reference} is not written as loops{there_are}")
    text = known[reference]
    if unknown := _unknown(problem, function, text):
        raise UnsupportedError(f"{problem.place}: loops of {function.name} by {reference} have no {unknown}")
    loops = nest(Tree(problem), text.run, function.declaration)
    numbers = sum(loops.arrays.values())
    if numbers > MOST_ON_STACK:
        raise UnsupportedError(
            f"{problem.place}: loops of {function.name} by {reference} would keep {numbers} numbers on the "
            f"stack, which has room for {MOST_ON_STACK}"
        )
    return loops


def _unknown(problem: Problem, function: Function, text: Text) -> str:
    """Return the first property of a model that loops do not know; "" where there is none."""
    loaded = any(p.name == EXTERNAL_FORCES for p in function.declaration.inputs)
    properties = {
        "springs and no dry friction": not problem.only_damped,
        "inertial parameters at run time": bool(problem.parameters),
        "external forces in the world's frame": problem.world_forces and loaded,
        "joints that follow others along curves": bool(problem.curves),
        "joints that follow others": problem.coupled and not text.following,
    }
    return next((name for name, there in properties.items() if there), "")


def _inverse_dynamics(m: Loops, tau: str, *, v: str = "", a: str = "", external: bool = False) -> None:
    m.one_frame, m.v, m.a, m.external = False, v, a, external
    inverse_dynamics(m)
    if v:
        drives.drives(m, tau, accelerating=bool(a))


def _inertia_matrix(m: Loops, inertia: str) -> None:
    m.names["M"] = inertia
    inertia_matrix(m)
    drives.diagonal(m, inertia, "armature")


def _inverse_inertia(m: Loops, inverse: str) -> None:
    m.names["Minv"] = inverse
    inverse_inertia(m)
    found = m.result(inverse)
    for k in LoopRows(m).rows("the lower triangle"):
        for j in k.before():
            found[k, j] = found[j, k]


def _forward_dynamics(m: Loops, ddq: str) -> None:
    m.v, m.external, m.sizes["moving"], damped = "v", True, m.tree.nv, any(m.tree.model.damping)
    tau, v, damping, moving = map(m.result, ("tau", "v", "damping", "moving"))
    for at in m.over(m.tree.nv, drives.ENTRY, "torques less damping"):
        moving[at] = tau[at] - (damping[at] * v[at] if damped else 0.0)
    forward_dynamics(m, moving)


def _idsva(m: Loops, by_q: str, by_v: str, by_a: str, *, a: str = "a") -> None:
    m.v, m.a, m.external = "v", a, True
    m.names |= {"dtau_dq": by_q, "dtau_dv": by_v, "dtau_da": by_a}
    idsva.derivatives(m)
    drives.diagonal(m, by_v, "damping")
    if by_a:
        drives.diagonal(m, by_a, "armature")


def _carpentier_mansard(m: Loops, by_q: str, by_v: str, by_a: str) -> None:
    m.v, m.a, m.external = "v", "a", True
    carpentier_mansard.derivatives(m)
    drives.diagonal(m, by_v, "damping")
    _inertia_matrix(m, by_a)


def _forward_derivatives(m: Loops, by_q: str, by_v: str, inverse: str) -> None:
    """Equation (24): -M^-1 times the derivatives of inverse dynamics."""
    _forward_dynamics(m, "ddq")
    _inverse_inertia(m, inverse)
    _idsva(m, "dtau_dq", "dtau_dv", "", a="ddq")
    h, size = m.result(inverse), m.tree.nv
    for name, factor in ((by_q, "dtau_dq"), (by_v, "dtau_dv")):
        product, right = m.matrix(name), m.result(factor)
        for k in m.over(size, LoopRow(m, "k"), f"-M^-1 {factor}"):
            for i, _ in m.inner(Loop("i", 0, size, ()), LoopRow(m, "i"), 0.0):
                for j, entry in m.inner(Loop("j", 0, size, ()), LoopRow(m, "j"), h[k, i]):
                    product.add((k, j), -(entry * right[i, j]))


def _idsva_so(m: Loops, *_: str) -> None:
    m.v, m.a, m.external = "v", "a", True
    idsva_so.tensors(m)


TEXTS: Mapping[str, Text] = {
    "rnea:rnea": Text(partial(_inverse_dynamics, v="v", a="a", external=True)),
    "rnea:nonlinear_effects": Text(partial(_inverse_dynamics, v="v")),
    "rnea:gravity_torque": Text(_inverse_dynamics),
    "crba:crba": Text(_inertia_matrix),
    "aba:minverse": Text(_inverse_inertia, following=False),
    "aba:aba": Text(_forward_dynamics, following=False),
    ".derivatives.idsva:rnea_derivatives": Text(_idsva),
    ".derivatives.carpentier_mansard:rnea_derivatives": Text(_carpentier_mansard),
    ".derivatives.carpentier_mansard:aba_derivatives": Text(_forward_derivatives, following=False),
    ".derivatives.idsva_so:rnea_second_derivatives": Text(_idsva_so),
}
"""By the places that records name. Regressors depend on frames, which loops choose."""
