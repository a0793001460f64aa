"""Faults in places where one call at a moderate state does not go, each of which is refused by name."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from rbdc.errors import VerificationError
from rbdc.model import Problem
from rbdc.resources import resolve
from rbdc.verification.states import covering
from tests.support import slow_but
from tests.verification.support_compiled import Text


@cache
def hyq() -> Text:
    """Return a function of a frame of a robot with four legs."""
    model = Problem.from_urdf(resolve("hyq"), root_joint="free-flyer")
    return Text.of(model, "hyq", ["frame_jacobian"])


@cache
def libraries() -> Text:
    """Return a pendulum for CasADi and JAX."""
    model = Problem.from_urdf(resolve("double_pendulum"), root_joint="free-flyer")
    return Text.of(model, "pendulum", ["rnea", "frame_velocity"], "casadi", "jax")


@cache
def batches() -> Text:
    """Return a pendulum in batches."""
    return Text.of(Problem.from_urdf(resolve("double_pendulum")), "pendulum", ["rnea", "crba"], "batch")


def refused(text: Text, file: str, old: str, new: str, folder: Path) -> str:
    """Return the message about a package with a change."""
    folder_of_mutant = text.installed(folder / "changed", text.changed(file, old, new))
    with pytest.raises(VerificationError) as refusal:
        text.verify(folder_of_mutant)
    return str(refusal.value)


@pytest.mark.parametrize("text", [hyq, libraries, batches])
def test_what_is_right_passes(text: object, tmp_path: Path) -> None:
    assert callable(text)
    package: Text = text()
    findings = package.verify(package.installed(tmp_path / "right"))
    assert all(finding.error < 1.0 and not finding.left_out for finding in findings.values())


def test_frames_cover_all_bodies() -> None:
    for robot in ("hyq", "kuka_iiwa", "simple_humanoid"):
        model = Problem.from_urdf(resolve(robot))
        frames = [model.frames[k] for k in covering(model)]
        assert {k for frame in frames for k in model.support(frame.body)} == set(range(model.njoints))


@pytest.mark.parametrize("body", slow_but(range(1, 13), (7, 11)))
def test_steps_of_all_bodies(body: int, tmp_path: Path) -> None:
    """With three checked frames the verification found one of 12 such changes."""
    source = hyq().files["hyq_frames.c"]
    start = source.index(f"static void step_{body}(")
    step = source[start : source.index("\n}\n", start)]
    wrong = re.sub(r" [+-] (?=x\[\d+\] \* (cos|sin)_q\d+;)", " * ", step, count=1)
    assert wrong != step
    said = refused(hyq(), "hyq_frames.c", step, wrong, tmp_path)
    assert "frame_jacobian of frame" in said


@pytest.mark.parametrize("frame", slow_but(["lf_upperleg", "rh_foot", "trunk_imu"], ("lf_upperleg",)))
def test_rows_of_the_tables_of_frames(frame: str, tmp_path: Path) -> None:
    text = hyq()
    index = [f.name for f in text.model.frames].index(frame)
    table = text.files["hyq_frames.c"].split("placement[FRAMES][12] = {\n")[1]
    rows = table.split("\n")
    entries = rows[index].rsplit(", ", 1)
    changed = "\n".join([*rows[:index], f"{entries[0]}, 1e-6 + {entries[1]}", *rows[index + 1 :]])
    said = refused(text, "hyq_frames.c", table, changed, tmp_path)
    assert f"of frame {frame}, LOCAL" in said


CASADI = {
    "velocity and acceleration exchanged": ("(u_q, x_v, x_a, NULL, y_tau)", "(u_q, x_a, x_v, NULL, y_tau)"),
    "frame and reference exchanged": ("(int)*x_frame, (int)*x_reference", "(int)*x_reference, (int)*x_frame"),
    "a sparsity pattern": ("dense_8_1[] = {8, 1, 1}", "dense_8_1[] = {7, 1, 1}"),
    "a name": ('{"q", "v", "a"}', '{"q", "a", "v"}'),
}


@pytest.mark.parametrize("change", slow_but(CASADI, list(CASADI)[:1]))
def test_external_functions_of_casadi(change: str, tmp_path: Path) -> None:
    refused(libraries(), "pendulum_casadi.c", *CASADI[change], tmp_path)


JAX = {
    "velocity and acceleration exchanged": (
        "rnea_batch(n, x[0], x[1], x[2]",
        "rnea_batch(n, x[0], x[2], x[1]",
    ),
    "frame and reference exchanged": ("place[0], place[1]", "place[1], place[0]"),
    "sizes": ("sizes[] = {9, 8, 8, 18, 8}", "sizes[] = {9, 8, 8, 18, 9}"),
}


@pytest.mark.parametrize("change", slow_but(JAX, list(JAX)[:1]))
def test_handlers_for_jax(change: str, tmp_path: Path) -> None:
    refused(libraries(), "pendulum_jax.c", *JAX[change], tmp_path)


@pytest.mark.parametrize(
    ("old", "new"),
    slow_but(
        [
            ("memcpy(&kept, from + k, sizeof kept);", "kept = (part){0};"),
            ("    memcpy(x + n - rest, from + n - rest, rest * sizeof *x);\n", "    (void)rest;\n"),
            ("        RBDC_PAST((part *)(x + k), kept);\n", "        (void)kept;\n"),
            ("        pendulum_copy_past(to, 8 * n, x);\n", ""),
        ],
        [("        pendulum_copy_past(to, 8 * n, x);\n", "")],
    ),
)
def test_results_past_the_caches(old: str, new: str, tmp_path: Path) -> None:
    said = refused(batches(), "pendulum_batch.h", old, new, tmp_path)
    assert "results go past the caches" in said


THIRD = 2e-6 / 9e5
"""Of a radian for each radian: what the third part of pi/2 is off by, in parts of the angle."""


@pytest.mark.parametrize(
    ("file", "old", "new"),
    slow_but(
        [
            ("elementary.h", "2.0222662487959506e-21", str(2.0222662487959506e-21 + THIRD * 1.57)),
            ("batch.h", "4.044532497591901e-21", str(4.044532497591901e-21 + THIRD * 3.14)),
            ("elementary.h", "sin_a = sin(a[k])", "sin_a = sin(a[k] + 1e-8)"),
            ("elementary.h", "cosine[0] = cos_a", "cosine[0] = -cos_a"),
        ],
        [("elementary.h", "2.0222662487959506e-21", str(2.0222662487959506e-21 + THIRD * 1.57))],
    ),
)
def test_large_angles(file: str, old: str, new: str, tmp_path: Path) -> None:
    assert "rad" in refused(batches(), f"pendulum_{file}", old, new, tmp_path)


@pytest.mark.parametrize(
    ("statement", "name"),
    [("*(volatile double *)8 = 1.0;", "SIGSEGV"), ("__builtin_trap();", "SIGILL"), ("abort();", "SIGABRT")],
)
def test_a_crash_is_a_refusal(statement: str, name: str, tmp_path: Path) -> None:
    """The process that calls the functions crashes, and the build prints one message."""
    said = f"rnea, called with single samples, ends .*, by {name}"
    folder = refused_with(batches(), statement, said, tmp_path)
    assert not (folder / "__pycache__").exists()


def test_code_that_writes_to_its_inputs_is_refused(tmp_path: Path) -> None:
    """The quaternion of the next sample is then no unit."""
    refused_with(
        libraries(), "((double *)q)[12] = 2.0;", "single samples, overwrites .* no unit quaternion", tmp_path
    )


def refused_with(text: Text, statement: str, said: str, tmp_path: Path) -> Path:
    """Check the message about a package whose `rnea` begins with a statement, and return its folder."""
    source = text.files["pendulum_rnea.c"]
    opening = source.index("{\n", source.rindex("void pendulum_rnea(")) + 2
    changed = f"#include <stdlib.h>\n{source[:opening]}    {statement}\n{source[opening:]}"
    folder = text.installed(tmp_path / "changed", {**text.files, "pendulum_rnea.c": changed})
    with pytest.raises(VerificationError, match=said):
        text.verify(folder)
    return folder
