"""Pinocchio's C++ as a peer: what it needs, the models handed over, how it is cached; its values only where
RBDC_SLOW is set.
"""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from rbdc import Model
from rbdc.algorithms.trace import silent
from rbdc.emit.render import render
from rbdc.errors import ToolchainError
from rbdc.functions.catalogue import functions_of, known
from rbdc.model.joints import Planar
from rbdc.native.toolchain import Compiler
from rbdc.report.accuracy.inputs import draw, inputs_of
from rbdc.report.methods import pinocchio
from rbdc.resources import resolve
from tests.support import ROOTS, URDF_ROBOTS, Array, assert_close
from tests.support_pinocchio import REFERENCE, Peer, kinematics, peer, pin
from tests.support_trees import mimic_tree, random_tree

OFFERED = {
    name: function.comparison.peers[pinocchio.NAME]
    for name, function in known().items()
    if pinocchio.NAME in function.comparison.peers
}
VARIANTS = [(name, variant) for name, variants in OFFERED.items() for variant in variants]
IN_PYTHON = [(name, variant) for name, variant in VARIANTS if not name.endswith("_second_derivatives")]
"""Those whose values Pinocchio's Python has too; the others are in test_pinocchio_second.py."""


def loaded(model: Model, path: Path) -> Any:
    """The model as Pinocchio reads it back."""
    assert pinocchio.save_model(model, path) is None
    made = pin.Model()
    made.loadFromText(str(path))
    return made


@pytest.mark.parametrize(
    ("robot", "root"), [("kuka_iiwa", "fixed"), ("hyq", "free-flyer"), ("planar_floating", "fixed")]
)
def test_coriolis_matrices_are_one(robot: str, root: str, tmp_path: Path) -> None:
    """C v = C' v does not say that C = C': this is why the matrices can be compared."""
    model = Model.from_urdf(resolve(robot), root_joint=root)
    made = loaded(model, tmp_path / "model.txt")
    (coriolis,) = functions_of(model)["coriolis"].methods.values()
    drawn = draw(model, 2)
    for k in range(2):
        inputs = {name: [float(x) for x in drawn[name][k]] for name in ("q", "v")}
        (entries,) = coriolis(model, inputs, silent)
        theirs = pin.computeCoriolisMatrix(made, made.createData(), drawn["q"][k], drawn["v"][k])
        assert_close(np.reshape(np.array(entries, dtype=float), theirs.shape), theirs, 1e-12, 1.0)


@pytest.mark.parametrize("macro", ["COMPUTE", "FETCH"])
def test_every_variant_has_its_entry_points(macro: str) -> None:
    entries = re.findall(rf"^{macro}\((\w+)\)", render("pinocchio.cpp.jinja"), re.MULTILINE)
    assert sorted(entries) == sorted(variant for _, variant in VARIANTS)


def test_parts_are_the_sources() -> None:
    source = render("pinocchio.cpp.jinja")
    assert set(re.findall(r"^#ifdef RBDC_(\w+)", source, re.MULTILINE)) == set(pinocchio.PARTS)


@pytest.mark.parametrize("root", ROOTS)
@pytest.mark.parametrize("robot", URDF_ROBOTS)
def test_models_are_handed_over(robot: str, root: str, tmp_path: Path) -> None:
    model, reference = Model.from_urdf(resolve(robot), root_joint=root), peer(robot, root)
    made = loaded(model, tmp_path / "model.txt")
    assert (made.nq, made.nv, made.njoints) == (model.nq, model.nv, model.njoints + 1)
    # As Pinocchio's parser chooses: RX, RY, RZ, PX ... for coordinate axes; one angle for continuous joints.
    own = [
        re.sub("RUB", "R", re.sub("Unbounded", "", joint.shortname())) for joint in reference.model.joints[1:]
    ]
    if robot == "planar_floating":  # one axis is written (0, 0, 2): the parser looks before it divides
        own = ["JointModelPZ" if name == "JointModelPrismaticUnaligned" else name for name in own]
    assert [joint.shortname() for joint in made.joints[1:]] == own
    theirs = made.createData()
    drawn = draw(model, 3)
    for q, v, a in zip(drawn["q"], drawn["v"], drawn["a"], strict=True):
        assert_close(pin.rnea(made, theirs, q, v, a), REFERENCE["rnea"](reference, q, v, a, a), 1e-12, 1.0)
        pin.framesForwardKinematics(made, theirs, q)
        frames = [k for k, frame in enumerate(made.frames) if frame.type == pin.FrameType.BODY]
        expected = kinematics(reference, q, tuple(frame.name for frame in model.frames))
        assert_close([theirs.oMf[k].homogeneous for k in frames], expected, 1e-12, 1.0)
    fixed = made.inertias[0]
    assert_close(fixed.mass * fixed.lever, model.base_inertia.first_moment.scalars(), 1e-12, 1.0)


