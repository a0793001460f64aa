"""One entry point for several functions: the values of each function; shared quantities are computed once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import rbdc
from rbdc.errors import OptionError
from rbdc.functions.catalogue import functions_of
from rbdc.functions.record import Policy
from rbdc.ir.cost import cost
from rbdc.model import Problem
from rbdc.planning.candidates import chosen
from rbdc.planning.fusion import fused, fused_functions
from rbdc.resources import resolve
from tests.support import UNOPTIMISED, assert_close, build_module
from tests.support_trees import mimic_tree

ARM = ("rnea", "crba", "frame_jacobian@lbr_iiwa_link_7@WORLD", "frame_velocity@lbr_iiwa_link_3")
DYNAMICS = ("aba", "minverse", "aba_derivatives")


def test_values_are_those_of_the_functions_alone() -> None:
    module = build_module(
        "kuka_iiwa",
        functions=("rnea", "crba", "frame_jacobian", "frame_velocity"),
        fuse=(ARM,),
        cflags=UNOPTIMISED,
    )
    rng = np.random.default_rng(0)
    q, v, a = rng.uniform(-1.0, 1.0, (3, 5, 7))
    fext = rng.uniform(-1.0, 1.0, (5, 7, 6))
    for forces in (None, fext):
        tau, inertia, jacobian, velocity = module.rnea_and_crba_and_frame_jacobian_and_frame_velocity(
            q, v, a, forces
        )
        assert_close(tau, module.rnea(q, v, a, forces), 1e-14)
        assert_close(inertia, module.crba(q), 1e-14)
        assert_close(jacobian, module.frame_jacobian(q, "lbr_iiwa_link_7", "WORLD"), 1e-14)
        assert_close(velocity, module.frame_velocity(q, v, "lbr_iiwa_link_3"), 1e-14)


@pytest.mark.slow
def test_limbs_still_run_in_lanes() -> None:
    names = ("crba", "minverse", "aba")
    module = build_module("solo12", root_joint="free-flyer", functions=names, fuse=(names,))
    rng = np.random.default_rng(0)
    q, (v, tau) = module.random_configuration(rng), rng.uniform(-1.0, 1.0, (2, 18))
    results = module.crba_and_minverse_and_aba(q, v, tau)
    expected = (module.crba(q), module.minverse(q), module.aba(q, v, tau))
    for result, alone in zip(results, expected, strict=True):
        assert_close(result, alone, 1e-12)
    model = Problem.from_urdf(resolve("solo12"), root_joint="free-flyer")
    _, (program, *_) = chosen(model, fused(model, names))
    assert cost(program).vectors > 0


@pytest.mark.parametrize("names", [("rnea", "crba"), ("rnea_derivatives", "aba_derivatives"), DYNAMICS])
def test_it_takes_less_than_the_functions_one_by_one(names: tuple[str, ...]) -> None:
    model = Problem.from_urdf(resolve("kuka_iiwa"))
    catalogue = functions_of(model)
    together = cost(chosen(model, fused(model, names))[1][0])
    alone = [cost(chosen(model, catalogue[name])[1][0]) for name in names]
    assert together.operations < sum(c.operations for c in alone)


FORMS = [("unrolled", "aba_jvp"), ("rolled", "minverse"), ("rolled", "rnea_derivatives")]


@pytest.mark.parametrize(("style", "last"), FORMS)
def test_forms_of_the_last_function_are_not_taken_for_all(style: str, last: str) -> None:
    """The build verifies every output; a method that the last function follows is none of the fused ones."""
    tree = mimic_tree("coupled")
    names = ("gravity_torque", last)
    module = build_module(tree, functions=names, fuse=(names,), style=style, cflags=UNOPTIMISED)
    q, *rest = np.random.default_rng(0).uniform(-1.0, 1.0, (6, module.nv))
    count = {"minverse": 0, "rnea_derivatives": 2, "aba_jvp": 5}[last]
    together = getattr(module, f"gravity_torque_and_{last}")(q, *rest[:count])
    assert_close(together[0], module.gravity_torque(q), 1e-12)


def test_no_fused_function_has_loops_or_kernels_of_a_part() -> None:
    model = Problem.from_urdf(resolve("kuka_iiwa"))
    catalogue = functions_of(model)
    last = [n for n, f in catalogue.items() if n != "gravity_torque" and not f.declaration.framed]
    policies = [fused(model, ("gravity_torque", name)).policy for name in last]
    assert all(replace(policy, dense_right_sides=False) == Policy() for policy in policies)


def test_outputs_with_one_name_get_that_of_their_function() -> None:
    model = Problem.from_urdf(resolve("double_pendulum"))
    declaration = fused(model, ("rnea", "nle", "aba")).declaration
    assert declaration.name == "rnea_and_nle_and_aba"
    assert [p.name for p in declaration.inputs] == ["q", "v", "a", "tau", "fext"]
    assert [p.name for p in declaration.outputs] == ["rnea_tau", "nle_tau", "ddq"]


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (("rnea",), "two or more"),
        (("rnea", "rnea"), "each once"),
        (("rnea", "mass"), "no function 'mass'"),
        (("rnea@link", "crba"), "rnea takes no frame"),
        (("rnea", "frame_jacobian"), "name the frame, as in frame_jacobian@"),
        (("rnea", "frame_jacobian@tool\n"), "name the frame"),
        (("aba", "operational_space@base_link"), "no joint moves this frame, so operational_space is undef"),
    ],
)
def test_what_cannot_be_fused_is_named(names: tuple[str, ...], said: str) -> None:
    model = Problem.from_urdf(resolve("double_pendulum"))
    with pytest.raises(OptionError, match=said):
        fused(model, names)


def test_groups_of_the_same_functions_are_refused() -> None:
    """The entry point of one group would replace that of the other."""
    model = Problem.from_urdf(resolve("kuka_iiwa"))
    groups = [("crba", f"frame_velocity@lbr_iiwa_link_{k}") for k in (3, 5)]
    with pytest.raises(OptionError, match="give each of crba_and_frame_velocity once"):
        fused_functions(model, groups)


def test_forward_dynamics_of_a_singular_model_is_refused() -> None:
    with pytest.raises(rbdc.RbdcError, match="singular"):
        build_module("cartpole", root_joint="free-flyer", functions=("rnea",), fuse=(("rnea", "aba"),))
