"""The records of the functions of frames."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from rbdc.algorithms.derivatives.frame_derivatives import (
    frame_acceleration_derivatives,
    frame_velocity_derivatives,
)
from rbdc.algorithms.frame_pairs import manipulability_gradient, relative_jacobian
from rbdc.algorithms.frame_placements import (
    frame_jacobian_derivatives,
    frame_placement,
    frame_placement_derivatives,
    frame_placement_second_derivatives,
    frame_position,
    frame_position_derivatives,
    frame_position_second_derivatives,
)
from rbdc.algorithms.frames import (
    frame_acceleration,
    frame_drift,
    frame_jacobian,
    frame_jacobian_time_derivative,
    frame_velocity,
)
from rbdc.algorithms.kinematics import expand, forward_kinematics, homogeneous
from rbdc.algorithms.trace import Trace
from rbdc.functions.declarations import FunctionDeclaration, Kind, Parameter
from rbdc.functions.evaluation import on_model
from rbdc.functions.inputs import acceleration, configuration, in_space, over_joints, velocity
from rbdc.functions.record import ALONE, SECOND, ChainRule, Comparison, Differential, Function, Policy
from rbdc.model import Model
from rbdc.spatial import Scalar


def kinematics(model: Model) -> list[Function]:
    """Every one of them, in the order of the documentation."""
    return [
        _placements(model),
        *_expansion(model),
        *_places(model),
        *_motions(model),
        *_derivatives(model),
        *_shapes(model),
    ]


def _placements(model: Model) -> Function:
    return Function(
        FunctionDeclaration(
            "forward_kinematics",
            "Placements of all frames in the world, as 4x4 matrices.",
            (configuration(model),),
            in_space("placements", (len(model.frames), 4, 4), "homogeneous matrices of the frames (m)"),
        ),
        {"products": on_model(_homogeneous)},
        preset="control",
        differential=Differential("forward_kinematics_derivatives", derived=True),
        references={"featherstone": "homogeneous:forward_kinematics"},
        comparison=Comparison(peers={"pinocchio": ("forward_kinematics",)}, checks_only=True),
    )


def _expansion(model: Model) -> list[Function]:
    """The whole tree's coordinates: others than q and v where joints follow others."""
    nq, nv = (sum(getattr(body.joint, size) for body in model.bodies) for size in ("nq", "nv"))
    outputs = (
        *over_joints("q_tree", (nq,), "configuration of the whole tree (m, rad, unit quaternions)"),
        *over_joints("v_tree", (nv,), "velocity of the whole tree (m/s, rad/s)"),
    )
    return [
        Function(
            FunctionDeclaration(
                "expand",
                "Configuration and velocity of the whole tree, with the joints that follow others.",
                (configuration(model), velocity(model)),
                outputs,
            ),
            {"joints": on_model(expand)},
            preset="control" if model.curved else ALONE,
            references={"dual numbers": "couplings:expand"},
            comparison=Comparison(checks_only=True),
        )
    ]


def _homogeneous(model: Model, q: list[Scalar], trace: Trace) -> list[Scalar]:
    return [entry for placement in forward_kinematics(model, q, trace) for entry in homogeneous(placement)]


SAME = ", the same in every reference"


def _places(model: Model) -> list[Function]:
    """Where one frame is, and the derivatives of that and of its Jacobian."""
    q, nv = configuration(model), model.nv
    first, second = "derivative by q (in the tangent space)", "second derivative by q (in the tangent space)"

    def place(
        name: str,
        summary: str,
        output: tuple[Parameter, ...],
        algorithm: Callable[..., Any],
        preset: str,
        differential: Differential | None = None,
        of: str = "",
    ) -> Function:
        declaration = FunctionDeclaration(name, summary, (q,), output, framed=True)
        reference = ChainRule(of, (q.name,)) if of else ("featherstone", f"frames:{name}")
        return _framed(declaration, algorithm, preset, reference, differential)

    return [
        place(
            "frame_position",
            f"Position of a frame's origin in the world{SAME}.",
            in_space("position", (3,), "origin of the frame (m)"),
            frame_position,
            "control",
            Differential("frame_position_derivatives"),
        ),
        place(
            "frame_placement",
            f"Placement of a frame in the world, a 4x4 matrix{SAME}.",
            in_space("placement", (4, 4), "homogeneous matrix of the frame (m)"),
            frame_placement,
            "control",
            Differential("frame_placement_derivatives"),
        ),
        place(
            "frame_position_derivatives",
            f"Derivatives of a frame's position by q (in the tangent space){SAME}.",
            in_space("dposition_dq", (3, nv), first),
            frame_position_derivatives,
            "optimisation",
            Differential("frame_position_second_derivatives"),
        ),
        place(
            "frame_placement_derivatives",
            f"Derivatives of the entries of a frame's placement by q (in the tangent space){SAME}.",
            in_space("dplacement_dq", (4, 4, nv), first),
            frame_placement_derivatives,
            "optimisation",
            Differential("frame_placement_second_derivatives"),
        ),
        place(
            "frame_position_second_derivatives",
            f"Second derivatives of a frame's position by q (in the tangent space){SAME}.",
            in_space("d2position_dqdq", (3, nv, nv), second),
            frame_position_second_derivatives,
            SECOND,
            of="frame_position_derivatives",
        ),
        place(
            "frame_placement_second_derivatives",
            f"Second derivatives of the entries of a frame's placement by q (in the tangent space){SAME}.",
            in_space("d2placement_dqdq", (4, 4, nv, nv), second),
            frame_placement_second_derivatives,
            SECOND,
            of="frame_placement_derivatives",
        ),
        place(
            "frame_jacobian_derivatives",
            "Derivatives of a frame's Jacobian by q (in the tangent space).",
            in_space("dJ_dq", (6, nv, nv), "derivative of each column by q (in the tangent space)"),
            frame_jacobian_derivatives,
            SECOND,
            of="frame_jacobian",
        ),
    ]


