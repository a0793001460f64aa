"""The base inertial parameters of an arm from noisy torques."""

import matplotlib.pyplot as plt
import numpy as np

import rbdc

m = rbdc.build("ur5", functions="rnea,torque_regressor", parameters="inertial", out="modules")
found = rbdc.identifiability(rbdc.Model.from_file(rbdc.path_of("ur5")))
base, names = found["base"], found["names"]
rng, t, w = np.random.default_rng(0), np.linspace(0, 10, 2000), 0.2 * np.pi * np.arange(1, 6)
true = m.nominal_parameters * rng.uniform(0.8, 1.2, (m.njoints, 10))
s, c = np.sin(np.outer(t, w)), np.cos(np.outer(t, w))


def motion():
    """q, v, a at the times t, of five random harmonics."""
    x, y = rng.standard_normal((2, 5, m.nv)) / w[:, None]
    return s @ x + c @ y, (c * w) @ x - (s * w) @ y, -(s * w**2) @ x - (c * w**2) @ y


state, columns = motion(), [names.index(one["terms"][0][0]) for one in base]
measured = m.rnea(*state, true) + 0.1 * rng.standard_normal((len(t), m.nv))
Y = m.torque_regressor(*state).reshape(-1, 10 * m.njoints)[:, columns]
fitted = np.linalg.lstsq(Y, measured.ravel(), rcond=None)[0]
print(*(f"{one['formula']} = {value:.4g}" for one, value in zip(base, fitted, strict=True)), sep="\n")
state = motion()
torques, described = m.rnea(*state, true), m.rnea(*state, m.nominal_parameters)
predicted = m.torque_regressor(*state)[..., columns] @ fitted
assert np.std(predicted - torques) < 0.02 < 1 < np.std(described - torques)
figure, axes = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
for wrong, label in ((described - torques, "as described"), (predicted - torques, "fitted")):
    axes.plot(t, wrong[:, 1], label=label)
axes.set(xlabel="time (s)", ylabel=f"error of {m.joint_names[1]} (N m)", title="torque of another motion")
axes.legend()
figure.savefig("identification.svg")
