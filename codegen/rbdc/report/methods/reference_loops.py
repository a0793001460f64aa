"""References as loops over tables of the model.

A text is a recursion that an abstract machine runs (`rbdc.algorithms.tools.machine`). The same texts compute
the reference results.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, cast

from rbdc.algorithms.reference import lagrangian
from rbdc.algorithms.reference.aba import forward_dynamics, inverse_inertia
from rbdc.algorithms.reference.crba import inertia_matrix
from rbdc.algorithms.reference.derivatives import carpentier_mansard, fdsva_so, idsva, idsva_so
from rbdc.algorithms.reference.derivatives.hyper_dual import (
    BICOMPLEX,
    CHAIN_RULE,
    of_forward_dynamics,
    of_inverse_dynamics,
)
from rbdc.algorithms.reference.rnea import inverse_dynamics
from rbdc.algorithms.tools.composed import Scheme
from rbdc.algorithms.tools.elimination import factorise
from rbdc.algorithms.tools.machine import Array
from rbdc.errors import UnsupportedError
from rbdc.functions.declarations import EXTERNAL_FORCES, FunctionDeclaration, Kind, Parameter
from rbdc.functions.record import Function
from rbdc.ir.loops import LoopNest
from rbdc.model import Problem
from rbdc.planning.loops import drives
from rbdc.planning.loops.arrays import LoopResult
from rbdc.planning.loops.factors import LoopRows, invert
from rbdc.planning.loops.machine import Loops
from rbdc.planning.loops.rolled import nest
from rbdc.planning.loops.tree import TreeTables
from rbdc.spatial import Scalar

Results = Array[Scalar] | tuple[Array[Scalar], ...]


def _as_they_are(m: Loops, *arrays: Any) -> Any:
    return arrays


class Text(NamedTuple):
    """A recursion as loops.

    text: function of a machine, and of the inputs other than q, v, a and external forces, which have an entry
        for each column (degree of freedom); returns the outputs in their order.
    before: function that subtracts the damping from these inputs.
    after: function of a machine and the names of the outputs, which adds armature and damping to the outputs.
    following: whether the text supports mimic joints.
    one_frame: whether the loops express all quantities in one frame, instead of one frame for each body.
    loaded: whether the text supports external forces.
    """

    text: Callable[..., Results]
    before: Callable[..., Any] = _as_they_are
    after: Callable[..., Any] = _as_they_are
    following: bool = True
    one_frame: bool = True
    loaded: bool = True


def texts_of(function: Function) -> dict[str, Text]:
    """Return the references of a function that are texts over a machine, by name."""
    return {name: TEXTS[place] for name, place in function.references.items() if place in TEXTS}


def reference_loops(problem: Problem, function: Function, reference: str) -> LoopNest:
    """Return a function as loops by one of the references that its record names, for a model of any size.

    Raises UnsupportedError for a reference without loops, and for a model that its loops do not support.
    """
    known = texts_of(function)
    if reference not in known:
        there_are = f"; {', '.join(known)} {'is' if len(known) == 1 else 'are'}" if known else ""
        raise UnsupportedError(f"{function.name}: {reference} is not available as loops{there_are}")
    return loops_of(problem, function, reference, known[reference])


def declared(function: Function, text: Text) -> FunctionDeclaration:
    """Return the declaration of a function that a text computes: without external forces if the text does not
    support them.
    """
    declaration = function.declaration
    return declaration if text.loaded else replace(declaration, inputs=tuple(declaration.required))


def loops_of(problem: Problem, function: Function, name: str, text: Text) -> LoopNest:
    """Return the loops by which a text computes a function; messages call the text `name`.

    Raises UnsupportedError for a model that its loops do not support.
    """
    if unsupported := unknown(problem, function, text):
        raise UnsupportedError(
            f"{problem.place}: {name} of {function.name} as loops does not support {unsupported}"
        )
    names, declaration = dict[str, str](), declared(function, text)
    return nest(TreeTables(problem), partial(_run, text, declaration, names), declaration)


MOVING = (Kind.CONFIGURATION, Kind.VELOCITY, Kind.ACCELERATION, Kind.WRENCHES)
"""Inputs that a machine has for bodies: q, v, a and external forces."""
BY_COLUMNS = (Kind.TANGENT, Kind.FORCE, Kind.WEIGHTS)
"""Inputs that a text receives as arguments, with entries for columns (degrees of freedom)."""


def has_texts(declaration: FunctionDeclaration) -> bool:
    """Return whether a text over a machine can compute a function: it has one q and no frame."""
    kinds = [p.kind for p in declaration.required]
    known = all(kind in (*MOVING, *BY_COLUMNS) for kind in kinds)
    return known and kinds.count(Kind.CONFIGURATION) == 1 and not declaration.framed


def by_columns(declaration: FunctionDeclaration) -> list[Parameter]:
    """Return the inputs that a text receives as arguments, beside those that its machine has."""
    return [p for p in declaration.required if p.kind not in MOVING]


def _run(
    text: Text, declaration: FunctionDeclaration, names: dict[str, str], m: Loops, *outputs: str
) -> None:
    """Run a text on a machine. names: the outputs' names by the array names in the text; the first run fills
    it.
    """
    kinds = {p.kind: p.name for p in declaration.inputs}
    m.v, m.a = kinds.get(Kind.VELOCITY, ""), kinds.get(Kind.ACCELERATION, "")
    m.external, m.one_frame = EXTERNAL_FORCES in kinds.values(), text.one_frame
    m.names |= names
    returned = text.text(m, *text.before(m, *(m.result(p.name) for p in by_columns(declaration))))
    results = returned if isinstance(returned, tuple) else (returned,)
    if not names:
        names_in_text = [x.name if isinstance(x, LoopResult) else "" for x in results]
        names |= dict(zip(names_in_text, outputs, strict=True))
    text.after(m, *outputs)


def unknown(problem: Problem, function: Function, text: Text) -> str:
    """Return the first property of the model that its loops do not support; "" if there is none."""
    loaded = any(p.name == EXTERNAL_FORCES for p in function.declaration.inputs)
    properties = {
        "springs and dry friction": not problem.only_damped,
        "inertial parameters at run time": bool(problem.parameters),
        "external forces in the world's frame": problem.world_forces and loaded,
        "polynomial mimic joints": bool(problem.curves),
        "mimic joints": problem.coupled and not text.following,
    }
    return next((name for name, there in properties.items() if there), "")


def _on_torques(m: Loops, tau: str) -> None:
    if m.v:
        drives.drives(m, tau, accelerating=bool(m.a))


def _on_inertia(m: Loops, inertia: str) -> None:
    drives.diagonal(m, inertia, "armature")


def _on_derivatives(m: Loops, by_q: str, by_v: str, by_a: str) -> None:
    drives.diagonal(m, by_v, "damping")
    drives.diagonal(m, by_a, "armature")


def _damped(m: Loops, tau: LoopResult) -> tuple[LoopResult]:
    m.sizes["moving"], damped = m.tree.nv, any(m.tree.model.damping)
    v, damping, moving = map(m.result, (m.v, "damping", "moving"))
    for at in m.over(m.tree.nv, drives.ENTRY, "torques less damping"):
        moving[at] = tau[at] - (damping[at] * v[at] if damped else 0.0)
    return (moving,)


def _inverse_inertia(m: Loops) -> Array[Scalar]:
    inverse = inverse_inertia(m)
    for k in LoopRows(m).rows("the lower triangle"):
        for j in k.before():
            inverse[k, j] = inverse[j, k]
    return inverse


def _inverse_by_cholesky(m: Loops) -> Array[Scalar]:
    inertia = cast(LoopResult, inertia_matrix(m))
    drives.diagonal(m, inertia.name, "armature")
    factorise(LoopRows(m), m.result(inertia.name))
    invert(m, inertia.name)
    return inertia


def _carpentier_mansard(m: Loops) -> Results:
    return *carpentier_mansard.derivatives(m), inertia_matrix(m)


def _forward(text: Callable[..., Results], **ways: bool) -> Text:
    """Return a text that computes derivatives of forward dynamics from derivatives of inverse dynamics,
    without storing M.
    """

    def alone(m: Loops, tau: LoopResult) -> Results:
        m.names |= dict.fromkeys(("dtau_da", "rest_dtau_dv", "rest_dtau_da"), "")
        return text(m, tau, **ways)

    return Text(alone, before=_damped, following=False)


def _by_pairs(text: Callable[..., Results], scheme: Scheme) -> Text:
    return Text(partial(text, scheme=scheme), following=False)


TEXTS: Mapping[str, Text] = {
    "rnea:rnea": Text(inverse_dynamics, after=_on_torques, one_frame=False),
    "rnea:nonlinear_effects": Text(inverse_dynamics, after=_on_torques, one_frame=False),
    "rnea:gravity_torque": Text(inverse_dynamics, after=_on_torques, one_frame=False),
    "crba:crba": Text(inertia_matrix, after=_on_inertia),
    "aba:minverse_by_cholesky": Text(_inverse_by_cholesky),
    "aba:minverse": Text(_inverse_inertia, following=False),
    "aba:aba": Text(forward_dynamics, before=_damped, following=False),
    ".derivatives.idsva:rnea_derivatives": Text(idsva.derivatives, after=_on_derivatives),
    ".derivatives.carpentier_mansard:rnea_derivatives": Text(_carpentier_mansard, after=_on_derivatives),
    ".derivatives.carpentier_mansard:aba_derivatives": _forward(fdsva_so.first_order),
    ".derivatives.fdsva_so:aba_derivatives_by_dynamics": _forward(fdsva_so.first_order, by_dynamics=True),
    ".derivatives.idsva_so:rnea_second_derivatives": Text(idsva_so.tensors),
    ".derivatives.idsva_so:by_subtrees": Text(idsva_so.tensors_by_subtrees),
    "lagrangian:inverse_dynamics": Text(lagrangian.torques, after=_on_torques, one_frame=False, loaded=False),
    "lagrangian:sensitivities": Text(
        lagrangian.torque_sensitivity, after=_on_derivatives, one_frame=False, loaded=False
    ),
    ".derivatives.fdsva_so:aba_second_derivatives": _forward(fdsva_so.second_order),
    ".derivatives.fdsva_so:by_dynamics": _forward(fdsva_so.second_order, outer_by_dynamics=True),
    ".derivatives.fdsva_so:by_derivatives": _forward(fdsva_so.second_order, inner_by_derivatives=True),
    ".derivatives.hyper_dual:rnea_by_chain_rule": _by_pairs(of_inverse_dynamics, CHAIN_RULE),
    ".derivatives.hyper_dual:rnea_by_bicomplex_step": _by_pairs(of_inverse_dynamics, BICOMPLEX),
    ".derivatives.hyper_dual:aba_by_chain_rule": _by_pairs(of_forward_dynamics, CHAIN_RULE),
    ".derivatives.hyper_dual:aba_by_bicomplex_step": _by_pairs(of_forward_dynamics, BICOMPLEX),
}
"""Texts by the place (module:function) of the reference, as records of functions name it. Regressors have no
text: they depend on link frames, which loops choose.
"""
