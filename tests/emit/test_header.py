"""Headers for C and C++ programs: frames and joints by name, and the results for unknown frames."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import rbdc
from rbdc.functions.catalogue import functions_of
from rbdc.model import Problem
from rbdc.resources import resolve
from tests.emit.test_generated import c_of, write_c
from tests.support import UNOPTIMISED, build_module
from tests.support_handmade import inertia_of_one

IN_C = """
#include <stdio.h>
#include "arm.h"
int main(void)
{
    double q[ARM_NQ] = {0}, M[ARM_NV * ARM_NV], J[6 * ARM_NV];
    q[ARM_Q_root_joint + 6] = 1.0;
    q[ARM_Q_elbow_2_2] = 0.7;
    arm_crba(q, M);
    arm_frame_jacobian(q, NULL, ARM_FRAME_fore_arm, ARM_LOCAL, J);
    printf("%d %d %d ", ARM_JOINT_default, ARM_Q_default, ARM_V_default);
    printf("%.17g ", M[ARM_V_elbow_2_2 * ARM_NV + ARM_V_default]);
    printf("%.17g\\n", J[3 * ARM_NV + ARM_V_default]);
    return 0;
}
"""
IN_CPP = """
#define RBDC_NO_EIGEN
#include <cstdio>
#include "arm.hpp"
int main()
{
    double q[arm::nq] = {}, M[arm::nv * arm::nv], J[6 * arm::nv];
    q[arm::Q_root_joint + 6] = 1.0;
    q[arm::Q_elbow_2_2] = 0.7;
    arm::crba(q, M);
    arm::frame_jacobian(q, nullptr, arm::FRAME_fore_arm, arm::LOCAL, J);
    std::printf("%d %d %d ", arm::JOINT_default, arm::Q_default, arm::V_default);
    std::printf("%.17g ", M[arm::V_elbow_2_2 * arm::nv + arm::V_default]);
    std::printf("%.17g\\n", J[3 * arm::nv + arm::V_default]);
}
"""
PROGRAMS = {"arm.c": ("gcc", "-std=c99", IN_C), "arm.cpp": ("g++", "-std=c++11", IN_CPP)}
FUNCTIONS = ("crba", "frame_jacobian")


def arm() -> Problem:
    """Return a free root and three joints; of their names one is a keyword and two are the same as C."""
    links = [rbdc.Link(name, inertia_of_one()) for name in ("base", "upper.arm", "fore arm", "hand")]
    names = ("elbow.2", "default", "elbow 2")
    joints = [
        rbdc.Joint(name, "revolute", parent.name, child.name)
        for name, parent, child in zip(names, links, links[1:], strict=False)
    ]
    return Problem.assemble("arm", links, joints, root_joint="free-flyer")


@pytest.mark.parametrize("program", PROGRAMS)
def test_frames_and_joints_have_names(program: str, tmp_path: Path) -> None:
    compiler, standard, text = PROGRAMS[program]
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    sources = [source.name for source in write_c(c_of(arm(), "arm", FUNCTIONS), tmp_path)]
    (tmp_path / f"main_{program}").write_text(text)
    strict = ("-Wall", "-Wextra", "-Werror", "-pedantic", "-c", "-O0")
    subprocess.run(["gcc", "-std=c99", *strict, *sources], cwd=tmp_path, check=True)
    subprocess.run([compiler, standard, *strict, f"main_{program}"], cwd=tmp_path, check=True)
    subprocess.run(
        [compiler, *(p.name for p in tmp_path.glob("*.o")), "-o", "main", "-lm"], cwd=tmp_path, check=True
    )
    printed = subprocess.run([str(tmp_path / "main")], check=True, capture_output=True, text=True).stdout
    module = build_module(arm(), functions=FUNCTIONS, cflags=UNOPTIMISED)
    joint, last = module.joint_names.index("default"), module.joint_names.index("elbow 2")
    q = module.q_neutral.copy()
    q[6 + last] = 0.7
    expected = [
        joint,
        6 + joint,
        5 + joint,
        module.crba(q)[5 + last, 5 + joint],
        module.frame_jacobian(q, "fore arm")[3, 5 + joint],
    ]
    np.testing.assert_allclose([float(x) for x in printed.split()], expected, rtol=0, atol=1e-14)
    assert expected[3] != 0.0 != expected[4]


@pytest.mark.slow
def test_unknown_frames_and_references_give_nan() -> None:
    """Every function of a frame returns NaN in single calls and batches; in functions of two frames either
    may be unknown.
    """
    functions, count = functions_of(Problem.from_urdf(resolve("double_pendulum"))), 9
    framed = {name: f.declaration for name, f in functions.items() if f.declaration.framed}
    module = build_module(
        "double_pendulum", functions=tuple(framed), targets=("c", "batch"), cflags=UNOPTIMISED
    )
    ffi, lib = module._native.ffi, module._native.lib
    for name, d in framed.items():
        frames = len(d.place) - 1
        wrong = [(*[1] * k, bad, *[1] * (frames - 1 - k), 0) for k in range(frames) for bad in (-1, 3, 99)]
        for place in [*wrong, (*[1] * frames, -1), (*[1] * frames, 3)]:
            for form, n in (("", ()), ("_batch", (count,))):
                inputs, outputs = ([np.full(count * p.size, 0.5) for p in ps] for ps in (d.inputs, d.outputs))
                pointers = [[ffi.cast("double *", x.ctypes.data) for x in xs] for xs in (inputs, outputs)]
                getattr(lib, f"double_pendulum_{name}{form}")(*n, *pointers[0], *place, *pointers[1])
                sizes = [p.size * (count if n else 1) for p in d.outputs]
                are_nan = [np.isnan(x[:size]).all() for x, size in zip(outputs, sizes, strict=True)]
                assert all(are_nan), f"{name}{form} at {place}: {outputs}"
