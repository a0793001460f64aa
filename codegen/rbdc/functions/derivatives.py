"""The records of the first and second derivatives of inverse and forward dynamics, and of products with
them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from rbdc.algorithms.derivatives import forward_derivatives as forward
from rbdc.algorithms.derivatives import products
from rbdc.algorithms.derivatives.geometry import rnea_geometry_derivatives
from rbdc.algorithms.derivatives.rnea_derivatives import (
    gravity_torque_derivatives,
    nle_derivatives,
    rnea_derivatives,
)
from rbdc.algorithms.derivatives.second_order import path_quantities, rnea_second_derivatives
from rbdc.algorithms.derivatives.second_order_forward import aba_second_derivatives
from rbdc.algorithms.dynamics.forward_dynamics import solved_by_articulated_bodies, solved_by_cholesky
from rbdc.functions.dynamics import lagrangian
from rbdc.functions.evaluation import Evaluate, OnJointSpace, joint_space, on_model
from rbdc.functions.inputs import Declared, declarations
from rbdc.functions.record import (
    ALONE,
    SECOND,
    ChainRule,
    Comparison,
    Differential,
    Function,
    Policy,
    Requirement,
)
from rbdc.model import Problem

DECLARATIONS = """
rnea_derivatives(q, v, a, fext, parameters, friction_width)
    Derivatives of inverse dynamics with respect to q (in the tangent space), v and a.
    dtau_dq dtau_dv dtau_da[nv, nv]: [i, k]: derivative of tau[i] along direction k of <x>
nle_derivatives(q, v, parameters, friction_width)
    Derivatives of the nonlinear effects with respect to q (in the tangent space) and v.
    dtau_dq dtau_dv[nv, nv]: [i, k]: derivative of tau[i] along direction k of <x>
gravity_torque_derivatives(q, parameters)
    Derivatives of g(q) with respect to q (in the tangent space): the Hessian of the potential energy.
    dtau_dq[nv, nv]: [i, k]: derivative of tau[i] along direction k of <x>
aba_derivatives(q, v, tau, fext, parameters, friction_width)
    Derivatives of forward dynamics with respect to q (in the tangent space), v and tau.
    ddq_dq ddq_dv[nv, nv]: [i, k]: derivative of ddq[i] along direction k of <x>
    ddq_dtau[inverse nv, nv]: [i, k]: derivative of ddq[i] along direction k of <x>
rnea_vjp(q, v, a, w, fext, parameters, friction_width)
    Weighted sums of the rows of the derivatives of inverse dynamics: w^T dtau_dq, w^T dtau_dv, w^T dtau_da.
    w_dtau_dq w_dtau_dv w_dtau_da[nv]: one number for each direction
aba_vjp(q, v, tau, w, fext, parameters, friction_width)
    Weighted sums of the rows of the derivatives of forward dynamics: w^T ddq_dq, w^T ddq_dv, w^T ddq_dtau.
    w_ddq_dq w_ddq_dv w_ddq_dtau[nv]: one number for each direction
external_torque_vjp(q, w, fext!)
    Weighted sums of the rows of the derivatives of external_torque: w^T dtau_dq and w^T dtau_dfext
    = J w, the velocities of the bodies at v = w.
    w_dtau_dq[nv]: one number for each direction
    w_dtau_dfext[6 njoints]: six entries for the force on each body
rnea_geometry_derivatives(q, v, a, fext, parameters)
    Derivatives of inverse dynamics with respect to the placement X of each joint on its parent (design
    sensitivity): X becomes X exp(e) with a motion e in the joint's frame, linear part first.
    dtau_dplacement[nv, 6 njoints]: [i, 6 j + k]: dtau[i]/de[k] of joint j (N, N m per m, rad)
rnea_jvp(q, v, a, dq, dv, da, fext, parameters, friction_width)
    Derivative of inverse dynamics along the direction (dq, dv, da).
    dtau[nv]: derivative of tau
