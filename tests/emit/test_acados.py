"""External functions as acados calls them: C that CasADi generates around them with `int` for its integers,
linked with the library, and called stage by stage by an explicit Runge-Kutta integrator with sensitivities.
"""

from __future__ import annotations

import ctypes
import re
import subprocess
from pathlib import Path
from types import ModuleType
from typing import Any

import casadi
import numpy as np

from tests.support import COMPILERS, UNOPTIMISED, Array, build_module
from tests.support_differences import central

FUNCTIONS = ("aba", "aba_derivatives", "aba_vjp")
STEP, WEIGHTS, PLACES = 0.02, (1 / 6, 1 / 3, 1 / 3, 1 / 6), (0.0, 0.5, 0.5, 1.0)


def explicit_model(m: ModuleType) -> Any:
    """Return acados' expl_vde_forw: the rate of the state, and of its sensitivities by state and control."""
    nx, nu = m.nq + m.nv, m.nv
    x, u = casadi.MX.sym("x", nx), casadi.MX.sym("u", nu)
    by_x, by_u = casadi.MX.sym("Sx", nx, nx), casadi.MX.sym("Sp", nx, nu)
    rate = casadi.vertcat(x[m.nq :], m.casadi("aba")(x[: m.nq], x[m.nq :], u))
    outputs = [rate, casadi.jtimes(rate, x, by_x), casadi.jacobian(rate, u) + casadi.jtimes(rate, x, by_u)]
    return casadi.Function("expl_vde_forw", [x, by_x, by_u, u], outputs, {"cse": True})


class Generated:
    """The C of a function by CasADi's generator, compiled, and called as acados calls it."""

    def __init__(self, function: Any, library: Path, folder: Path) -> None:
        generator = casadi.CodeGenerator("model.c", {"casadi_int": "int", "casadi_real": "double"})
        generator.add(function)
        generator.generate(f"{folder}/")
        command = [COMPILERS[0], "-O0", "-shared", "-fPIC", str(folder / "model.c"), str(library)]
        command += [f"-Wl,-rpath,{library.parent}", "-lm", "-o", str(folder / "model.so")]
        subprocess.run(command, check=True)
        loaded = ctypes.CDLL(str(folder / "model.so"))
        self._function, sizes = getattr(loaded, function.name()), [ctypes.c_int() for _ in range(4)]
        getattr(loaded, f"{function.name()}_work")(*map(ctypes.byref, sizes))
        arguments, results, integers, reals = (size.value for size in sizes)
        self._inputs, self._outputs = (ctypes.c_void_p * arguments)(), (ctypes.c_void_p * results)()
        self._integers, self._reals = (ctypes.c_int * integers)(), (ctypes.c_double * reals)()
        self._shapes = [function.size_out(k) for k in range(function.n_out())]

    def __call__(self, *arrays: Array) -> list[Array]:
        """Return arrays by columns in and out."""
        inputs = [np.asfortranarray(x) for x in arrays]
        outputs = [np.zeros(shape, order="F") for shape in self._shapes]
        for k, x in enumerate(inputs):
            self._inputs[k] = x.ctypes.data
        for k, x in enumerate(outputs):
            self._outputs[k] = x.ctypes.data
        assert self._function(self._inputs, self._outputs, self._integers, self._reals, 0) == 0
        return outputs


def integrated(f: Any, x: Array, u: Array) -> list[Array]:
    """Return one step of the classical Runge-Kutta method: the state, and its derivatives by state and
    control.
    """
    start = [x[:, None], np.eye(len(x)), np.zeros((len(x), len(u)))]
    stages: list[list[Array]] = []
    for place in PLACES:
        before = stages[-1] if stages else [np.zeros_like(s) for s in start]
        stages.append(f(*(s + STEP * place * k for s, k in zip(start, before, strict=True)), u))
    return [
        s + STEP * sum(w * k for w, k in zip(WEIGHTS, rates, strict=True))
        for s, rates in zip(start, zip(*stages, strict=True), strict=True)
    ]


def test_an_integrator_with_sensitivities(tmp_path: Path) -> None:
    m = build_module(
        "double_pendulum",
        functions=FUNCTIONS,
        targets=("c", "casadi"),
        cflags=UNOPTIMISED,
        name="pendulum_acados",
    )
    f = explicit_model(m)
    assert len(re.findall(r"[( ]jac_\w+_casadi_aba\(", f.str(True))) == 1
    library = Path(str(m.__file__)).parent / f"lib{m.name}_casadi.so"
    generated = Generated(f, library, tmp_path)
    rng = np.random.default_rng(0)
    x, u = rng.standard_normal(m.nq + m.nv), rng.standard_normal(m.nv)

    def step(state_and_control: Array) -> Array:
        """Return the same by the module."""
        state, control = np.split(state_and_control, [m.nq + m.nv])

        def rate(x: Array, *_: Array) -> list[Array]:
            q, v = np.split(x[:, 0], 2)
            return [np.concatenate([v, m.aba(q, v, control)])[:, None], *map(np.zeros_like, _[:2])]

        return integrated(rate, state, control)[0][:, 0]

    end, by_x, by_u = integrated(generated, x, u)
    np.testing.assert_allclose(end[:, 0], step(np.concatenate([x, u])), rtol=1e-13)
    expected = central(step, np.concatenate([x, u]))
    assert np.abs(np.hstack([by_x, by_u]) - expected).max() <= 1e-8 * np.abs(expected).max()
