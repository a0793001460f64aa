"""Functions for PyTorch: gradients, forward mode, vmap, compilation, refusals.

Wheels of PyTorch bring CUDA and are too large for CI, where these tests are skipped; they run where it is
installed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from rbdc.functions.catalogue import functions_of
from rbdc.model import Problem
from rbdc.resources import resolve
from tests.support import UNOPTIMISED, build_module

torch = pytest.importorskip("torch", reason="PyTorch is not installed: its functions are not tested")
pytestmark = [  # PyTorch's own
    pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning"),
]

DIFFERENTIABLE: tuple[str, ...] = ("rnea", "aba", "nle", "gravity_torque", "potential_energy", "com")
DIFFERENTIABLE += ("frame_velocity", "frame_acceleration")
FIRST: tuple[str, ...] = ("rnea_derivatives", "aba_derivatives", "com_jacobian")
FIRST += ("frame_velocity_derivatives", "frame_acceleration_derivatives")
CASES = [("double_pendulum", "free-flyer"), ("double_pendulum", "fixed"), ("planar_floating", "fixed")]


@cache
def module(robot: str, root: str) -> ModuleType:
    model = Problem.from_file(resolve(robot), root_joint=root)
    names = (*DIFFERENTIABLE, *FIRST, "rnea_vjp", "aba_vjp", "crba")
    built = tuple(name for name in names if name in functions_of(model))
    return build_module(robot, root_joint=root, functions=built, cflags=UNOPTIMISED, name=f"{robot}_torch")


def case(m: ModuleType, name: str) -> tuple[Callable[..., Any], list[Any]]:
    """Return a function of tensors (and of `mode`), and two samples, off the unit sphere."""
    entry, rng = vars(m)[f"_{name}"], np.random.default_rng(0)
    place = {"frame": m.frame_names[-1], "reference": "LOCAL_WORLD_ALIGNED"} if entry.framed else {}
    function = getattr(m.torch, name)
    tensors = [torch.tensor(np.array([m.random_configuration(rng) * 1.2 for _ in range(2)]))]
    tensors += [torch.tensor(rng.standard_normal((2, *spec[1]))) for spec in entry.inputs[1:] if not spec[2]]
    return (lambda *x, **mode: function(*x, **place, **mode)), tensors


def forward(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *x: f(*x, mode="jvp")


def test_derivatives_by_external_forces() -> None:
    """Values are the module's; by central differences, forward and in reverse, and twice."""
    first = ("rnea_derivatives", "aba_derivatives")
    acting = tuple(f"external_torque{suffix}" for suffix in ("", "_derivatives", "_vjp", "_vjp_derivatives"))
    names = ("rnea", "aba", *first, *acting)
    m = build_module("double_pendulum", functions=names, cflags=UNOPTIMISED, name="double_pendulum_forces")
    rng = np.random.default_rng(0)
    inputs = [*rng.standard_normal((3, 2, m.nv)), rng.standard_normal((2, m.njoints, 6))]
    ours = [torch.tensor(x, requires_grad=True) for x in inputs]
    for f, name in ((m.torch.rnea, "rnea"), (m.torch.aba, "aba")):
        values = getattr(m, name)(*inputs)
        np.testing.assert_allclose(f(*ours).detach().numpy(), values, rtol=1e-12, atol=1e-12)
        assert torch.autograd.gradcheck(f, ours)
        assert torch.autograd.gradcheck(forward(f), ours, check_forward_ad=True)
    q, v, a, fext = ours
    acting_on = (q.detach()[0], fext.detach()[0])
    assert torch.autograd.gradgradcheck(lambda q, fext: m.torch.external_torque(q, fext), (q, fext))
    for which in (0, 1):
        back = torch.func.jacrev(torch.func.jacrev(m.torch.external_torque, which), (0, 1))(*acting_on)
        ahead = torch.func.jacfwd(forward(m.torch.external_torque), which)
        for one, other in zip(torch.func.jacrev(ahead, (0, 1))(*acting_on), back, strict=True):
            torch.testing.assert_close(one, other, rtol=1e-12, atol=1e-12)
    (w,) = rng.standard_normal((1, 2, m.nv))
    (velocities,) = torch.autograd.grad((torch.tensor(w) * m.torch.rnea(q, v, a, fext)).sum(), fext)
    expected = -m.external_torque_vjp(inputs[0], w, inputs[3])[1].reshape(fext.shape)
    np.testing.assert_allclose(velocities.numpy(), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("robot", "root"), CASES)
