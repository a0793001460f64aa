from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

name: str
model_hash: str
nq: int
nv: int
njoints: int
joint_names: tuple[str, ...]
frame_names: tuple[str, ...]
parents: tuple[int, ...]
functions: tuple[str, ...]
warnings: tuple[str, ...]
fext_frame: Literal["local", "world"]
regressor_names: tuple[str, ...]
regressor_units: tuple[str, ...]
variant: str
dtype: np.dtype[np.float64]
block: int
v_zero: NDArray[np.float64]
q_neutral: NDArray[np.float64]
lower_position_limit: NDArray[np.float64]
upper_position_limit: NDArray[np.float64]
velocity_limit: NDArray[np.float64]
effort_limit: NDArray[np.float64]
armature: NDArray[np.float64]
damping: NDArray[np.float64]
stiffness: NDArray[np.float64]
friction: NDArray[np.float64]
masses: NDArray[np.float64]
gravity: NDArray[np.float64]
regressor_parameters: NDArray[np.float64]
jax: Any
torch: Any
casadi: Any

def rnea(q: ArrayLike, v: ArrayLike, a: ArrayLike, fext: ArrayLike | None = None, *, out: Any = None, layout: Literal["samples", "lanes"] = "samples", num_threads: int = 1) -> NDArray[np.float64]:
    """Inverse dynamics: M(q) a + C(q, v) v + g(q) - sum of J^T fext."""

def nle(q: ArrayLike, v: ArrayLike, *, out: Any = None, layout: Literal["samples", "lanes"] = "samples", num_threads: int = 1) -> NDArray[np.float64]:
    """Nonlinear effects: C(q, v) v + g(q)."""

def gravity_torque(q: ArrayLike, *, out: Any = None, layout: Literal["samples", "lanes"] = "samples", num_threads: int = 1) -> NDArray[np.float64]:
    """Generalised force of gravity: g(q)."""

def coriolis(q: ArrayLike, v: ArrayLike, *, out: Any = None, layout: Literal["samples", "lanes"] = "samples", num_threads: int = 1) -> NDArray[np.float64]:
    """Coriolis matrix C(q, v), with dM/dt - 2 C skew-symmetric."""

def crba(q: ArrayLike, *, out: Any = None, layout: Literal["samples", "lanes"] = "samples", num_threads: int = 1) -> NDArray[np.float64]:
    """Joint-space inertia M(q), both triangles."""

def minverse(q: ArrayLike, *, out: Any = None, layout: Literal["samples", "lanes"] = "samples", num_threads: int = 1) -> NDArray[np.float64]:
    """Inverse of the joint-space inertia, both triangles."""

def aba(q: ArrayLike, v: ArrayLike, tau: ArrayLike, fext: ArrayLike | None = None, *, out: Any = None, layout: Literal["samples", "lanes"] = "samples", num_threads: int = 1) -> NDArray[np.float64]:
    """Forward dynamics: M(q)^-1 (tau - C(q, v) v - g(q) + sum of J^T fext)."""

def torque_regressor(q: ArrayLike, v: ArrayLike, a: ArrayLike, *, out: Any = None, layout: Literal["samples", "lanes"] = "samples", num_threads: int = 1) -> NDArray[np.float64]:
    """Regressor Y: rnea(q, v, a) is Y times the parameters. Parameters: m, m c (3), Ixx, Ixy, Iyy, Ixz, Iyz, Izz of each body."""

def rnea_derivatives(q: ArrayLike, v: ArrayLike, a: ArrayLike, fext: ArrayLike | None = None, *, out: Any = None, layout: Literal["samples", "lanes"] = "samples", num_threads: int = 1) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Derivatives of inverse dynamics with respect to q (in the tangent space), v and a."""

def nle_derivatives(q: ArrayLike, v: ArrayLike, *, out: Any = None, layout: Literal["samples", "lanes"] = "samples", num_threads: int = 1) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Derivatives of the nonlinear effects with respect to q (in the tangent space) and v."""

