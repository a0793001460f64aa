"""Claims of Singh, Russell and Wensing (2023) on automatic differentiation and on code generation: Figs. 9,
10 and 19, and the abstract.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import exp, log
from typing import Any

from rbdc.report.compare import growth
from rbdc.report.methods.limits import OVER
from rbdc.report.options import NATIVE
from rbdc.report.present.tables import CODE, TIME, curves
from rbdc.report.studies.claims import judged, listed, not_comparable
from rbdc.report.studies.second_order_claims import (
    CODE_GENERATION,
    FAMILIES,
    FD_SO,
    FORWARD,
    SECOND,
    SO,
    UNMEASURED,
    Claim,
    Report,
)

AUTOMATIC = "ad"
CHAIN_OF_FIG_9, BYTES_OF_FIG_9 = 40, 12e6
LOSES = 36
"""Number of bodies above which, according to the article, generated code of IDSVA-SO is slower."""
WITHIN_FACTOR = 3.0
"""An extrapolated size of code is reproduced if its ratio to the article's size, or the inverse of the ratio,
is at most this factor.
"""
HEADLINE = {SECOND: (SO, 200.0), FORWARD: (FD_SO, 2100.0)}
"""By function, the algorithm and its time on Atlas (us) in the abstract."""


def claims(report: Report) -> list[Claim]:
    """Return every claim with its verdict."""
    return [
        _automatic(report),
        _code_of_chains(report),
        _generated(report),
        *(_humanoid(report, function) for function in HEADLINE),
        *(_headline(report, function) for function in HEADLINE),
    ]


def _automatic(report: Report) -> Claim:
    ratios: dict[str, float] = {}
    for family in FAMILIES:
        by_method = curves(report["entries"], SECOND, family, TIME)
        ours, theirs = (by_method.get(method, {}) for method in (SO, AUTOMATIC))
        ratios |= {f"{family} {n}": theirs[n] / ours[n] for n in theirs if n in ours}
    for robot, functions in report["robots"].items():
        times = functions.get(SECOND, {"times": {}})["times"]
        if AUTOMATIC in times:
            ratios[robot] = times[AUTOMATIC] / times[SO]
    claim = "Fig. 10: IDSVA-SO is 1.2 to 5 times faster than CasADi's AD with generated code."
    if not ratios:
        return not_comparable(claim, UNMEASURED)
    words = ", ".join(f"{where}: {x:.3g}" for where, x in ratios.items())
    holds = all(1.2 <= x <= 5.0 for x in ratios.values())
    return judged(claim, holds, f"{words}; both through the same compiler")


def _code_of_chains(report: Report) -> Claim:
    """Return the claim of Fig. 9. The size of AD's code is extrapolated from the chains for which it is
    compiled.
    """
    claim = f"Fig. 9: AD's code of a chain of {CHAIN_OF_FIG_9} takes 12 MB, of millions of lines."
    sizes = curves(report["entries"], SECOND, FAMILIES[0], CODE).get(AUTOMATIC, {})
    if (fit := growth(sizes)) is None:
        return not_comparable(
            claim, "AD was compiled for fewer than three sizes", _limited(report, AUTOMATIC)
        )
    there = exp(fit["constant"]) * CHAIN_OF_FIG_9 ** fit["exponent"]
    holds = abs(log(there / BYTES_OF_FIG_9)) <= log(WITHIN_FACTOR)
    words = f"{listed(sizes.values())} bytes for N = {listed(sizes)} grow as N^{fit['exponent']:.2f}, which "
    words += f"leads to {1e-6 * there:.3g} MB; "
    words += f"reproduced means 1/{WITHIN_FACTOR:g} to {WITHIN_FACTOR:g} times 12 MB"
    return judged(claim, holds, f"{words}. {_limited(report, AUTOMATIC)}")


def _generated(report: Report) -> Claim:
    """Return the claim that code generation of IDSVA-SO is no faster than its loops for many bodies."""
    claim = f"Fig. 10: code generation of IDSVA-SO is no faster than its loops for N > {LOSES}."
    ratios: dict[str, dict[int, float]] = {}
    for family in FAMILIES:
        by_method = curves(report["entries"], SECOND, family, TIME)
        ours, code = (by_method.get(method, {}) for method in (SO, CODE_GENERATION))
        ratios[family] = {n: code[n] / ours[n] for n in code if n in ours}
    words = "; ".join(f"{family}: {listed(x.values())} for N = {listed(x)}" for family, x in ratios.items())
    told = f"times of straight-line code over those of loops, {words}. {_limited(report, CODE_GENERATION)}"
    many = [x for of in ratios.values() for n, x in of.items() if n > LOSES]
    if not many:
        return not_comparable(
            claim, f"no straight-line code of more than {LOSES} bodies within the limit", told
        )
    return judged(claim, min(many) >= 1.0, told)


def _limited(report: Report, method: str) -> str:
    """Return the size from which on a method exceeded the time limit."""
    limits = []
    for family in FAMILIES:
        reasons = {
            entry["size"]: absent["reason"]
            for entry in report["entries"]
            for absent in entry["functions"].get(SECOND, {}).get("absent", ())
            if entry["family"] == family and absent["method"] == method
        }
        beyond = [n for n, reason in reasons.items() if reason.startswith(OVER)]
        if beyond:
            limits.append(f"{family} from N = {min(beyond)} on {reasons[min(beyond)]}")
    return f"{method}: {', '.join(limits)}" if limits else ""


def _humanoid(report: Report, function: str) -> Claim:
    times = {SECOND: "Fig. 10: IDSVA-SO is 3.2", FORWARD: "Fig. 19: FDSVA-SO is 3.8"}
    claim = f"{times[function]} times faster than AD with generated code on Atlas."
    atlas = _atlas(report)
    if not atlas:
        return not_comparable(claim, "no file of Atlas was given; name it with --humanoid")
    of, (paper, _) = atlas[function], HEADLINE[function]
    if AUTOMATIC not in of["times"]:
        reason = of["absent"].get(AUTOMATIC, UNMEASURED)
        return not_comparable(claim, f"AD took {reason}", f"{paper}: {1e-3 * of['times'][paper]:.3g} \u00b5s")
    ratio, published = of["times"][AUTOMATIC] / of["times"][paper], (3.2 if function == SECOND else 3.8)
    holds = published / 1.5 <= ratio <= 1.5 * published
    reproduced = f"reproduced means {published / 1.5:.3g} to {1.5 * published:.3g}"
    return judged(claim, holds, f"{ratio:.3g}; {reproduced}")


def _headline(report: Report, function: str) -> Claim:
    paper, published = HEADLINE[function]
    claim = f"Abstract: {paper.removeprefix('loops-')} on Atlas takes {published:g} \u00b5s."
    atlas = _atlas(report)
    if not atlas or paper not in atlas[function]["times"]:
        return not_comparable(claim, "no file of Atlas was given; name it with --humanoid")
    times = {m: 1e-3 * t for m, t in atlas[function]["times"].items() if m == paper or m.startswith(NATIVE)}
    words = ", ".join(f"{method} {t:.4g} \u00b5s" for method, t in times.items())
    reproduced = f"reproduced means that the loops take at most {published:g} \u00b5s"
    return judged(claim, times[paper] <= published, f"{words}; {reproduced}")


def _atlas(report: Report) -> Mapping[str, Any]:
    return next((of for robot, of in report["robots"].items() if "atlas" in robot.lower()), {})
