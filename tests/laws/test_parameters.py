"""Inertial parameters at run time: the same as a rebuild with these constants."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdc.algorithms.reference.manifold import integrate
from rbdc.emit.registry import BACKENDS
from rbdc.errors import OptionError, UnsupportedError
from rbdc.functions.catalogue import functions_of, presets
from rbdc.ir.cost import cost
from rbdc.model import Problem
from rbdc.options import BuildOptions
from rbdc.pipeline import read
from rbdc.planning.candidates import chosen, path_start
from rbdc.planning.limb_lanes import lane_model
from rbdc.planning.windows.kernels import has_windows
from rbdc.reduction.parameters import constant_part, with_parameters, with_rows
from tests.cli.test_bad_input import run
from tests.laws.test_lanes import creature
from tests.laws.test_second_derivatives import check
from tests.support import UNOPTIMISED, assert_close, build_module, slow_but
from tests.support_trees import random_inertia, random_tree

FUNCTIONS = ("rnea", "crba", "aba", "rnea_derivatives", "com", "kinetic_energy", "potential_energy")


def evaluated(model: Problem, function: str, values: dict[str, list[float]]) -> list[np.ndarray]:
    """Return a function by its first generated method, on floats."""
    record = functions_of(model)[function]
    inputs = {p.name: values[p.name] for p in record.declaration.required}
    outputs = next(iter(record.methods.values()))(model, inputs, lambda *_: None)
    return [np.array(output, dtype=float) for output in outputs]


@pytest.mark.parametrize("seed", slow_but(range(20), range(5)))
def test_the_same_as_a_rebuild(seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = with_rows(random_tree(seed), (), ())
    entries = [float(x) for _ in model.parameters for x in random_inertia(rng).scalars()]
    rebuilt = with_parameters(constant_part(model), entries)
    q = integrate(model, model.neutral(), [float(x) for x in rng.normal(size=model.nv)])
    v, a = ([float(x) for x in rng.normal(size=model.nv)] for _ in range(2))
    inputs = {"q": [float(x) for x in q], "v": v, "a": a, "tau": a, "parameters": entries}
    for name in FUNCTIONS:
        results, expected = evaluated(model, name, inputs), evaluated(rebuilt, name, inputs)
        for got, wanted in zip(results, expected, strict=True):
            assert_close(got, wanted, 1e-13, what=name)


@pytest.mark.parametrize(
    ("seed", "size", "loops"),
    slow_but([(2, 2, False), (8, 3, True), (3, 2, True)], [(2, 2, False)], [(3, 2, True)]),
)
def test_second_derivatives_take_them(seed: int, size: int, loops: bool) -> None:
    """Straight-line code and paths, the latter also in the frame of a free root."""
    tree = replace(random_tree(seed, size=size), name=f"second_by_parameters{seed}")
    model = with_rows(tree, (), (tree.frames[-1].name,))
    assert (path_start(model, functions_of(model)["rnea_second_derivatives"]) is not None) == loops
    module = build_module(model, functions=presets()["second"], cflags=UNOPTIMISED, verify=False)
    rng = np.random.default_rng(seed)
    entries = np.array([random_inertia(rng).scalars() for _ in model.parameters], dtype=float)
    check(module, with_parameters(constant_part(model), [float(x) for x in entries.ravel()]), entries)


def test_windows_have_constants() -> None:
    """Functions with run-time parameters are therefore not built as windows."""
    record = functions_of(read("simple_humanoid", BuildOptions(parameters=())))["minverse"]
    assert record.declaration.required[-1].name == "parameters"
    assert not has_windows(read("simple_humanoid", BuildOptions(parameters=())), record)
    plain = read("simple_humanoid", BuildOptions())
    assert has_windows(plain, functions_of(plain)["minverse"])


def test_a_module_takes_them() -> None:
    functions = ("rnea", "aba", "forward_kinematics", "torque_regressor")
    options: dict[str, Any] = {
        "functions": functions,
        "cflags": UNOPTIMISED,
        "name": "pendulum_by_parameters",
    }
    module = build_module(
        "double_pendulum", parameters=(), payloads=("link2",), targets=("c", "batch"), **options
    )
    plain = build_module(
        "double_pendulum", functions=functions, cflags=UNOPTIMISED, name="pendulum_by_constants"
    )
    assert module.parameter_names == ("link1", "link2", "link2")
    q, (v, a) = module.random_configuration(0), np.random.default_rng(0).normal(size=(2, 2))
    nominal = module.nominal_parameters
    assert nominal.shape == (3, 10) and not nominal[2].any()
    assert_close(module.rnea(q, v, a, nominal), plain.rnea(q, v, a), 1e-13)
    heavier = nominal * np.array([[1.5], [2.0], [1.0]])
    heavier[2] = random_inertia(np.random.default_rng(1)).scalars()
    tau = module.rnea(q, v, a, heavier)
    regressor = plain.torque_regressor(q, v, a)
    assert_close(tau, regressor @ np.ravel([heavier[0], heavier[1] + heavier[2]]), 1e-12)
    assert_close(module.aba(q, v, tau, heavier), a, 1e-11)
    assert_close(module.rnea(np.tile(q, (9, 1)), v, a, heavier), np.tile(tau, (9, 1)), 1e-13)


@pytest.mark.parametrize(
    ("links", "payloads", "lanes"), [((), ("body",), True), (None, ("body",), True), (None, ("limb",), False)]
)
def test_limbs_that_take_the_same_stay_side_by_side(
    links: tuple[str, ...] | None, payloads: tuple[str, ...], lanes: bool
) -> None:
    """Limbs share lanes if all of them have run-time parameters, or only a body that carries them has."""
    model = creature(7)
    carried = {"body": model.bodies[0].name, "limb": model.bodies[-1].name}
    with_parameters = with_rows(model, links, [carried[name] for name in payloads])
    assert (lane_model(with_parameters) is not None) == lanes
    vectors = [cost(chosen(m, functions_of(m)["rnea"])[1][0]).vectors for m in (with_parameters, model)]
    assert (vectors[0] >= vectors[1] > 0) == lanes
    if links is not None:  # the build compares it with the references
        with_parameters = replace(with_parameters, name="creature_by_parameters")
        build_module(with_parameters, functions=("rnea", "crba"), cflags=UNOPTIMISED)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"parameters": ("nobody",)}, OptionError, "no moving body: there are"),
        ({"parameters": ("tool0",)}, OptionError, "it is fixed to wrist_3_link"),
        ({"payloads": ("nobody",)}, OptionError, "does not exist"),
        ({"payloads": ("world",)}, OptionError, "does not move"),
        ({"payloads": ("tool0",), "style": "rolled"}, UnsupportedError, "has constant inertial"),
        (
            {"payloads": ("tool0",), "targets": ("c", "casadi")},
            UnsupportedError,
            "no derivatives with respect to inertial",
        ),
    ],
)
def test_refused(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        read("ur5", BuildOptions(**options))


def test_other_targets_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BACKENDS, "other", BACKENDS["c"])
    with pytest.raises(UnsupportedError, match="`targets='other'` has no derivatives with respect to"):
        read("ur5", BuildOptions(payloads=("tool0",), targets=("c", "other")))


def test_command_line(tmp_path: Path) -> None:
    command = ["build", "double_pendulum", "--functions", "rnea", "--cflags", "-O0", "--out", str(tmp_path)]
    result = run(*command, "--parameters", "inertial@link2", "--payload", "link1")
    assert result.exit_code == 0, result.output
    manifest = json.loads((tmp_path / "double_pendulum" / "manifest.json").read_text())
    assert (manifest["options"]["parameters"], manifest["options"]["payloads"]) == (["link2"], ["link1"])
    shapes = {p["name"]: p["shape"] for p in manifest["functions"]["rnea"]["inputs"]}
    assert shapes["parameters"] == [2, 10]
    refused = run(*command, "--parameters", "all")
    assert (refused.exit_code, refused.stderr.count("rbdc: error:")) == (2, 1)