@pytest.mark.parametrize("seed", range(16))
def test_every_joint_type_is_handed_over_or_refused(seed: int, tmp_path: Path) -> None:
    model = random_tree(seed)
    normals = [body.joint.normal.scalars() for body in model.bodies if isinstance(body.joint, Planar)]
    if any(normal != [0.0, 0.0, 1.0] for normal in normals):
        reason = pinocchio.save_model(model, tmp_path / "model.txt")
        assert reason is not None
        assert "planar" in reason
        assert not (tmp_path / "model.txt").exists()
        return
    made = loaded(model, tmp_path / "model.txt")
    (rnea,) = functions_of(model)["rnea"].methods.values()
    drawn = draw(model, 2)
    for k in range(2):
        inputs = {name: [float(x) for x in drawn[name][k]] for name in ("q", "v", "a")}
        (expected,) = rnea(model, inputs, silent)
        assert_close(
            pin.rnea(made, made.createData(), *(np.array(x) for x in inputs.values())), expected, 1e-11
        )


def test_a_coupled_mimic_joint_is_refused(tmp_path: Path) -> None:
    reason = pinocchio.save_model(mimic_tree("coupled"), tmp_path / "model.txt")
    assert reason is not None
    assert "coupled mimic" in reason
    assert loaded(mimic_tree("independent"), tmp_path / "model.txt").nv == 6


def test_a_joint_of_an_unknown_type_is_refused(tmp_path: Path) -> None:
    joint: Any = SimpleNamespace(kind="screw", nv=1, pinocchio=lambda: None)
    model = Model.from_urdf(resolve("double_pendulum"))
    changed = replace(model, bodies=(model.bodies[0], replace(model.bodies[1], joint=joint)))
    assert (
        pinocchio.save_model(changed, tmp_path / "model.txt")
        == "a screw joint that Pinocchio does not have this way"
    )
    assert not (tmp_path / "model.txt").exists()


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(pinocchio, "_compilers", list)
    monkeypatch.setattr(pinocchio, "_prefix", lambda: None)
    assert "pip install 'pin" in str(pinocchio.availability())
    monkeypatch.setattr(pinocchio, "_prefix", lambda: tmp_path)
    assert "boost_serialization" in str(pinocchio.availability())
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "libboost_serialization.so").touch()
    monkeypatch.setattr(pinocchio, "_eigen", lambda: None)
    assert "libeigen3-dev" in str(pinocchio.availability())
    monkeypatch.setattr(pinocchio, "_eigen", lambda: tmp_path)
    assert "no C++ compiler" in str(pinocchio.availability())
    with pytest.raises(ToolchainError, match="no C\\+\\+ compiler"):
        pinocchio.builds(lambda _: None)
    monkeypatch.setattr(pinocchio, "_compilers", lambda: [("gcc", Compiler("g++", "g++"), ())])
    assert pinocchio.availability() is None


def test_headers_are_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    prefix = pinocchio._prefix()
    assert prefix is not None, "pin is among the requirements of the tests"
    assert (prefix / "include" / "boost" / "version.hpp").is_file()
    for folder in (tmp_path / "named", tmp_path / "parent" / "eigen3"):
        (folder / "Eigen").mkdir(parents=True)
        (folder / "Eigen" / "Core").touch()
    for named, found in (("named", "named"), ("parent", "parent/eigen3")):
        monkeypatch.setenv("CPATH", f"/no/such:{tmp_path / named}")
        assert pinocchio._eigen() == tmp_path / found


