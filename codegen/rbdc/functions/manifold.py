"""The records of steps on the configuration manifold, of time steps, and of their derivatives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from rbdc.algorithms.contacts.products import constrained_dynamics_vjp
from rbdc.algorithms.derivatives.products import aba_adjoint
from rbdc.algorithms.dynamics.forward_dynamics import solved_by_articulated_bodies, solved_by_cholesky
from rbdc.algorithms.frame_errors import exp6, log6
from rbdc.algorithms.manifold import ddifference, difference, dintegrate, integrate
from rbdc.algorithms.steps import derivatives as algorithms
from rbdc.algorithms.steps.curvature import add_curvature, implicit, turns_of, weights_of_accelerations
from rbdc.algorithms.steps.rules import joints_of
from rbdc.algorithms.tools.linear import InverseFactor, Matrix, flat, identity, plus
from rbdc.algorithms.trace import Trace, silent
from rbdc.errors import UnsupportedError
from rbdc.functions.contacts import HELD, MOST_OF_HESSIANS, WITH_OPTIONS, inputs_of_contacts
from rbdc.functions.declarations import Kind, Parameter
from rbdc.functions.differentiation import Differentiated, Rows
from rbdc.functions.dynamics import FORCES_AS_TORQUES
from rbdc.functions.evaluation import Evaluate, Inputs, joint_space, on_model
from rbdc.functions.inputs import Declared, configuration, declarations
from rbdc.functions.record import ALONE, Comparison, Differential, Function, Policy, Requirement
from rbdc.model import Problem
from rbdc.spatial import Scalar

INTEGRATE = "integrate"
"""Name of the function that moves configurations in finite differences."""

DECLARATIONS = """
integrate(q, dv)
    Configuration q (+) dv that the constant velocity dv reaches from q in unit time.
    q_next[nq]: configuration
difference(q0, q1)
    Tangent step dv with q0 (+) dv = q1.
    dv[nv]: tangent step (m, rad)
dintegrate(q, dv)
    Derivatives of q_next = q (+) dv with respect to q and dv.
    dq_next_dq dq_next_ddv[nv, nv]: row: direction of q_next, column: direction of <x>
log6(pose)
    Logarithm of a placement in SE(3), for rotations of at most half a turn; independent of the robot.
    twist[6]: motion in unit time, linear part first (m, rad)
exp6(twist)
    Exponential of a motion in SE(3); independent of the robot.
    pose[7]: x y z qx qy qz qw (m, unit quaternion)
ddifference(q0, q1)
    Derivatives of difference(q0, q1) with respect to q0 and q1 (in their tangent spaces).
    ddv_dq0 ddv_dq1[nv, nv]: [i, k]: derivative of dv[i] along direction k of <x>
"""


def manifold(model: Problem) -> list[Function]:
    """Return the records of the configuration manifold, in the order of the documentation."""
    ends = (configuration(model, name) for name in ("q0", "q1"))
    step = Parameter("dv", (model.nv,), "tangent step (m, rad)", Kind.TANGENT)
    pose = Parameter("pose", (7,), "x y z qx qy qz qw (m, unit quaternion)", Kind.PLACEMENTS)
    twist = Parameter("twist", (6,), "motion in unit time, linear part first (m, rad)", Kind.MOTION)
    declared = declarations(model, DECLARATIONS, *ends, step, pose, twist)
    return [
        _step(declared, integrate, "exponential", Differential("dintegrate", configuration=True)),
        _step(declared, difference, "logarithm", Differential("ddifference")),
        _step(declared, dintegrate, "right-jacobian"),
        _step(declared, ddifference, "right-jacobian"),
        _of_placements(declared, log6, "logarithm"),
        _of_placements(declared, exp6, "exponential"),
    ]


def _step(
    declared: Declared, algorithm: Callable[..., Any], method: str, differential: Differential | None = None
) -> Function:
    known, name = differential is not None, algorithm.__name__
    return Function(
        declared[name],
        {method: on_model(algorithm)},
        preset="control" if known else ALONE,
        references={"murray-li-sastry": f"manifold:{name}"},
        comparison=Comparison(peers={"pinocchio": (name,)} if known else {}, checks_only=True),
        differential=differential,
    )


def _of_placements(declared: Declared, algorithm: Callable[..., Any], method: str) -> Function:
    name = algorithm.__name__
    return Function(
        declared[name],
        {method: on_model(algorithm)},
        preset="full",
        references={"murray-li-sastry": f"manifold:{name}"},
        comparison=Comparison(checks_only=True),
    )


RULES = {
    "semi-implicit": "semi-implicit Euler",
    "explicit": "explicit Euler",
    "rk4": "fourth-order Runge-Kutta",
}
"""The rules of steps in words."""

_STEP = """
step(q, v, tau, dt, {given})
    Time step of {law} dynamics under constant torques, by {rule}.
    q_next[nq]: configuration after dt
    v_next[nv]: velocity after dt (m/s, rad/s)
    {forces}[nc]: contact forces at the start of the step, as `constrained_dynamics` returns them (N, N m)
