"""Pinocchio's C++ as a peer: what it needs, the models handed over, which parts are compiled, how they are
cached; its values in the exhaustive tier, where Eigen's headers are installed.
"""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from rbdc.algorithms.trace import silent
from rbdc.errors import ToolchainError
from rbdc.functions.catalogue import functions_of, known
from rbdc.model import Problem
from rbdc.model.joints import Planar
from rbdc.native.build import Unit, compiled_object
from rbdc.native.toolchain import Compiled, Compiler, Toolchain
from rbdc.report.accuracy import deepest_frame, draw, inputs_of
from rbdc.report.methods.peers import headers, pinocchio
from rbdc.report.methods.peers.assembly import add_peers, save_model
from rbdc.report.methods.records import FunctionRecord
from rbdc.report.options import NATIVE, PINOCCHIO, CompareOptions, peer_of
from rbdc.resources import resolve
from tests.support import ROOTS, URDF_ROBOTS, Array, assert_close
from tests.support_contacts import on_feet
from tests.support_pinocchio import REFERENCE, Peer, kinematics, peer, pin
from tests.support_pinocchio_tasks import of_frame, of_step
from tests.support_trees import mimic_tree, random_tree

HARNESS = pinocchio.harness()

OFFERED = {
    name: function.comparison.peers[pinocchio.NAME]
    for name, function in {**known(), **functions_of(on_feet())}.items()
    if pinocchio.NAME in function.comparison.peers
}
VARIANTS = [(name, variant) for name, variants in OFFERED.items() for variant in variants]
IN_PYTHON = [(name, variant) for name, variant in VARIANTS if not name.endswith("_second_derivatives")]
"""Those whose values Pinocchio's Python has too; the others are in test_pinocchio_second.py."""


TOOLS = Toolchain(Compiler("cc", "cc"), ())


def loaded(model: Problem, path: Path) -> Any:
    """Return the model as Pinocchio reads it back."""
    assert save_model(model, path) is None
    peer = pin.Model()
    peer.loadFromText(str(path))
    return peer


@pytest.mark.parametrize(
    ("robot", "root"), [("kuka_iiwa", "fixed"), ("hyq", "free-flyer"), ("planar_floating", "fixed")]
)
def test_coriolis_matrices_are_one(robot: str, root: str, tmp_path: Path) -> None:
    """C v = C' v does not say that C = C': this is why the matrices can be compared."""
    model = Problem.from_urdf(resolve(robot), root_joint=root)
    peer = loaded(model, tmp_path / "model.txt")
    (coriolis,) = functions_of(model)["coriolis"].methods.values()
    drawn = draw(model, 2)
    for k in range(2):
        inputs = {name: [float(x) for x in drawn[name][k]] for name in ("q", "v")}
        (entries,) = coriolis(model, inputs, silent)
        theirs = pin.computeCoriolisMatrix(peer, peer.createData(), drawn["q"][k], drawn["v"][k])
        assert_close(np.reshape(np.array(entries, dtype=float), theirs.shape), theirs, 1e-12, 1.0)


@pytest.mark.parametrize("macro", ["COMPUTE", "FETCH"])
def test_every_variant_has_its_entry_points(macro: str) -> None:
    entries = re.findall(rf"^(?:{macro}|ALGORITHM)\((\w+)", HARNESS, re.MULTILINE)
    assert sorted(entries) == sorted(variant for _, variant in VARIANTS)


def test_parts_are_the_sources() -> None:
    offers = pinocchio.offered(HARNESS)
    assert set(re.findall(r"^#ifdef RBDC_(\w+)", HARNESS, re.MULTILINE)) == {*offers, "LIBRARY"}
    assert {*pinocchio.LIBRARY_PARTS, *pinocchio.TEMPLATE_PARTS} < set(offers)
    assert sorted(name for names in offers.values() for name in names) == sorted(name for _, name in VARIANTS)