@pytest.mark.parametrize("avx512", [False, True])
def test_builds_are_those_that_differ(avx512: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        shutil, "which", lambda name: name if name in ("g++", "clang++-19", "clang++") else None
    )
    monkeypatch.setattr(pinocchio, "find_compiler", lambda name: Compiler(name, name))
    monkeypatch.setattr(
        pinocchio, "run", lambda command: "#define __AVX512F__ 1" if avx512 else "#define __AVX2__ 1"
    )
    found = [(name, compiler.path) for name, compiler, _ in pinocchio._compilers()]
    assert found == [("gcc", "g++"), ("clang", "clang++-19"), ("clang-no-avx512", "clang++-19")][: 2 + avx512]


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder in place of Pinocchio's, an empty boost_serialization, an empty cache, and one compiler."""
    compilers = pinocchio._compilers()[:1]
    if not compilers:
        pytest.skip("no C++ compiler")
    (tmp_path / "lib").mkdir()
    library = tmp_path / "lib" / "libboost_serialization.so"
    subprocess.run([compilers[0][1].path, "-shared", "-x", "c++", os.devnull, "-o", str(library)], check=True)
    monkeypatch.setenv("RBDC_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(pinocchio, "_prefix", lambda: tmp_path)
    monkeypatch.setattr(pinocchio, "_eigen", lambda: tmp_path)
    monkeypatch.setattr(pinocchio, "_compilers", lambda: compilers)
    return tmp_path


def test_a_build_is_made_once(stand_in: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    visible = 'extern "C" __attribute__((visibility("default")))'
    parts = [
        f"#ifdef RBDC_{part}\n{visible} int {part}() {{ return {k}; }}\n#endif"
        for k, part in enumerate(pinocchio.PARTS)
    ]
    monkeypatch.setattr(pinocchio, "render", lambda _: "\n".join(parts))
    lines: list[str] = []
    (build,) = pinocchio.builds(lines.append)
    assert len(lines) == len(pinocchio.PARTS)
    library = ctypes.CDLL(str(build.library))
    assert [getattr(library, part)() for part in pinocchio.PARTS] == list(range(len(pinocchio.PARTS)))
    assert build.compile_seconds > 0.0
    assert {"-O3", "-march=native", "-DNDEBUG"} <= set(build.flags)
    assert pinocchio.builds(lines.append) == [build]
    assert len(lines) == len(pinocchio.PARTS), "nothing was compiled again"
    (stand_in / "include" / "pinocchio").mkdir(parents=True)
    (stand_in / "include" / "pinocchio" / "config.hpp").write_text("another version")
    (other,) = pinocchio.builds(lines.append)
    assert other.library != build.library


def test_what_the_compiler_says_is_passed_on(stand_in: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pinocchio, "render", lambda _: "#error out of order")
    with pytest.raises(ToolchainError, match="out of order"):
        pinocchio.builds(lambda _: None)


def symmetric(upper: Any) -> Array:
    """The whole of a matrix given by its upper triangle."""
    return np.array(np.triu(upper) + np.triu(upper, 1).T)


def expected(function: str, model: Model, p: Peer, given: Sequence[Array]) -> list[Any]:
    """What Pinocchio's Python gives for its own reading of the description, in our order."""
    q, *others = given
    data = p.model.createData()
    if function == "rnea_derivatives":
        pin.computeRNEADerivatives(p.model, data, p.q(q), *others)
        return [np.array(data.dtau_dq), np.array(data.dtau_dv), symmetric(data.M)]
    if function == "aba_derivatives":
        pin.computeABADerivatives(p.model, data, p.q(q), *others)
        return [np.array(data.ddq_dq), np.array(data.ddq_dv), symmetric(data.Minv)]
    if function == "forward_kinematics":
        return [kinematics(p, q, tuple(frame.name for frame in model.frames))]
    if function == "integrate":
        return [p.q_back(pin.integrate(p.model, p.q(q), others[0]))]
    if function == "difference":
        return [pin.difference(p.model, p.q(q), p.q(others[0]))]
    if function == "coriolis":
        return [np.array(pin.computeCoriolisMatrix(p.model, data, p.q(q), others[0]))]
    padded = [*others, np.zeros(0), np.zeros(0), np.zeros(0)]
    return [REFERENCE[function](p, q, padded[0], padded[1], padded[2])]


def pointers(arrays: Sequence[Array]) -> Any:
    """A C array of pointers to the arrays' entries."""
    return (ctypes.c_void_p * len(arrays))(*(array.ctypes.data for array in arrays))


@pytest.fixture(scope="module")
def library() -> ctypes.CDLL:
    """One build, which takes minutes where it is not in the cache."""
    if not os.environ.get("RBDC_SLOW"):
        pytest.skip("takes minutes: set RBDC_SLOW")
    reason = pinocchio.availability()
    assert reason is None, reason
    with pytest.MonkeyPatch.context() as patch:
        compilers = pinocchio._compilers()
        patch.setattr(pinocchio, "_compilers", lambda: compilers[-1:])
        (build,) = pinocchio.builds(lambda _: None)
    assert build.code_bytes > 0
    made = ctypes.CDLL(str(build.library), mode=os.RTLD_NOW | os.RTLD_LOCAL)
    made.rbdc_peer_load.restype, made.rbdc_peer_free.restype = ctypes.c_void_p, None
    return made


def test_no_archive_no_context(library: ctypes.CDLL, tmp_path: Path) -> None:
    (tmp_path / "model.txt").write_text("nothing of the kind")
    for name in ("model.txt", "absent.txt"):
        assert library.rbdc_peer_load(str(tmp_path / name).encode()) is None


@pytest.mark.parametrize(
    ("robot", "root"), [("kuka_iiwa", "fixed"), ("hyq", "free-flyer"), ("simple_humanoid", "free-flyer")]
)
def test_values(robot: str, root: str, library: ctypes.CDLL, tmp_path: Path) -> None:
    model, p = Model.from_urdf(resolve(robot), root_joint=root), peer(robot, root)
    assert pinocchio.save_model(model, tmp_path / "model.txt") is None
    context = ctypes.c_void_p(library.rbdc_peer_load(str(tmp_path / "model.txt").encode()))
    assert context.value
    drawn = draw(model, 4)
    for function, variant in IN_PYTHON:
        declaration = functions_of(model)[function].declaration
        for k in range(4):
            given = [np.ascontiguousarray(drawn[name][k]) for name in inputs_of(declaration, drawn)]
            outputs = [np.full(output.shape, np.nan) for output in declaration.outputs]
            for suffix in ("", "_fetch"):
                getattr(library, f"rbdc_peer_{variant}{suffix}")(context, pointers(given), pointers(outputs))
            for output, reference in zip(outputs, expected(function, model, p, given), strict=True):
                assert_close(output, reference, 1e-11, 1.0, f"{robot} {variant}")
    library.rbdc_peer_free(context)