aba_jvp(q, v, tau, dq, dv, dtau, fext, parameters, friction_width)
    Derivative of forward dynamics along the direction (dq, dv, dtau).
    dddq[nv]: derivative of ddq
"""

SECOND_DECLARATIONS = """
rnea_second_derivatives(q, v, a, fext, parameters, friction_width)
    Second derivatives of inverse dynamics with respect to q (in the tangent space) and v, and dM/dq.
    d2tau_dqdq[nv, nv, nv]: [i, j, k]: derivative of tau[i] along direction j of q, then k of q
    d2tau_dvdv[nv, nv, nv]: [i, j, k]: derivative of tau[i] along direction j of v, then k of v
    d2tau_dqdv[nv, nv, nv]: [i, j, k]: derivative of tau[i] along direction j of q, then k of v
    dM_dq[nv, nv, nv]: [i, j, k]: derivative of M[i, j] along direction k of q
aba_second_derivatives(q, v, tau, fext, parameters, friction_width)
    Second derivatives of forward dynamics with respect to q (in the tangent space), v and tau.
    d2ddq_dqdq[nv, nv, nv]: [i, j, k]: derivative of ddq[i] along direction j of q, then k of q
    d2ddq_dvdv[nv, nv, nv]: [i, j, k]: derivative of ddq[i] along direction j of v, then k of v
    d2ddq_dqdv[nv, nv, nv]: [i, j, k]: derivative of ddq[i] along direction j of q, then k of v
    d2ddq_dqdtau[nv, nv, nv]: [i, j, k]: derivative of ddq[i] along direction j of q, then k of tau
rnea_hessian_vector(q, v, a, w, fext, parameters, friction_width)
    Blocks of the Hessian of w^T tau with respect to q (in the tangent space), v and a.
    hessian_qq[nv, nv]: [j, k]: derivative along direction j of q, then k of q
    hessian_vv[nv, nv]: [j, k]: derivative along direction j of v, then k of v
    hessian_qv[nv, nv]: [j, k]: derivative along direction j of q, then k of v
    hessian_qa[nv, nv]: [j, k]: derivative along direction j of q, then k of a
aba_hessian_vector(q, v, tau, w, fext, parameters, friction_width)
    Blocks of the Hessian of w^T ddq with respect to q (in the tangent space), v and tau.
    hessian_qq[nv, nv]: [j, k]: derivative along direction j of q, then k of q
    hessian_vv[nv, nv]: [j, k]: derivative along direction j of v, then k of v
    hessian_qv[nv, nv]: [j, k]: derivative along direction j of q, then k of v
    hessian_qtau[nv, nv]: [j, k]: derivative along direction j of q, then k of tau
rnea_hessian_product(q, v, a, w, dq, dv, da, fext, parameters, friction_width)
    Hessian of w^T tau with respect to q (in the tangent space), v and a, times the direction (dq, dv, da).
    hessian_q[nv]: part of the product that belongs to q
    hessian_v[nv]: part of the product that belongs to v
    hessian_a[nv]: part of the product that belongs to a
aba_hessian_product(q, v, tau, w, dq, dv, dtau, fext, parameters, friction_width)
    Hessian of w^T ddq with respect to q (in the tangent space), v and tau, times the direction
    (dq, dv, dtau).
    hessian_q[nv]: part of the product that belongs to q
    hessian_v[nv]: part of the product that belongs to v
    hessian_tau[nv]: part of the product that belongs to tau
