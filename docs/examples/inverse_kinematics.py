"""Inverse kinematics of 1000 poses in one batch, by damped Gauss-Newton steps."""

import matplotlib.pyplot as plt
import numpy as np

import rbdc

functions, frame = ["frame_error", "frame_error_derivatives", "exp6"], "lbr_iiwa_link_7"
m = rbdc.build("kuka_iiwa", functions=functions, out="modules")
rng, number, limit = np.random.default_rng(0), 1000, m.upper_position_limit


def draw(count):
    return rng.uniform(-limit, limit, (count, m.nq))


# poses that can be reached: the error against the pose of the world is the logarithm of a frame's pose
targets = m.exp6(m.frame_error(draw(number), [0, 0, 0, 0, 0, 0, 1], frame))

q, reached, within = draw(number), [], []
for iteration in range(240):
    J, _, e, _ = m.frame_error_derivatives(q, targets, frame)
    size = np.linalg.norm(e, axis=1)
    wrapped = (q + np.pi) % (2 * np.pi) - np.pi
    done = (size < 1e-6) & (np.abs(wrapped) <= limit).all(axis=1)
    reached.append((size < 1e-6).mean())
    within.append(done.mean())
    if iteration % 20 == 19:
        q[~done] = draw((~done).sum())  # another start for the others
        continue
    JT = J.transpose(0, 2, 1)
    damped = JT @ J + (0.1 * size**2 + 1e-12)[:, None, None] * np.eye(m.nv)
    q = q - np.linalg.solve(damped, JT @ e[..., None])[..., 0]
assert within[-1] > 0.99

figure, axes = plt.subplots(layout="constrained")
axes.plot(reached, label="within 1e-6")
axes.plot(within, label="and within the joints' limits")
axes.set(xlabel="step", ylabel="share of 1000 poses", title="poses of a KUKA iiwa that are reached")
axes.legend()
figure.savefig("inverse_kinematics.svg")
