"""Second derivatives of inverse dynamics against Pinocchio's C++, which its Python does not have, and of
forward dynamics against products of them by Eigen: all robots, on their own root and on a free one.
"""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

from rbdc.functions.catalogue import functions_of
from rbdc.model import Problem
from rbdc.planning.availability import buildable
from rbdc.report.accuracy import draw, inputs_of
from rbdc.report.methods.peers import headers, pinocchio
from rbdc.report.methods.peers.assembly import save_model
from rbdc.resources import resolve
from tests.report.test_pinocchio_peer import needs_headers, opened, pointers
from tests.support import ROOTS, UNOPTIMISED, URDF_ROBOTS, assert_close, build_module

FUNCTIONS = ("rnea_second_derivatives", "aba_second_derivatives")
SAMPLES = 3

pytestmark = pytest.mark.exhaustive


@pytest.fixture(scope="module")
def library() -> ctypes.CDLL:
    """Return a build of this function, which takes minutes unless it is in the cache."""
    needs_headers()
    with pytest.MonkeyPatch.context() as patch:
        compilers = headers.compilers()
        patch.setattr(pinocchio, "compilers", lambda: compilers[:1])
        (build,) = pinocchio.builds("pinocchio-native", FUNCTIONS, lambda _: None)
    return opened(build)


@pytest.mark.parametrize(("function", "tolerance"), [*zip(FUNCTIONS, (1e-10, 1e-8), strict=True)])
@pytest.mark.parametrize("root", ROOTS)
@pytest.mark.parametrize("robot", URDF_ROBOTS)
def test_tensors_agree(
    robot: str, root: str, function: str, tolerance: float, library: ctypes.CDLL, tmp_path: Path
) -> None:
    """The tolerance is relative to the largest entry of each tensor; the angular block of a free root is
    reordered.
    """
    model = Problem.from_urdf(resolve(robot), root_joint=root)
    if not buildable(model, [function], None)[0]:
        pytest.skip("its inertia is singular in every configuration")
    assert save_model(model, tmp_path / "model.txt") is None
    module = build_module(robot, root_joint=root, functions=(function,), cflags=UNOPTIMISED, verify=False)
    context = ctypes.c_void_p(library.rbdc_peer_load(str(tmp_path / "model.txt").encode()))
    assert context.value
    declaration, drawn = functions_of(model)[function].declaration, draw(model, SAMPLES)
    for k in range(SAMPLES):
        state = [np.ascontiguousarray(drawn[name][k]) for name in inputs_of(declaration, drawn)]
        theirs = [np.zeros(output.shape) for output in declaration.outputs]
        for suffix in ("", "_fetch"):
            getattr(library, f"rbdc_peer_{function}{suffix}")(context, pointers(state), pointers(theirs))
        for output, ours, right in zip(
            declaration.outputs, getattr(module, function)(*state), theirs, strict=True
        ):
            assert_close(ours, right, tolerance, 1e-3, f"{robot} {root} {output.name}")
