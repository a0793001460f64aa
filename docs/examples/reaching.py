"""An arm moves its hand to a place, at rest, in a second: CasADi and ipopt with exact Hessians."""

import casadi as ca
import matplotlib.pyplot as plt
import numpy as np

import rbdc

functions = ["aba", "aba_derivatives", "aba_vjp", "rnea_second_derivatives"]
functions += ["frame_position", "frame_position_derivatives", "frame_position_second_derivatives"]
m = rbdc.build("kuka_iiwa", functions=functions, targets=["c", "casadi"], out="modules")
aba, hand = m.casadi("aba"), m.casadi("frame_position@lbr_iiwa_link_7")
place, steps, step, opti = np.array([0.4, 0.3, 0.6]), 20, 0.05, ca.Opti()
q, v, tau = (opti.variable(7, n) for n in (steps + 1, steps + 1, steps))
for k in range(steps):
    opti.subject_to(v[:, k + 1] == v[:, k] + step * aba(q[:, k], v[:, k], tau[:, k]))
    opti.subject_to(q[:, k + 1] == q[:, k] + step * v[:, k + 1])
    opti.subject_to(opti.bounded(-m.effort_limit, tau[:, k], m.effort_limit))
opti.subject_to(q[:, 0] == 0.3)
opti.subject_to(v[:, 0] == 0)
opti.subject_to(v[:, steps] == 0)
opti.subject_to(hand(q[:, steps]) == place)
opti.minimize(step * (1e-3 * ca.sumsqr(tau) + 0.1 * ca.sumsqr(v)))
opti.set_initial(q, 0.3)
opti.solver("ipopt", {"print_time": False}, {"print_level": 0})
found = opti.solve()
print(found.stats()["iter_count"])
assert np.allclose(m.frame_position(found.value(q)[:, -1], "lbr_iiwa_link_7"), place, atol=1e-6)

figure, (above, below) = plt.subplots(2, sharex=True, layout="constrained")
times = step * np.arange(steps + 1)
positions = m.frame_position(found.value(q).T, "lbr_iiwa_link_7")
lines = above.plot(times, positions, label=["x", "y", "z"])
for line, value in zip(lines, place, strict=True):
    above.axhline(value, color=line.get_color(), linestyle=":")
above.set(ylabel="hand (m)", title="the hand reaches its place (dotted), at rest")
above.legend(ncols=3)
below.stairs(np.abs(found.value(tau)).max(0), times)
below.set(xlabel="time (s)", ylabel="largest torque (N m)", ylim=(0, None))
figure.savefig("reaching.svg")
