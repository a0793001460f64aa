"""Five seconds of a double pendulum without torque: it keeps its energy."""

import matplotlib.pyplot as plt
import numpy as np

import rbdc

m = rbdc.build(
    "double_pendulum", functions="aba,aba_derivatives,kinetic_energy,potential_energy", out="modules"
)
m = rbdc.load("modules/double_pendulum")  # any time later; or put the folder on the path and import it


def rate(x):  # of a state (q, v), without torque
    return np.array([x[1], m.aba(*x, m.v_zero)])


x, step, states = np.array([[2.0, 0.5], m.v_zero]), 2e-3, []
for _ in range(2500):  # five seconds with the Runge-Kutta method of order 4
    k1 = rate(x)
    k2 = rate(x + step / 2 * k1)
    k3 = rate(x + step / 2 * k2)
    x = x + step / 6 * (k1 + 2 * k2 + 2 * k3 + rate(x + step * k3))
    states.append(x)
q, v = np.swapaxes(states, 0, 1)  # (2500, 2) each: functions take all samples at once
energies = np.array([m.kinetic_energy(q, v), m.potential_energy(q)])
ddq_dq, ddq_dv, ddq_dtau = m.aba_derivatives(q, v, np.zeros_like(v))  # exact, (2500, 2, 2) each
t, total = step * np.arange(1, 2501), energies.sum(0)
figure, (above, below) = plt.subplots(2, sharex=True, layout="constrained")
above.plot(t, q, label=m.joint_names)
above.set(ylabel="angle (rad)", title=f"no torque: total energy within {np.ptp(total):.0e} J")
below.plot(t, np.transpose([*energies, total]), label=["kinetic", "potential", "total"])
below.set(xlabel="time (s)", ylabel="energy (J)")
above.legend(loc="center", ncols=2)
below.legend(loc="center", ncols=3)
figure.savefig("swing.svg")
