"""Base inertial parameters: the combinations of a robot's inertial parameters that its motion and torques
identify.

Torques are linear in the inertial parameters pi: tau = Y(q, v, a) pi. Stacked over many states, Y has
dependent columns, and only combinations of the parameters of these columns are identifiable. These
combinations are computed by an orthogonal decomposition: Gautier (1991), Numerical calculation of the base
inertial parameters of robots; Khalil and Dombre, Modeling, Identification and Control of Robots, chapter 9.

For small robots `combinations` returns the combinations in symbols, with lengths as named constants. The mass
matrix M and the gravity torque dV/dq are linear in the ten parameters of each body. Written as polynomials in
sines, cosines and positions, they have a column of coefficients for each parameter; exact elimination over
the lengths finds the dependent columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import sympy
from numpy.typing import NDArray
from sympy import QQ
from sympy.polys.matrices import DomainMatrix

from rbdc.algorithms.couplings import at_configuration
from rbdc.algorithms.dynamics.identification import whole_regressor
from rbdc.algorithms.dynamics.regressor import PARAMETERS_PER_BODY, regressor_by_forces
from rbdc.algorithms.tools.parameters import count_of_parameters, linear_parameters
from rbdc.analysis.constants import Constant, NamedModel
from rbdc.analysis.lagrange import Equations, Polynomials, kinetic, moments_of
from rbdc.analysis.pages import show
from rbdc.errors import OptionError, UnsupportedError
from rbdc.model import Model, Problem
from rbdc.model.options import REGRESSOR
from rbdc.model.xml import printable, shown
from rbdc.option_fields import asked
from rbdc.planning.availability import random_configurations
from rbdc.spatial import Inertia

Array = NDArray[np.float64]

DEPENDENT = 1e-8
"""A column of unit length is dependent if its component outside the span of the other columns is shorter than
this.
"""
_ROUNDED = 1e-9
"""Coefficients within this distance of 0, 1 or -1 are rounded to that value."""


class Combination(NamedTuple):
    """A base parameter: a parameter plus the sum of factors times other parameters.

    leading: name of the first parameter.
    terms: names of the other parameters with their factors, numbers or SymPy's expressions over lengths.
    """

    leading: str
    terms: Sequence[tuple[str, Any]]

    def words(self) -> str:
        """Return the combination as a formula."""
        text = self.leading
        for name, factor in self.terms:
            minus = factor < 0 if isinstance(factor, float) else factor.could_extract_minus_sign()
            size = -factor if minus else factor
            number = f"{size:.10g}" if isinstance(size, float) else f"({size})" if size.is_Add else str(size)
            text += f" {'-' if minus else '+'} {'' if size == 1 else f'{number} '}{name}"
        return text


def names_of(model: Model) -> list[str]:
    """Return the names of the parameters, in the order of the torque regressor's columns."""
    return [p.name for p in linear_parameters(Problem.of(model))]


def identifiability(model: Model, regressor: str | Sequence[str] | None = None) -> dict[str, Any]:
    """Return the base parameters of a model: the combinations of parameters that torques determine.

    The combinations are computed from the torque regressor at random states. Parameters of bodies near the
    root come first, so that a dependent parameter is added to parameters of the bodies that carry its body.

    Args:
        model: the robot.
        regressor: parts of the torque regressor, as in `rbdc build --regressor`; by default the links.

    Returns:
        Plain data:

        - `regressor`: parts of the regressor.
        - `names`: all parameters, in the order of the regressor's columns.
        - `parameters`: number of all parameters.
        - `rank`: number of base parameters.
        - `base`: for each base parameter its `formula`, and its `terms` as pairs of a name and a factor, the
          leading parameter first.
        - `constants`: lengths in the formulas (m).
        - `unseen`: parameters that no torque depends on.
        - `smallest_kept`, `largest_dropped`: the smallest singular value that the rank counts, and the
          largest that it does not, relative to the largest of all; for a regressor with columns of length 1.

    Raises:
        OptionError: the regressor has no such part.

    Source: Gautier (1991). Checked: a regressor at other states equals its leading columns times the factors
    of the terms.
    """
    problem = _asking(model, regressor)
    names = np.array(names_of(problem), dtype=object)
    columns = _regressor(problem)
    lengths = np.linalg.norm(columns, axis=0)
    seen = lengths > DEPENDENT * lengths.max(initial=0.0)
    names, unseen, lengths, columns = names[seen], names[~seen], lengths[seen], columns[:, seen]
    scaled = columns / lengths
    leads = np.abs(np.diag(np.linalg.qr(scaled, mode="r"))) > DEPENDENT
    solved = np.linalg.lstsq(scaled[:, leads], scaled[:, ~leads], rcond=None)[0]
    factors = solved * lengths[~leads] / lengths[leads, None]
    rounded = np.clip(np.round(factors), -1.0, 1.0)
    factors = np.where(np.abs(factors - rounded) <= _ROUNDED, rounded, factors)
    base = [
        Combination(name, [(other, x) for other, x in zip(names[~leads], row, strict=True) if x != 0.0])
        for name, row in zip(names[leads], factors.tolist(), strict=True)
    ]
    written, constants = _with_lengths(problem) or (base, [])
    values = np.linalg.svd(scaled, compute_uv=False)
    significant = values > DEPENDENT * values[0]
    return {
        "regressor": list(problem.regressor),
        "names": names_of(problem),
        "parameters": len(seen),
        "rank": int(np.sum(significant)),
        "base": [
            {"formula": formula.words(), "terms": [(one.leading, 1.0), *one.terms]}
            for formula, one in zip(written, base, strict=True)
        ],
        "constants": {constant.name: constant.value for constant in constants},
        "unseen": unseen.tolist(),
        "smallest_kept": float(values[significant][-1] / values[0]),
        "largest_dropped": float(values[~significant].max(initial=0.0) / values[0]),
    }


