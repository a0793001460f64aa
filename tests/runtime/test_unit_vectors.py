"""Quaternions, and cosines and sines of planar joints: off the unit length they are refused, and `normalised`
mends them.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

from tests.support import UNOPTIMISED, build_module

FUNCTIONS = ("rnea", "integrate", "difference")


@pytest.fixture(scope="module")
def module() -> ModuleType:
    """A free joint with its quaternion at q[3:7], a planar one with cosine and sine at q[9:11]."""
    options: dict[str, Any] = {"targets": ("c", "batch"), "cflags": UNOPTIMISED, "name": "planar_units"}
    return build_module("planar_floating", functions=FUNCTIONS, **options)


def scaled(q: Any, first: int, count: int, factor: float) -> Any:
    """Return q with some entries times a factor."""
    changed = np.array(q)
    changed[..., first : first + count] *= factor
    return changed


VECTORS = [(9, 2, "cosine and sine"), (3, 4, "quaternion")]


@pytest.mark.parametrize(("first", "count", "kind"), VECTORS)
@pytest.mark.parametrize("factor", [0.0, 1.7, 1.0 + 2e-6, 1.0 - 2e-6])
def test_vectors_off_the_unit_length_are_refused(
    module: ModuleType, first: int, count: int, kind: str, factor: float
) -> None:
    q, v = module.random_configuration(0), module.v_zero
    off, place = scaled(q, first, count, factor), f"{first}:{first + count}"
    message = (
        rf"argument {{}} has no unit {kind}: the length of {{}}\[{{}}{place}\] is {factor:.9g}; give {{}}"
    )
    for function, others in ((module.rnea, (v, v)), (module.integrate, (v,))):
        for argument in (off, off.tolist()):
            with pytest.raises(ValueError, match=message.format("q", "q", "", "q as normalised")):
                function(argument, *others)
    with pytest.raises(ValueError, match=message.format("q1", "q1", "", "q1 as normalised")):
        module.difference(q, off)
    several = np.array([q] * 70)
    several[67] = off
    for threads in (1, 3):
        with pytest.raises(ValueError, match=message.format("q", "q", "67, ", "q as")):
            module.rnea(several, v, v, num_threads=threads)
    blocks = np.ascontiguousarray(np.moveaxis(several[:64].reshape(8, 8, -1), 1, -1))
    blocks[5, :, 3] = off
    still = np.zeros((8, module.nv, 8))
    with pytest.raises(ValueError, match=message.format("q", "q", "5, 3, ", "q as")):
        module.rnea(blocks, still, still, layout="lanes")


@pytest.mark.parametrize(("first", "count", "_"), VECTORS)
def test_rounding_is_no_fault(module: ModuleType, first: int, count: int, _: str) -> None:
    q, v = module.random_configuration(0), module.v_zero
    for factor in (1.0 + 9e-7, 1.0 - 9e-7):
        assert np.isfinite(module.rnea(scaled(q, first, count, factor), v, v)).all()


def test_normalised(module: ModuleType) -> None:
    q = np.array([module.random_configuration(k) for k in range(3)])
    off = scaled(scaled(q, 9, 2, 5.0), 3, 4, 0.01)
    np.testing.assert_allclose(module.normalised(off), q, rtol=0, atol=1e-15)
    np.testing.assert_allclose(off, scaled(scaled(q, 9, 2, 5.0), 3, 4, 0.01))
    with pytest.raises(ValueError, match="normalised: argument q has no direction in entries 3 to 6"):
        module.normalised(scaled(q, 3, 4, 0.0))
    with pytest.raises(ValueError, match=r"normalised: argument q has shape \(3,\)"):
        module.normalised(np.zeros(3))


@pytest.mark.parametrize("restitution", [-0.1, 2.0, np.nan, [1.5], [[0.5], [1.5]]])
def test_restitution_is_between_0_and_1(restitution: Any) -> None:
    contacts, functions = ["tip=point@link2:0,0,-1"], ("impulse_dynamics",)
    options: dict[str, Any] = {"contacts": contacts, "functions": functions, "cflags": UNOPTIMISED}
    m = build_module("double_pendulum", name="struck", **options)
    with pytest.raises(ValueError, match="argument restitution has entries that are not between 0 and 1"):
        m.impulse_dynamics(m.q_neutral, m.v_zero, restitution, mu=1e-6)