def gravity_torque_derivatives(q: ArrayLike, *, out: Any = None, layout: Literal["samples", "lanes"] = "samples", num_threads: int = 1) -> NDArray[np.float64]:
    """Derivatives of g(q) with respect to q (in the tangent space): the Hessian of the potential energy."""

def aba_derivatives(q: ArrayLike, v: ArrayLike, tau: ArrayLike, fext: ArrayLike | None = None, *, out: Any = None, layout: Literal["samples", "lanes"] = "samples", num_threads: int = 1) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Derivatives of forward dynamics with respect to q (in the tangent space), v and tau."""

def rnea_vjp(q: ArrayLike, v: ArrayLike, a: ArrayLike, w: ArrayLike, fext: ArrayLike | None = None, *, out: Any = None, layout: Literal["samples", "lanes"] = "samples", num_threads: int = 1) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Weighted sums of the rows of the derivatives of inverse dynamics: w^T dtau_dq, w^T dtau_dv, w^T dtau_da."""

def aba_vjp(q: ArrayLike, v: ArrayLike, tau: ArrayLike, w: ArrayLike, fext: ArrayLike | None = None, *, out: Any = None, layout: Literal["samples", "lanes"] = "samples", num_threads: int = 1) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Weighted sums of the rows of the derivatives of forward dynamics: w^T ddq_dq, w^T ddq_dv, w^T ddq_dtau."""

def rnea_jvp(q: ArrayLike, v: ArrayLike, a: ArrayLike, dq: ArrayLike, dv: ArrayLike, da: ArrayLike, fext: ArrayLike | None = None, *, out: Any = None, layout: Literal["samples", "lanes"] = "samples", num_threads: int = 1) -> NDArray[np.float64]:
    """Derivative of inverse dynamics along the direction (dq, dv, da)."""

def aba_jvp(q: ArrayLike, v: ArrayLike, tau: ArrayLike, dq: ArrayLike, dv: ArrayLike, dtau: ArrayLike, fext: ArrayLike | None = None, *, out: Any = None, layout: Literal["samples", "lanes"] = "samples", num_threads: int = 1) -> NDArray[np.float64]:
    """Derivative of forward dynamics along the direction (dq, dv, dtau)."""

def forward_kinematics(q: ArrayLike, *, out: Any = None, layout: Literal["samples", "lanes"] = "samples", num_threads: int = 1) -> NDArray[np.float64]:
    """Placements of all frames in the world, as 4x4 matrices."""

def frame_position(q: ArrayLike, frame: str | int, reference: Literal["LOCAL", "WORLD", "LOCAL_WORLD_ALIGNED"] = "LOCAL", offset: ArrayLike | None = None, *, out: Any = None, layout: Literal["samples", "lanes"] = "samples", num_threads: int = 1) -> NDArray[np.float64]:
    """Position of a frame's origin in the world; `reference` has no effect."""

def frame_placement(q: ArrayLike, frame: str | int, reference: Literal["LOCAL", "WORLD", "LOCAL_WORLD_ALIGNED"] = "LOCAL", offset: ArrayLike | None = None, *, out: Any = None, layout: Literal["samples", "lanes"] = "samples", num_threads: int = 1) -> NDArray[np.float64]:
    """Placement of a frame in the world, a 4x4 matrix; `reference` has no effect."""

def frame_position_derivatives(q: ArrayLike, frame: str | int, reference: Literal["LOCAL", "WORLD", "LOCAL_WORLD_ALIGNED"] = "LOCAL", offset: ArrayLike | None = None, *, out: Any = None, layout: Literal["samples", "lanes"] = "samples", num_threads: int = 1) -> NDArray[np.float64]:
    """Derivatives of a frame's position with respect to q (in the tangent space); `reference` has no effect."""

