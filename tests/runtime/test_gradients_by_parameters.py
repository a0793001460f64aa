"""JAX and PyTorch: rnea, aba, nle and gravity_torque are differentiable by run-time inertial parameters, in
reverse by products that form no regressor, and forward.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from tests.support import UNOPTIMISED, Array, assert_close, build_module
from tests.support_differences import central

FUNCTIONS = (
    *("rnea", "aba", "nle", "gravity_torque", "rnea_derivatives", "aba_derivatives", "rnea_vjp", "aba_vjp"),
    *("torque_regressor", "rnea_parameter_vjp", "aba_parameter_vjp"),
)
DIFFERENTIABLE = ("rnea", "aba", "nle", "gravity_torque")
SAMPLES = 3
TOLERANCE = 1e-7


@cache
def module(target: str) -> ModuleType:
    how: dict[str, Any] = {
        "parameters": ("link2",),
        "payloads": ("link1",),
        "targets": ("c", "batch", target),
    }
    how["targets"] = tuple(name for name in how["targets"] if name != "torch")
    names = {"functions": FUNCTIONS, "name": f"pendulum_{target}", "regressor": "links,damping"}
    return build_module("double_pendulum", verify=False, cflags=UNOPTIMISED, **names, **how)


def arguments(m: ModuleType, name: str) -> list[Array]:
    rng = np.random.default_rng(3)
    count = sum(not spec.optional for spec in vars(m)[f"_{name}"].inputs) - 1
    return [*rng.normal(size=(count, SAMPLES, m.nv))]


def loss(m: ModuleType, name: str, weights: Array) -> Callable[[Array], Array]:
    """Return the weighted sum of the module's results by the entries of the parameters."""
    inputs = arguments(m, name)
    return lambda p: np.array([np.sum(weights * getattr(m, name)(*inputs, p.reshape(2, 10)))])


def expected(m: ModuleType, name: str, weights: Array, p: Array) -> Array:
    return np.asarray(central(loss(m, name, weights), p.ravel())).reshape(2, 10)


def parameters(m: ModuleType) -> Array:
    point = np.array([0.3, 0.01, 0.02, 0.03, 0.02, 0.0, 0.02, 0.0, 0.0, 0.02])
    return np.asarray(m.nominal_parameters + point)


@pytest.mark.parametrize("name", DIFFERENTIABLE)
@pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning")
def test_torch(name: str) -> None:
    """Gradients are checked in reverse, together with those of the motion, and forward; they sum over the
    batch.
    """
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    m = module("torch")
    p = parameters(m)
    weights = np.random.default_rng(4).normal(size=(SAMPLES, m.nv))
    inputs = [torch.tensor(x, requires_grad=k == 0) for k, x in enumerate(arguments(m, name))]
    rows = torch.tensor(p, requires_grad=True)
    value = (torch.tensor(weights) * getattr(m.torch, name)(*inputs, rows)).sum()
    by_q, by_p = torch.autograd.grad(value, (inputs[0], rows))
    whole = expected(m, name, weights, p)
    assert_close(by_p.numpy(), whole, TOLERANCE, 1.0)
    assert by_q.abs().max() > 0.0
    still = [x.detach() for x in inputs]
    (alone,) = torch.autograd.grad((torch.tensor(weights) * getattr(m.torch, name)(*still, rows)).sum(), rows)
    assert_close(alone.numpy(), by_p.numpy(), 1e-14)
    J = torch.func.jacfwd(lambda x: getattr(m.torch, name)(*still, x, mode="jvp"))(rows.detach())
    assert_close(np.einsum("ni,nikl->kl", weights, J.numpy()), by_p.numpy(), 1e-12)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_the_page_of_identification(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second block of the page needs PyTorch, which CI lacks: other tests of pages leave it out."""
    pytest.importorskip("torch", reason="PyTorch is not installed")
    monkeypatch.chdir(tmp_path)
    page = (Path(__file__).parents[2] / "docs" / "identification.md").read_text("utf-8")
    blocks = re.findall(r"^```(?:python slow|text)\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    assert len(blocks) == 2
    exec("\n".join(blocks).replace('out="modules"', 'out="modules", verify=False'), {})


@pytest.mark.slow
@pytest.mark.parametrize("name", ["rnea", "aba"])
def test_jax(name: str) -> None:
    """Gradients are checked in both modes, forward, and under jit."""
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    with jax.enable_x64(True):
        m = module("jax")
        p, inputs = parameters(m), arguments(m, name)
        weights = np.random.default_rng(4).normal(size=(SAMPLES, m.nv))
        whole = expected(m, name, weights, p)

        def value(x: Any, q: Any, mode: str) -> Any:
            return (weights * getattr(m.jax, name)(q, *inputs[1:], x, mode=mode)).sum()

        for mode in ("jvp", "vjp"):
            gradient = jax.jit(jax.grad(value, argnums=(0, 1)), static_argnums=2)
            by_p, by_q = gradient(p, inputs[0], mode)
            assert_close(np.asarray(by_p), whole, TOLERANCE, 1.0)
            assert np.abs(by_q).max() > 0.0
        J = jax.jacfwd(lambda x: getattr(m.jax, name)(*inputs, x))(p)
        assert_close(np.einsum("ni,nikl->kl", weights, np.asarray(J)), whole, TOLERANCE, 1.0)


@pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning")
def test_what_is_missing_is_named() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    how: dict[str, Any] = {"parameters": (), "verify": False, "cflags": UNOPTIMISED}
    m = build_module("double_pendulum", functions=("aba",), name="no_gradient", **how)
    rows = torch.tensor(m.nominal_parameters, requires_grad=True)
    zero = torch.zeros(2, dtype=torch.float64)
    missing = "aba has no derivatives by parameters; build it with .*aba_parameter_vjp"
    with pytest.raises(NotImplementedError, match=missing):
        m.torch.aba(zero, zero, zero, rows).sum().backward()
