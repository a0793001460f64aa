"""Compare Carpentier's direct inverse of the joint-space inertia (2018) with Cholesky's factorisation, over
the number of bodies: section V-A of Carpentier and Mansard (2018), and its Fig. 2c.

`inverse` is Algorithm 1 of Carpentier (2018), line by line as printed, with optional corrections of its
errors. Names and line numbers are the article's. Vectors are [linear; angular], motion sets and force sets
(6, nv).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rbdc.algorithms.reference.crba import crba
from rbdc.algorithms.tools.kinematics import joint_placements
from rbdc.analysis.pages import Table
from rbdc.model import WORLD, Problem
from rbdc.model.families import BINARY, SERIAL, tree
from rbdc.options import Progress
from rbdc.planning.calibration import NEAR_CODE
from rbdc.report.compare import Family, families_report, labelled_report
from rbdc.report.methods.contenders import SINGLE
from rbdc.report.options import BEST_PEERS, NATIVE, CompareOptions, peer_of
from rbdc.report.present.study_page import crossing_table, family_figure, growth_table, study_page
from rbdc.report.studies.claims import judged, listed, not_comparable, told
from rbdc.report.studies.first_order import FACTOR
from rbdc.spatial import Force, Motion, Vector3

INVERSE = "minverse"
SIZES, QUICK_SIZES = (2, 4, 8, 16, 32, 64), (3,)
ROBOTS = {"kuka_iiwa": "fixed", "hyq": "free-flyer", "simple_humanoid": "free-flyer"}
"""Robots of Fig. 2c with their root joints. `measured` adds humanoids."""
_FEW_INPUTS = CompareOptions(functions=(INVERSE,), samples=16, checked=2, every_form=True)
MEASURED = replace(_FEW_INPUTS, methods=("analytical", "peer"), peers=BEST_PEERS, seconds=0.5, limit=60.0)
ROUGHLY = replace(_FEW_INPUTS, methods=("analytical",), peers=(), seconds=0.02, cflags=("-O0",))
DIRECT, PAPER, PEER = "unrolled-direct", "unrolled-carpentier", NATIVE
PAPER_LOOPS, FACTOR_LOOPS = "loops-carpentier", "loops-featherstone"
PUBLISHED = (1.03, 1.20, 2.23)
"""Table I: times of Cholesky's factorisation divided by those of the direct algorithm, for 7, 18 and 36
joints.
"""
AS_PRINTED, CORRECTED = "as printed", "corrected"


class Pair(NamedTuple):
    """Methods that use Cholesky's factor, and methods that use the direct algorithm. The study compares the
    fastest method of each kind.

    factor, direct: prefixes of the names of the methods.
    near: compare only sizes at which the code of each method fits into caches close to the core; the time of
        larger code is the time to fetch it.
    """

    name: str
    factor: tuple[str, ...]
    direct: tuple[str, ...]
    near: bool = False


PAIRS = (
    Pair("both algorithms as straight-line code", (FACTOR,), (DIRECT,), near=True),
    Pair("both algorithms as loops over the joints", (FACTOR_LOOPS,), (PAPER_LOOPS,)),
    Pair(
        "the fastest method of each algorithm",
        ("generated", "rolled", FACTOR, FACTOR_LOOPS),
        (DIRECT, PAPER, PAPER_LOOPS, PEER),
    ),
)
"""Pairs of the study. Generated code and rolled loops use Cholesky's factor, Pinocchio the direct algorithm.
The loops over the joints come from the references by Featherstone and by Carpentier, unchanged.
"""
ROBOT_FAMILY, HUMANOID = "robots", 30
"""Name of the family of robots; number of degrees of freedom that humanoids exceed."""
FEW = 8
"""Largest number of joints of a mechanism with few joints. Algorithm 1 is tried as printed on these
mechanisms.
"""
EXACT = 1e-9
"""An inverse counts as exact if its error relative to its largest entry, or each entry of M^-1 M - 1, is
below this.
"""


def measured(folder: Path, quick: bool, progress: Progress, humanoids: Sequence[str] = ()) -> dict[str, Any]:
    """Return the study, ready for JSON. A `quick` study has small mechanisms and unoptimised code.

    humanoids: further robots of Fig. 2c, on a free-flyer.
    """
    started, sizes = time.monotonic(), QUICK_SIZES if quick else SIZES
    families = [Family(SERIAL, sizes), Family(BINARY, sizes)]
    report: dict[str, Any] = {"study": "inertia-inverse", "quick": quick}
    report |= families_report(families, lambda family, size: ROUGHLY if quick else MEASURED, progress)
    robots = {} if quick else {**ROBOTS, **dict.fromkeys(humanoids, "free-flyer")}
    report["robots"] = [_robot(robot, root, progress) for robot, root in robots.items()]
    report["printed"] = [_printed(family, n) for family in families for n in family.sizes if n <= FEW]
    return told(report, _claims(report), started)


def _robot(robot: str, root: str, progress: Progress) -> dict[str, Any]:
    report = labelled_report(robot, robot, replace(MEASURED, root_joint=root), progress)
    (function,) = report["functions"]
    methods = {m["method"]: {**m, "nanoseconds": m["nanoseconds"]["minimum"]} for m in function["methods"]}
    functions = {INVERSE: {"methods": methods, "absent": function["absent"]}}
    return {"family": ROBOT_FAMILY, "size": report["robot"]["nv"], "functions": functions}


def page(report: Mapping[str, Any]) -> str:
    """Return the page of the study."""
    lead = (
        'J. Carpentier, "Analytical inverse of the joint space inertia matrix" (2018), and J. Carpentier and '
        'N. Mansard, "Analytical derivatives of rigid body dynamics algorithms" (2018), section V-A, '
        "repeated on serial chains and binary trees."
    )
    notes = [
        f"{DIRECT}: straight-line code of the direct algorithm, with link frames that rbdc chooses; {PAPER}: "
        "straight-line code of Algorithm 1, errors corrected, with the description's link frames; "
        f"{FACTOR}: straight-line code of Cholesky's factorisation; rolled: Cholesky's factorisation in "
        "loops over the model."
    ]
    tables = [table(function) for function in report["functions"] for table in (growth_table, crossing_table)]
    tables.append(_printed_table(report["printed"]))
    figures = [family_figure(report, INVERSE, "Time, code and errors")]
    return study_page("The inverse of the joint-space inertia", lead, notes, report, tables, figures)


def _printed(family: Family, size: int) -> dict[str, Any]:
    """Return the largest entry of |M^-1 M - 1|, with M^-1 by Algorithm 1: as printed, without each correction
    in turn, and with all corrections.
    """
    model = tree(size, family.branching)
    q = np.random.default_rng(0).normal(size=model.nv).tolist()
    m = np.array(crba(model, q), dtype=float)
    forms: dict[str, Sequence[str]] = {AS_PRINTED: ()}
    for one in CORRECTIONS:
        forms[f"corrected, except: {one}"] = [other for other in CORRECTIONS if other != one]
    forms[CORRECTED] = CORRECTIONS
    off = {form: np.abs(inverse(model, q, of) @ m - np.eye(model.nv)).max() for form, of in forms.items()}
    return {"family": family.name, "size": size, "errors": {form: float(x) for form, x in off.items()}}


def _printed_table(printed: Sequence[Mapping[str, Any]]) -> Table:
    rows = [[f"{e['family']} {e['size']}", *(f"{x:.1e}" for x in e["errors"].values())] for e in printed]
    return Table(
        "Algorithm 1 as printed",
        ("mechanism", *printed[0]["errors"]),
        rows,
        "Largest entry of |Minv M - 1| at one random configuration, M by the composite-rigid-body algorithm. "
        'A column "corrected, except: ..." lacks this correction alone. The times of this page are those of '
        "the corrected algorithm.",
    )


def _claims(report: Mapping[str, Any]) -> list[dict[str, str]]:
    errors = [
        m["errors"]["scaled"]
        for entry in report["entries"]
        for name, m in entry["functions"][INVERSE]["methods"].items()
        if name in (DIRECT, PAPER)
    ]
    return [
        *(claim for pair in PAIRS for claim in _of_pair(report, pair)),
        judged(
            "Algorithm 1 gives the inverse of M without computing M.",
            max(errors) < EXACT,
            f"largest error of the corrected algorithm {max(errors):.1e}, relative to the largest entry",
        ),
        _as_printed(report["printed"]),
        *(_figure_2c(report.get("robots", ()), pair) for pair in PAIRS),
        _peers(report),
    ]


def _of_pair(report: Mapping[str, Any], pair: Pair) -> list[dict[str, str]]:
    compared = {family: _compared(report["entries"], family, pair) for family in ("serial", "binary")}
    every = [ratio for one in compared.values() for ratio in one.ratios.values()]
    few = [ratio for one in compared.values() for n, ratio in one.ratios.items() if n <= FEW]
    return [
        *(_for_many(pair, family, one) for family, one in compared.items()),
        _decided(
            f"The direct algorithm is up to twice as fast as Cholesky's factorisation: {pair.name}.",
            max(every, default=None),
            1.5,
            f"largest ratio of Cholesky's time to the direct algorithm's: {listed(sorted(every)[-1:])}; "
            "reproduced means more than 1.5",
        ),
        _decided(
            f"The direct algorithm remains competitive for few joints: {pair.name}.",
            min(few, default=None),
            0.8,
            f"least ratio of Cholesky's time to the direct algorithm's for up to {FEW} joints: "
            f"{listed(sorted(few)[:1])}; reproduced means more than 0.8",
        ),
    ]


def _for_many(pair: Pair, family: str, one: Compared) -> dict[str, str]:
    """Return the claim for many joints, decided at the largest size that is compared."""
    claim = (
        f"The direct algorithm outperforms Cholesky's factorisation for many joints: {family}, {pair.name}."
    )
    if one.left_out and max(one.ratios, default=0) <= FEW:
        return not_comparable(claim, "code for many joints exceeds the caches near the core", one.words())
    article = f"the largest N decides; the article has {listed(PUBLISHED)} (N = 7, 18, 36)"
    return _decided(
        claim, list(one.ratios.values())[-1] if one.ratios else None, 1.0, f"{one.words()}; {article}"
    )


def _figure_2c(robots: Sequence[Mapping[str, Any]], pair: Pair) -> dict[str, str]:
    """Return the claim of Fig. 2c for one pair, on the robot with the most degrees of freedom."""
    claim = f"Fig. 2c: the direct algorithm outperforms Cholesky's factorisation on humanoids: {pair.name}."
    one = _compared(sorted(robots, key=lambda entry: int(entry["size"])), ROBOT_FAMILY, pair)
    ratio = list(one.ratios.values())[-1] if one.ratios and max(one.ratios) > HUMANOID else None
    article = f"the largest N decides; the article has {listed(PUBLISHED)} (N = 7, 18, 36)"
    return _decided(claim, ratio, 1.0, f"{one.words()}; {article}")


def _decided(claim: str, ratio: float | None, bound: float, evidence: str) -> dict[str, str]:
    if ratio is None:
        return not_comparable(claim, "the sizes of this claim are left out or not measured", evidence)
    return judged(claim, ratio > bound, evidence)


class Compared(NamedTuple):
    """Ratios of the times of two algorithms by sizes of a family.

    ratios: time of the first / time of the second algorithm, by size.
    methods: names of both methods at the largest size.
    left_out: bytes of code, by size, at sizes that are left out because their code is too large.
    """

    ratios: dict[int, float]
    methods: tuple[str, str]
    left_out: dict[int, int]

    def words(self) -> str:
        """Return the ratios, and the sizes that are left out, in words."""
        words = [f"{x:.3g} (N = {n})" for n, x in self.ratios.items()]
        words += [f"N = {n} left out for its {size:,} bytes of code" for n, size in self.left_out.items()]
        between = f"{' / '.join(f'time of {x}' for x in self.methods)}: " if self.ratios else ""
        return between + ", ".join(words)


def _compared(entries: Sequence[Mapping[str, Any]], family: str, pair: Pair) -> Compared:
    ratios, left_out, methods = {}, {}, ("", "")
    for entry in (one for one in entries if one["family"] == family):
        measured = entry["functions"][INVERSE]["methods"]
        sides = [_fastest(measured, names) for names in (pair.factor, pair.direct)]
        if not all(sides):
            continue
        factor, direct = (measured[name] for name in sides)
        if pair.near and max(factor["code_bytes"], direct["code_bytes"]) > NEAR_CODE:
            left_out[entry["size"]] = max(factor["code_bytes"], direct["code_bytes"])
        else:
            ratios[entry["size"]] = factor["nanoseconds"] / direct["nanoseconds"]
            methods = (sides[0], sides[1])
    return Compared(ratios, methods, left_out)


def _fastest(measured: Mapping[str, Any], names: Sequence[str]) -> str:
    names_measured = [name for name in measured if name.startswith(tuple(names)) and name != SINGLE]
    return min(names_measured, key=lambda name: float(measured[name]["nanoseconds"]), default="")


def _as_printed(printed: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    worst, corrected = (max(e["errors"][form] for e in printed) for form in (AS_PRINTED, CORRECTED))
    return judged(
        "Algorithm 1, line by line as printed, gives the inverse of M.",
        worst < EXACT,
        f"largest entry of |Minv M - 1|: {worst:.2g} as printed, {corrected:.1e} with all corrections "
        f"({', '.join(CORRECTIONS)})",
    )


def _peers(report: Mapping[str, Any]) -> dict[str, str]:
    claim = "Section II: Pinocchio's implementation of the algorithm gives the inverse of M."
    measured = {
        f"{entry['family']}, N = {entry['size']}, {name}": m
        for entry in (*report["entries"], *report.get("robots", ()))
        for name, m in entry["functions"][INVERSE]["methods"].items()
        if name.startswith(PEER)
    }
    absent = [
        a["reason"]
        for e in report["entries"]
        for a in e["functions"][INVERSE]["absent"]
        if peer_of(a["method"]) == PEER
    ]
    if not measured:
        return not_comparable(claim, (absent or ["not asked for"])[0])
    errors = {of: m["errors"]["scaled"] for of, m in measured.items() if m["errors"] is not None}
    last = list(measured)[-1]
    return judged(
        claim,
        max(errors.values()) < EXACT,
        f"largest error {max(errors.values()):.1e}, relative to the largest entry, over {len(errors)} pairs "
        f"of a mechanism and a build of Pinocchio; the last pair ({last}) takes "
        f"{1e-3 * measured[last]['nanoseconds']:.3g} \u00b5s",
    )


Array = NDArray[np.float64]

ADDED, FIRST, LATER = (
    "line 14 adds to F_i",
    "line 21 comes before line 13",
    "lines 30 to 34 fill all columns from i on",
)
CORRECTIONS = (ADDED, FIRST, LATER)
"""Corrections that the algorithm needs.