def frame_placement_derivatives(q: ArrayLike, frame: str | int, reference: Literal["LOCAL", "WORLD", "LOCAL_WORLD_ALIGNED"] = "LOCAL", offset: ArrayLike | None = None, *, out: Any = None, layout: Literal["samples", "lanes"] = "samples", num_threads: int = 1) -> NDArray[np.float64]:
    """Derivatives of the entries of a frame's placement with respect to q (in the tangent space); `reference` has no effect."""

def frame_jacobian(q: ArrayLike, frame: str | int, reference: Literal["LOCAL", "WORLD", "LOCAL_WORLD_ALIGNED"] = "LOCAL", offset: ArrayLike | None = None, *, out: Any = None, layout: Literal["samples", "lanes"] = "samples", num_threads: int = 1) -> NDArray[np.float64]:
    """Jacobian of a frame, linear rows first."""

def frame_jacobian_time_derivative(q: ArrayLike, v: ArrayLike, frame: str | int, reference: Literal["LOCAL", "WORLD", "LOCAL_WORLD_ALIGNED"] = "LOCAL", offset: ArrayLike | None = None, *, out: Any = None, layout: Literal["samples", "lanes"] = "samples", num_threads: int = 1) -> NDArray[np.float64]:
    """Time derivative of the entries of a frame's Jacobian, in the coordinates of `reference`."""

def frame_drift(q: ArrayLike, v: ArrayLike, frame: str | int, reference: Literal["LOCAL", "WORLD", "LOCAL_WORLD_ALIGNED"] = "LOCAL", offset: ArrayLike | None = None, *, out: Any = None, layout: Literal["samples", "lanes"] = "samples", num_threads: int = 1) -> NDArray[np.float64]:
    """(dJ/dt) v: the time derivative of a frame's Jacobian J, times v."""

def frame_velocity(q: ArrayLike, v: ArrayLike, frame: str | int, reference: Literal["LOCAL", "WORLD", "LOCAL_WORLD_ALIGNED"] = "LOCAL", offset: ArrayLike | None = None, *, out: Any = None, layout: Literal["samples", "lanes"] = "samples", num_threads: int = 1) -> NDArray[np.float64]:
    """Spatial velocity of a frame."""

def frame_acceleration(q: ArrayLike, v: ArrayLike, a: ArrayLike, frame: str | int, reference: Literal["LOCAL", "WORLD", "LOCAL_WORLD_ALIGNED"] = "LOCAL", offset: ArrayLike | None = None, *, out: Any = None, layout: Literal["samples", "lanes"] = "samples", num_threads: int = 1) -> NDArray[np.float64]:
    """Spatial acceleration of a frame, without gravity."""

def frame_classical_acceleration(q: ArrayLike, v: ArrayLike, a: ArrayLike, frame: str | int, reference: Literal["LOCAL", "WORLD", "LOCAL_WORLD_ALIGNED"] = "LOCAL", offset: ArrayLike | None = None, *, out: Any = None, layout: Literal["samples", "lanes"] = "samples", num_threads: int = 1) -> NDArray[np.float64]:
    """Classical acceleration of a frame, without gravity: the spatial acceleration, plus the cross product of angular and linear velocity in the linear part. The linear part is the acceleration of the body's point at the frame's origin, or at the world's origin with WORLD."""

def frame_error(q: ArrayLike, target: ArrayLike, frame: str | int, reference: Literal["LOCAL", "WORLD", "LOCAL_WORLD_ALIGNED"] = "LOCAL", offset: ArrayLike | None = None, *, out: Any = None, layout: Literal["samples", "lanes"] = "samples", num_threads: int = 1) -> NDArray[np.float64]:
    """Error log6(T^-1 X) of a frame's placement X relative to the target T; `reference` has no effect."""

def frame_error_derivatives(q: ArrayLike, target: ArrayLike, frame: str | int, reference: Literal["LOCAL", "WORLD", "LOCAL_WORLD_ALIGNED"] = "LOCAL", offset: ArrayLike | None = None, *, out: Any = None, layout: Literal["samples", "lanes"] = "samples", num_threads: int = 1) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Error log6(T^-1 X) of a frame's placement X relative to the target T, and its derivatives with respect to q (in the tangent space), the target and the offset; `reference` has no effect."""

