"""Functions for JAX: values, derivatives forward, in reverse and twice, batches, refusals."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from rbdc.functions.catalogue import functions_of
from rbdc.model import Problem
from rbdc.resources import resolve
from tests.support import COMPILERS, UNOPTIMISED, Array, build_module
from tests.support_differences import central

jax = pytest.importorskip("jax", reason="JAX is not installed: its functions are not tested")
jnp = jax.numpy
jax.config.update("jax_disable_most_optimizations", True)  # XLA compiles hundreds of small programs

QUICK: tuple[str, ...] = ("rnea", "frame_velocity")
OTHERS: tuple[str, ...] = ("nle", "gravity_torque", "potential_energy", "com", "frame_acceleration", "aba")
TWICE = ("rnea", "aba")
FIRST: tuple[str, ...] = ("rnea_derivatives", "aba_derivatives", "com_jacobian")
FIRST += ("frame_velocity_derivatives", "frame_acceleration_derivatives")
FUNCTIONS = (*QUICK, *OTHERS, *FIRST, "rnea_vjp", "aba_vjp", "rnea_second_derivatives", "crba")
LEFT_OUT = ("rnea_second_derivatives", "frame_acceleration", "frame_acceleration_derivatives", "crba")
"""What the planar joint, whose derivatives are not different from others', is built without."""
SLOW = [("double_pendulum", "free-flyer", OTHERS)]
SLOW += [("planar_floating", "fixed", (*QUICK, "com", "potential_energy"))]
CASES = [("double_pendulum", "free-flyer", QUICK), *(pytest.param(*x, marks=pytest.mark.slow) for x in SLOW)]


@pytest.fixture(autouse=True)
def _double_precision() -> Iterator[None]:
    with jax.enable_x64(True):
        yield


@cache
def module(robot: str, root: str) -> ModuleType:
    model = Problem.from_file(resolve(robot), root_joint=root)
    names = tuple(name for name in FUNCTIONS if name in functions_of(model))
    if robot == "planar_floating":
        names = tuple(name for name in names if not name.startswith("aba") and name not in LEFT_OUT)
    return build_module(
        robot, root_joint=root, functions=names, targets=("c", "jax"), cflags=UNOPTIMISED, name=f"{robot}_jax"
    )


def unit(m: ModuleType, q: Any) -> Array:
    """Return q with unit quaternions, as JAX rounds it."""
    return np.asarray(compiled_unit(m)(q))


@cache
def compiled_unit(m: ModuleType) -> Any:
    return jax.jit(m.jax._chart.unit)


def case(m: ModuleType, name: str) -> tuple[Callable[..., Any], Array, Callable[..., Array]]:
    """Return a function of one vector for JAX (which takes `mode`), a place off the unit sphere, and the
    module's values at q / |q|.
    """
    entry, rng = vars(m)[f"_{name}"], np.random.default_rng(0)
    inputs = {spec[0]: spec[1][0] for spec in entry.inputs if not spec[2]}
    place = {"frame": m.frame_names[-1], "reference": "LOCAL_WORLD_ALIGNED"} if entry.framed else {}
    q = m.random_configuration(rng) * 1.2
    x = np.concatenate([q, rng.standard_normal(sum(inputs.values()) - m.nq)])
    ends = np.cumsum(list(inputs.values()))[:-1]

    def ours(x: Any, **mode: Any) -> Any:
        return getattr(m.jax, name)(*jnp.split(x, ends), **place, **mode)

    def values(x: Array) -> Array:
        q, *rest = np.split(x, ends)
        return np.ravel(getattr(m, name)(unit(m, q), *rest, **place))

    return ours, x, values