@pytest.mark.parametrize("root", ROOTS)
@pytest.mark.parametrize("robot", URDF_ROBOTS)
def test_models_are_handed_over(robot: str, root: str, tmp_path: Path) -> None:
    model, reference = Problem.from_urdf(resolve(robot), root_joint=root), peer(robot, root)
    read = loaded(model, tmp_path / "model.txt")
    assert (read.nq, read.nv, read.njoints) == (model.nq, model.nv, model.njoints + 1)
    # Pinocchio's parser chooses RX, RY, RZ, PX ... for coordinate axes, and one angle for continuous joints.
    names = [
        re.sub("RUB", "R", re.sub("Unbounded", "", joint.shortname())) for joint in reference.model.joints[1:]
    ]
    if robot == "planar_floating":  # one axis is written (0, 0, 2): the parser looks before it divides
        names = ["JointModelPZ" if name == "JointModelPrismaticUnaligned" else name for name in names]
    assert [joint.shortname() for joint in read.joints[1:]] == names
    theirs = read.createData()
    drawn = draw(model, 3)
    for q, v, a in zip(drawn["q"], drawn["v"], drawn["a"], strict=True):
        assert_close(pin.rnea(read, theirs, q, v, a), REFERENCE["rnea"](reference, q, v, a, a), 1e-12, 1.0)
        pin.framesForwardKinematics(read, theirs, q)
        frames = [k for k, frame in enumerate(read.frames) if frame.type == pin.FrameType.BODY]
        expected = kinematics(reference, q, tuple(frame.name for frame in model.frames))
        assert_close([theirs.oMf[k].homogeneous for k in frames], expected, 1e-12, 1.0)
    fixed = read.inertias[0]
    assert_close(fixed.mass * fixed.lever, model.base_inertia.first_moment.scalars(), 1e-12, 1.0)


@pytest.mark.parametrize("seed", range(16))
def test_every_joint_type_is_handed_over_or_refused(seed: int, tmp_path: Path) -> None:
    model = random_tree(seed)
    normals = [body.joint.normal.scalars() for body in model.bodies if isinstance(body.joint, Planar)]
    if any(normal != [0.0, 0.0, 1.0] for normal in normals):
        reason = save_model(model, tmp_path / "model.txt")
        assert reason is not None
        assert "planar" in reason
        assert not (tmp_path / "model.txt").exists()
        return
    peer = loaded(model, tmp_path / "model.txt")
    (rnea,) = functions_of(model)["rnea"].methods.values()
    drawn = draw(model, 2)
    for k in range(2):
        inputs = {name: [float(x) for x in drawn[name][k]] for name in ("q", "v", "a")}
        (expected,) = rnea(model, inputs, silent)
        assert_close(
            pin.rnea(peer, peer.createData(), *(np.array(x) for x in inputs.values())), expected, 1e-11
        )


def test_a_coupled_mimic_joint_is_refused(tmp_path: Path) -> None:
    reason = save_model(mimic_tree("coupled"), tmp_path / "model.txt")
    assert reason is not None
    assert "coupled mimic" in reason
    assert loaded(mimic_tree("independent"), tmp_path / "model.txt").nv == 6


def test_a_joint_of_an_unknown_type_is_refused(tmp_path: Path) -> None:
    joint: Any = SimpleNamespace(kind="screw", nv=1, pinocchio=lambda: None)
    model = Problem.from_urdf(resolve("double_pendulum"))
    changed = replace(model, bodies=(model.bodies[0], replace(model.bodies[1], joint=joint)))
    assert (
        save_model(changed, tmp_path / "model.txt") == "a screw joint, for which Pinocchio has no joint type"
    )
    assert not (tmp_path / "model.txt").exists()


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def missing(message: str) -> None:
        with pytest.raises(ToolchainError, match=message):
            headers.headers()

    monkeypatch.setattr(headers, "compilers", list)
    monkeypatch.setattr(headers, "prefix", lambda: None)
    missing("pip install 'pin")
    monkeypatch.setattr(headers, "prefix", lambda: tmp_path)
    missing("boost_serialization")
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "libboost_serialization.so").touch()
    monkeypatch.setattr(headers, "eigen", lambda: None)
    missing("pip install cmeel-eigen, or apt install libeigen3-dev")
    monkeypatch.setattr(headers, "eigen", lambda: tmp_path)
    missing("no C\\+\\+ compiler")
    with pytest.raises(ToolchainError, match="no C\\+\\+ compiler"):
        pinocchio.builds(NATIVE, {"rnea"}, lambda _: None)
    with pytest.raises(ToolchainError, match="no C\\+\\+ compiler"):
        pinocchio.builds(PINOCCHIO, (), lambda _: None)
    monkeypatch.setattr(headers, "compilers", lambda: [("gcc", Compiler("g++", "g++"), ())])
    headers.headers()
    with pytest.raises(ToolchainError, match="pip install --force-reinstall 'pin>=4'"):
        pinocchio.shipped_library()