step_derivatives(q, v, tau, dt, {given})
    Derivatives of a step of {law} dynamics with respect to q, v, tau and dt. Configurations vary in their
    tangent spaces.
    dq_next_dq dq_next_dv dq_next_dtau[nv, nv]: row: direction of q_next, column: direction of <x>
    dq_next_ddt[nv]: derivative of q_next (a tangent vector) with respect to <x>
    dv_next_dq dv_next_dv dv_next_dtau[nv, nv]: [i, k]: derivative of v_next[i] along direction k of <x>
    dv_next_ddt[nv]: derivative of v_next with respect to <x>
    {forces}_dq {forces}_dv {forces}_dtau[nc, nv]: [i, k]: derivative of forces[i] along direction k of <x>
    {forces}_ddt[nc]: derivative of forces with respect to <x>: zero
step_vjp(q, v, tau, dt, {weights}, {given})
    Weighted sums of the rows of the derivatives of a step of {law} dynamics.
    w_dq w_dv w_dtau[nv]: one number for each direction
    w_ddt[]: weighted sum of the derivatives with respect to dt
step_jvp(q, v, tau, dt, dq, dv, dtau, ddt, {given})
    Derivative of a step of {law} dynamics along the direction (dq, dv, dtau, ddt).
    dq_next[nv]: derivative of q_next, a tangent vector at q_next
    dv_next[nv]: derivative of v_next
    d{forces}[nc]: derivative of the forces
step_hessian_vector(q, v, tau, dt, {weights}, {given})
    Blocks of the Hessian of w_q^T difference(c, q_next){more} with respect to q, v, tau
    and dt. c is q_next at the inputs, and does not vary.
    hessian_qq[nv, nv]: [j, k]: derivative along direction j of q, then k of q
    hessian_vv[nv, nv]: [j, k]: derivative along direction j of v, then k of v
    hessian_qv[nv, nv]: [j, k]: derivative along direction j of q, then k of v
    hessian_qtau[nv, nv]: [j, k]: derivative along direction j of q, then k of tau
    hessian_vtau[nv, nv]: [j, k]: derivative along direction j of v, then k of tau
    hessian_tautau[nv, nv]: [j, k]: derivative along direction j of tau, then k of tau
    hessian_qdt[nv]: entry j: derivative along direction j of q, then dt
    hessian_vdt[nv]: entry j: derivative along direction j of v, then dt
    hessian_taudt[nv]: entry j: derivative along direction j of tau, then dt
    hessian_dtdt[]: second derivative with respect to dt
