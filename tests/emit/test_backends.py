"""The seam of targets: a further one is a file of its own and one line, and is reached like those that are
there.
"""

from __future__ import annotations

import re
import runpy
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import rbdc
from rbdc.emit import registry
from rbdc.emit.backend import Backend, FunctionSource, Package, PlannedFunction
from rbdc.emit.generation import GenerationOptions, generate
from rbdc.emit.registry import Generated
from rbdc.errors import OptionError, UnsupportedError
from rbdc.functions.catalogue import functions_of
from rbdc.functions.declarations import Parameter
from rbdc.model import Problem
from rbdc.resources import resolve
from tests.emit.support_numpy_target import NumpyTarget
from tests.support import UNOPTIMISED, assert_close

FUNCTIONS = ("rnea", "crba", "aba", "minverse", "nle")


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Iterator[Backend]:
    """The target, registered: one line."""
    target = NumpyTarget()
    monkeypatch.setitem(registry.BACKENDS, "toy", target)
    yield target


@pytest.fixture
def module(toy: Backend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A module that was built with it."""
    monkeypatch.setenv("RBDC_CACHE", str(tmp_path / "cache"))
    options: dict[str, Any] = {"functions": FUNCTIONS, "targets": ("c", "toy"), "cflags": UNOPTIMISED}
    options["jobs"] = 1
    return rbdc.build("double_pendulum", out=tmp_path, root_joint="free-flyer", **options)


def text_of(model: Problem, names: list[str], **options: Any) -> Generated:
    """Return the package of some functions."""
    return generate(model, "robot", names, lambda _: None, GenerationOptions(**options))


def test_a_further_target_computes_what_the_module_does(module: ModuleType) -> None:
    folder = Path(str(module.__file__)).parent
    rng = np.random.default_rng(3)
    q = np.array(module.q_neutral) + rng.normal(size=module.nq)
    q[3:7] /= np.linalg.norm(q[3:7])
    arguments = {
        "q": q,
        "v": rng.normal(size=module.nv),
        "a": rng.normal(size=module.nv),
        "tau": rng.normal(size=module.nv),
    }
    arguments["fext"] = rng.normal(size=(module.njoints, 6))
    for name in FUNCTIONS:
        inputs = [arguments[parameter.name] for parameter in declared(name)]
        printed = runpy.run_path(str(folder / f"double_pendulum_{name}_numpy.py"))[name](
            *(np.ravel(x) for x in inputs)
        )
        results = getattr(module, name)(*inputs)
        for ours, theirs in zip(results if isinstance(results, tuple) else (results,), printed, strict=True):
            assert np.any(theirs != 0.0)
            assert_close(theirs.reshape(np.shape(ours)), ours, 1e-11, what=name)


def declared(name: str) -> tuple[Parameter, ...]:
    """Return the inputs of a function of the catalogue."""
    model = Problem.from_urdf(resolve("double_pendulum"), root_joint="free-flyer")
    return functions_of(model)[name].declaration.inputs


def test_a_further_target_leaves_the_others_as_they_are(toy: Backend) -> None:
    model = Problem.from_urdf(resolve("double_pendulum"))
    alone, both = (text_of(model, ["rnea", "aba"], targets=targets) for targets in (("c",), ("c", "toy")))
    assert {name for name in both.files if name not in alone.files} == {
        "robot_rnea_numpy.py",
        "robot_aba_numpy.py",
    }
    assert {name: both.files[name] for name in alone.files} == alone.files
    assert both.compiled == alone.compiled
    assert all(name.endswith((".c", ".h")) for name in both.compiled)


@pytest.mark.parametrize("style", ["rolled", "auto"])
def test_a_target_of_programs_gets_one_whatever_form_the_c_has(toy: Backend, style: str) -> None:
    model = Problem.from_urdf(resolve("double_pendulum"))
    straight, other = (
        text_of(model, ["rnea"], style=one, targets=("c", "toy")) for one in ("unrolled", style)
    )
    assert other.files["robot_rnea_numpy.py"] == straight.files["robot_rnea_numpy.py"]


def test_a_target_refuses_what_it_cannot_print(toy: Backend) -> None:
    model = Problem.from_urdf(resolve("double_pendulum"))
    with pytest.raises(UnsupportedError, match="no functions of frames, such as frame_jacobian"):
        text_of(model, ["rnea", "frame_jacobian"], targets=("c", "toy"))


def test_a_target_refuses_an_operation_that_it_does_not_know(toy: Backend) -> None:
    model = Problem.from_urdf(resolve("double_pendulum"), root_joint="free-flyer")
    with pytest.raises(UnsupportedError, match="no NumPy for the operation half_cosine"):
        text_of(model, ["integrate"], targets=("c", "toy"))


def test_the_key_of_a_package_depends_on_a_target_from_outside(toy: Backend) -> None:
    assert "class NumpyTarget" in toy.fingerprint()
    assert [backend.fingerprint() for backend in registry.backends_of(("c", "batch"))] == [""] * 2


def test_targets_are_those_that_are_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(registry.BACKENDS) == ["c", "batch", "casadi", "jax"]
    assert [backend.name for backend in registry.backends_of(("batch", "c"))] == ["c", "batch"]
    assert [backend.name for backend in registry.backends_of(("c",))] == ["c"]
    for targets in (("c", "toy"), ("c", "rolled"), ("c", "batch", "c")):
        with pytest.raises(OptionError, match="`targets='c,"):
            registry.backends_of(targets)
    with pytest.raises(UnsupportedError, match="add c"):
        registry.backends_of(("batch",))


def test_the_recipe_of_the_readme(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    readme = (Path(__file__).parent.parent.parent / "templates" / "README.md").read_text(encoding="utf-8")
    target, line = re.findall(r"```(?:python|text)\n(.*?)```", readme, flags=re.DOTALL)
    recipe = tmp_path / "recipe.py"
    recipe.write_text(f"from rbdc.emit.registry import BACKENDS\n{target}\n\n{line}")
    monkeypatch.setattr(registry, "BACKENDS", dict(registry.BACKENDS))
    runpy.run_path(str(recipe))
    model = Problem.from_urdf(resolve("double_pendulum"))
    options = GenerationOptions(targets=("c", "listing"))
    files = generate(model, "robot", ["rnea"], lambda _: None, options).files
    assert re.fullmatch(r"rnea: \d+ values\n", files["robot_rnea.txt"])
    with pytest.raises(UnsupportedError, match="functions of frames"):
        generate(model, "robot", ["frame_jacobian"], lambda _: None, options)


def test_two_targets_of_one_file_are_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    class Greedy(Backend):
        name = "greedy"

        def add_function(self, package: Package, planned: PlannedFunction, source: FunctionSource) -> None:
            source.target_files[self.name] = {"README.md": ""}

    monkeypatch.setitem(registry.BACKENDS, "greedy", Greedy())
    with pytest.raises(ValueError, match=r"greedy writes README\.md"):
        text_of(Problem.from_urdf(resolve("double_pendulum")), ["rnea"], targets=("c", "greedy"))
