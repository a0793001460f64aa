"""A network learns to balance a double pendulum from gradients through its dynamics, by JAX."""

import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np

import rbdc

jax.config.update("jax_enable_x64", True)
functions, targets = ["aba", "aba_derivatives", "aba_vjp"], ["c", "batch", "jax"]
m = rbdc.build("double_pendulum", functions=functions, targets=targets, damping="include", out="modules")
step, rng = 0.01, np.random.default_rng(0)
weights = [rng.uniform(-0.5, 0.5, (4, 32)), np.zeros(32), rng.uniform(-0.2, 0.2, (32, 2)), np.zeros(2)]


def motion(weights, start, steps):
    """Positions (steps, batch, 2) and the mean cost of motions from q and v (2, batch, 2)."""

    def advance(state, _):
        (q, v), (A, a, B, b) = state, weights
        tau = jnp.tanh(jnp.tanh(jnp.concatenate([q, v], -1) @ A + a) @ B + b)  # the policy
        v = v + step * m.jax.aba(q, v, tau)
        q = q + step * v
        return (q, v), (q, (q**2 + 0.1 * v**2 + 1e-3 * tau**2).sum(-1).mean())

    _, (path, costs) = jax.lax.scan(advance, tuple(start), length=steps)
    return path, costs.mean()


def starts(batch):
    return 0.3 * rng.standard_normal((2, batch, 2))


gradient = jax.jit(jax.grad(lambda weights, start: motion(weights, start, 100)[1]))
mean = square = [np.zeros_like(w) for w in weights]
for k in range(1, 201):  # Adam, slopes clipped to 1
    slopes = gradient(weights, starts(32))
    clip = max(1.0, np.sqrt(sum((g**2).sum() for g in slopes)))
    mean = [0.9 * a + 0.1 * g / clip for a, g in zip(mean, slopes, strict=True)]
    square = [0.999 * b + 0.001 * (g / clip) ** 2 for b, g in zip(square, slopes, strict=True)]
    sizes = [np.sqrt(b / (1 - 0.999**k)) + 1e-8 for b in square]
    weights = [w - 3e-3 * a / (1 - 0.9**k) / size for w, a, size in zip(weights, mean, sizes, strict=True)]
path, _ = motion(weights, starts(1000), 300)
assert np.abs(path[-1]).max() < 0.05
figure, axes = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
axes.plot(step * np.arange(1, 301), path[:, :8, 0])
axes.set(
    xlabel="time (s)", ylabel=f"angle of {m.joint_names[0]} (rad)", title="eight starts that it has not seen"
)
figure.savefig("policy.svg")