"""

EULER = ("semi-implicit", "explicit")
"""Rules that evaluate accelerations once, at the start of the step. With `semi-implicit`, q moves along the
velocity at the end of the step.
"""
BY_EULER = "build with `integrator='semi-implicit'`"
MOST_DOF: Mapping[bool, Mapping[str, int]] = {
    True: {"step_hessian_vector": MOST_OF_HESSIANS},
    False: {"step_hessian_vector": 3, "step_derivatives": 12},
}
"""Degrees of freedom up to which functions are unrolled, for Euler's rules (True) and others (False).
Hessians of fourth-order Runge-Kutta have 3,000 operations for an arm of two joints and 160,000 for a free
body with two joints; derivatives have 28,000 operations for iiwa.
"""

EXTENDED = {"step": "aba", "step_derivatives": "aba_derivatives"}
"""Functions of a step, each with the function of forward dynamics that it extends."""

_BY = ("q", "v", "tau", "dt")
_BLOCKS = ((0, 0), (1, 1), (0, 1), (0, 2), (1, 2), (2, 2), (0, 3), (1, 3), (2, 3), (3, 3))
"""The blocks of Hessians, each by the indices of its two variables in `_BY`."""


def steps(model: Problem) -> list[Function]:
    """Return the records of steps of forward dynamics, then the steps of constrained dynamics, if there are
    contacts.
    """
    dynamics = {"articulated_bodies": solved_by_articulated_bodies, "cholesky": solved_by_cholesky}
    by_vectors = {name: partial(algorithms.free, solver) for name, solver in dynamics.items()}
    inverses = (InverseFactor.inverse, InverseFactor.symmetric_inverse)
    in_lanes, alone = (partial(algorithms.free_by_matrices, inverse) for inverse in reversed(inverses))
    weighted = {name: joint_space(partial(aba_adjoint, solver)) for name, solver in dynamics.items()}
    laws = _Laws(by_vectors, "cholesky", alone, in_lanes, weighted, ("w",))
    free = _records(model, "", _declared(model, contacts=False), laws)
    if not model.contacts:
        return free
    by_matrices = algorithms.held_by_matrices
    products: dict[str, Evaluate] = {"range_space": joint_space(constrained_dynamics_vjp)}
    of = "w_ddq", "w_forces"
    laws = _Laws({"range_space": algorithms.held}, "range_space", by_matrices, by_matrices, products, of)
    return [*free, *_records(model, "constrained_", _declared(model, contacts=True), laws)]


def _declared(model: Problem, *, contacts: bool) -> Declared:
    """Return the declarations of steps: with `contacts` those named `constrained_...`, else free ones."""
    extra, weights = "fext, parameters, friction_width", "w_q, w_v"
    text, more = _STEP, " + w_v^T v_next"
    if contacts:
        text = "\n".join(f"constrained_{x}" if x.startswith("step") else x for x in text.split("\n"))
        extra, weights, more = f"fext, {WITH_OPTIONS}", f"{weights}, w_forces", f"{more} + w_forces^T forces"
    else:
        text = "\n".join(line for line in text.split("\n") if "{forces}" not in line)
    words = {
        "law": "constrained" if contacts else "forward",
        "rule": RULES[model.integrator],
        "given": extra,
        "weights": weights,
        "more": more,
    }
    text = text.format(forces="forces", **words)
    return declarations(model, text, *_of_steps(model), *(inputs_of_contacts(model) if contacts else ()))


def _of_steps(model: Problem) -> list[Parameter]:
    return [
        Parameter("dt", (), "time step (s)", Kind.DURATION),
        Parameter("ddt", (), "change of dt along the direction (s)", Kind.DURATION),
        Parameter("w_q", (model.nv,), "weights of the tangent vector at q_next", Kind.WEIGHTS),
        Parameter("w_v", (model.nv,), "weights of v_next", Kind.WEIGHTS),
    ]


@dataclass(frozen=True)
class _Laws:
    """Dynamics of steps.

    by_vectors: dynamics for values and for products with derivatives, by method.
    method: the method that derivatives use.
    by_matrices: dynamics for derivatives.
    in_lanes: dynamics for derivatives, with limbs in lanes.
    weighted: weighted sums of rows of derivatives, by method.
    of: names of the weights in these sums.
    """

    by_vectors: Mapping[str, algorithms.LawOf]
    method: str
    by_matrices: algorithms.LawOf
    in_lanes: algorithms.LawOf
    weighted: Mapping[str, Evaluate]
    of: tuple[str, ...]


def _records(model: Problem, prefix: str, declared: Declared, laws: _Laws) -> list[Function]:
    requires = HELD if prefix else frozenset({Requirement.REGULAR_INERTIA})
    by_vectors: dict[str, dict[str, Evaluate]] = {
        name: {method: joint_space(partial(algorithm, law)) for method, law in laws.by_vectors.items()}
        for name, algorithm in (
            ("step", algorithms.step),
            ("step_vjp", algorithms.step_vjp),
            ("step_jvp", algorithms.step_jvp),
        )
    }
    matrices = [laws.by_vectors[laws.method]] if model.curves else [laws.by_matrices, laws.in_lanes]
    by_matrices = joint_space(*(partial(algorithms.step_derivatives, law) for law in matrices))
    methods: dict[str, Mapping[str, Evaluate]] = {
        **by_vectors,
        "step_derivatives": {laws.method: by_matrices},
    }
    gradient = declared[f"{prefix}step_vjp"]
    by = tuple(p for p in gradient.inputs if p.name in _BY)
    weights = tuple(p.name for p in gradient.inputs if p.name.startswith("w_"))
    methods["step_hessian_vector"] = {
        method: StepHessian(
            by_vectors["step"][method], by_matrices, evaluate, laws.weighted[method], laws.of, by, weights
        )
        for method, evaluate in by_vectors["step_vjp"].items()
    }
    if model.curves:
        refused = [*methods][1:] if prefix or model.clusters else []
        methods |= {name: {laws.method: partial(_refused, f"{prefix}{name}")} for name in refused}
    names = f"{prefix}step_derivatives", f"{prefix}step_vjp"
    forces = FORCES_AS_TORQUES if model.integrator in EULER else {}  # at the start they act as torques
    hessian = f"{prefix}step_hessian_vector"
    first = Differential(*names, configuration=True, hessian=hessian, **forces)
    return [
        Function(
            declared[f"{prefix}{name}"],
            evaluate,
            preset=ALONE,
            requires=requires,
            references={"textbook": f".derivatives.steps:{prefix}{name}"},
            policy=_policy(model, name),
            comparison=_comparison(model, f"{prefix}{name}"),
            differential=first if name == "step" else None,
        )
        for name, evaluate in methods.items()
    ]


def _refused(name: str, model: Problem, inputs: Inputs, trace: Trace) -> list[list[Scalar]]:
    """Raise UnsupportedError: the `Evaluate` of a function `name` that is not defined along curves."""
    remedy = "reduce no loops" if model.clusters else "build with `mimic='independent'`"
    raise UnsupportedError(
        f"{model.place}: {name} does not support joints that follow others along curves; {remedy}"
    )


def _comparison(model: Problem, name: str) -> Comparison:
    """Return how a step is compared. Pinocchio's steps have only the rule `EULER[0]`, without contacts."""
    known = model.integrator == EULER[0] and name in EXTENDED
    peers = {"pinocchio": (name,)} if known else {}
    return Comparison(peers=peers, checks_only=True, beside=EXTENDED.get(name, ""))