Line 14 adds to F_i, so that F_i keeps the contributions of the subtree. Minv[i, i] is set before lines 14 and
19 use it. The forward pass (lines 27 to 36) fills all columns from joint i on, since inertia couples branches
that hang on a moving body.
"""


def inverse(model: Problem, q: Sequence[float], corrections: Collection[str] = ()) -> Array:
    """Return minv (nv, nv) of a model whose joints have one degree of freedom each; it is M^-1 with all
    `CORRECTIONS`.

    The lower triangle is the mirror image of the upper one.
    """
    minv = np.zeros((model.nv, model.nv))
    # iX_lambda for motions, whose transpose carries forces to the parent
    transforms = [_matrix(placement.act_inverse) for placement in joint_placements(model, q)]
    subspaces = [np.array(body.joint.subspace()[0].scalars(), dtype=float) for body in model.bodies]
    subtrees = [[k for k in range(model.nv) if i in model.support(k)] for i in range(model.nv)]
    inertias = [_matrix(body.inertia.__matmul__) for body in model.bodies]
    forces, u_d = np.zeros((model.nv, 6, model.nv)), np.zeros((model.nv, 6))
    for i in reversed(range(model.nv)):  # lines 7 to 26
        s, x, above, subtree = subspaces[i], transforms[i], model.bodies[i].parent, subtrees[i]
        u, leaf = inertias[i] @ s, subtree == [i]
        d = s @ u
        if not leaf:
            minv[i, subtree] = -s @ forces[i][:, subtree] / d  # line 12
        if FIRST in corrections:
            minv[i, i] = 1.0 / d
        if above != WORLD and leaf:
            forces[above][:, i] += x.T @ u * minv[i, i]  # line 19
        elif above != WORLD:
            left = forces[i][:, subtree] if ADDED in corrections else 0.0
            forces[i][:, subtree] = left + np.outer(u, minv[i, subtree])  # line 14
            forces[above][:, subtree] += x.T @ forces[i][:, subtree]  # line 15
        minv[i, i] = 1.0 / d  # line 21
        u_d[i] = u / d
        if above != WORLD:
            inertias[above] = inertias[above] + x.T @ (inertias[i] - np.outer(u_d[i], u)) @ x  # lines 23, 24
    motions = np.zeros((model.nv, 6, model.nv))
    for i, body in enumerate(model.bodies):  # lines 27 to 36
        columns = list(range(i, model.nv)) if LATER in corrections else subtrees[i]
        if body.parent != WORLD:
            motions[i][:, columns] = transforms[i] @ motions[body.parent][:, columns]
            minv[i, columns] -= u_d[i] @ motions[i][:, columns]  # line 30
        motions[i][:, columns] += np.outer(subspaces[i], minv[i, columns])  # lines 32 and 34
    return np.asarray(np.triu(minv) + np.triu(minv, 1).T)


def _matrix(of: Callable[[Motion], Motion | Force]) -> Array:
    """Return the matrix (6, 6) of a linear map of motions."""
    units = [Motion(Vector3(*row[:3]), Vector3(*row[3:])) for row in np.eye(6).tolist()]
    return np.array([of(unit).scalars() for unit in units], dtype=float).T