def frame_velocity_derivatives(q: ArrayLike, v: ArrayLike, frame: str | int, reference: Literal["LOCAL", "WORLD", "LOCAL_WORLD_ALIGNED"] = "LOCAL", offset: ArrayLike | None = None, *, out: Any = None, layout: Literal["samples", "lanes"] = "samples", num_threads: int = 1) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Derivatives of a frame's spatial velocity with respect to q (in the tangent space) and v."""

def frame_acceleration_derivatives(q: ArrayLike, v: ArrayLike, a: ArrayLike, frame: str | int, reference: Literal["LOCAL", "WORLD", "LOCAL_WORLD_ALIGNED"] = "LOCAL", offset: ArrayLike | None = None, *, out: Any = None, layout: Literal["samples", "lanes"] = "samples", num_threads: int = 1) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Derivatives of a frame's spatial acceleration, without gravity, with respect to q (in the tangent space), v and a."""

def frame_classical_acceleration_derivatives(q: ArrayLike, v: ArrayLike, a: ArrayLike, frame: str | int, reference: Literal["LOCAL", "WORLD", "LOCAL_WORLD_ALIGNED"] = "LOCAL", offset: ArrayLike | None = None, *, out: Any = None, layout: Literal["samples", "lanes"] = "samples", num_threads: int = 1) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Derivatives of a frame's classical acceleration, without gravity, with respect to q (in the tangent space), v and a."""

def relative_jacobian(q: ArrayLike, frame: str | int, other: str | int, reference: Literal["LOCAL", "WORLD", "LOCAL_WORLD_ALIGNED"] = "LOCAL", *, out: Any = None, layout: Literal["samples", "lanes"] = "samples", num_threads: int = 1) -> NDArray[np.float64]:
    """Jacobian J of `frame` relative to `other`, linear rows first: J v is the velocity of `frame` minus that of `other`, both at the origin and in the axes that `reference` selects for `frame`."""

def manipulability_gradient(q: ArrayLike, frame: str | int, reference: Literal["LOCAL", "WORLD", "LOCAL_WORLD_ALIGNED"] = "LOCAL", *, out: Any = None, layout: Literal["samples", "lanes"] = "samples", num_threads: int = 1) -> tuple[np.float64 | NDArray[np.float64], NDArray[np.float64]]:
    """Manipulability sqrt(det(J J^T)) of a frame and its gradient with respect to q (in the tangent space). Both are 0 if the rows of J are dependent; `reference` has no effect."""

def com(q: ArrayLike, *, out: Any = None, layout: Literal["samples", "lanes"] = "samples", num_threads: int = 1) -> NDArray[np.float64]:
    """Centre of mass of all links, in the world."""

def com_jacobian(q: ArrayLike, *, out: Any = None, layout: Literal["samples", "lanes"] = "samples", num_threads: int = 1) -> NDArray[np.float64]:
    """Jacobian of the centre of mass."""

def centroidal_momentum_matrix(q: ArrayLike, *, out: Any = None, layout: Literal["samples", "lanes"] = "samples", num_threads: int = 1) -> NDArray[np.float64]:
    """Matrix A: A v is the momentum of the moving links about their centre of mass, linear rows first."""

def com_acceleration(q: ArrayLike, v: ArrayLike, a: ArrayLike, *, out: Any = None, layout: Literal["samples", "lanes"] = "samples", num_threads: int = 1) -> NDArray[np.float64]:
    """Acceleration of the centre of mass of all links, in the world."""

def centroidal_momentum_derivative(q: ArrayLike, v: ArrayLike, a: ArrayLike, *, out: Any = None, layout: Literal["samples", "lanes"] = "samples", num_threads: int = 1) -> NDArray[np.float64]:
    """Rate of the momentum of the moving links about their centre of mass, linear part first."""