def _policy(model: Problem, name: str) -> Policy:
    by_euler = model.integrator in EULER
    instead = "fix some joints" if by_euler else BY_EULER
    return Policy(most_dof=MOST_DOF[by_euler].get(name, 0), instead=instead)


@dataclass(frozen=True)
class StepHessian:
    """The Hessian of the weighted results of a step, by blocks. difference(c, q_next), with the constant c =
    q_next, replaces q_next.

    With Euler's rules the Hessian is the Hessian of accelerations with constant weights, plus the terms of
    `rbdc.algorithms.steps.curvature`; blocks of dt are derivatives of `gradient`. With other rules, and along
    curves, all blocks are derivatives of `gradient`.

    values, derivatives: the step and its derivatives.
    gradient: weighted sums of the rows of the step's derivatives.
    dynamics: weighted sums of the rows of the derivatives of accelerations.
    of: names of the weights that `dynamics` takes.
    by: inputs with respect to which the step is differentiated; the last is dt.
    weights: inputs of the step that are weights.
    """

    values: Evaluate
    derivatives: Evaluate
    gradient: Evaluate
    dynamics: Evaluate
    of: tuple[str, ...]
    by: tuple[Parameter, ...]
    weights: tuple[str, ...]

    def __call__(self, model: Problem, inputs: Inputs, trace: Trace) -> list[list[Scalar]]:
        """Return the blocks of the Hessian, as an `Evaluate`.

        Raises UnsupportedError for a rule of several stages if the q of a joint is not a vector space.
        """
        others = {name: x for name, x in inputs.items() if name not in self.weights}
        turning = any(not body.joint.euclidean for body, _ in joints_of(model))
        if model.integrator not in EULER and turning:
            raise UnsupportedError(
                f"step_hessian_vector by {model.integrator} needs joints of one degree of freedom: {BY_EULER}"
            )
        if model.integrator not in EULER or model.curves:
            kept = tuple(a * len(self.by) + b for a, b in _BLOCKS)
            blocks = Differentiated(self.gradient, self.by, kept=kept)(model, inputs, trace)
            return self._turned(model, inputs, blocks, _BLOCKS) if turning else blocks
        dt, (w_q, w_v, *rest) = inputs["dt"], [inputs[name] for name in self.weights]
        moving = self.values(model, others, silent)[1] if implicit(model) else inputs["v"]
        e = [dt[0] * x for x in moving]
        weights = [weights_of_accelerations(model, e, dt, w_q, w_v), *rest]
        n, blocks = model.nv, self._of_accelerations(model, others, weights)
        matrices = [[x[k : k + n] for k in range(0, n * n, n)] for x in blocks]
        by_time = Differentiated(self.gradient, self.by[-1:])(model, inputs, silent)
        if turning:
            velocity = self.derivatives(model, others, silent)[4:7]
            add_curvature(model, e, w_q, self._steps(model, velocity, dt[0]), matrices)
            by_time = self._turned(model, inputs, by_time, _BLOCKS[-4:])
        return [*map(flat, matrices), *by_time]

    def _turned(
        self, model: Problem, inputs: Inputs, blocks: Rows, pairs: Sequence[tuple[int, int]]
    ) -> list[list[Scalar]]:
        """Convert blocks of derivatives from the tangent spaces that move with q_next to the tangent space
        at c. The last block, the second derivative with respect to dt, does not change.
        """
        others, w_q = {k: x for k, x in inputs.items() if k not in self.weights}, inputs[self.weights[0]]
        derivatives, n = self.derivatives(model, others, silent)[: len(self.by)], model.nv
        moves = [[x[k : k + len(x) // n] for k in range(0, len(x), len(x) // n)] for x in derivatives]
        turns = [flat(turns_of(model, w_q, moves[a], moves[b])) for a, b in pairs[:-1]]
        *changed, last = map(list, blocks)
        return [*plus(changed, turns), last]

    def _of_accelerations(
        self, model: Problem, others: Inputs, weights: Sequence[Sequence[Scalar]]
    ) -> list[list[Scalar]]:
        """Return the blocks of the accelerations' Hessian. Accelerations are linear in tau."""
        from rbdc.ir.from_casadi import substituted, symbols

        symbolic = {name: symbols(name, len(weight)) for name, weight in zip(self.of, weights, strict=True)}
        names = [p.name for p in self.by[:-1]]
        inputs = {**{name: others[name] for name in names}, **symbolic}
        inputs |= {name: x for name, x in others.items() if name not in (*names, "dt")}
        blocks = Differentiated(self.dynamics, self.by[:-1], kept=(0, 4, 1, 2))(model, inputs, silent)
        places, values = ([x for part in parts for x in part] for parts in (symbolic.values(), weights))
        zero = [0.0] * model.nv**2
        return [*substituted(blocks, places, values), zero, list(zero)]

    def _steps(self, model: Problem, velocity: Rows, dt: Scalar) -> list[Matrix]:
        """Return the derivatives (nv, nv) of dt v with respect to q, v and tau, for the v that moves q.
        velocity: the derivatives of v_next.
        """
        n = model.nv
        if implicit(model):
            return [[[dt * y for y in x[k : k + n]] for k in range(0, n * n, n)] for x in velocity]
        still = [[0.0] * n for _ in range(n)]
        return [still, [[dt * y for y in row] for row in identity(n)], still]
