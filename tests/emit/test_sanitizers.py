"""gcc's address and undefined behaviour sanitizers watch a build that verifies itself: every way of calling
the functions, also by the libraries of CasADi and JAX, and derivatives for CasADi.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from rbdc.functions.catalogue import functions_of, rollable
from rbdc.options import BuildOptions
from rbdc.pipeline import build_package, read
from tests.emit.test_casadi_derivatives import call_externals
from tests.emit.test_generated import ROOT, small_tree
from tests.emit.test_rolled import available
from tests.laws.test_parallel_robots import written
from tests.laws.test_reduced_loops import FOUR_BAR
from tests.laws.test_reduced_loops import FUNCTIONS as OF_REDUCED_LOOPS
from tests.support import UNOPTIMISED, slow_but, without_derivatives
from tests.support_trees import mimic_tree, random_tree
from tests.support_windows import chain

SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
SLOWLY_COMPILED = (
    "second order of every joint type",
    "second order of floats",
    "loops and windows",
    "every function",
)
"""Address sanitizer alone: for undefined behaviour gcc takes four times as long again."""
SECOND = ("rnea_second_derivatives", "aba_second_derivatives", "aba_hessian_vector")
OF_EVERY_KIND = (
    *("rnea", "aba", "crba", "minverse", "torque_regressor", "aba_vjp", "com_jacobian"),
    *("frame_jacobian", "frame_acceleration", "relative_jacobian", "integrate", "difference"),
)
"""Functions of every kind: vectors, matrices, solves, frames, the manifold."""
EVERY_TARGET = ("c", "batch", "casadi", "jax")
TIP = ("tip=point@link2:0,0,0.3",)
SHIM = """
#define _GNU_SOURCE
#include <dlfcn.h>
/* CasADi opens its plugins with RTLD_DEEPBIND, which the sanitizer refuses. */
void *dlopen(const char *file, int flags)
{
    void *(*next)(const char *, int) = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
    return next(file, flags & ~RTLD_DEEPBIND);
}
"""
LARGE_READ = """
import numpy as np, rbdc
m = rbdc.load({folder!r})
native, address = m._native, lambda a: m._native.ffi.cast("double *", a.ctypes.data)
x, short = np.zeros(2), np.zeros(1)
native.lib.double_pendulum_rnea(address(x), address(x), address(short), native.ffi.NULL, address(x))
"""


def of_contacts() -> tuple[str, ...]:
    """Return the functions that a contact adds."""
    model = read("double_pendulum", BuildOptions(contacts=TIP))
    return tuple(sorted({*functions_of(model)} - {*functions_of(read("double_pendulum", BuildOptions()))}))


CASES: Mapping[str, Callable[[], tuple[Any, dict[str, Any]]]] = {
    "functions of every kind": lambda: (
        small_tree(4),
        {"functions": OF_EVERY_KIND, "targets": ("c", "batch")},
    ),
    "values": lambda: (small_tree(1), {"functions": without_derivatives(), "targets": ("c", "batch")}),
    "every function": lambda: (small_tree(2), {"preset": "full", "targets": ("c", "batch")}),
    "rolled": lambda: (
        mimic_tree("coupled"),
        {"functions": rollable(), "style": "rolled", "targets": ("c", "batch")},
    ),
    "rolled of every joint type": lambda: (
        random_tree(6),
        {"functions": available(random_tree(6)), "style": "rolled", "targets": ("c", "batch")},
    ),
    "second order": lambda: (
        "cartpole",
        {"functions": ("aba_second_derivatives", "aba_hessian_vector"), "targets": ("c", "casadi")},
    ),
    "second order of every joint type": lambda: (
        small_tree(4),
        {"functions": SECOND, "targets": ("c", "batch")},
    ),
    "second order of floats": lambda: (
        small_tree(1),
        {"functions": SECOND, "targets": ("c",), "dtype": "float32"},
    ),
    "contacts": lambda: (
        "double_pendulum",
        {"functions": of_contacts(), "contacts": TIP, "targets": EVERY_TARGET},
    ),
    "reduced loops": lambda: (
        written("four_bar"),
        {
            "functions": OF_REDUCED_LOOPS,
            "contacts": FOUR_BAR,
            "loops": "reduce:j_crank",
            "targets": EVERY_TARGET,
        },
    ),
    "frameworks": lambda: ("cartpole", {"preset": "optimisation", "targets": EVERY_TARGET}),
    "loops and windows": lambda: (
        chain(24),
        {"functions": ("rnea_derivatives", "minverse"), "targets": ("c",)},
    ),
}


def call_all(case: str, out: str) -> None:
    """Verify the package of a case, and call the derivatives of its library for CasADi."""
    folder = build(case, out, verify=True)
    if "casadi" in CASES[case]()[1]["targets"]:
        call_externals(folder)


def build(case: str, out: str, *, verify: bool) -> Path:
    """Return the package of a case in the folder `out`."""
    description, options = CASES[case]()
    flags = (*UNOPTIMISED, "-g1", *(SANITIZERS if case not in SLOWLY_COMPILED else ("-fsanitize=address",)))
    request = BuildOptions(
        compiler="gcc", cflags=flags, out=Path(out), snap=0.0, jobs=1, verify=verify, name="robot", **options
    )
    return build_package(description, request).directory


def watched(code: str, folder: Path) -> tuple[int, str]:
    """Return the exit status of Python code in whose process the sanitizers watch, and what they found."""
    (folder / "shim.c").write_text(SHIM)
    subprocess.run(["gcc", "-shared", "-fPIC", "shim.c", "-o", "shim.so"], cwd=folder, check=True)
    # Links do not have the flags, so that the package does not name these libraries.
    asked = [["gcc", f"-print-file-name={library}.so"] for library in ("libasan", "libubsan")]
    there = [subprocess.run(x, capture_output=True, text=True, check=True).stdout.strip() for x in asked]
    options = f"detect_leaks=0:verify_asan_link_order=0:log_path={folder}/found"
    environment = {
        **os.environ,
        "LD_PRELOAD": " ".join([f"{folder}/shim.so", *there]),
        "ASAN_OPTIONS": options,
        "UBSAN_OPTIONS": f"print_stacktrace=1:log_path={folder}/found",
        "PYTHONMALLOC": "malloc",
    }
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
    )
    reports = "".join(path.read_text() for path in folder.glob("found.*"))
    return done.returncode, reports + done.stderr


pytestmark = pytest.mark.skipif(
    platform.system() != "Linux" or shutil.which("gcc") is None, reason="needs gcc's libasan"
)

LONGEST = (
    *("contacts", "rolled of every joint type", "second order of floats"),
    *("second order of every joint type", "loops and windows", "values", "every function"),
)
"""Cases of a minute each: the exhaustive tier has them."""
LIKE_OTHERS = ("rolled", "reduced loops")
"""Cases whose kinds of C other cases have: the exhaustive tier has them too."""


@pytest.mark.parametrize("case", slow_but(CASES, (), CASES.keys() - {*LONGEST, *LIKE_OTHERS}))
def test_verification_under_sanitizers(case: str, tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    build(case, out, verify=False)  # compiles, which nobody has to watch
    code = f"from tests.emit.test_sanitizers import call_all; call_all({case!r}, {out!r})"
    status, reports = watched(code, tmp_path)
    assert status == 0, reports[:4000]


@pytest.mark.slow
def test_sanitizers_find_what_is_wrong(tmp_path: Path) -> None:
    """Accelerations that are one number short."""
    flags = (*UNOPTIMISED, *SANITIZERS)
    options = BuildOptions(functions=("rnea",), compiler="gcc", cflags=flags, out=tmp_path, verify=False)
    folder = build_package("double_pendulum", options).directory
    status, reports = watched(LARGE_READ.format(folder=str(folder)), tmp_path)
    assert status != 0 and "heap-buffer-overflow" in reports