def _motions(model: Model) -> list[Function]:
    q, v, a = configuration(model), velocity(model), acceleration(model)
    return [
        _framed(
            FunctionDeclaration(
                "frame_jacobian",
                "Jacobian of a frame, linear rows first.",
                (q,),
                in_space("J", (6, model.nv), "frame Jacobian"),
                framed=True,
            ),
            frame_jacobian,
            "control",
            ("featherstone", "frames:frame_jacobian"),
            Differential("frame_jacobian_derivatives"),
        ),
        _framed(
            FunctionDeclaration(
                "frame_jacobian_time_derivative",
                "Time derivative of a frame's Jacobian, in the coordinates of the reference.",
                (q, v),
                in_space("dJ", (6, model.nv), "time derivative of the frame Jacobian, linear rows first"),
                framed=True,
            ),
            frame_jacobian_time_derivative,
            "full",
            ChainRule("frame_jacobian", (q.name,), directions=(v.name,)),
        ),
        _framed(
            FunctionDeclaration(
                "frame_drift",
                "Time derivative of a frame's Jacobian times v.",
                (q, v),
                in_space("drift", (6,), "[linear; angular] (m/s^2, rad/s^2)"),
                framed=True,
            ),
            frame_drift,
            "full",
            ("featherstone", "frames:frame_drift"),
        ),
        _framed(
            FunctionDeclaration(
                "frame_velocity",
                "Spatial velocity of a frame.",
                (q, v),
                in_space("velocity", (6,), "[linear; angular] (m/s, rad/s)"),
                framed=True,
            ),
            frame_velocity,
            "full",
            ("featherstone", "frames:frame_velocity"),
            Differential("frame_velocity_derivatives"),
        ),
        _framed(
            FunctionDeclaration(
                "frame_acceleration",
                "Spatial acceleration of a frame, without gravity.",
                (q, v, a),
                in_space("acceleration", (6,), "[linear; angular] (m/s^2, rad/s^2)"),
                framed=True,
            ),
            frame_acceleration,
            "full",
            ("featherstone", "frames:frame_acceleration"),
            Differential("frame_acceleration_derivatives"),
        ),
    ]


def _derivatives(model: Model) -> list[Function]:
    q, v, a = configuration(model), velocity(model), acceleration(model)

    def by(of: str, *inputs: Parameter) -> tuple[Parameter, ...]:
        meaning, shape = "derivative by {}; linear rows first, column: direction", (6, model.nv)
        return tuple(
            Parameter(f"{of}_d{x.name}", shape, meaning.format(x.name), Kind.SPACE_ROWS) for x in inputs
        )

    return [
        _framed(
            FunctionDeclaration(
                "frame_velocity_derivatives",
                "Derivatives of a frame's spatial velocity by q (in the tangent space) and v.",
                (q, v),
                by("dv", q, v),
                framed=True,
            ),
            frame_velocity_derivatives,
            "optimisation",
            ChainRule("frame_velocity", ("q", "v")),
        ),
        _framed(
            FunctionDeclaration(
                "frame_acceleration_derivatives",
                "Derivatives of a frame's spatial acceleration, without gravity, "
                "by q (in the tangent space), v and a.",
                (q, v, a),
                by("da", q, v, a),
                framed=True,
            ),
            frame_acceleration_derivatives,
            "optimisation",
            ChainRule("frame_acceleration", ("q", "v", "a")),
        ),
    ]


def _shapes(model: Model) -> list[Function]:
    """Measures of how two of its frames move, and of how well one can."""
    q = configuration(model)
    gradient = _framed(
        FunctionDeclaration(
            "manipulability_gradient",
            "Manipulability sqrt(det(J J^T)) of a frame, the same in every reference, and its gradient by q "
            "(in the tangent space); both 0 where J has not six independent rows.",
            (q,),
            (
                Parameter("manipulability", (), "sqrt(det(J J^T)) (m^3)", Kind.SPACE_ROWS),
                Parameter("gradient", (model.nv,), "derivative by q (m^3 / rad, m^2)", Kind.JOINT_ROWS),
            ),
            framed=True,
        ),
        manipulability_gradient,
        "full",
        ("yoshikawa", "frame_pairs:manipulability_gradient"),
    )
    return [
        _framed(
            FunctionDeclaration(
                "relative_jacobian",
                "Jacobian of a frame relative to another, linear rows first, as seen from the frame.",
                (q,),
                in_space("J", (6, model.nv), "relative Jacobian"),
                framed=True,
                pair=True,
            ),
            relative_jacobian,
            "full",
            ("featherstone", "frame_pairs:relative_jacobian"),
        ),
        replace(gradient, policy=Policy(sample_by_sample=True)),
    ]


def _framed(
    declaration: FunctionDeclaration,
    algorithm: Callable[..., Any],
    preset: str,
    reference: tuple[str, str] | ChainRule,
    differential: Differential | None = None,
) -> Function:
    """A function of a frame and what its motion refers to. reference: its paper, and where it is, or what it
    is the derivative of.
    """
    chain = reference if isinstance(reference, ChainRule) else None
    return Function(
        declaration,
        {},
        at_frame=algorithm,
        preset=preset,
        references={} if isinstance(reference, ChainRule) else dict([reference]),
        chain=chain,
        differential=differential,
        comparison=Comparison(checks_only=True),
    )