def centroidal_dynamics_derivatives(q: ArrayLike, v: ArrayLike, a: ArrayLike, *, out: Any = None, layout: Literal["samples", "lanes"] = "samples", num_threads: int = 1) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Derivatives of the centroidal momentum h with respect to q (in the tangent space), and of dh/dt with respect to q, v and a."""

def kinetic_energy(q: ArrayLike, v: ArrayLike, *, out: Any = None, layout: Literal["samples", "lanes"] = "samples", num_threads: int = 1) -> np.float64 | NDArray[np.float64]:
    """Kinetic energy: v^T M(q) v / 2."""

def kinetic_energy_derivatives(q: ArrayLike, v: ArrayLike, *, out: Any = None, layout: Literal["samples", "lanes"] = "samples", num_threads: int = 1) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Derivatives of kinetic energy with respect to q (in the tangent space) and v."""

def potential_energy(q: ArrayLike, *, out: Any = None, layout: Literal["samples", "lanes"] = "samples", num_threads: int = 1) -> np.float64 | NDArray[np.float64]:
    """Potential energy of all links in the field of gravity."""

def static_regressor(q: ArrayLike, *, out: Any = None, layout: Literal["samples", "lanes"] = "samples", num_threads: int = 1) -> NDArray[np.float64]:
    """Regressor Y: the first moment of the moving links is Y times the parameters. Parameters: m and m c (3) of each body."""

def kinetic_energy_regressor(q: ArrayLike, v: ArrayLike, *, out: Any = None, layout: Literal["samples", "lanes"] = "samples", num_threads: int = 1) -> NDArray[np.float64]:
    """Regressor y: the kinetic energy of the moving links is y . parameters. Parameters: m, m c (3), Ixx, Ixy, Iyy, Ixz, Iyz, Izz of each body."""

def potential_energy_regressor(q: ArrayLike, *, out: Any = None, layout: Literal["samples", "lanes"] = "samples", num_threads: int = 1) -> NDArray[np.float64]:
    """Regressor y: the potential energy of the moving links is y . parameters. Parameters: m, m c (3), Ixx, Ixy, Iyy, Ixz, Iyz, Izz of each body."""

def integrate(q: ArrayLike, dv: ArrayLike, *, out: Any = None, layout: Literal["samples", "lanes"] = "samples", num_threads: int = 1) -> NDArray[np.float64]:
    """Configuration q (+) dv that the constant velocity dv reaches from q in unit time."""

def difference(q0: ArrayLike, q1: ArrayLike, *, out: Any = None, layout: Literal["samples", "lanes"] = "samples", num_threads: int = 1) -> NDArray[np.float64]:
    """Tangent step dv with q0 (+) dv = q1."""

def log6(pose: ArrayLike, *, out: Any = None, layout: Literal["samples", "lanes"] = "samples", num_threads: int = 1) -> NDArray[np.float64]:
    """Logarithm of a placement in SE(3), for rotations of at most half a turn; independent of the robot."""

def exp6(twist: ArrayLike, *, out: Any = None, layout: Literal["samples", "lanes"] = "samples", num_threads: int = 1) -> NDArray[np.float64]:
    """Exponential of a motion in SE(3); independent of the robot."""

def random_configuration(rng: np.random.Generator | int | None = None) -> NDArray[np.float64]: ...
def normalised(q: ArrayLike) -> NDArray[np.float64]: ...
def to_mujoco(
    q: ArrayLike, v: ArrayLike | None = None, a: ArrayLike | None = None, tau: ArrayLike | None = None
) -> Any: ...
def from_mujoco(
    qpos: ArrayLike, qvel: ArrayLike | None = None, qacc: ArrayLike | None = None, tau: ArrayLike | None = None
) -> Any: ...
def to_pinocchio(
    q: ArrayLike, v: ArrayLike | None = None, a: ArrayLike | None = None, tau: ArrayLike | None = None
) -> Any: ...
def from_pinocchio(
    q: ArrayLike, v: ArrayLike | None = None, a: ArrayLike | None = None, tau: ArrayLike | None = None
) -> Any: ...