@pytest.mark.parametrize(("robot", "root", "names"), CASES)
def test_derivatives(robot: str, root: str, names: tuple[str, ...]) -> None:
    """Forward against central differences of the module's values, in reverse against forward."""
    m = module(robot, root)
    for name in [name for name in names if name in m.functions]:
        ours, x, values = case(m, name)
        np.testing.assert_array_equal(np.ravel(ours(x)), values(x))
        forward = np.asarray(jax.jit(jax.jacfwd(ours))(x)).reshape(-1, len(x))
        expected = central(values, x)
        assert np.abs(forward - expected).max() <= 1e-8 * max(np.abs(expected).max(), 1.0), name
        for mode in ("jvp", "vjp"):
            back = np.asarray(jax.jit(jax.jacrev(lambda x, mode=mode, f=ours: f(x, mode=mode)))(x))
            np.testing.assert_allclose(
                back.reshape(forward.shape), forward, rtol=1e-11, atol=1e-11 * np.abs(forward).max()
            )


def test_derivatives_by_external_forces() -> None:
    """Forward against central differences of the module's values, both modes in reverse, and twice."""
    acting = tuple(f"external_torque{suffix}" for suffix in ("", "_derivatives", "_vjp", "_vjp_derivatives"))
    m = build_module(
        "double_pendulum",
        functions=("rnea", "aba", "rnea_derivatives", "aba_derivatives", "aba_vjp", *acting),
        targets=("c", "jax"),
        cflags=UNOPTIMISED,
        name="double_pendulum_jax_forces",
    )
    rng = np.random.default_rng(0)
    q, v, a = rng.standard_normal((3, m.nv))
    at, weights = rng.standard_normal(6 * m.njoints), rng.standard_normal(m.nv)
    for name in ("rnea", "aba"):

        def ours(fext: Any, name: str = name, **mode: Any) -> Any:
            return getattr(m.jax, name)(q, v, a, fext.reshape(m.njoints, 6), **mode)

        def values(fext: Array, name: str = name) -> Array:
            return np.asarray(getattr(m, name)(q, v, a, fext.reshape(m.njoints, 6)))

        J, expected = np.asarray(jax.jacfwd(ours)(at)), central(values, at)
        np.testing.assert_allclose(J, expected, rtol=1e-8, atol=1e-8 * np.abs(expected).max())
        for mode in ("jvp", "vjp"):
            back = jax.grad(lambda x, mode=mode, f=ours: weights @ f(x, mode=mode))(at)
            np.testing.assert_allclose(back, weights @ J, rtol=1e-11, atol=1e-11)

    def power(x: Any, mode: str) -> Any:
        return weights @ m.jax.external_torque(x[: m.nq], x[m.nq :].reshape(m.njoints, 6), mode=mode)

    x = np.concatenate([q, at])
    twice = [np.asarray(jax.hessian(lambda x, mode=mode: power(x, mode))(x)) for mode in ("jvp", "vjp")]
    expected = central(lambda x: np.asarray(jax.grad(power)(x, "vjp")), x)
    np.testing.assert_allclose(twice[0], expected, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(twice[1], twice[0], rtol=1e-12, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", TWICE)
def test_derivatives_of_matrices(name: str) -> None:
    """Both modes are checked in reverse."""
    m = module("double_pendulum", "free-flyer")
    rng = np.random.default_rng(3)
    inputs = (m.random_configuration(rng) * 1.2, *rng.standard_normal((2, m.nv)))
    matrices = getattr(m.jax, f"{name}_derivatives")
    weights = rng.standard_normal((3, m.nv, m.nv))

    def loss(mode: str) -> Callable[..., Any]:
        return lambda *x: sum((w * D).sum() for w, D in zip(weights, matrices(*x, mode=mode), strict=True))

    both = [jax.grad(loss(mode), (0, 1, 2))(*inputs) for mode in ("jvp", "vjp")]
    for one, other in zip(*both, strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-11, atol=1e-11 * np.abs(one).max())


@pytest.mark.slow
def test_batches() -> None:
    """vmap against a loop, broadcasting against NumPy's, with external forces; nested, and under scan."""
    m = module("double_pendulum", "free-flyer")
    rng = np.random.default_rng(2)
    q = np.array([m.random_configuration(rng) for _ in range(3)])
    q = unit(m, q)
    v, a = rng.standard_normal((2, 4, 3, m.nv))
    fext = rng.standard_normal((m.njoints, 6))
    np.testing.assert_array_equal(m.jax.rnea(q, v, a[0, 0], fext), m.rnea(unit(m, q), v, a[0, 0], fext))
    mapped = jax.vmap(jax.vmap(m.jax.rnea), (None, 0, 0))(q, v, a)
    loop = [[m.jax.rnea(q[j], v[i, j], a[i, j]) for j in range(3)] for i in range(4)]
    np.testing.assert_array_equal(mapped, loop)
    gradients = jax.vmap(jax.grad(lambda q: m.jax.rnea(q, v[0, 0], a[0, 0])[3]))(q)
    one = jax.grad(lambda q: m.jax.rnea(q, v[0, 0], a[0, 0])[3])(q[1])
    np.testing.assert_allclose(gradients[1], one, rtol=1e-13, atol=1e-13)

    def rolled_out(v: Any) -> Any:
        return jax.lax.scan(lambda v, _: (v + 0.01 * m.jax.aba(q[0], v, a[0, 0]), None), v, None, 3)[0]

    expected = np.array(v[0, 0])
    for _ in range(3):
        expected = expected + 0.01 * m.aba(unit(m, q[0]), expected, a[0, 0])
    np.testing.assert_allclose(rolled_out(v[0, 0]), expected, rtol=1e-12)
    J = jax.jacrev(rolled_out)(v[0, 0])
    np.testing.assert_allclose(J, jax.jacfwd(rolled_out)(v[0, 0]), rtol=1e-9, atol=1e-9 * np.abs(J).max())


def test_refusals() -> None:
    m = module("double_pendulum", "free-flyer")
    q, zero, fext = m.q_neutral, m.v_zero, np.zeros((m.njoints, 6))
    with pytest.raises(NotImplementedError, match="crba has no derivatives here"):
        jax.jacfwd(m.jax.crba)(q)
    with pytest.raises(NotImplementedError, match="frame_velocity_derivatives has no derivatives here"):
        jax.hessian(lambda q: m.jax.frame_velocity(q, zero, "link2")[0])(q)
    for mode in ("jvp", "vjp"):
        with pytest.raises(NotImplementedError, match="rnea has no derivatives by fext; keep it constant"):
            jax.grad(lambda f, mode=mode: m.jax.rnea(q, zero, zero, f, mode=mode)[0])(fext)
    with pytest.raises(NotImplementedError, match="rnea_vjp has no derivatives here"):
        jax.hessian(lambda q: m.jax.rnea(q, zero, zero, mode="vjp")[0])(q)
    with pytest.raises(ValueError, match=r"rnea: argument v has shape \(3,\); expected \(..., 8\)"):
        m.jax.rnea(q, zero[:3], zero)
    with pytest.raises(TypeError, match="rnea: argument a is missing"):
        m.jax.rnea(q, zero)
    with pytest.raises(TypeError, match="rnea: takes q, v, a, fext, not speed"):
        m.jax.rnea(q, zero, zero, speed=zero)
    with pytest.raises(ValueError, match="no frame 'nowhere'"):
        m.jax.frame_velocity(q, zero, "nowhere")
    with pytest.raises(ValueError, match="mode: 'fast' is neither 'jvp' nor 'vjp'"):
        m.jax.rnea(q, zero, zero, mode="fast")
    with pytest.raises(AttributeError, match="minverse was not built; build it with"):
        _ = m.jax.minverse
    with jax.enable_x64(False), pytest.raises(TypeError, match=r"q is of float32; .*jax_enable_x64"):
        m.jax.rnea(q, zero, zero)
    with pytest.raises(TypeError, match=r'takes float64: give x.astype\("float64"\), or build with'):
        m.jax.rnea(q.astype(np.float32), zero, zero)
    without = build_module("double_pendulum", functions=("rnea",))
    with pytest.raises(
        AttributeError, match="jax was not built; build it with `targets='c,batch,jax'`, `add=True`"
    ):
        _ = without.jax.rnea


def test_single_precision() -> None:
    m = build_module(
        "cartpole",
        functions=("rnea", "rnea_derivatives"),
        targets=("c", "jax"),
        cflags=UNOPTIMISED,
        dtype="float32",
        name="cartpole_jax",
    )
    q = np.array([0.1, 0.2], np.float32)
    with jax.enable_x64(False):
        np.testing.assert_array_equal(m.jax.rnea(q, q, q), m.rnea(q, q, q))
        J = jax.jacfwd(m.jax.rnea)(q, q, q)
    remedy = r'takes float32: give x.astype\("float32"\)'
    with pytest.raises(
        TypeError, match=f"q is of float64; this module {remedy}, or build with `dtype='float64'`$"
    ):
        m.jax.rnea(q.astype(np.float64), q, q)
    with pytest.raises(TypeError, match=f"q is of bool; this module {remedy}$"):
        m.jax.rnea(q > 0.0, q, q)
    np.testing.assert_allclose(J, m.rnea_derivatives(q, q, q)[0], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("framework", ["jax", "torch"])
def test_without_the_framework_the_error_names_the_extra(framework: str) -> None:
    m = module("double_pendulum", "free-flyer")
    folder = str(Path(str(m.__file__)).parent)
    program = f"import sys; sys.modules['{framework}'] = None\nimport rbdc; rbdc.load({folder!r}).{framework}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[-1] == (
        f"ImportError: double_pendulum_jax.{framework} needs {framework}: pip install {framework}, "
        f"or rbdc's extra: pip install 'rbdc[{framework}]'"
    )


FIELDS = {
    "XLA_FFI_CallFrame call_frame": "api stage args=arguments rets=results attrs=attributes",
    "XLA_FFI_Args buffers": "size types args=at",
    "XLA_FFI_Attrs attributes": "size types names attrs=at",
    "XLA_FFI_Buffer buffer": "dtype=type data rank dims",
    "XLA_FFI_Metadata metadata": "api_version traits",
    "XLA_FFI_Error_Create_Args error_arguments": "message errc=code",
    "XLA_FFI_Api api": "XLA_FFI_Error_Create=error_create",
}
"""Structures of XLA's interface and those of the C, and fields, whose names differ where there are two."""


@pytest.mark.parametrize("compiler", COMPILERS)
def test_the_c_is_xlas_interface(compiler: str, tmp_path: Path) -> None:
    """The C compiles without a warning, and its structures agree with the header of this JAX."""
    m = module("double_pendulum", "free-flyer")
    folder = Path(str(m.__file__)).parent
    source = folder / f"{m.name}_jax.c"
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only", f"-I{folder}"]
    done = subprocess.run([compiler, *flags, str(source)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    checks = ['_Static_assert((int)XLA_FFI_DataType_F64 == REAL && (int)XLA_FFI_DataType_S32 == S32, "");']
    for (theirs, ours), fields in ((pair.split(), FIELDS[pair].split()) for pair in FIELDS):
        for field, _, renamed in (field.partition("=") for field in fields):
            there, here = f"offsetof({theirs}, {field})", f"offsetof(struct xla_{ours}, {renamed or field})"
            checks.append(f'_Static_assert({there} == {here}, "");')
    both = tmp_path / "both.c"
    both.write_text("\n".join([f'#include "{source}"', "#include <xla/ffi/api/c_api.h>", *checks]))
    command = [
        compiler,
        "-std=gnu11",
        "-fsyntax-only",
        f"-I{folder}",
        "-isystem",
        jax.ffi.include_dir(),
        str(both),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