def _asking(model: Model, regressor: str | Sequence[str] | None) -> Problem:
    problem = Problem.of(model)
    if regressor is None:
        return problem
    try:
        return replace(problem, regressor=REGRESSOR.read(regressor))
    except ValueError as error:
        raise OptionError(f"{asked('regressor', regressor)}: {error}") from None


def _with_lengths(problem: Problem) -> tuple[list[Combination], list[Constant]] | None:
    """Return the base parameters with lengths as symbols; None for a model that `NamedModel` refuses, and for
    a regressor with other columns than those of bodies.
    """
    if problem.regressor != ("links",) or any(row.added for row in problem.parameters):
        return None
    try:
        return combinations(NamedModel(problem))
    except UnsupportedError:
        return None


def _regressor(model: Problem) -> Array:
    rng = np.random.default_rng(0)
    size = count_of_parameters(model)
    count = 10 + 2 * size // model.nv
    q = random_configurations(model, rng, count)
    v, a = rng.standard_normal((2, count, model.nv))
    there = at_configuration(model, list(q.T))
    rows = whole_regressor(regressor_by_forces, there, list(q.T), list(v.T), list(a.T))
    entries = [np.broadcast_to(np.asarray(x, float), (count,)) for row in rows for x in row]
    return np.stack(entries).reshape(model.nv, size, count).transpose(2, 0, 1).reshape(-1, size)


def show_identifiability(data: dict[str, Any]) -> None:
    """Show the result of `identifiability` on the terminal."""
    unseen = [f"without effect: {', '.join(map(shown, data['unseen']))}"] if data["unseen"] else []
    kind = "inertial parameters" if data["regressor"] == ["links"] else "parameters"
    show(
        f"torques determine {data['rank']} combinations of {data['parameters']} {kind}; "
        f"{len(data['unseen'])} parameters have no effect; relative singular values: smallest kept "
        f"{data['smallest_kept']:.2g}, largest dropped {data['largest_dropped']:.2g}",
        *(f"  {name} = {value:.15g}" for name, value in data["constants"].items()),
        *(f"  {printable(combination['formula'])}" for combination in data["base"]),
        *unseen,
    )


def combinations(named: NamedModel) -> tuple[list[Combination], list[Constant]] | None:
    """Return the base parameters, and the constants in their factors.

    Return None for a model with oblique constant angles or axes: the elimination would treat their sines and
    cosines as independent.
    """
    if named.angles or named.axes:
        return None
    equations = Equations(named)
    poses = enumerate(equations.poses)
    columns = [column for k, pose in poses for column in _columns(equations, pose, k)]
    rows = sorted({row for column in columns for row in column})
    offsets = {str(x) for body in named.model.bodies for x in body.placement.translation.scalars()}
    lengths = [c for c in named.constants if c.name in offsets]
    field = QQ.frac_field(*(c.name for c in lengths)) if lengths else QQ
    matrix = [[field.from_sympy(column.get(row, sympy.Integer(0))) for column in columns] for row in rows]
    reduced, pivots = DomainMatrix(matrix, (len(rows), len(columns)), field).rref()
    entries = reduced.to_Matrix()
    names, base = names_of(named.model), list[Combination]()
    for row, pivot in enumerate(pivots):
        others = [(k, sympy.factor(entries[row, k])) for k in range(len(columns)) if k != pivot]
        base.append(Combination(names[pivot], [(names[k], factor) for k, factor in others if factor != 0]))
    used = {str(s) for _, terms in base for _, factor in terms for s in factor.free_symbols}
    return base, [c for c in lengths if c.name in used]


def _columns(equations: Equations, pose: Polynomials, k: int) -> list[dict[tuple[int, ...], Any]]:
    """Return the ten columns of body k: the contribution of each parameter to M and dV/dq.

    Each entry is split into monomials of sines, cosines and positions, with a row for each monomial.
    """
    slopes = equations.slopes(pose, k)
    varying = [*map(sympy.Symbol, chain(*equations.turning.values(), equations.coordinates))]
    # the strength of gravity scales all of dV/dq and makes no columns independent
    field = equations.named.model.gravity.scalars()
    gravity = np.array([equations.ring.from_expr(x.subs(sympy.Symbol("g"), 1)) for x in field], object)
    columns = []
    for unit in np.eye(PARAMETERS_PER_BODY).tolist():
        moments = moments_of(Inertia.of(unit))
        entries = {
            (0, i, j): kinetic(moments, slopes[i], slopes[j]) for i in slopes for j in slopes if j <= i
        }
        entries |= {(1, i, 0): moments[-1] @ slopes[i] @ gravity for i in slopes}
        written = {
            entry: sympy.Poly(equations.reduced(x).as_expr(), *varying) for entry, x in entries.items()
        }
        columns.append({(*entry, *row): value for entry, x in written.items() for row, value in x.terms()})
    return columns
