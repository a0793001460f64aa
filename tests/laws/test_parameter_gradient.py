"""The gradient of w^T rnea by inertial parameters, and how it changes with the motion."""

from __future__ import annotations

import numpy as np
import pytest

from tests.laws.test_christoffel import TREES
from tests.laws.test_motion import TOLERANCE, rate
from tests.support import UNOPTIMISED, assert_close, build_module


@pytest.mark.parametrize("which", TREES)
def test_parameter_gradient(which: str) -> None:
    """Its rate along a direction of q, v and a by differences; without motors, as rnea is linear in the
    parameters, its product with these is w . rnea, and that of its rate w . rnea_jvp.
    """
    model, gradient = TREES[which](), "rnea_parameter_gradient"
    functions = (gradient, "rnea_parameter_hessian_product", "rnea", "rnea_jvp", "integrate")
    module = build_module(model, functions=functions, cflags=UNOPTIMISED)
    rng = np.random.default_rng(5)
    q = module.random_configuration(rng)
    v, a, w, dq, dv, da = rng.uniform(-1.0, 1.0, (6, module.nv))
    found = module.rnea_parameter_gradient(q, v, a, w)
    mixed = module.rnea_parameter_hessian_product(q, v, a, w, dq, dv, da)
    slope = rate(
        lambda t: module.rnea_parameter_gradient(module.integrate(q, t * dq), v + t * dv, a + t * da, w)
    )
    assert_close(mixed, slope, TOLERANCE, float(np.abs(found).max()), which)
    if any(body.armature for body in model.bodies):
        return
    parameters = np.array([x for body in model.bodies for x in body.inertia.scalars()], dtype=float)
    assert_close(found @ parameters, w @ module.rnea(q, v, a), 1e-10, 1.0, which)
    assert_close(mixed @ parameters, w @ module.rnea_jvp(q, v, a, dq, dv, da), 1e-10, 1.0, which)
