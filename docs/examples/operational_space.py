"""An arm's hand runs round a circle by operational-space control, while its elbow moves in the null space."""

import matplotlib.pyplot as plt
import numpy as np

import rbdc

functions = ["operational_space", "frame_jacobian", "frame_error", "frame_placement", "exp6", "rnea", "step"]
m = rbdc.build("kuka_iiwa", functions=functions, out="modules")
hand, dt, count, rate = "lbr_iiwa_link_7", 1e-3, 8000, 0.5 * np.pi
posture = np.array([0, 0.6, 0, -1.4, 0, 1.14, 0])
pose = m.exp6(m.frame_error(posture, [0, 0, 0, 0, 0, 0, 1], hand))  # x y z qx qy qz qw
turned = m.frame_placement(posture, hand)[:3, :3]
still = np.linalg.svd(m.frame_jacobian(posture, hand))[2][
    -1
]  # the direction that leaves the hand where it is
elbow = still / still[2]


def run(through_null_space):
    """Return the errors of the hand (m) and the angles of the third joint (rad)."""
    q, v, errors, angles = posture, m.v_zero, [], []
    for k in range(count):
        angle = rate * dt * k
        arm = 0.1 * np.array([0, np.cos(angle), np.sin(angle)])  # from the centre of the circle
        velocity, acceleration = rate * np.cross([1, 0, 0], arm), -(rate**2) * arm
        error = m.frame_error(q, [*(pose[:3] + arm - [0, 0.1, 0]), *pose[3:]], hand)
        J = m.frame_jacobian(q, hand)
        inertia, inverse, bias, gravity = m.operational_space(q, v, hand)
        ahead = turned.T @ (acceleration + 40 * velocity)
        wanted = [*ahead, 0, 0, 0] - 400 * error - 40 * J @ v
        elbow_torque = m.rnea(q, v, 100 * (posture + elbow * (k > count / 2) - q) - 20 * v)  # moves the elbow
        if through_null_space:
            elbow_torque -= J.T @ (inverse.T @ elbow_torque)  # the part that the hand does not feel
        q, v = m.step(q, v, J.T @ (inertia @ wanted + bias + gravity) + elbow_torque, dt)
        errors.append(np.linalg.norm(error[:3]))
        angles.append(q[2])
    return np.array(errors), np.array(angles)


apart, together = run(through_null_space=True), run(through_null_space=False)
later = slice(2000, None)
print(apart[0][later].max(), together[0][later].max(), apart[1][-1])
assert apart[0][later].max() < 2e-4 < 1e-2 < together[0][later].max() and apart[1][-1] > 0.5

figure, (above, below) = plt.subplots(2, sharex=True, layout="constrained")
times, names = dt * np.arange(count), ("in the null space", "without regard to the hand")
for (errors, angles), style, name in zip((apart, together), ("-", "--"), names, strict=True):
    above.semilogy(times, 1e3 * errors, style)
    below.plot(times, angles, style, label=name)
above.set(
    ylim=(1e-3, 1e3),
    ylabel="error of the hand (mm)",
    title="the hand runs round a circle; after 4 s the elbow moves",
)
below.set(xlabel="time (s)", ylabel="third joint (rad)")
below.legend(title="torques that move the elbow", loc="lower right")
figure.savefig("operational_space.svg")
