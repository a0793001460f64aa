"""A small package compiled for several processors by both compilers: verified as every build is.

gcc chooses instructions by the processor that it tunes for, whatever it may use; `CC="gcc -mtune=haswell"`
runs any other test so.
"""

from __future__ import annotations

import platform
from pathlib import Path

import numpy as np
import pytest

import rbdc
from tests.support import COMPILERS, assert_close, slow_but

TUNINGS = {
    "znver3": "gcc -mtune=znver3",
    "icelake-server": "gcc -mtune=icelake-server",
    "haswell": "gcc -mtune=haswell",
    "generic": "gcc -mtune=generic",
    "clang": "clang",
}
FLAGS = ("-O2", "-ffp-contract=fast", "-fno-math-errno", "-march=haswell")
FUNCTIONS = ("rnea", "crba", "aba", "minverse", "forward_kinematics", "rnea_derivatives")

pytestmark = pytest.mark.skipif(
    platform.machine() != "x86_64" or "avx2" not in Path("/proc/cpuinfo").read_text(),
    reason="no x86 processor with AVX2",
)


@pytest.mark.parametrize("tuning", slow_but(TUNINGS, ("icelake-server",), ("clang",)))
def test_a_package_for_every_tuning(tuning: str, tmp_path: Path) -> None:
    compiler = TUNINGS[tuning]
    if compiler.split()[0] not in COMPILERS:
        pytest.skip(f"no {compiler.split()[0]}")
    module = rbdc.build(
        "double_pendulum_continuous",
        functions=FUNCTIONS,
        targets=("c", "batch"),
        cc=compiler,
        cflags=FLAGS,
        out=tmp_path,
    )
    q, v, a = np.random.default_rng(0).standard_normal((3, 20, module.nv))
    tau = module.rnea(q, v, a)
    assert_close(module.aba(q, v, tau), a, 1e-12)
    assert_close(module.rnea_derivatives(q, v, a)[2], module.crba(q), 1e-13)
    assert_close(module.minverse(q) @ module.crba(q), np.broadcast_to(np.eye(2), (20, 2, 2)), 1e-12)