def test_derivatives(robot: str, root: str) -> None:
    """Derivatives equal central differences, forward ones equal reverse ones, and vmap equals a loop."""
    m = module(robot, root)
    for name in [name for name in DIFFERENTIABLE if name in m.functions]:
        f, tensors = case(m, name)
        ours = [x.clone().requires_grad_() for x in tensors]
        scale = max(float(f(*tensors).abs().max()), 1.0)
        options = {"eps": 1e-5, "atol": 1e-6 * scale, "rtol": 1e-6}
        assert torch.autograd.gradcheck(f, ours, **options), name
        assert torch.autograd.gradcheck(forward(f), ours, check_forward_ad=True, **options), name
        every = tuple(range(len(tensors)))
        one = [x[0] for x in tensors]
        back, ahead = torch.func.jacrev(f, every)(*one), torch.func.jacfwd(forward(f), every)(*one)
        for x, y in zip(back, ahead, strict=True):
            torch.testing.assert_close(x, y, rtol=1e-11, atol=1e-11)
        both = torch.func.vmap(torch.func.jacfwd(forward(f), every))(*tensors)
        for x, y in zip(both, ahead, strict=True):
            torch.testing.assert_close(x[0], y, rtol=1e-13, atol=1e-13)
        loop = torch.stack([f(*(x[k] for x in tensors)) for k in range(2)])
        assert torch.equal(torch.func.vmap(f)(*tensors), loop), name
        gradient = torch.func.grad(lambda *x, f=f: f(*x).sum())
        many = torch.func.vmap(gradient)(*tensors)
        torch.testing.assert_close(many[1], gradient(*(x[1] for x in tensors)), rtol=1e-12, atol=1e-12)


def test_values_share_memory_and_broadcast() -> None:
    m = module("double_pendulum", "fixed")
    rng = np.random.default_rng(1)
    q, v, a = rng.standard_normal((5, 2)), rng.standard_normal((3, 1, 2)), rng.standard_normal(2)
    fext = rng.standard_normal((m.njoints, 6))
    tensors = [torch.from_numpy(x) for x in (q, v, a, fext)]
    assert np.array_equal(m.torch.rnea(*tensors).numpy(), m.rnea(q, v, a, fext))
    matrices = m.torch.rnea_derivatives(tensors[0], v=tensors[1], a=tensors[2])
    for x, y in zip(matrices, m.rnea_derivatives(q, v, a), strict=True):
        assert np.array_equal(x.numpy(), y)
    q_wide = tensors[0].clone().requires_grad_()
    m.torch.rnea(q_wide, *tensors[1:3]).sum().backward()
    alone = [torch.func.grad(lambda q: m.torch.rnea(q, *tensors[1:3]).sum())(q) for q in tensors[0]]
    torch.testing.assert_close(q_wide.grad, torch.stack(alone), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", ["rnea", "frame_velocity"])
@pytest.mark.parametrize(("robot", "root"), CASES[:2])
def test_compiled(robot: str, root: str, name: str) -> None:
    """torch.compile makes one graph, forward and backward, with the values of the plain function."""
    f, tensors = case(module(robot, root), name)

    def loss(*x: Any) -> Any:
        return (f(torch.sin(x[0]), *x[1:]) ** 2).sum()

    compiled = torch.compile(loss, fullgraph=True, backend="aot_eager")
    ours = [x.clone().requires_grad_() for x in tensors]
    expected, gradients = torch.autograd.grad(loss(*ours), ours), torch.autograd.grad(compiled(*ours), ours)
    for x, y in zip(gradients, expected, strict=True):
        torch.testing.assert_close(x, y, rtol=1e-13, atol=1e-13)


def test_refusals() -> None:
    m = module("double_pendulum", "fixed")
    q = torch.tensor([0.1, 0.2], dtype=torch.float64, requires_grad=True)
    zero = torch.zeros(2, dtype=torch.float64)
    with pytest.raises(
        NotImplementedError,
        match="crba has no derivatives here; build it with `functions='crba_derivatives'`, `add=True`",
    ):
        m.torch.crba(q).sum().backward()
    (gradient,) = torch.autograd.grad(m.torch.rnea(q, zero, zero).sum(), q, create_graph=True)
    with pytest.raises(NotImplementedError, match="rnea_vjp has no derivatives here"):
        gradient.sum().backward()
    fext = torch.zeros((m.njoints, 6), dtype=torch.float64, requires_grad=True)
    with pytest.raises(NotImplementedError, match="rnea has no derivatives by fext; keep it constant"):
        m.torch.rnea(q, zero, zero, fext).sum().backward()
    with pytest.raises(NotImplementedError, match="rnea has no derivatives by fext; keep it constant"):
        torch.func.jacfwd(lambda f: m.torch.rnea(q.detach(), zero, zero, f, mode="jvp"))(fext.detach())
    names = ("rnea", "rnea_derivatives", "rnea_vjp")
    of_parameters = build_module("double_pendulum", functions=names, parameters=(), name="by_parameters")
    p = torch.tensor(of_parameters.nominal_parameters, requires_grad=True)
    with pytest.raises(NotImplementedError, match="by parameters; build it with .*rnea_parameter_vjp"):
        of_parameters.torch.rnea(q.detach(), zero, zero, p).sum().backward()
    with pytest.raises(
        TypeError, match=r"argument v is of torch.float32; this module takes float64: give x.to"
    ):
        m.torch.rnea(q, zero.float(), zero)
    with pytest.raises(ValueError, match=r"rnea: argument v has shape \(3,\); expected \(..., 2\)"):
        m.torch.rnea(q, torch.zeros(3, dtype=torch.float64), zero)
    with pytest.raises(ValueError, match="mode: 'fast' is neither 'vjp' nor 'jvp'"):
        m.torch.rnea(q, zero, zero, mode="fast")
    alone = build_module("double_pendulum", functions=("rnea",), name="pendulum_alone")
    with pytest.raises(
        NotImplementedError, match="build it with `functions='rnea,rnea_derivatives'` or `functions="
    ):
        alone.torch.rnea(q, zero, zero).sum().backward()
