"""Names that a module does not have: what is said at the first touch, and what to do."""

from __future__ import annotations

import inspect
import pickle
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rbdc
from rbdc.errors import LoadError, OptionError
from rbdc.report.options import CompareOptions
from rbdc.resources import resolve
from rbdc.runtime._suggestions import FEW, MOST, suggestion
from tests.support import build_module

KNOWN = ["rnea", "aba", "panda_hand", *(f"frame_{k}" for k in range(MOST))]


def test_suggestions() -> None:
    assert suggestion("rena", KNOWN) == suggestion("RNEA", KNOWN) == "did you mean rnea?"
    assert suggestion("hand", KNOWN) == "did you mean panda_hand?"
    assert suggestion("q", KNOWN) == f"there are {', '.join(KNOWN[:MOST])} and 3 more"
    assert suggestion("rena", KNOWN[:2]) == "did you mean rnea? there are rnea, aba"
    assert suggestion("rena", KNOWN[:FEW]).endswith("frame_4")
    assert suggestion(5, ["a", "b"]) == "there are a, b"
    assert suggestion("a", []) == "there are none"


@pytest.fixture(scope="module")
def plain() -> Any:
    return build_module("double_pendulum", functions=("rnea", "frame_jacobian"), name="plain_pendulum")


@pytest.mark.parametrize("framework", ["casadi", "jax"])
def test_a_framework_without_its_target(plain: Any, framework: str) -> None:
    assert not hasattr(plain, framework) and framework not in dir(plain)
    with pytest.raises(AttributeError, match=f"{framework} was not built; build it with `targets="):
        getattr(plain, framework)
    assert getattr(plain, framework, None) is None
    assert framework not in dict(inspect.getmembers(plain))
    assert pickle.loads(pickle.dumps(plain)).name == "plain_pendulum"


def test_casadi_has_its_functions_as_attributes() -> None:
    functions = ("rnea", "frame_jacobian")
    m: Any = build_module("double_pendulum", functions=functions, targets=("c", "casadi"), name="with_casadi")
    assert hasattr(m, "casadi") and "casadi" in dir(m) and "rnea" in dir(m.casadi)
    q = np.array([0.1, 0.2])
    assert float(m.casadi.rnea(q, q, q)[0]) == float(m.casadi("rnea")(q, q, q)[0])
    assert dict(inspect.getmembers(m.casadi))["rnea"].name_in() == ["q", "v", "a"]
    assert pickle.loads(pickle.dumps(m.casadi)).rnea.name_in() == ["q", "v", "a"]
    with pytest.raises(AttributeError, match="frame_jacobian': frame: name one, as in frame_jacobian@"):
        _ = m.casadi.frame_jacobian
    with pytest.raises(AttributeError, match="crba was not built; build it with"):
        _ = m.casadi.crba


def test_attributes(plain: Any) -> None:
    with pytest.raises(AttributeError, match="no attribute 'renea'; did you mean rnea"):
        _ = plain.renea
    with pytest.raises(AttributeError, match="no attribute 'mass_matrixx'$"):
        _ = plain.mass_matrixx
    with pytest.raises(AttributeError, match="no attribute '_rnae'$"):
        _ = plain._rnae
    with pytest.raises(ValueError, match=r"frame: no frame 'lnk2'; did you mean link2"):
        plain.frame_jacobian(plain.q_neutral, "lnk2")


CLOSED: list[tuple[dict[str, Any], str]] = [
    ({"function": "rnea"}, "no option 'function'; did you mean functions"),
    ({"frames": "tip@link2:0 0 1"}, "no option 'frames'; did you mean frame"),
    ({"functions": "rnea,abba"}, "no function 'abba'; did you mean aba"),
    ({"functions": "jacobian"}, "no function 'jacobian'; did you mean .*frame_jacobian"),
    ({"preset": "optimization"}, "no preset 'optimization'; did you mean optimisation"),
    ({"targets": "c,cassadi"}, "no target 'cassadi'; did you mean casadi"),
    ({"root_joint": "freeflyer"}, "`root_joint='freeflyer'`: did you mean free-flyer"),
    ({"armature": "join1=1"}, '`armature`: joint "join1" does not exist; did you mean joint1'),
    ({"lock": "join1=1"}, '`lock`: joint "join1" does not exist; did you mean joint1'),
    ({"base": "lnk2"}, '`base`: there is no link "lnk2"; did you mean link2'),
    ({"frame": "tip@lnk2:0 0 1"}, 'there is no link "lnk2"; did you mean link2'),
    ({"payload": "lnk2"}, "`payload='lnk2'`: the frame does not exist; did you mean link2"),
    ({"parameters": "inertial@lnk2"}, 'no moving body: did you mean .*link2'),
    ({"contacts": "foot=point@lnk2"}, 'no link "lnk2"; did you mean link2'),
    ({"fuse": "rnea,abba"}, "no function 'abba'; did you mean aba"),
    ({"fuse": "rnea,frame_jacobian@lnk2"}, "name the frame, as in .*; did you mean link2"),
]  # fmt: skip


@pytest.mark.parametrize(("options", "message"), CLOSED, ids=[str(*options) for options, _ in CLOSED])
def test_options_from_closed_sets(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=message):
        rbdc.build("double_pendulum", out=tmp_path, cflags="-O0", **options)


def test_robots_and_peers() -> None:
    for name in ("kuka_iwa", "robots/kuka_iwa.urdf"):
        with pytest.raises(OptionError, match="neither a file nor a robot .*; did you mean kuka_iiwa"):
            resolve(name)
    with pytest.raises(OptionError, match="no peer 'pinochio'; did you mean pinocchio"):
        CompareOptions(peers="pinochio").check()


LOADED = {
    "kuka_iiwa": r"rbdc\.build\('kuka_iiwa'\) builds one and loads it",
    "robots/mine.urdf": r"rbdc\.build\('robots/mine\.urdf'\) builds one",
    "somewhere/mine": r"rbdc\.build\(DESCRIPTION, out='somewhere'\) builds one",
}


@pytest.mark.parametrize("path", LOADED)
def test_loading_what_was_not_built(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(LoadError, match=f"^{path}: no generated package here; {LOADED[path]}"):
        rbdc.load(path)


def test_derivatives_by_parameters_name_what_to_do(plain: Any) -> None:
    """JAX and PyTorch ask this for gradients by parameters that were not built, or do not exist."""
    differential = import_module(f"{plain.__name__}._differential")
    described = {
        "rnea": differential.Differential("", parameters="products"),
        "crba": differential.Differential(""),
    }
    known = differential.Known(described, plain.functions)
    with pytest.raises(
        NotImplementedError, match="rnea has no derivatives by parameters; build it with .*products"
    ):
        known.refuse_input("rnea", "parameters")
    with pytest.raises(
        NotImplementedError, match="crba has no derivatives by parameters; keep them constant"
    ):
        known.refuse_input("crba", "parameters")
