"""The functions of a generated module: for each its signature and the algorithms behind it, over abstract scalars.

To add a function: write its algorithm under `rbdc.algorithms`, and an entry here. Where an entry names several methods the one with
the fewest operations for the model at hand is generated, or the one that `LEADERS` has it share, and the manifest says which.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rbdc.algorithms.coriolis import coriolis
from rbdc.algorithms.crba import crba
from rbdc.algorithms.forward_dynamics import (
    by_articulated_bodies,
    by_factors,
    derivatives_by_factors,
    derivatives_by_inverse_factor,
    derivatives_of_branches,
    derivatives_to_solve,
    inverse_factors,
)
from rbdc.algorithms.jvp import aba_tangent_by_articulated_bodies, aba_tangent_by_factors, rnea_tangent
from rbdc.algorithms.kinematics import forward_kinematics, homogeneous
from rbdc.algorithms.manifold import difference, integrate
from rbdc.algorithms.minverse import inverse_by_cholesky, inverse_by_inverse_factor, inverse_of_branches, minverse
from rbdc.algorithms.momentum import centre_of_mass, centroidal_momentum_matrix, com_jacobian, kinetic_energy, potential_energy
from rbdc.algorithms.newton_euler import gravity_torque, newton_euler, nonlinear_effects
from rbdc.algorithms.regressor import PARAMETERS_PER_BODY, regressor_by_axes, regressor_by_forces, regressor_of_chosen_frames
from rbdc.algorithms.rnea_derivatives import rnea_derivatives
from rbdc.algorithms.trace import Trace
from rbdc.algorithms.vjp import aba_adjoint_by_articulated_bodies, aba_adjoint_by_factors, rnea_adjoint
from rbdc.errors import OptionError
from rbdc.functions.declarations import FunctionDeclaration, Parameter
from rbdc.functions.evaluation import Evaluate, Inputs, JointSpace, OwnFrames, on_model
from rbdc.model import Model
from rbdc.spatial import Scalar

CONTROL = (
    "rnea",
    "nle",
    "gravity_torque",
    "crba",
    "minverse",
    "aba",
    "forward_kinematics",
    "frame_jacobian",
    "integrate",
    "difference",
)
FIRST_DERIVATIVES = (
    *("rnea_derivatives", "aba_derivatives", "rnea_vjp", "aba_vjp", "rnea_jvp", "aba_jvp"),
    *("frame_velocity_derivatives", "frame_acceleration_derivatives"),
)
PRESETS = {"control": CONTROL, "optimisation": (*CONTROL, *FIRST_DERIVATIVES)}
FORWARD_DYNAMICS = ("aba", "minverse", "aba_derivatives", "aba_vjp", "aba_jvp")
"""What a structurally singular joint-space inertia rules out."""
CENTRES_OF_MASS = ("com", "com_jacobian", "centroidal_momentum_matrix")
"""What a robot without mass does not have."""
LEADERS = {"aba_vjp": "aba", "aba_jvp": "aba"}
"""Functions that take the method of another: what they solve with M is most of what sets their methods apart. Comparing their own found the
same on nine of ten robots tried, 3 and 5 % less on the other (tiago_pro), and took longer than all else.
"""


@dataclass(frozen=True)
class Function:
    """A declaration with its methods by name; none for the framed functions, which climb the tree at run time.

    to_solve: for a function whose outputs are solutions with M and, last, M^-1: right-hand sides B and known parts K of all but the last
    output, then the factors W and D^-1 (`rbdc.emit.c.columns` does the rest).
    """

    declaration: FunctionDeclaration
    methods: Mapping[str, Evaluate]
    to_solve: Evaluate | None = None


def functions_of(model: Model) -> dict[str, Function]:
    """Every function that can be built for the model, in the order of the documentation."""
    entries = [*_dynamics(model), *_derivatives(model), *_kinematics(model), *_momentum(model), *_manifold(model)]
    return {entry.declaration.name: entry for entry in entries}


def presets() -> dict[str, tuple[str, ...]]:
    """The functions of each preset, the smallest first; each has those of the one before."""
    return {**PRESETS, "full": tuple(functions_of(Model("any", (), (), 0, 0)))}


def select(model: Model, functions: Sequence[str] | None, preset: str) -> list[str]:
    """The names to build, in the order of the documentation.

    Raises OptionError naming the unknown one and what there is.
    """
    known = list(functions_of(model))
    if functions is None:
        if preset not in presets():
            raise OptionError(f"no preset {preset!a}; there are {', '.join(presets())}")
        functions = presets()[preset]
    for name in functions:
        if name not in known:
            raise OptionError(f"no function {name!a}; there are {', '.join(known)}")
    if not functions:
        raise OptionError(f"no function asked for; there are {', '.join(known)}")
    return [name for name in known if name in functions]


def _dynamics(model: Model) -> list[Function]:
    q, v, a, tau, fext = _inputs(model)
    nv = model.nv
    torque = _output("tau", (nv,), "generalised force (N, N m)")
    inertia, inverse = _output("M", (nv, nv), "joint-space inertia (kg, kg m, kg m^2)"), _output("Minv", (nv, nv), "inverse of M")
    acceleration = _output("ddq", (nv,), "generalised acceleration (m/s^2, rad/s^2)")
    return [
        _entry(
            "rnea",
            "Inverse dynamics: M(q) a + C(q, v) v + g(q) - sum of J^T fext.",
            (q, v, a, fext),
            torque,
            newton_euler=JointSpace(newton_euler),
        ),
        _entry("nle", "Nonlinear effects: C(q, v) v + g(q).", (q, v), torque, newton_euler=JointSpace(nonlinear_effects)),
        _entry("gravity_torque", "Gravity: g(q).", (q,), torque, newton_euler=JointSpace(gravity_torque)),
        _entry(
            "coriolis",
            "Coriolis matrix C(q, v), with Mdot - 2 C skew-symmetric.",
            (q, v),
            _output("C", (nv, nv), "Coriolis matrix"),
            composite=JointSpace(coriolis),
        ),
        _entry("crba", "Joint-space inertia M(q), both triangles.", (q,), inertia, crba=JointSpace(crba)),
        _entry(
            "minverse",
            "Inverse of the joint-space inertia, both triangles.",
            (q,),
            inverse,
            JointSpace(inverse_factors),
            direct=JointSpace(minverse),
            **_by_shape(
                model,
                cholesky=JointSpace(inverse_by_cholesky),
                inverse_factor=JointSpace(inverse_by_inverse_factor, inverse_of_branches),
            ),
        ),
        _entry(
            "aba",
            "Forward dynamics: M(q)^-1 (tau - C(q, v) v - g(q) + sum of J^T fext).",
            (q, v, tau, fext),
            acceleration,
            articulated_bodies=JointSpace(by_articulated_bodies),
            cholesky=JointSpace(by_factors),
        ),
        _entry(
            "torque_regressor",
            "Y with Y parameters = rnea(q, v, a); 10 parameters a body: m, m c (3), Ixx, Ixy, Iyy, Ixz, Iyz, Izz.",
            (q, v, a),
            _output("Y", (nv, PARAMETERS_PER_BODY * model.njoints), "joint torque regressor"),
            forces=OwnFrames(regressor_by_forces, regressor_of_chosen_frames),
            axes=on_model(regressor_by_axes),
        ),
    ]


def _derivatives(model: Model) -> list[Function]:
    q, v, a, tau, fext = _inputs(model)
    nv = model.nv

    def matrices(of: str, *by: str) -> tuple[Parameter, ...]:
        return tuple(Parameter(f"{of}_d{x}", (nv, nv), f"derivative by {x}; row: of {of}, column: direction") for x in by)

    def vectors(*names: str) -> tuple[Parameter, ...]:
        return tuple(Parameter(name, (nv,), "one number for each direction") for name in names)

    w = Parameter("w", (nv,), "weights of the rows")
    steps = {x: Parameter(f"d{x}", (nv,), f"direction of {x}") for x in ("q", "v", "a", "tau")}
    return [
        _entry(
            "rnea_derivatives",
            "Derivatives of inverse dynamics by q (in the tangent space), v and a.",
            (q, v, a, fext),
            matrices("dtau", "q", "v", "a"),
            body_up=JointSpace(rnea_derivatives),
        ),
        _entry(
            "aba_derivatives",
            "Derivatives of forward dynamics by q (in the tangent space), v and tau.",
            (q, v, tau, fext),
            matrices("ddq", "q", "v", "tau"),
            JointSpace(derivatives_to_solve),
            **_by_shape(
                model,
                cholesky=JointSpace(derivatives_by_factors),
                inverse_factor=JointSpace(derivatives_by_inverse_factor, derivatives_of_branches),
            ),
        ),
        _entry(
            "rnea_vjp",
            "Weighted sums of the rows of the derivatives of inverse dynamics: w^T dtau_dq, w^T dtau_dv, w^T dtau_da.",
            (q, v, a, w, fext),
            vectors("w_dtau_dq", "w_dtau_dv", "w_dtau_da"),
            adjoint=JointSpace(rnea_adjoint),
        ),
        _entry(
            "aba_vjp",
            "Weighted sums of the rows of the derivatives of forward dynamics: w^T ddq_dq, w^T ddq_dv, w^T ddq_dtau.",
            (q, v, tau, w, fext),
            vectors("w_ddq_dq", "w_ddq_dv", "w_ddq_dtau"),
            articulated_bodies=JointSpace(aba_adjoint_by_articulated_bodies),
            cholesky=JointSpace(aba_adjoint_by_factors),
        ),
        _entry(
            "rnea_jvp",
            "Derivative of inverse dynamics in one direction.",
            (q, v, a, steps["q"], steps["v"], steps["a"], fext),
            vectors("dtau"),
            tangent=JointSpace(rnea_tangent),
        ),
        _entry(
            "aba_jvp",
            "Derivative of forward dynamics in one direction.",
            (q, v, tau, steps["q"], steps["v"], steps["tau"], fext),
            vectors("dddq"),
            articulated_bodies=JointSpace(aba_tangent_by_articulated_bodies),
            cholesky=JointSpace(aba_tangent_by_factors),
        ),
    ]


def _kinematics(model: Model) -> list[Function]:
    q, v, a, _, _ = _inputs(model)
    nv = model.nv

    def framed(name: str, summary: str, inputs: tuple[Parameter, ...], outputs: tuple[Parameter, ...]) -> Function:
        return Function(FunctionDeclaration(name, summary, inputs, outputs, framed=True), {})

    def columns(of: str, *by: str) -> tuple[Parameter, ...]:
        return tuple(_in_space(f"{of}_d{x}", (6, nv), f"derivative by {x}; linear rows first, column: direction")[0] for x in by)

    return [
        _entry(
            "forward_kinematics",
            "Placements of all frames in the world, as 4x4 matrices.",
            (q,),
            _in_space("placements", (len(model.frames), 4, 4), "homogeneous matrices of the frames (m)"),
            products=_forward_kinematics,
        ),
        framed("frame_jacobian", "Jacobian of a frame, linear rows first.", (q,), _in_space("J", (6, nv), "frame Jacobian")),
        framed(
            "frame_velocity", "Spatial velocity of a frame.", (q, v), _in_space("velocity", (6,), "[linear; angular] (m/s, rad/s)")
        ),
        framed(
            "frame_acceleration",
            "Spatial acceleration of a frame, without gravity.",
            (q, v, a),
            _in_space("acceleration", (6,), "[linear; angular] (m/s^2, rad/s^2)"),
        ),
        framed(
            "frame_velocity_derivatives",
            "Derivatives of a frame's spatial velocity by q (in the tangent space) and v.",
            (q, v),
            columns("dv", "q", "v"),
        ),
        framed(
            "frame_acceleration_derivatives",
            "Derivatives of a frame's spatial acceleration, without gravity, by q (in the tangent space), v and a.",
            (q, v, a),
            columns("da", "q", "v", "a"),
        ),
    ]


def _momentum(model: Model) -> list[Function]:
    q, v, _, _, _ = _inputs(model)
    energy, nv = "energy (J)", model.nv
    return [
        _entry(
            "com",
            "Centre of mass of all links, in the world.",
            (q,),
            _in_space("position", (3,), "centre of mass (m)"),
            subtrees=JointSpace(centre_of_mass),
        ),
        _entry(
            "com_jacobian",
            "Jacobian of the centre of mass.",
            (q,),
            _in_space("J", (3, nv), "Jacobian of the centre of mass"),
            subtrees=JointSpace(com_jacobian),
        ),
        _entry(
            "centroidal_momentum_matrix",
            "A with A v the momentum about the centre of mass of the moving links, linear rows first.",
            (q,),
            _in_space("A", (6, nv), "centroidal momentum matrix"),
            composite=JointSpace(centroidal_momentum_matrix),
        ),
        _entry(
            "kinetic_energy",
            "Kinetic energy: v^T M(q) v / 2.",
            (q, v),
            _in_space("energy", (), f"kinetic {energy}"),
            sum=JointSpace(kinetic_energy),
        ),
        _entry(
            "potential_energy",
            "Potential energy of all links in the field of gravity.",
            (q,),
            _in_space("energy", (), f"potential {energy}"),
            subtrees=JointSpace(potential_energy),
        ),
    ]


def _manifold(model: Model) -> list[Function]:
    q0, q1, q = (_configuration(model, name) for name in ("q0", "q1", "q"))
    step = Parameter("dv", (model.nv,), "tangent step (m, rad)")
    return [
        _entry(
            "integrate",
            "q (+) dv: the configuration reached by the constant velocity dv in unit time.",
            (q, step),
            _output("q_next", (model.nq,), "configuration"),
            exponential=on_model(integrate),
        ),
        _entry(
            "difference",
            "The dv with q0 (+) dv = q1.",
            (q0, q1),
            (step,),
            logarithm=on_model(difference),
        ),
    ]


def _by_shape(model: Model, cholesky: Evaluate, inverse_factor: Evaluate) -> dict[str, Evaluate]:
    """Of two ways to solve with M the one that takes fewer operations: L^-1 on trees that branch, L on chains (on all robots tried)."""
    branches = any(len(model.children(index)) > 1 for index in range(-1, model.njoints))
    return {"inverse_factor": inverse_factor} if branches else {"cholesky": cholesky}


def _configuration(model: Model, name: str) -> Parameter:
    return Parameter(name, (model.nq,), "configuration (m, rad, unit quaternions x y z w)", configuration=True)


def _inputs(model: Model) -> tuple[Parameter, ...]:
    meaning = "external force on each body in its joint frame, linear part first (N, N m)"
    return (
        _configuration(model, "q"),
        Parameter("v", (model.nv,), "velocity (m/s, rad/s)"),
        Parameter("a", (model.nv,), "acceleration (m/s^2, rad/s^2)"),
        Parameter("tau", (model.nv,), "generalised force (N, N m)"),
        Parameter("fext", (model.njoints, 6), meaning, optional=True),
    )


def _output(name: str, shape: tuple[int, ...], meaning: str) -> tuple[Parameter, ...]:
    return (Parameter(name, shape, meaning),)


def _in_space(name: str, shape: tuple[int, ...], meaning: str) -> tuple[Parameter, ...]:
    return (Parameter(name, shape, meaning, in_space=True),)


def _entry(
    name: str,
    summary: str,
    inputs: tuple[Parameter, ...],
    outputs: tuple[Parameter, ...],
    to_solve: Evaluate | None = None,
    **methods: Evaluate,
) -> Function:
    return Function(FunctionDeclaration(name, summary, inputs, outputs), methods, to_solve)


def _forward_kinematics(model: Model, inputs: Inputs, trace: Trace) -> list[list[Scalar]]:
    return [[entry for placement in forward_kinematics(model, inputs["q"], trace) for entry in homogeneous(placement)]]