def test_headers_are_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    prefix = headers.prefix()
    assert prefix is not None, "pin is among the requirements of the tests"
    assert (prefix / "include" / "boost" / "version.hpp").is_file()
    assert pinocchio.shipped_library().is_file()
    for folder in ("named", "parent/eigen3", "packages/cmeel.prefix/include/eigen3"):
        (tmp_path / folder / "Eigen").mkdir(parents=True)
        (tmp_path / folder / "Eigen" / "Core").touch()
    for named, expected in (("named", "named"), ("parent", "parent/eigen3")):
        monkeypatch.setenv("CPATH", f"/no/such:{tmp_path / named}")
        assert headers.eigen() == tmp_path / expected
    monkeypatch.delenv("CPATH")
    monkeypatch.setattr(headers, "prefix", lambda: None)
    monkeypatch.setattr(sys, "path", [str(tmp_path / "packages"), *sys.path])
    assert headers.eigen() == tmp_path / "packages/cmeel.prefix/include/eigen3", "as pip install cmeel-eigen"


@pytest.mark.parametrize("avx512", [False, True])
def test_builds_are_those_that_differ(avx512: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        shutil, "which", lambda name: name if name in ("g++", "clang++-19", "clang++") else None
    )
    monkeypatch.setattr(headers, "find_compiler", lambda name: Compiler(name, name))
    monkeypatch.setattr(
        headers, "run", lambda command: "#define __AVX512F__ 1" if avx512 else "#define __AVX2__ 1"
    )
    pairs = [(name, compiler.path) for name, compiler, _ in headers.compilers()]
    assert pairs == [("gcc", "g++"), ("clang", "clang++-19"), ("clang-no-avx512", "clang++-19")][: 2 + avx512]
    assert min(headers.compilers())[1] == Compiler("clang++-19", "clang++-19"), "the library's calls by clang"


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder in place of Pinocchio's with empty libraries, an empty cache, and one compiler."""
    first = headers.compilers()[:1]
    if not first:
        pytest.skip("no C++ compiler")
    (tmp_path / "lib").mkdir()
    for name in ("boost_serialization", "pinocchio_default"):
        library = tmp_path / "lib" / f"lib{name}.so"
        subprocess.run([first[0][1].path, "-shared", "-x", "c++", os.devnull, "-o", str(library)], check=True)
    monkeypatch.setenv("RBDC_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(headers, "prefix", lambda: tmp_path)
    for module in (headers, pinocchio):
        monkeypatch.setattr(module, "compilers", lambda: first)
    monkeypatch.setattr(headers, "eigen", lambda: tmp_path)
    return tmp_path


def stand_in_source() -> str:
    """Return a harness whose algorithms are the real one's, of which each returns a number of its own."""
    parts = pinocchio.offered(HARNESS)
    names = [name for names in parts.values() for name in names]
    visible = 'extern "C" __attribute__((visibility("default")))'
    define = f"#define COMPUTE(name) {visible} int rbdc_peer_##name() {{ return (int)sizeof(#name); }}"
    bodies = [
        f"#ifdef RBDC_{part}\n" + "".join(f"COMPUTE({name})\n" for name in of) + "#endif"
        for part, of in parts.items()
    ]
    assert len(names) == len(VARIANTS)
    return "\n".join([define, *bodies])


def test_only_what_is_asked_for_is_compiled_and_once(stand_in: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pinocchio, "harness", stand_in_source)
    lines: list[str] = []
    asked = OFFERED["rnea"] + OFFERED["crba"]
    (build,) = pinocchio.builds(NATIVE, asked, lines.append)
    words = r"compiling Pinocchio's (\w+) for \S+-gcc, (\d) of 3; about \d+ (?:s|min) left, once only"
    parts, numbers = zip(
        *(match.groups() for match in (re.fullmatch(words, line) for line in lines) if match), strict=True
    )
    assert sorted(numbers) == ["1", "2", "3"]
    assert sorted(parts) == ["inertia", "inverse", "model"], "two at once, which begin in either order"
    library = ctypes.CDLL(str(build.library))
    assert [getattr(library, f"rbdc_peer_{name}")() for name in asked] == [len(name) + 1 for name in asked]
    assert not hasattr(library, f"rbdc_peer_{OFFERED['aba'][0]}")
    assert set(asked) <= set(build.algorithms)
    assert not set(OFFERED["aba"]) & set(build.algorithms)
    assert build.compile_seconds > 0.0
    assert {"-O3", "-march=native", "-DNDEBUG"} <= set(build.flags)
    assert pinocchio.builds(NATIVE, asked, lines.append) == [build]
    assert len(lines) == 3, "nothing was compiled again"
    pinocchio.builds(NATIVE, OFFERED["aba"], lines.append)
    assert len(lines) == 4, "the model's part was there"
    (stand_in / "include" / "pinocchio").mkdir(parents=True)
    (stand_in / "include" / "pinocchio" / "config.hpp").write_text("another version")
    (other,) = pinocchio.builds(NATIVE, asked, lines.append)
    assert other.library != build.library


def test_the_library_is_called_as_it_was_compiled(stand_in: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pinocchio, "harness", stand_in_source)
    lines: list[str] = []
    (build,) = pinocchio.builds(PINOCCHIO, ("rnea",), lines.append)
    assert len(lines) == 1
    assert build.shipped == stand_in / "lib" / "libpinocchio_default.so"
    assert not [flag for flag in build.flags if flag.startswith("-march")], "Eigen would align otherwise"
    assert "-DPINOCCHIO_ENABLE_TEMPLATE_INSTANTIATION" in build.flags
    library = ctypes.CDLL(str(build.library))
    assert all(hasattr(library, f"rbdc_peer_{name}") for name in build.algorithms)
    for function in ("minverse", "rnea_second_derivatives"):
        assert not set(OFFERED[function]) & set(build.algorithms), "the library exports none"
    assert pinocchio.builds(PINOCCHIO, ("rnea",), lines.append) == [build]
    assert len(lines) == 1


def test_the_inverse_of_m_is_compiled_beside_the_library(
    stand_in: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Users of the package compile functions that its library does not export: optimised, for every
    processor.
    """
    monkeypatch.setattr(pinocchio, "harness", stand_in_source)
    seen: dict[str, tuple[str, ...]] = {}

    def compiled(unit: Unit, key: str, compiler: Compiler) -> tuple[Path, Compiled]:
        seen[unit.text.splitlines()[0]] = unit.flags
        return compiled_object(unit, key, compiler)

    monkeypatch.setattr(pinocchio, "compiled_object", compiled)
    (build,) = pinocchio.builds(PINOCCHIO, OFFERED["minverse"], lambda _: None)
    assert set(OFFERED["minverse"]) <= set(build.algorithms)
    assert not set(OFFERED["torque_regressor"]) & set(build.algorithms)
    flags = seen["#define RBDC_INVERSE_INERTIA"]
    assert {"-O3", "-DRBDC_LIBRARY"} <= {*flags}
    assert not [flag for flag in flags if flag.startswith("-march")], "Eigen would align otherwise"
    assert "minverse, which it does not export, from its headers by -O3" in build.what
    library = ctypes.CDLL(str(build.library))
    assert all(hasattr(library, f"rbdc_peer_{name}") for name in build.algorithms)


def test_what_does_not_compile_stops_nothing_else(stand_in: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A build that fails throughout, one that fails in a part, one that does not fail."""
    ((_, compiler, extra),) = headers.compilers()
    flags = {"whole": (), "part": ("-DFAILS",), "none": ("-DFAILS", "-DALWAYS")}
    monkeypatch.setattr(
        pinocchio, "compilers", lambda: [(name, compiler, (*extra, *more)) for name, more in flags.items()]
    )
    fails = "#if defined(FAILS) && (defined(ALWAYS) || defined(RBDC_INERTIA))\n#error out of order\n#endif\n"
    monkeypatch.setattr(pinocchio, "harness", lambda: fails + stand_in_source())
    rnea, crba = OFFERED["rnea"], OFFERED["crba"]
    whole, part, none = pinocchio.builds(NATIVE, rnea + crba, lambda _: None)
    assert [build.name for build in (whole, part, none)] == [f"pinocchio-native-{name}" for name in flags]
    assert {*rnea, *crba} <= {*whole.algorithms} and not whole.failed
    assert {*rnea} <= {*part.algorithms} and not {*part.algorithms} & {*crba} and {*crba} <= {*part.failed}
    assert {*rnea, *crba} <= {*none.failed} and not none.algorithms
    reason = f"not compiled by {compiler.version}: peer.cpp:"
    for build in (part, none):
        failed = build.failed.values()
        assert all(line.startswith(reason) and "out of order" in line for line in failed)
    model, records = Problem.from_urdf(resolve("double_pendulum")), [record("rnea"), record("crba")]
    options = CompareOptions(peers=("pinocchio-native",))
    peers = add_peers(model, records, options, TOOLS, stand_in, lambda _: None)
    assert [build.name for build in peers.builds] == ["pinocchio-native-whole", "pinocchio-native-part"]
    assert "out of order" in peers.absent["pinocchio-native-none"]
    assert [a.method for a in records[0].absent] == ["pinocchio-native-none"]
    assert {a.method for a in records[1].absent} >= {"pinocchio-native-part", "pinocchio-native-none"}
    assert not any("\n" in a.reason for one in records for a in one.absent)


def test_calls_that_do_not_compile_are_absent(stand_in: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pinocchio, "harness", lambda: "#error out of order\n" + stand_in_source())
    model, one = Problem.from_urdf(resolve("double_pendulum")), record("rnea")
    options = CompareOptions(peers=("pinocchio",))
    peers = add_peers(model, [one], options, TOOLS, stand_in, lambda _: None)
    assert not peers.builds and "out of order" in peers.absent["pinocchio"]
    assert [a.method for a in one.absent] == ["pinocchio"] and "out of order" in one.absent[0].reason


def record(name: str) -> FunctionRecord:
    """Return a function of the double pendulum without contenders."""
    return FunctionRecord(functions_of(Problem.from_urdf(resolve("double_pendulum")))[name])


def test_peers_take_part_as_asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Stand-ins for the builds show which methods take part, and the reasons of the others."""
    model = Problem.from_urdf(resolve("double_pendulum"))
    library = pinocchio.PinocchioBuild(
        "pinocchio", "pinocchio", "", "", (), algorithms=("crba", "crba_world")
    )
    native = replace(library, name="pinocchio-native-gcc", algorithms=("crba", "crba_world", "minverse"))
    asked: list[Any] = []

    def builds(peer: str, wanted: Collection[str], _: object) -> list[pinocchio.PinocchioBuild]:
        asked.append(sorted(wanted))
        return [native if peer == NATIVE else library]

    monkeypatch.setattr(headers, "headers", lambda: None)
    monkeypatch.setattr(pinocchio, "builds", builds)
    records = [record(name) for name in ("crba", "minverse", "com_acceleration")]
    options = CompareOptions(peers=("pinocchio", "pinocchio-native"))
    peers = add_peers(model, records, options, TOOLS, tmp_path, lambda _: None)
    assert asked == [["crba", "crba_world", "minverse"]] * 2, "nothing else is compiled"
    assert (peers.builds, peers.absent) == (
        [native, library],
        dict.fromkeys(("casadi", "cppadcodegen"), "not asked for"),
    )
    assert [c.method for c in records[0].contenders] == [
        "pinocchio-native-gcc",
        "pinocchio-native-gcc-world",
        "pinocchio",
        "pinocchio-world",
    ]
    assert [peer_of(c.method) for c in records[0].contenders] == ["pinocchio-native"] * 2 + ["pinocchio"] * 2
    (absent,) = records[1].absent
    assert (absent.method, "--peers pinocchio-native" in absent.reason) == ("pinocchio", True)
    assert [a.method for a in records[2].absent] == ["pinocchio-native", "pinocchio"]
    assert all("no such function" in a.reason for a in records[2].absent)


def symmetric(upper: Any) -> Array:
    """Return the whole of a matrix given by its upper triangle."""
    return np.array(np.triu(upper) + np.triu(upper, 1).T)


def expected(function: str, model: Problem, p: Peer, inputs: Sequence[Array]) -> list[Any]:
    """Return Pinocchio's results in Python for its own reading of the description, in the order of rbdc."""
    q, *others = inputs
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
    if function in ("nle_derivatives", "gravity_torque_derivatives"):
        v = others[0] if others else np.zeros(model.nv)
        pin.computeRNEADerivatives(p.model, data, p.q(q), v, np.zeros(model.nv))
        return [np.array(data.dtau_dq), np.array(data.dtau_dv)][: 1 + len(others)]
    if functions_of(model)[function].declaration.framed:
        return of_frame(function, p, p.frame(model.frames[deepest_frame(model)].name), q, others)
    if function.startswith("step"):
        return of_step(function, p, q, others[0], others[1], others[2][0])
    if function == "coriolis":
        return [np.array(pin.computeCoriolisMatrix(p.model, data, p.q(q), others[0]))]
    padded = [*others, np.zeros(0), np.zeros(0), np.zeros(0)]
    return [REFERENCE[function](p, q, padded[0], padded[1], padded[2])]


def pointers(arrays: Sequence[Array]) -> Any:
    """Return a C array of pointers to the arrays' entries."""
    return (ctypes.c_void_p * len(arrays))(*(array.ctypes.data for array in arrays))


def needs_headers() -> None:
    """Skip a test where Pinocchio's C++ cannot be compiled."""
    try:
        headers.headers()
    except ToolchainError as missing:
        pytest.skip(str(missing))


def opened(build: pinocchio.PinocchioBuild) -> ctypes.CDLL:
    """Return the library of a build, as the timing process opens it."""
    assert build.code_bytes > 0
    loaded_library = ctypes.CDLL(str(build.library), mode=os.RTLD_NOW | os.RTLD_LOCAL)
    loaded_library.rbdc_peer_load.restype = ctypes.c_void_p
    return loaded_library


@pytest.fixture(scope="module", params=["library", "native"])
def build(request: pytest.FixtureRequest) -> pinocchio.PinocchioBuild:
    """The library of the pip package, half a minute where it is not in the cache; a native build, minutes."""
    needs_headers()
    if request.param == "library":
        (build_of_peer,) = pinocchio.builds(PINOCCHIO, {name for _, name in IN_PYTHON}, lambda _: None)
        return build_of_peer
    with pytest.MonkeyPatch.context() as patch:
        compilers = headers.compilers()
        patch.setattr(pinocchio, "compilers", lambda: compilers[-1:])
        (build_of_peer,) = pinocchio.builds(NATIVE, {name for _, name in IN_PYTHON}, lambda _: None)
    return build_of_peer


@pytest.fixture(scope="module")
def library(build: pinocchio.PinocchioBuild) -> ctypes.CDLL:
    return opened(build)


@pytest.mark.exhaustive
def test_the_algorithms_are_those_of_the_library(build: pinocchio.PinocchioBuild) -> None:
    """Passes over the joints are where algorithms were compiled: in what rbdc links to the library those of
    the inverse of M and of contacts alone.
    """
    command = ["nm", "-C", "--defined-only", str(build.library)]
    symbols = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    passes = {*re.findall(r"\b(?!_Z)(\w+)(?:Forward|Backward)Step", symbols)}
    beside = {name for name in passes if re.search("Minverse|Contact|Constraint|Impulse", name)}
    assert "ComputeMinverse" in beside
    assert (passes == beside) is (build.shipped is not None)


@pytest.mark.exhaustive
def test_no_archive_no_context(library: ctypes.CDLL, tmp_path: Path) -> None:
    (tmp_path / "model.txt").write_text("nothing of the kind")
    for name in ("model.txt", "absent.txt"):
        assert library.rbdc_peer_load(str(tmp_path / name).encode()) is None


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("robot", "root"), [("kuka_iiwa", "fixed"), ("hyq", "free-flyer"), ("simple_humanoid", "free-flyer")]
)
def test_values(
    robot: str, root: str, build: pinocchio.PinocchioBuild, library: ctypes.CDLL, tmp_path: Path
) -> None:
    model, p = Problem.from_urdf(resolve(robot), root_joint=root), peer(robot, root)
    assert save_model(model, tmp_path / "model.txt") is None
    context = ctypes.c_void_p(library.rbdc_peer_load(str(tmp_path / "model.txt").encode()))
    assert context.value
    drawn = draw(model, 4)
    there = functions_of(model)  # without contacts, which no description has
    for function, variant in IN_PYTHON:
        if variant not in build.algorithms or function not in there:
            continue
        declaration = there[function].declaration
        for k in range(4):
            state = [np.ascontiguousarray(drawn[name][k]) for name in inputs_of(declaration, drawn)]
            outputs = [np.full(output.shape, np.nan) for output in declaration.outputs]
            for suffix in ("", "_fetch"):
                getattr(library, f"rbdc_peer_{variant}{suffix}")(context, pointers(state), pointers(outputs))
            for output, reference in zip(outputs, expected(function, model, p, state), strict=True):
                assert_close(output, reference, 1e-11, 1.0, f"{robot} {variant}")
