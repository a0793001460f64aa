"""Closed forms: what a textbook prints, the generated programs symbol by symbol, random trees in numbers."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy as sp
from click.testing import CliRunner
from sympy import RR, lex
from sympy.polys.rings import ring

from rbdc import Inertia, Joint, Link, Symmetric3, Vector3
from rbdc.algorithms.reference.coriolis import coriolis
from rbdc.algorithms.reference.crba import crba
from rbdc.algorithms.reference.rnea import gravity_torque, rnea
from rbdc.analysis.constants import NamedModel
from rbdc.analysis.lagrange import Equations
from rbdc.analysis.presentation import explanation
from rbdc.cli.commands import commands
from rbdc.errors import UnsupportedError
from rbdc.functions.catalogue import functions_of
from rbdc.ir.nodes import Program
from rbdc.ir.operations import CONSTANT, INPUT, OPERATIONS
from rbdc.model import Problem
from rbdc.planning.candidates import chosen
from rbdc.resources import resolve
from tests.support import Array, assert_close, slow_but
from tests.support_dh import random_tree, write


def symbols(*names: str) -> list[Any]:
    return [sp.Symbol(name) for name in names]


def equations_of(what: dict[str, Any], title: str) -> list[Any]:
    return next([x for _, x in rows] for name, rows in what["sections"] if name.startswith(title))


def test_the_cart_pole_of_textbooks() -> None:
    m, p, c, i, g, q, v, a, b = symbols(
        "m_1", "m_2", "c_2z", "I_2yy", "g", "q_2", "qdot_2", "qddot_1", "qddot_2"
    )
    expected = [
        (m + p) * a + p * c * b * sp.cos(q) - p * c * v**2 * sp.sin(q),
        p * c * a * sp.cos(q) + (i + p * c**2) * b - p * g * c * sp.sin(q),
    ]
    equations = equations_of(explanation(Problem.from_urdf(resolve("cartpole"))), "equations of motion")
    assert [sp.expand(x - y) for x, y in zip(equations, expected, strict=True)] == [0, 0]


def test_the_double_pendulum_of_textbooks() -> None:
    m1, m2, length, c1, c2, i1, i2, g = symbols("m_1", "m_2", "l_2z", "c_1z", "c_2z", "I_1xx", "I_2xx", "g")
    q1, q2, v1, v2, a1, a2 = symbols("q_1", "q_2", "qdot_1", "qdot_2", "qddot_1", "qddot_2")
    coupling = m2 * length * c2
    lower = i2 + m2 * c2**2
    across = lower + coupling * sp.cos(q2)
    upper = i1 + m1 * c1**2 + lower + m2 * length**2 + 2 * coupling * sp.cos(q2)
    tip = m2 * g * c2 * sp.sin(q1 + q2)
    expected = [
        upper * a1 + across * a2 - coupling * sp.sin(q2) * (2 * v1 * v2 + v2**2)
        - (m1 * c1 + m2 * length) * g * sp.sin(q1) - tip,
        across * a1 + lower * a2 + coupling * sp.sin(q2) * v1**2 - tip,
    ]  # fmt: skip
    what = explanation(Problem.from_urdf(resolve("double_pendulum")), neglect=1e-3)
    equations = equations_of(what, "equations of motion")
    assert [sp.expand(x - y) for x, y in zip(equations, expected, strict=True)] == [0, 0]
    assert what["neglected"]
    assert "cos(q_2)" in str(equations_of(what, "inertia")[0])
    assert equations_of(what, "gravity")[1] == -tip


class Interpreter:
    """A generated program over polynomials in q, their sines and cosines, v and a; coefficients in floats."""

    def __init__(self, equations: Equations) -> None:
        n = range(1, len(equations.coordinates) + 1)
        pairs = list(equations.turning.values())
        names = [s for _, s in pairs] + [c for c, _ in pairs]
        names += [f"{x}{k}" for x in "qva" for k in n]
        self.ring, *generators = ring(names, RR, lex)
        self.of = dict(zip(names, generators, strict=True))
        self.relations = [self.of[s] ** 2 + self.of[c] ** 2 - 1 for c, s in pairs]
        self.equations = equations

    def number(self, x: Any) -> Any:
        """Return a polynomial over named constants with their values."""
        constants = {constant.name: constant.value for constant in self.equations.named.constants}
        coordinates = {q: self.of[q.replace("_", "")] for q in self.equations.coordinates}
        values = {**self.of, **coordinates, **constants}
        total = self.ring(0)
        for monomial, coefficient in x.terms():
            term = self.ring(float(coefficient))
            for symbol, power in zip(x.ring.symbols, monomial, strict=True):
                term *= values[str(symbol)] ** power if power else 1
            total += term
        return total

    def run(self, program: Program) -> list[list[Any]]:
        values: list[Any] = []
        for value in program.values:
            arguments = [values[k] for k in value.arguments]
            operation = value.operation
            if operation is CONSTANT and value.constant is not None:
                values.append(self.ring(value.constant))
            elif operation is INPUT and value.source is not None:
                values.append(self.of[f"{value.source[0]}{value.source[1] + 1}"])
            elif operation in (OPERATIONS["sin"], OPERATIONS["cos"]):
                values.append(self.turn(*arguments)[operation is OPERATIONS["sin"]])
            else:
                assert operation.numeric is not None
                values.append(operation.numeric(*arguments))
        return [[values[k].rem(self.relations) for k in result] for result in program.results]

    def turn(self, angle: Any, offset: Any = 0) -> tuple[Any, Any]:
        """Return cosine and sine of a sum of coordinates and a constant offset."""
        constant = float(self.ring(offset).coeff(1))
        cosine, sine = self.ring(math.cos(constant)), self.ring(math.sin(constant))
        for monomial, factor in angle.terms():
            name = str(self.ring.symbols[monomial.index(1)])
            c, s = (self.of[x] for x in self.equations.turning[name.replace("q", "q_")])
            assert abs(factor) == 1 and sum(monomial) == 1
            cosine, sine = cosine * c - sine * s * int(factor), sine * c + cosine * s * int(factor)
        return cosine, sine


@pytest.mark.parametrize("robot", ["cartpole", "double_pendulum"])
def test_generated_programs_symbol_by_symbol(robot: str) -> None:
    model = Problem.from_urdf(resolve(robot), snap=1e-11)
    equations = Equations(NamedModel(model))
    interpreter = Interpreter(equations)
    n = range(model.nv)

    def same(printed: Any, expected: Any) -> None:
        difference = printed - interpreter.number(expected).rem(interpreter.relations)
        assert all(abs(x) < 1e-14 for _, x in difference.terms()), difference

    programs = {name: chosen(model, functions_of(model)[name])[1] for name in ("crba", "rnea")}
    (inertia,) = interpreter.run(programs["crba"][0])
    for i in n:
        for j in n:
            same(inertia[i * model.nv + j], equations.inertia[i][j])
    plain = min(programs["rnea"], key=lambda program: len(program.inputs))
    (torque,) = interpreter.run(plain)
    v, a = ([interpreter.of[f"{x}{k + 1}"] for k in n] for x in "va")
    for i in n:
        left = interpreter.number(equations.gravity[i])
        for j in n:
            left += interpreter.number(equations.inertia[i][j]) * a[j]
            left += sum(
                (interpreter.number(equations.christoffel[i][j][k]) * v[j] * v[k] for k in n),
                interpreter.ring(0),
            )
        assert left
        assert all(abs(x) < 1e-14 for _, x in (torque[i] - left.rem(interpreter.relations)).terms())


def check_numbers(model: Problem, seed: int) -> None:
    """M, C, g and tau of the printed expressions, in numbers."""
    what, rng = explanation(model), np.random.default_rng(seed)
    q, v, a = rng.uniform(-2.0, 2.0, (3, model.nv))
    values = {str(name): float(value) for name, value, _ in what["constants"]}
    for k in range(model.nv):
        values |= {f"q_{k + 1}": q[k], f"qdot_{k + 1}": v[k], f"qddot_{k + 1}": a[k]}

    def numbers(title: str) -> Array:
        rows = [sp.lambdify(list(map(sp.Symbol, values)), x, "math") for x in equations_of(what, title)]
        return np.array([row(*values.values()) for row in rows])

    inertia = np.zeros((model.nv, model.nv))
    inertia[np.tril_indices(model.nv)] = numbers("inertia")
    inertia += np.tril(inertia, -1).T
    state = (q.tolist(), v.tolist(), a.tolist())
    assert_close(inertia, crba(model, state[0]), 1e-12)
    assert_close(numbers("gravity"), gravity_torque(model, state[0]), 1e-12, 1e-3)
    assert_close(numbers("equations of motion"), rnea(model, *state), 1e-12)
    product = numbers("Coriolis").reshape(model.nv, model.nv) @ v
    assert_close(product, np.array(coriolis(model, *state[:2]), dtype=float) @ v, 1e-12)


@pytest.mark.parametrize("seed", slow_but(range(4), (0, 2)))
def test_random_trees(seed: int, tmp_path: Path) -> None:
    check_numbers(Problem.from_file(write(random_tree(seed, 2 + seed % 2), tmp_path)), seed)


def test_any_axis_drives_and_gravity() -> None:
    inertia = Inertia.about_com(1.5, Vector3(0.1, 0.2, -0.1), Symmetric3(0.3, 0.01, 0.2, 0.02, 0.0, 0.25))
    model = Problem.assemble(
        "odd",
        [Link("base"), Link("a", inertia), Link("b_&<", inertia)],
        [
            Joint("one", "revolute", "base", "a", axis=Vector3(1.0, 2.0, 2.0), damping=0.3, friction=0.4),
            Joint("two", "prismatic", "a", "b_&<", axis=Vector3(0.0, 3.0, 4.0), damping=0.2, stiffness=7.0,
                  spring_rest=0.1),
        ],
        gravity=(1.0, 2.0, -9.0), armature=(("one", 0.2),), damping="include",
        springs="include", friction="include", friction_width=0.2,
    )  # fmt: skip
    check_numbers(model, 0)


def run(*arguments: str) -> Any:
    return CliRunner().invoke(commands, ["explain", *arguments])


def test_formats(tmp_path: Path) -> None:
    table = random_tree(0, 1)
    table["joints"][0]["name"] = "a_b$<i>"
    path = str(write(table, tmp_path))
    text, latex, html = (run(path, "--format", form).stdout for form in ("text", "latex", "html"))
    assert 'q_1   "a_b$<i>"' in text
    assert r'"a\_b\$<i>"' in latex
    assert r"\ddot{q}_{1}" in latex
    assert "a_b$&lt;i&gt;" in html
    assert "<i>" not in html
    assert "qdot" not in html
    assert text == run(path).stdout


def test_pages_round_constants_and_keep_all_digits(tmp_path: Path) -> None:
    """Six digits are read; those that the text has are a pointer away."""
    path = str(write(random_tree(0, 1), tmp_path))
    text, html = (run(path, "--format", form).stdout for form in ("text", "html"))
    constants = text.partition("constants\n")[2].partition("\n\n")[0]
    values = [line.split()[1] for line in constants.splitlines()]
    assert any(len(value) > 12 for value in values)
    for value in values:
        assert f'title="{value}" data-head="value">{float(value):.6g}</td>' in html


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["kuka_iiwa"], "lbr_iiwa has 7 degrees of freedom: closed forms are for up to 4"),
        (["cartpole", "--root-joint", "free-flyer"], "has 8 degrees of freedom"),
        (["cartpole", "--neglect", "1.5"], "--neglect 1.5: give a number"),
        (["cartpole", "--neglect", "nan"], "--neglect nan: give a number"),
    ],
)
def test_refused(arguments: list[str], message: str) -> None:
    result = run(*arguments)
    *warnings, error = result.stderr.strip().splitlines()
    assert result.exit_code == 2 and all(line.startswith("warning: ") for line in warnings)
    assert error.startswith("rbdc: error: ") and message in error


def test_joints_that_have_no_closed_form() -> None:
    ball = [
        Link("base"),
        Link("a", Inertia.about_com(1.0, Vector3.zero(), Symmetric3.diagonal(1.0, 1.0, 1.0))),
    ]
    model = Problem.assemble("ball", ball, [Joint("j", "spherical", "base", "a")])
    with pytest.raises(UnsupportedError, match='joint "j" is spherical'):
        explanation(model)
    locks = tuple((f"panda_joint{k}", 0.1) for k in range(1, 8))
    fingers = Problem.from_urdf(resolve("panda"), mimic="coupled", lock=locks)
    with pytest.raises(UnsupportedError, match="follows another"):
        explanation(fingers)


def test_what_is_computed_from_rounded_numbers_is_no_constant() -> None:
    """A uniform rod given about its end: about its centre, along it, there is nothing."""
    rod = Inertia.about_com(0.7, Vector3(0.31, 0.0, 0.0), Symmetric3.diagonal(0.0, 0.02, 0.02))
    model = Problem.assemble("rod", [Link("base"), Link("a", rod)], [Joint("j", "revolute", "base", "a")])
    names = [c.name for c in NamedModel(model).constants]
    assert names == ["m_1", "c_1x", "I_1yy", "I_1zz", "g"]
    assert math.isclose(next(c.value for c in NamedModel(model).constants if c.name == "I_1yy"), 0.02)
