"""The functions of a generated module: for each its signature and the algorithm behind it, over abstract scalars."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rbdc.algorithms.aba import aba
from rbdc.algorithms.centroidal import centre_of_mass, centroidal_momentum_matrix, com_jacobian, kinetic_energy, potential_energy
from rbdc.algorithms.coriolis import coriolis
from rbdc.algorithms.crba import crba
from rbdc.algorithms.dofs import flat
from rbdc.algorithms.kinematics import forward_kinematics, homogeneous
from rbdc.algorithms.manifold import difference, integrate
from rbdc.algorithms.minverse import minverse
from rbdc.algorithms.regressor import PARAMETERS_PER_BODY, torque_regressor
from rbdc.algorithms.rnea import gravity_torque, nonlinear_effects, rnea
from rbdc.algorithms.trace import Trace
from rbdc.emit.cdecl import FunctionDeclaration, Parameter
from rbdc.errors import OptionError
from rbdc.model import Model
from rbdc.spatial import Force, Scalar

Inputs = Mapping[str, Sequence[Scalar]]
"""The entries of each input array, row by row; an optional input that is not given is absent."""

Evaluate = Callable[[Model, Inputs, Trace], list[list[Scalar]]]
"""The entries of each output array, row by row."""

PRESETS = {
    "control": (
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
    ),
}
FRAMED = ("frame_jacobian", "frame_velocity", "frame_acceleration")
FORWARD_DYNAMICS = ("aba", "minverse")
"""What a structurally singular joint-space inertia rules out."""


@dataclass(frozen=True)
class Function:
    """A declaration with its evaluation; `evaluate` is None for the framed functions, which climb the tree at run time."""

    declaration: FunctionDeclaration
    evaluate: Evaluate | None


def functions_of(model: Model) -> dict[str, Function]:
    """Every function that can be built for the model, in the order of the documentation."""
    q, v, a, tau, fext = _inputs(model)
    nv, njoints = model.nv, model.njoints

    def output(name: str, shape: tuple[int, ...], meaning: str) -> tuple[Parameter, ...]:
        return (Parameter(name, shape, meaning),)

    torque = output("tau", (nv,), "generalised force (N, N m)")
    acceleration = output("ddq", (nv,), "generalised acceleration (m/s^2, rad/s^2)")
    entries = [
        _entry("rnea", "Inverse dynamics: M(q) a + C(q, v) v + g(q) - sum of J^T fext.", (q, v, a, fext), torque, _rnea),
        _entry("nle", "Nonlinear effects: C(q, v) v + g(q).", (q, v), torque, _vector(nonlinear_effects, "q", "v")),
        _entry("gravity_torque", "Gravity: g(q).", (q,), torque, _vector(gravity_torque, "q")),
        _entry(
            "coriolis",
            "Coriolis matrix C(q, v), with Mdot - 2 C skew-symmetric.",
            (q, v),
            output("C", (nv, nv), "Coriolis matrix"),
            _matrix(coriolis, "q", "v"),
        ),
        _entry(
            "crba",
            "Joint-space inertia M(q), both triangles.",
            (q,),
            output("M", (nv, nv), "joint-space inertia (kg, kg m, kg m^2)"),
            _matrix(crba, "q"),
        ),
        _entry(
            "minverse",
            "Inverse of the joint-space inertia, both triangles.",
            (q,),
            output("Minv", (nv, nv), "inverse of the joint-space inertia"),
            _matrix(minverse, "q"),
        ),
        _entry(
            "aba", "Forward dynamics: M(q)^-1 (tau - C(q, v) v - g(q) + sum of J^T fext).", (q, v, tau, fext), acceleration, _aba
        ),
        _entry(
            "forward_kinematics",
            "Placements of all frames in the world, as 4x4 matrices.",
            (q,),
            output("placements", (len(model.frames), 4, 4), "homogeneous matrices of the frames (m)"),
            _forward_kinematics,
        ),
        _framed("frame_jacobian", "Jacobian of a frame, linear rows first.", (q,), output("J", (6, nv), "frame Jacobian")),
        _framed(
            "frame_velocity", "Spatial velocity of a frame, [linear; angular].", (q, v), output("velocity", (6,), "m/s, rad/s")
        ),
        _framed(
            "frame_acceleration",
            "Spatial acceleration of a frame without gravity, [linear; angular].",
            (q, v, a),
            output("acceleration", (6,), "m/s^2, rad/s^2"),
        ),
        _entry(
            "com",
            "Centre of mass of all links, in the world.",
            (q,),
            output("position", (3,), "centre of mass (m)"),
            lambda m, x, t: [centre_of_mass(m, x["q"], t).scalars()],
        ),
        _entry(
            "com_jacobian",
            "Jacobian of the centre of mass.",
            (q,),
            output("J", (3, nv), "Jacobian of the centre of mass"),
            _matrix(com_jacobian, "q"),
        ),
        _entry(
            "centroidal_momentum_matrix",
            "A with A v the momentum about the centre of mass of the moving links, linear rows first.",
            (q,),
            output("A", (6, nv), "centroidal momentum matrix"),
            _matrix(centroidal_momentum_matrix, "q"),
        ),
        _entry(
            "kinetic_energy",
            "Kinetic energy: v^T M(q) v / 2.",
            (q, v),
            output("energy", (), "kinetic energy (J)"),
            lambda m, x, t: [[kinetic_energy(m, x["q"], x["v"], t)]],
        ),
        _entry(
            "potential_energy",
            "Potential energy of all links in the field of gravity.",
            (q,),
            output("energy", (), "potential energy (J)"),
            lambda m, x, t: [[potential_energy(m, x["q"], t)]],
        ),
        _entry(
            "torque_regressor",
            "Y with Y parameters = rnea(q, v, a); 10 parameters a body: m, m c (3), Ixx, Ixy, Iyy, Ixz, Iyz, Izz.",
            (q, v, a),
            output("Y", (nv, PARAMETERS_PER_BODY * njoints), "joint torque regressor"),
            _matrix(torque_regressor, "q", "v", "a"),
        ),
        _entry(
            "integrate",
            "q (+) dv: the configuration reached by the constant velocity dv in unit time.",
            (q, Parameter("dv", (nv,), "tangent step (m, rad)")),
            output("q_next", (model.nq,), "configuration"),
            lambda m, x, t: [integrate(m, x["q"], x["dv"])],
        ),
        _entry(
            "difference",
            "The dv with q0 (+) dv = q1.",
            (_configuration(model, "q0"), _configuration(model, "q1")),
            output("dv", (nv,), "tangent step (m, rad)"),
            lambda m, x, t: [difference(m, x["q0"], x["q1"])],
        ),
    ]
    return {entry.declaration.name: entry for entry in entries}


def select(model: Model, functions: Sequence[str] | None, preset: str) -> list[str]:
    """The names to build, in the order of the documentation.

    Raises OptionError naming the unknown one and what there is.
    """
    known = list(functions_of(model))
    presets = {**PRESETS, "full": tuple(known)}
    if functions is None:
        if preset not in presets:
            raise OptionError(f"no preset {preset!r}; there are {', '.join(presets)}")
        functions = presets[preset]
    for name in functions:
        if name not in known:
            raise OptionError(f"no function {name!a}; there are {', '.join(known)}")
    if not functions:
        raise OptionError(f"no function asked for; there are {', '.join(known)}")
    return [name for name in known if name in functions]


def _configuration(model: Model, name: str) -> Parameter:
    return Parameter(name, (model.nq,), "configuration (m, rad, unit quaternions x y z w)", configuration=True)


def _inputs(model: Model) -> tuple[Parameter, ...]:
    return (
        _configuration(model, "q"),
        Parameter("v", (model.nv,), "velocity (m/s, rad/s)"),
        Parameter("a", (model.nv,), "acceleration (m/s^2, rad/s^2)"),
        Parameter("tau", (model.nv,), "generalised force (N, N m)"),
        Parameter(
            "fext",
            (model.njoints, 6),
            "external force on each body in its joint frame, linear part first (N, N m)",
            optional=True,
        ),
    )


def _entry(
    name: str, summary: str, inputs: tuple[Parameter, ...], outputs: tuple[Parameter, ...], evaluate: Evaluate
) -> Function:
    return Function(FunctionDeclaration(name, summary, inputs, outputs), evaluate)


def _framed(name: str, summary: str, inputs: tuple[Parameter, ...], outputs: tuple[Parameter, ...]) -> Function:
    return Function(FunctionDeclaration(name, summary, inputs, outputs, framed=True), None)


def _vector(algorithm: Callable[..., list[Scalar]], *names: str) -> Evaluate:
    return lambda model, inputs, trace: [algorithm(model, *(inputs[name] for name in names), trace=trace)]


def _matrix(algorithm: Callable[..., list[list[Scalar]]], *names: str) -> Evaluate:
    return lambda model, inputs, trace: [flat(algorithm(model, *(inputs[name] for name in names), trace=trace))]


def _forces(inputs: Inputs) -> list[Force] | None:
    entries = inputs.get("fext")
    return None if entries is None else [Force.of(entries[k : k + 6]) for k in range(0, len(entries), 6)]


def _rnea(model: Model, inputs: Inputs, trace: Trace) -> list[list[Scalar]]:
    return [rnea(model, inputs["q"], inputs["v"], inputs["a"], _forces(inputs), trace)]


def _aba(model: Model, inputs: Inputs, trace: Trace) -> list[list[Scalar]]:
    return [aba(model, inputs["q"], inputs["v"], inputs["tau"], _forces(inputs), trace)]


def _forward_kinematics(model: Model, inputs: Inputs, trace: Trace) -> list[list[Scalar]]:
    placements = forward_kinematics(model, inputs["q"], trace)
    return [[entry for placement in placements for entry in homogeneous(placement)]]
