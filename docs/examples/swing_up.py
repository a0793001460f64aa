"""A cart swings its pole up: CasADi and ipopt with exact Hessians."""

import casadi as ca
import matplotlib.pyplot as plt
import numpy as np

import rbdc

functions = ["aba", "aba_derivatives", "aba_vjp", "rnea_second_derivatives"]
m = rbdc.build("cartpole", functions=functions, targets=["c", "casadi"], out="modules")
aba, steps, step, opti = m.casadi("aba"), 100, 0.05, ca.Opti()
q, v, force = opti.variable(2, steps + 1), opti.variable(2, steps + 1), opti.variable(steps)
for k in range(steps):
    opti.subject_to(v[:, k + 1] == v[:, k] + step * aba(q[:, k], v[:, k], ca.vertcat(force[k], 0)))
    opti.subject_to(q[:, k + 1] == q[:, k] + step * v[:, k + 1])
opti.subject_to(q[:, 0] == [0, np.pi])  # hangs
opti.subject_to(q[:, steps] == 0)  # stands
opti.subject_to(v[:, 0] == 0)
opti.subject_to(v[:, steps] == 0)
opti.subject_to(opti.bounded(m.lower_position_limit[0], q[0, :], m.upper_position_limit[0]))
opti.minimize(ca.sumsqr(force))
opti.set_initial(q[1, :], np.linspace(np.pi, 0, steps + 1))
opti.solver("ipopt", {"print_time": False}, {"print_level": 0})
found = opti.solve()
place, speed, path = np.array([0, np.pi]), np.zeros(2), []
for pushed in found.value(force):
    speed = speed + step * m.aba(place, speed, np.array([pushed, 0]))
    place = place + step * speed
    path.append(place)
assert np.abs(place).max() < 1e-3
figure, axes = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
axes.plot(step * np.arange(1, steps + 1), path, label=["cart (m)", "pole (rad)"])
axes.set(xlabel="time (s)", title="the pole hangs at pi and stands at 0")
axes.legend()
figure.savefig("swing_up.svg")
