"""A joint type of two coordinates: it is drawn in whole, and equals a slide and a hinge without mass between
them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest

from rbdc import Joint, Limits, Link, Placement
from rbdc.model import Problem
from rbdc.model.joints import Cylindrical, Revolute
from tests.support import UNOPTIMISED, assert_close, build_module
from tests.support_trees import random_inertia, random_placement, vector

FUNCTIONS = ("rnea", "aba", "crba", "rnea_derivatives", "integrate", "difference")


def arm(*, split: bool) -> Problem:
    """Return hinges before and after a cylindrical joint; `split`: that as a slide that carries a hinge."""
    rng = np.random.default_rng(3)
    axes = [vector(rng.standard_normal(3)) for _ in range(3)]
    placements, bodies = [random_placement(rng) for _ in range(3)], [random_inertia(rng) for _ in range(3)]
    links, joints = [Link("base"), *(Link(f"link{k}", inertia) for k, inertia in enumerate(bodies))], []
    for k, above in enumerate(("base", "link0", "link1")):
        parent, placement = above, placements[k]
        if k == 1:
            links.append(Link("between"))
            joints.append(Joint("slide", "prismatic", above, "between", placement, axes[k], Limits(0.1, 0.2)))
            parent, placement = "between", Placement.identity()
        joints.append(Joint(f"joint{k}", "revolute", parent, f"link{k}", placement, axes[k]))
    model = Problem.assemble("apart", links, joints)
    return model if split else joined(model)


def joined(model: Problem) -> Problem:
    """Return the model with the slide and the hinge that it carries as one joint."""
    first, slide, hinge, last = model.bodies
    assert isinstance(hinge.joint, Revolute)
    one = replace(
        hinge, joint=Cylindrical(hinge.joint.axis), parent=0, placement=slide.placement, index_q=1, index_v=1
    )
    one = replace(one, limits=Limits(0.1, 0.2))
    frames = tuple(
        replace(frame, body=frame.body - (frame.body > 1))
        for frame in model.frames
        if frame.name != "between"
    )
    return replace(model, name="joined", bodies=(first, one, replace(last, parent=1)), frames=frames)


def test_every_function_is_that_of_a_slide_and_a_hinge() -> None:
    """The build compares the functions with the references, and draws the states that it does so at."""
    one, two = (
        build_module(arm(split=split), functions=FUNCTIONS, cflags=UNOPTIMISED) for split in (False, True)
    )
    assert (one.nq, one.nv, one.njoints, two.njoints) == (4, 4, 3, 4)
    rng = np.random.default_rng(0)
    q, v, a = one.random_configuration(1), rng.standard_normal(4), rng.standard_normal(4)
    assert_close(one.rnea(q, v, a), two.rnea(q, v, a), 1e-12)
    assert_close(one.aba(q, v, a), two.aba(q, v, a), 1e-10)
    for result, expected in zip(one.rnea_derivatives(q, v, a), two.rnea_derivatives(q, v, a), strict=True):
        assert_close(result, expected, 1e-11)
    assert_close(one.difference(q, one.integrate(q, v)), v, 1e-14)


def test_every_entry_is_drawn() -> None:
    module = build_module(arm(split=False), functions=FUNCTIONS, cflags=UNOPTIMISED)
    drawn = np.array([module.random_configuration(seed) for seed in range(50)])
    assert np.all((drawn[:, 1:3] >= 0.1) & (drawn[:, 1:3] <= 0.2)), "limits are those of both coordinates"
    assert np.all(np.ptp(drawn, axis=0) > 0.05)


def test_sampling_that_does_not_fit_is_refused() -> None:
    with pytest.raises(
        TypeError, match=r"Half.sampling is 'revolute', which draws 1 of nq = 2 entries: name"
    ):

        class Half(Cylindrical):
            sampling: ClassVar[str] = "revolute"

    with pytest.raises(TypeError, match=r"Empty.sampling is '', which draws 0 of nq = 2 entries"):

        class Empty(Cylindrical):
            sampling: ClassVar[str] = ""

    with pytest.raises(TypeError, match=r"Wide.sampling is 'revolute', which draws 1 of nq = 2 entries"):

        class Wide(Revolute):
            nq: ClassVar[int] = 2

    with pytest.raises(TypeError, match="Uneven is euclidean with nq = 2 and nv = 1: make them equal"):

        class Uneven(Cylindrical):
            nv: ClassVar[int] = 1
