"""Differential dynamic programming of an arm with exact second derivatives of its steps, beside iLQR."""

import matplotlib.pyplot as plt
import numpy as np

import rbdc

functions = ["step", "step_derivatives", "step_hessian_vector", "gravity_torque"]
m = rbdc.build("ur5", functions=functions, out="modules")
n, count, dt, effort, end = m.nv, 40, 0.025, 1e-2, 1e2
start, goal = np.array([0, 0, 0.5, 0, 0, 0]), np.array([0.5, -1, 1, 0.5, 0.5, 0, *np.zeros(n)])


def rollout(x, u, gains, feedback):
    before, x, u = x, x.copy(), u.copy()
    for k in range(count):
        u[k] += gains[k] + feedback[k] @ (x[k] - before[k])
        x[k + 1] = np.concatenate(m.step(x[k, :n], x[k, n:], u[k], dt))
        if not np.abs(x[k + 1]).max() < 1e3:
            return np.inf, x, u
    return 0.5 * effort * dt * np.sum(u * u) + 0.5 * end * np.sum((x[-1] - goal) ** 2), x, u


def policy(x, u, exact):
    D = m.step_derivatives(x[:-1, :n], x[:-1, n:], u, dt)  # all steps at once
    A, B = np.block([[D[0], D[1]], [D[4], D[5]]]), np.concatenate([D[2], D[6]], axis=1)
    gradient, hessian = end * (x[-1] - goal), end * np.eye(2 * n)  # of the cost to go
    gains, feedback = np.zeros((count, n)), np.zeros((count, n, 2 * n))
    for k in reversed(range(count)):
        Qx, Qu = A[k].T @ gradient, B[k].T @ gradient + effort * dt * u[k]
        Qxx, Qux = A[k].T @ hessian @ A[k], B[k].T @ hessian @ A[k]
        Quu = B[k].T @ hessian @ B[k] + effort * dt * np.eye(n)
        if exact:
            weights = gradient[:n], gradient[n:]
            qq, vv, qv, qt, vt, tt = m.step_hessian_vector(x[k, :n], x[k, n:], u[k], dt, *weights)[:6]
            Qxx, Qux, Quu = Qxx + np.block([[qq, qv], [qv.T, vv]]), Qux + np.hstack([qt.T, vt.T]), Quu + tt
            np.linalg.cholesky(Quu)  # raises LinAlgError if the quadratic model has no minimum
        gains[k], feedback[k] = -np.linalg.solve(Quu, Qu), -np.linalg.solve(Quu, Qux)
        gradient, hessian = Qx + Qux.T @ gains[k], Qxx + Qux.T @ feedback[k]
    return gains, feedback


def improved(cost, x, u, exact):
    try:
        gains, feedback = policy(x, u, exact)
    except np.linalg.LinAlgError:
        return None
    tried = (rollout(x, u, 0.5**k * gains, feedback) for k in range(10))
    return next((trial for trial in tried if trial[0] < cost * (1 - 1e-12)), None)


def optimise(exact):
    x, u = np.tile([*start, *np.zeros(n)], (count + 1, 1)), np.tile(m.gravity_torque(start), (count, 1))
    trial, costs = rollout(x, u, 0 * u, np.zeros((count, n, 2 * n))), []
    while trial is not None and len(costs) < 100:
        costs.append(trial[0])
        trial = (exact and improved(*trial, True)) or improved(*trial, False)
    return np.array(costs)


ilqr, ddp = optimise(exact=False), optimise(exact=True)
print(len(ilqr), len(ddp))
assert len(ddp) < 20 < len(ilqr) and np.isclose(ilqr[-1], ddp[-1], rtol=1e-8)

figure, axes = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
for costs, name in ((ilqr, "iLQR"), (ddp, "DDP, with exact second derivatives")):
    above = costs - min(ilqr[-1], ddp[-1])
    axes.semilogy(above[above > 1e-10], "o-", markersize=3, label=name)
axes.set(
    xlabel="iteration", ylabel="cost above the minimum", title="an arm moves to a place, at rest, in a second"
)
axes.legend()
figure.savefig("ddp.svg")
