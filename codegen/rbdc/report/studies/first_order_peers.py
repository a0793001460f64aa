"""Claims of Carpentier and Mansard (2018) on Pinocchio's times (Table I), on automatic differentiation
(section V-A2) and on complexity (section VI).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from rbdc.functions.catalogue import functions_of
from rbdc.model.families import BINARY, SERIAL, depth, kind_of, tree
from rbdc.options import Progress
from rbdc.report.compare import growth, labelled_report
from rbdc.report.methods.reference_loops import reference_loops
from rbdc.report.options import CPPADCODEGEN, NATIVE, CompareOptions
from rbdc.report.present.tables import nanoseconds
from rbdc.report.studies.claims import judged, listed, not_comparable

ROBOT = "hyq"
AUTOMATIC = {"rnea_derivatives": (5060.0, 6920.0), "aba_derivatives": (8720.0, 20520.0)}
"""Nanoseconds of section V-A2 by function: Pinocchio's analytical derivatives, and AD by Giftthaler et al."""
SIZES = (4, 8, 16, 32)
"""Numbers of bodies of the trees for which operations of the derivatives are counted."""
LINEAR = 1.3
"""A cost counts as linear in the number of bodies if its exponent is below this bound."""


def without_free_flyer(options: CompareOptions, progress: Progress) -> dict[str, Any]:
    """Return the times (ns) of Pinocchio and CppADCodeGen by function, for HyQ with a fixed base, and the
    reasons of absent methods.
    """
    asked = replace(
        options,
        root_joint="fixed",
        functions=tuple(AUTOMATIC),
        methods=("peer", CPPADCODEGEN),
        peers=(NATIVE, CPPADCODEGEN),
        every_form=False,
    )
    report = labelled_report(f"{ROBOT} without a free flyer", ROBOT, asked, progress)
    absent = {one["method"]: one["reason"] for f in report["functions"] for one in f["absent"]}
    return {
        "absent": {**report["peers"]["absent"], **absent},
        "times": {
            f["name"]: {m["method"]: m["nanoseconds"]["minimum"] for m in f["methods"]}
            for f in report["functions"]
        },
    }


def linearity() -> list[dict[str, Any]]:
    """Count the operations of Carpentier and Mansard's derivatives of inverse dynamics for chains and binary
    trees of `SIZES` bodies.
    """
    entries = []
    for branching in (SERIAL, BINARY):
        models = {size: tree(size, branching) for size in SIZES}
        counts = {
            size: reference_loops(model, functions_of(model)["rnea_derivatives"], "carpentier-mansard")
            .cost()
            .operations
            for size, model in models.items()
        }
        depths = [depth(model) for model in models.values()]
        entries.append({"family": kind_of(branching), "operations": counts, "depths": depths})
    return entries


def linear_claims(counted: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Return for each family the claim that operations are linear in the number of bodies. The measurement
    also tells the exponent of operations / depth.
    """
    claims = []
    for one in counted:
        counts = {int(size): count for size, count in one["operations"].items()}
        of_depth = {n: x / d for (n, x), d in zip(counts.items(), one["depths"], strict=True)}
        by_bodies, by_depth = ((growth(points) or {})["exponent"] for points in (counts, of_depth))
        claims.append(
            judged(
                f"Section VI: the complexity of derivatives is linear in the number of bodies "
                f"({one['family']}).",
                by_bodies < LINEAR,
                f"over N = {listed(counts)} the operations of the article's algorithm as loops grow as "
                f"N^{by_bodies:.2f}; divided by the depth of the tree they grow as N^{by_depth:.2f}; "
                f"reproduced means that the operations grow more slowly than N^{LINEAR}",
            )
        )
    return claims


def peer_claims(report: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return the claims of Table I for Pinocchio on each robot, and of section V-A2."""
    robots = dict.fromkeys(row["robot"] for row in report["rows"])
    return [*(_of_table_1(report["rows"], robot) for robot in robots), _automatic(report["beside"])]


def _of_table_1(rows: Sequence[Mapping[str, Any]], robot: str) -> dict[str, str]:
    known = [row for row in rows if row["robot"] == robot and row["pinocchio"] is not None]
    claim = f"Table I, {robot}: Pinocchio's algorithms take the article's times."
    if not known:
        return not_comparable(claim, "Pinocchio was not measured in this run")
    words = "; ".join(
        f"{row['row']} {nanoseconds(row['pinocchio'])} ({nanoseconds(row['paper'])})" for row in known
    )
    holds = all(row["pinocchio"] <= row["paper"] for row in known)
    reproduced = "reproduced means that no time exceeds the article's (the processor here is newer)"
    return judged(claim, holds, f"times here, and the article's in parentheses: {words}; {reproduced}")


def _automatic(beside: Mapping[str, Any]) -> dict[str, str]:
    claim = (
        "Section V-A2, HyQ without a free flyer: AD's code takes 1.37 times as long as the analytical "
        "derivatives of inverse dynamics (6.92 \u00b5s / 5.06 \u00b5s), and 2.35 times as long as those of "
        "forward dynamics (20.52 \u00b5s / 8.72 \u00b5s)."
    )
    ratios, words = [], []
    for function, (analytical, automatic) in AUTOMATIC.items():
        times = beside.get("times", {}).get(function, {})
        native = [ns for method, ns in times.items() if method.startswith(NATIVE)]
        if not native or CPPADCODEGEN not in times:
            reason = beside.get("absent", {}).get(CPPADCODEGEN, "not measured in this run")
            return not_comparable(claim, f"CppADCodeGen in place of Giftthaler et al.: {reason}")
        ratios.append(times[CPPADCODEGEN] / min(native) / (automatic / analytical))
        words.append(f"{nanoseconds(times[CPPADCODEGEN])} / {nanoseconds(min(native))} for {function}")
    return judged(
        claim,
        all(1.0 / 1.5 <= x <= 1.5 for x in ratios),
        "time of CppADCodeGen's code for Pinocchio's dynamics / time of Pinocchio's analytical derivatives: "
        f"{' and '.join(words)}; reproduced means that both ratios are 1/1.5 to 1.5 times the article's",
    )
