"""Armature, damping, springs and dry friction in every function that they enter, against Pinocchio, MuJoCo
and complex steps.

Every build compares what it compiled, in all ways of calling it, with the references; here these are tried
too.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import casadi
import numpy as np
import pinocchio
import pytest

import rbdc
from rbdc.algorithms.reference.aba import aba
from rbdc.algorithms.reference.rnea import rnea
from rbdc.algorithms.trace import silent
from rbdc.functions.catalogue import functions_of, presets
from rbdc.functions.evaluation import arrays
from rbdc.functions.references import reference_of
from rbdc.model import Problem
from rbdc.model.description import DriveTerm
from rbdc.options import BuildOptions
from rbdc.pipeline import build_package
from rbdc.report.methods.peers.assembly import save_model
from rbdc.resources import resolve
from tests.laws.test_derivatives import complex_step
from tests.laws.test_lanes import creature
from tests.laws.test_second_derivatives import check
from tests.support import UNOPTIMISED, Array, assert_close, build_module, slow_but
from tests.support_differences import central
from tests.support_trees import mimic_tree, random_tree

FUNCTIONS = (
    "rnea",
    "nle",
    "gravity_torque",
    "crba",
    "minverse",
    "aba",
    "rnea_derivatives",
    "aba_derivatives",
    "kinetic_energy",
    "kinetic_energy_derivatives",
)
PRODUCTS = ("rnea_vjp", "aba_vjp", "rnea_jvp", "aba_jvp")
RESISTED = ("rnea", "nle", "aba", "rnea_derivatives", "aba_vjp", "rnea_jvp", "rnea_second_derivatives")
"""Some of the functions that the width of dry friction enters."""
DAMPED = (DriveTerm.DAMPING,)
"""Loops over bodies have no other terms."""
ROLLED = tuple(name for name in FUNCTIONS if not name.startswith("kinetic"))

pin: Any = pinocchio


def driven(model: Problem, seed: int = 0, *, root: bool = False) -> Problem:
    """Return the model with drives that count at every joint but its root's, or there too; springs where a
    joint has one coordinate.
    """
    rng = np.random.default_rng(seed)
    bodies = []
    for body in model.bodies:
        armature, damping, friction, stiffness, rest = map(float, rng.uniform(0.1, 1.0, 5))
        changed = replace(
            body, armature=armature, damping=damping, friction=0.0 if body.joint.free else friction
        )
        if body.joint.nv == 1:
            changed = replace(changed, stiffness=stiffness, spring_rest=rest)
        bodies.append(changed if body.parent >= 0 or root else body)
    return replace(
        model,
        name=f"driven_{model.name}",
        bodies=tuple(bodies),
        drive_terms=tuple(DriveTerm),
        friction_width=0.3,
    )


MODELS = {
    "fixed": lambda: driven(random_tree(0, size=4), root=True),
    "free-flyer": lambda: driven(random_tree(1, size=3)),
    "driven free-flyer": lambda: driven(random_tree(3, size=2), root=True),
    "limbs in lanes": lambda: driven(creature(1), root=True),
}


@pytest.fixture(params=slow_but(MODELS, ("limbs in lanes",), ("driven free-flyer", "fixed")), scope="module")
def pair(request: pytest.FixtureRequest) -> tuple[Problem, ModuleType]:
    model = MODELS[request.param]()
    functions = FUNCTIONS if request.param == "limbs in lanes" else FUNCTIONS + PRODUCTS
    return model, build_module(model, functions=functions, cflags=UNOPTIMISED)


def state(module: ModuleType, seed: int = 0) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(seed)
    return module.random_configuration(rng), *rng.standard_normal((2, module.nv))


def resistance(model: Problem, q: Array, v: Array) -> tuple[Array, Array, Array]:
    """Return the resistance of drives and the diagonals of its derivatives by q and v, for joints without
    followers.
    """
    force, by_q, by_v = np.zeros((3, model.nv))
    for body in model.bodies:
        at, width = slice(body.index_v, body.index_v + body.joint.nv), model.friction_width
        x, square = v[at], v[at] ** 2 + width**2
        force[at] = body.damping * x + body.friction * x / np.sqrt(square)
        by_v[at] = body.damping + body.friction * width**2 / square**1.5
        if body.stiffness:
            force[at] += body.stiffness * (q[body.index_q] - body.spring_rest)
            by_q[at] = body.stiffness
    return force, by_q, by_v


def test_armature_is_pinocchios(pair: tuple[Problem, ModuleType], tmp_path: Path) -> None:
    model, module = pair
    assert (
        save_model(model, tmp_path / "model.txt")
        == "damping, springs or dry friction: Pinocchio's functions do not have them"
    )
    assert save_model(replace(model, drive_terms=()), tmp_path / "model.txt") is None
    peer = pin.Model()
    peer.loadFromText(str(tmp_path / "model.txt"))
    assert np.all(np.asarray(peer.armature)[-3:] > 0.0)
    data = peer.createData()
    q, v, a = state(module)
    resisting, by_q_diagonal, by_v_diagonal = resistance(model, q, v)
    assert_close(module.rnea(q, v, a), pin.rnea(peer, data, q, v, a) + resisting)
    assert_close(module.nle(q, v), pin.nonLinearEffects(peer, data, q, v) + resisting)
    assert_close(module.gravity_torque(q), pin.computeGeneralizedGravity(peer, data, q))
    assert_close(module.aba(q, v, a), pin.aba(peer, data, q, v, a - resisting))
    upper = pin.crba(peer, data, q)
    assert_close(module.crba(q), np.triu(upper) + np.triu(upper, 1).T)
    inverse = pin.computeMinverse(peer, data, q)
    assert_close(module.minverse(q), np.triu(inverse) + np.triu(inverse, 1).T)
    assert_close(module.kinetic_energy(q, v), 0.5 * v @ module.crba(q) @ v)
    by_q, by_v, _ = pin.computeRNEADerivatives(peer, data, q, v, a)
    matrices = module.rnea_derivatives(q, v, a)
    assert_close(matrices[0], by_q + np.diag(by_q_diagonal))
    assert_close(matrices[1], by_v + np.diag(by_v_diagonal))
    assert_close(matrices[2], module.crba(q))


def test_the_width_of_friction_at_run_time() -> None:
    """The width of the build is the default; other widths give the results of a build with this width, sample
    by sample.
    """
    model = driven(random_tree(0, size=2), root=True)
    others = ("crba", "gravity_torque")
    module, rebuilt = (
        build_module(
            replace(model, friction_width=width),
            functions=(*RESISTED, *others),
            cflags=UNOPTIMISED,
            verify=k == 0,
            name=f"friction_of_width_{k}",
        )
        for k, width in enumerate((model.friction_width, 0.02))
    )
    rng = np.random.default_rng(4)
    taking = [name for name in module.functions if "friction_width" in vars(module)[f"_{name}"].arrays()[0]]
    assert sorted(taking) == sorted(RESISTED)
    for name in RESISTED:
        required = [spec for spec in vars(module)[f"_{name}"].inputs if not spec[2]]
        inputs = {key: rng.standard_normal(shape) for key, shape, *_ in required}
        inputs["q"] = module.random_configuration(rng)
        twice = {key: np.array([x, x]) for key, x in inputs.items()}
        results = getattr(module, name)(**twice, friction_width=np.array([model.friction_width, 0.02]))
        for k, build in enumerate((module, rebuilt)):
            expected = getattr(build, name)(**inputs)
            several = expected if isinstance(expected, tuple) else (expected,)
            for got, right in zip(results if len(several) > 1 else (results,), several, strict=True):
                assert_close(got[k], right, 1e-12, what=name)
    for wrong in (0.0, -1.0, np.nan):
        with pytest.raises(ValueError, match="friction_width has entries that are not positive numbers"):
            module.nle(inputs["q"], np.zeros(module.nv), wrong)


def test_derivatives_of_gravity_are_without_springs() -> None:
    """CasADi's derivatives equal central differences; those of inverse dynamics include springs, if the build
    has them.
    """
    model = replace(driven(random_tree(0, size=3), root=True), name="gravity_beside_springs")
    names = ("gravity_torque", "gravity_torque_derivatives", "rnea_derivatives", "rnea_vjp")
    module = build_module(model, functions=names, targets=("c", "casadi"), cflags=UNOPTIMISED)
    q = state(module, 2)[0]
    x = casadi.MX.sym("q", module.nq)
    J = casadi.Function("J", [x], [casadi.jacobian(module.casadi("gravity_torque")(x), x)])
    assert np.any(model.stiffness)
    assert_close(np.array(J(q)), central(module.gravity_torque, q), 1e-9)


def forms() -> dict[str, tuple[Problem, dict[str, Any]]]:
    """Return by name a small model of each kind with drives, for each form of its first derivatives."""
    kinds = {
        "fixed": driven(random_tree(0, size=3), root=True),
        "free-flyer": driven(random_tree(1, size=3)),
        "coupled": driven(mimic_tree("coupled"), root=True),
        "limbs": driven(creature(1), root=True),
    }
    styles: dict[str, dict[str, Any]] = {
        "batch": {"targets": ("c", "batch")},
        "single precision": {"targets": ("c", "batch"), "dtype": "float32"},
        "rolled": {"style": "rolled"},
    }
    return {
        f"{kind}, {style}": (
            replace(
                model,
                name=f"{model.name}_{style.split()[0]}",
                drive_terms=DAMPED if style == "rolled" else tuple(DriveTerm),
            ),
            options,
        )
        for kind, model in kinds.items()
        for style, options in styles.items()
    }


FORMS = forms()
FORMS_TRIED = ("fixed, rolled", "free-flyer, single precision", "limbs, batch")
"""Every model and every form once in the slow tier; all combinations are exhaustive."""


@pytest.mark.parametrize("form", slow_but(FORMS, ("coupled, batch",), FORMS_TRIED))
def test_every_form_by_complex_steps(form: str) -> None:
    """Whole blocks side by side and what is left of them."""
    model, options = FORMS[form]
    names = ("rnea_derivatives", "aba_derivatives")
    module = build_module(model, functions=names, verify=False, cflags=UNOPTIMISED, **options)
    rng, count, single = np.random.default_rng(4), 18, options.get("dtype") == "float32"
    q = np.array([module.random_configuration(rng) for _ in range(count)])
    v, a = rng.standard_normal((2, count, module.nv)).astype(q.dtype)
    fext = rng.standard_normal((count, module.njoints, 6)).astype(q.dtype)
    for name, algorithm in zip(names, (rnea, aba), strict=True):
        matrices = getattr(module, name)(q, v, a, fext)
        for k in (0, count - 1):
            at = [np.asarray(x[k], dtype=float) for x in (q, v, a, fext)]
            for got, expected in zip(matrices, complex_step(algorithm, model, *at), strict=True):
                assert_close(got[k], expected, 2e-4 if single else 1e-10)


OF_PATHS = (DriveTerm.DAMPING, DriveTerm.SPRINGS)
"""Second derivatives of more than three degrees of freedom with dry friction are straight-line code."""
SECOND = {
    "fixed": lambda: driven(random_tree(4, size=4), root=True),
    "free-flyer": lambda: driven(random_tree(1, size=4)),
    "coupled": lambda: driven(mimic_tree("coupled"), root=True),
    "limbs": lambda: driven(creature(1), root=True),
    "straight-line": lambda: driven(Problem.from_urdf(resolve("double_pendulum")), root=True),
}


@pytest.mark.parametrize("which", slow_but(SECOND, ("straight-line",), ("limbs",)))
def test_second_derivatives_by_complex_steps(which: str) -> None:
    """Second derivatives are complex steps of the first ones, with all drives; weighted Hessians follow from
    them.
    """
    terms = OF_PATHS if which in ("fixed", "free-flyer", "limbs") else tuple(DriveTerm)
    model = replace(SECOND[which](), name=f"driven_second_{which.replace('-', '_')}", drive_terms=terms)
    check(build_module(model, functions=presets()["second"], verify=False, cflags=UNOPTIMISED), model)


@pytest.mark.slow
def test_rolled_and_single_precision() -> None:
    """Verified by the build against the references."""
    for model in (
        driven(random_tree(1, size=3), root=True),
        replace(driven(mimic_tree("coupled"), root=True), name="driven_mimics"),
    ):
        model = replace(model, drive_terms=DAMPED)
        build_module(model, functions=ROLLED, style="rolled", name=f"{model.name}_rolled", cflags=UNOPTIMISED)
    build_module(
        model,
        functions=("rnea", "aba", "crba"),
        targets=("c", "batch"),
        dtype="float32",
        name="driven_float",
        cflags=UNOPTIMISED,
    )


def test_references_of_hessian_products_tell_rates_of_springs_and_of_damping_apart() -> None:
    """They are rates, in a direction, of products with the derivatives by coordinates and by velocities."""
    model = driven(random_tree(0))
    function, rng = functions_of(model)["aba_hessian_product"], np.random.default_rng(2)
    inputs = {p.name: rng.normal(size=p.size).tolist() for p in function.declaration.required}
    inputs["q"] = model.neutral()
    products = next(iter(function.methods.values()))(model, inputs, silent)
    right = arrays(reference_of(function)(model, *inputs.values()))
    for one, other in zip(products, right, strict=True):
        assert_close(np.array(one, dtype=float), np.array(other, dtype=float), 1e-9)


def test_modules_say_which_equation_holds(tmp_path: Path) -> None:
    joint = rbdc.Joint("j", "revolute", "base", "arm", damping=0.5, friction=0.25, stiffness=2.0)
    inertia = rbdc.Inertia(3.0, rbdc.Vector3.zero(), rbdc.Symmetric3(1.0, 0.0, 1.0, 0.0, 0.0, 1.0))
    arm = rbdc.Model.assemble("drive", [rbdc.Link("base"), rbdc.Link("arm", inertia)], [joint])
    options: dict[str, Any] = {"functions": ("rnea", "aba"), "cflags": UNOPTIMISED, "targets": ("c",)}
    plain = rbdc.load(build_package(arm, BuildOptions(out=tmp_path / "plain", **options)).directory)
    terms: dict[str, Any] = dict.fromkeys(("damping", "springs", "friction"), "include")
    whole = rbdc.load(build_package(arm, BuildOptions(out=tmp_path / "whole", **terms, **options)).directory)
    drives = "D v + K (q - q_rest) + F v / sqrt(v^2 + w^2)"
    for module, has in ((plain, False), (whole, True)):
        texts = {file: (Path(str(module.__file__)).parent / file).read_text() for file in FILES}
        assert all((drives in text) == has for text in [*texts.values(), str(module.rnea.__doc__)])
        assert [float(x[0]) for x in (module.damping, module.stiffness, module.friction)] == (
            [0.5, 2.0, 0.25] if has else [0.0, 0.0, 0.0]
        )
        assert module.masses.tolist() == [3.0] and module.parents == (-1,)
    assert "- D v - K (q - q_rest) - F v / sqrt(v^2 + w^2)" in str(whole.aba.__doc__)


FILES = ("drive.h", "README.md", "__init__.pyi")