"""

BY = {"rnea": ("q", "v", "a"), "aba": ("q", "v", "tau")}
"""The inputs with respect to which inverse and forward dynamics are differentiated."""

Methods = dict[str, dict[str, Evaluate]]
"""Methods by name, for each of "rnea" and "aba"."""


def derivatives(model: Problem) -> list[Function]:
    """Return the records of first derivatives, in the order of the documentation."""
    declared = declarations(model, DECLARATIONS)
    return [*_inverse(model, declared), _forward(declared), *_weighted(declared), *_directional(declared)]


def _inverse(model: Problem, declared: Declared) -> list[Function]:
    at_rest: dict[str, Callable[..., Any]]
    at_rest = {"nle": nle_derivatives, "gravity_torque": gravity_torque_derivatives}
    by = {"nle": ("q", "v"), "gravity_torque": ("q",)}
    rolled = {"nle": "nonlinear_effects_derivatives", "gravity_torque": "gravity_derivatives"}
    return [
        Function(
            declared["rnea_derivatives"],
            {"idsva": joint_space(rnea_derivatives)},
            preset="optimisation",
            policy=Policy(
                counted_by_pass=True,
                rolled={"idsva": "inverse_dynamics_derivatives"},
                windows="inverse_dynamics_derivatives",
                one_by_one_in_limbs=True,
            ),
            chain=ChainRule("rnea", BY["rnea"]),
            along_curves=True,
            references={
                **lagrangian(model, "sensitivities"),
                "idsva": ".derivatives.idsva:rnea_derivatives",
                "carpentier-mansard": ".derivatives.carpentier_mansard:rnea_derivatives",
            },
            oracle="carpentier-mansard",
            comparison=Comparison(
                derivative_of="rnea",
                peers={"pinocchio": ("rnea_derivatives",), "cppadcodegen": ("CodeGenRNEADerivatives",)},
                benchmarked=True,
                headline=True,
            ),
        ),
        *(
            Function(
                declared[f"{of}_derivatives"],
                {"idsva": joint_space(algorithm)},
                preset="optimisation",
                policy=Policy(rolled={"idsva": rolled[of]}),
                chain=ChainRule(of, by[of]),
                along_curves=True,
                comparison=Comparison(derivative_of=of, peers={"pinocchio": (f"{of}_derivatives",)}),
            )
            for of, algorithm in at_rest.items()
        ),
    ]


def _forward(declared: Declared) -> Function:
    return Function(
        declared["aba_derivatives"],
        {"cholesky": joint_space(forward.aba_derivatives, forward.aba_derivatives_of_branches)},
        to_solve=joint_space(forward.derivatives_to_solve),
        preset="optimisation",
        policy=Policy(
            dense_right_sides=True,
            rolled={"cholesky": "forward_dynamics_derivatives"},
            windows="forward_dynamics_derivatives",
        ),
        chain=ChainRule("aba", BY["aba"]),
        along_curves=True,
        references={
            "fdsva-aza": ".derivatives.fdsva_so:aba_derivatives_by_dynamics",
            "carpentier-mansard": ".derivatives.carpentier_mansard:aba_derivatives",
        },
        oracle="carpentier-mansard",
        comparison=Comparison(
            derivative_of="aba",
            peers={"pinocchio": ("aba_derivatives",), "cppadcodegen": ("CodeGenABADerivatives",)},
            benchmarked=True,
            headline=True,
        ),
    )


def _weighted(declared: Declared) -> list[Function]:
    methods: Methods = {
        "rnea": {"adjoint": joint_space(products.rnea_adjoint)},
        "aba": _by_dynamics(products.aba_adjoint),
    }
    sums = [
        Function(
            declared[f"{of}_vjp"],
            method,
            preset="optimisation",
            chain=ChainRule(of, BY[of], weights=("w",)),
            references={"idsva-weighted": f".derivatives.products:{of}_vjp"},
        )
        for of, method in methods.items()
    ]
    external = Function(
        declared["external_torque_vjp"],
        {"adjoint": on_model(products.external_torque_adjoint)},
        preset=ALONE,
        chain=ChainRule("external_torque", ("q", "fext"), weights=("w",)),
        differential=Differential("external_torque_vjp_derivatives"),
        comparison=Comparison(checks_only=True),
    )
    geometry = Function(
        declared["rnea_geometry_derivatives"],
        {"composite": on_model(rnea_geometry_derivatives)},
        preset=ALONE,
        requires=frozenset({Requirement.OPEN_LOOPS}),
        policy=Policy(rolled={"composite": "geometry_derivatives"}),
        references={"dual-numbers": ".derivatives.geometry:rnea_geometry_derivatives"},
        comparison=Comparison(of_placements="rnea", checks_only=True),
    )
    return [*sums, external, geometry]


def _directional(declared: Declared) -> list[Function]:
    methods: Methods = {
        "rnea": {"tangent": joint_space(products.rnea_tangent)},
        "aba": _by_dynamics(products.aba_tangent),
    }
    return [
        Function(declared[f"{of}_jvp"], method, preset="optimisation", chain=_along_directions(of, of))
        for of, method in methods.items()
    ]


def _along_directions(of: str, source: str) -> ChainRule:
    return ChainRule(source, BY[of], directions=tuple(f"d{x}" for x in BY[of]))


def second_order(model: Problem) -> list[Function]:
    """Return the records of second derivatives, in the order of the documentation."""
    declared = declarations(model, SECOND_DECLARATIONS)
    return [*_tensors(declared), *_hessian_products(declared)]


def _tensors(declared: Declared) -> list[Function]:
    return [
        Function(
            replace(declared["rnea_second_derivatives"], zeroed=True),
            {"compact": joint_space(rnea_second_derivatives)},
            chain=ChainRule("rnea_derivatives", ("q", "v"), kept=(0, 3, 1, 4)),
            paths=OnJointSpace(path_quantities),
            preset=SECOND,
            references={
                "chain-rule": ".derivatives.hyper_dual:rnea_by_chain_rule",
                "bicomplex-step": ".derivatives.hyper_dual:rnea_by_bicomplex_step",
                "idsva-so-double-loop": ".derivatives.idsva_so:by_subtrees",
                "idsva-so": ".derivatives.idsva_so:rnea_second_derivatives",
            },
            oracle="idsva-so",
            comparison=Comparison(peers={"pinocchio": ("rnea_second_derivatives",)}),
        ),
        Function(
            replace(declared["aba_second_derivatives"], zeroed=True),
            {"products": joint_space(aba_second_derivatives)},
            chain=ChainRule("aba_derivatives", BY["aba"], kept=(0, 4, 1, 2)),
            paths=OnJointSpace(path_quantities),
            uses=("aba", "minverse"),
            preset=SECOND,
            references={
                "chain-rule": ".derivatives.hyper_dual:aba_by_chain_rule",
                "bicomplex-step": ".derivatives.hyper_dual:aba_by_bicomplex_step",
                "fdsva-so-aza": ".derivatives.fdsva_so:by_dynamics",
                "fdsva-so-idfoza": ".derivatives.fdsva_so:by_derivatives",
                "fdsva-so": ".derivatives.fdsva_so:aba_second_derivatives",
            },
            oracle="fdsva-so",
            comparison=Comparison(peers={"pinocchio": ("aba_second_derivatives",)}),
        ),
        *(
            Function(
                declared[f"{of}_hessian_vector"],
                {},
                chain=ChainRule(f"{of}_vjp", BY[of], kept=(0, 4, 1, 2)),
                paths=OnJointSpace(path_quantities),
                uses=uses,
                preset=SECOND,
                references={f"contracted-{paper}": f".derivatives.products:{of}_hessian_vector"},
            )
            for of, paper, uses in (("rnea", "idsva-so", ()), ("aba", "fdsva-so", ("aba", "minverse")))
        ),
    ]


def _hessian_products(declared: Declared) -> list[Function]:
    methods: Methods = {
        "rnea": {"adjoint": joint_space(products.rnea_hessian_product)},
        "aba": _by_dynamics(products.aba_hessian_product),
    }
    return [
        Function(
            declared[f"{of}_hessian_product"], method, chain=_along_directions(of, f"{of}_vjp"), preset=SECOND
        )
        for of, method in methods.items()
    ]


def _by_dynamics(algorithm: Callable[..., Any]) -> dict[str, Evaluate]:
    return {
        "articulated_bodies": joint_space(partial(algorithm, solved_by_articulated_bodies)),
        "cholesky": joint_space(partial(algorithm, solved_by_cholesky)),
    }
