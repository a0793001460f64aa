"""Claims of Singh, Russell and Wensing (2023) on automatic differentiation, on code generation and on vector
instructions: Figs. 9, 10, 15 and 19, and the abstract.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import exp, log
from typing import Any

from rbdc.analysis.pages import DASH, Table
from rbdc.report.compare import growth
from rbdc.report.methods.limits import OVER
from rbdc.report.options import NATIVE
from rbdc.report.present.tables import CODE, TIME, curves, nanoseconds
from rbdc.report.studies.claims import judged, listed, not_comparable
from rbdc.report.studies.second_order_claims import (
    CODE_GENERATION,
    FAMILIES,
    FD_SO,
    FD_SO_IDFOZA,
    FORWARD,
    SECOND,
    SO,
    UNMEASURED,
    Claim,
    Report,
)

AUTOMATIC = "ad-casadi"
"""The article's AD: CasADi's Jacobian of the first derivatives by IDSVA, as CasADi's C."""
CASADI_CODE = "casadi"
"""The article's code generation: IDSVA-SO, or FDSVA-SO, as CasADi's C."""
CHAIN_OF_FIG_9, BYTES_OF_FIG_9 = 40, 12e6
LOSES, ALIKE_BELOW = 36, 20
"""Generated code of IDSVA-SO is slower than its loops for more than `LOSES` bodies, and as fast for fewer
than `ALIKE_BELOW` bodies, according to the article.
"""
ALIKE = 1.5
"""Two times are alike if their ratio, or its inverse, is at most this factor."""
SMALL_ROBOTS = ("ur5", "hyq")
"""Robots of Fig. 19 on which code generation makes FDSVA-SO faster; the UR5 replaces the UR3."""
WITH, WITHOUT = "with AVX", "without AVX"
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
        _interpreted(report),
        _code_of_chains(report),
        *_generated(report),
        _generated_forward(report),
        *(_humanoid(report, function) for function in HEADLINE),
        *(_headline(report, function) for function in HEADLINE),
        *_vectors(report.get("vectors", {})),
    ]


def _automatic(report: Report) -> Claim:
    ratios: dict[str, float] = {}
    for family in FAMILIES:
        by_method = curves(report["code"], SECOND, family, TIME)
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
    limited = _limited(report, AUTOMATIC)
    return judged(
        claim,
        holds,
        f"time of {AUTOMATIC} / time of {SO}, both through the same compiler: {words}; reproduced means "
        f"that all ratios are 1.2 to 5. {limited}",
    )


def _interpreted(report: Report) -> Claim:
    claim = "Fig. 10: AD's generated code is 3 to 17 times faster than AD without code generation."
    found = {
        robot: of[SECOND]["interpreted"] / of[SECOND]["times"][AUTOMATIC]
        for robot, of in report["robots"].items()
        if of[SECOND].get("interpreted") and AUTOMATIC in of[SECOND]["times"]
    }
    if not found:
        return not_comparable(claim, UNMEASURED)
    words = ", ".join(f"{robot}: {x:.3g}" for robot, x in found.items())
    holds = all(3.0 <= x <= 17.0 for x in found.values())
    return judged(claim, holds, f"time of AD by CasADi's interpreter / time of {AUTOMATIC}: {words}")


def _code_of_chains(report: Report) -> Claim:
    """Return the claim of Fig. 9. AD's code for shorter chains is compiled; its size is extrapolated."""
    claim = f"Fig. 9: AD's code for a chain of {CHAIN_OF_FIG_9} bodies has 12 MB and millions of lines."
    sizes = curves(report["code"], SECOND, FAMILIES[0], CODE).get(AUTOMATIC, {})
    if (fit := growth(sizes)) is None:
        return not_comparable(
            claim, "AD was compiled for fewer than three sizes", _limited(report, AUTOMATIC)
        )
    there = exp(fit["constant"]) * CHAIN_OF_FIG_9 ** fit["exponent"]
    holds = abs(log(there / BYTES_OF_FIG_9)) <= log(WITHIN_FACTOR)
    words = f"machine code of {AUTOMATIC} for N = {listed(sizes)}: {listed(sizes.values())} bytes; "
    words += f"{1e-6 * there:.3g} MB extrapolated to {CHAIN_OF_FIG_9} bodies as N^{fit['exponent']:.2f}; "
    words += f"reproduced means 1/{WITHIN_FACTOR:g} to {WITHIN_FACTOR:g} times 12 MB"
    return judged(claim, holds, f"{words}. {_limited(report, AUTOMATIC)}")


def _generated(report: Report) -> list[Claim]:
    found: dict[tuple[str, str], dict[int, float]] = {}
    for method in (CASADI_CODE, CODE_GENERATION):
        for family in FAMILIES:
            by_method = curves(report["code"], SECOND, family, TIME)
            own, code = (by_method.get(name, {}) for name in (SO, method))
            found[method, family] = {n: code[n] / own[n] for n in code if n in own}
    words = "; ".join(f"{' '.join(of)}: {listed(x.values())} for N = {listed(x)}" for of, x in found.items())
    limits = ". ".join(filter(None, (_limited(report, method) for method in (CASADI_CODE, CODE_GENERATION))))
    told = f"time of straight-line code / time of {SO}: {words}"
    many = [x for of in found.values() for n, x in of.items() if n > LOSES]
    few = [x for of in found.values() for n, x in of.items() if n < ALIKE_BELOW]
    claim = f"Fig. 10: code generation of IDSVA-SO is no faster than its loops for N > {LOSES}."
    alike = f"Fig. 10: IDSVA-SO takes similar times with and without code generation for N < {ALIKE_BELOW}."
    reason = f"no straight-line code of more than {LOSES} bodies within the time limit"
    reproduced = f"reproduced means ratios of 1/{ALIKE} to {ALIKE} for these N"
    return [
        judged(alike, all(1.0 / ALIKE <= x <= ALIKE for x in few), f"{told}; {reproduced}. {limits}")
        if few
        else not_comparable(alike, UNMEASURED),
        judged(claim, min(many) >= 1.0, f"{told}. {limits}")
        if many
        else not_comparable(claim, reason, limits),
    ]


def _generated_forward(report: Report) -> Claim:
    claim = "Fig. 19: code generation makes FDSVA-SO faster on UR3 and HyQ."
    times = {
        robot: report["robots"].get(robot, {FORWARD: {"times": {}}})[FORWARD]["times"]
        for robot in SMALL_ROBOTS
    }
    found = {robot: of[CASADI_CODE] / of[FD_SO] for robot, of in times.items() if CASADI_CODE in of}
    if not found:
        return not_comparable(claim, UNMEASURED)
    words = ", ".join(f"{robot}: {x:.3g}" for robot, x in found.items())
    return judged(
        claim,
        max(found.values()) < 1.0,
        f"time of CasADi's C / time of {FD_SO}: {words}; the UR5 replaces the UR3",
    )


def _limited(report: Report, method: str) -> str:
    limits = []
    for family in FAMILIES:
        reasons = {
            entry["size"]: absent["reason"]
            for entry in report["code"]
            for absent in entry["functions"].get(SECOND, {}).get("absent", ())
            if entry["family"] == family and absent["method"] == method
        }
        beyond = [n for n, reason in reasons.items() if reason.startswith(OVER)]
        if beyond:
            limits.append(f"{family} from N = {min(beyond)} on ({reasons[min(beyond)]})")
    return f"{method} exceeded the time limit: {', '.join(limits)}" if limits else ""


def _humanoid(report: Report, function: str) -> Claim:
    times = {SECOND: "Fig. 10: IDSVA-SO is 3.2", FORWARD: "Fig. 19: FDSVA-SO is 3.8"}
    claim = f"{times[function]} times faster than AD with generated code on Atlas."
    atlas = _atlas(report)
    if not atlas:
        return not_comparable(claim, "no file of Atlas was given; name it with --humanoid")
    of, (paper, _) = atlas[function], HEADLINE[function]
    if AUTOMATIC not in of["times"]:
        reason = of["absent"].get(AUTOMATIC, UNMEASURED)
        return not_comparable(
            claim, f"no code of AD ({reason})", f"{paper} takes {1e-3 * of['times'][paper]:.3g} \u00b5s"
        )
    ratio, published = of["times"][AUTOMATIC] / of["times"][paper], (3.2 if function == SECOND else 3.8)
    holds = published / 1.5 <= ratio <= 1.5 * published
    reproduced = f"reproduced means a ratio of {published / 1.5:.3g} to {1.5 * published:.3g}"
    return judged(claim, holds, f"time of {AUTOMATIC} / time of {paper}: {ratio:.3g}; {reproduced}")


def _headline(report: Report, function: str) -> Claim:
    """Return the claim of the abstract, decided by Pinocchio (the article's implementation), or by the loops
    if Pinocchio is absent.
    """
    paper, published = HEADLINE[function]
    name = "IDSVA-SO" if function == SECOND else "FDSVA-SO"
    claim = f"Abstract: {name} on Atlas takes {published:g} \u00b5s."
    atlas = _atlas(report)
    if not atlas or paper not in atlas[function]["times"]:
        return not_comparable(claim, "no file of Atlas was given; name it with --humanoid")
    times = {m: 1e-3 * t for m, t in atlas[function]["times"].items() if m == paper or m.startswith(NATIVE)}
    words = ", ".join(f"{method} {t:.4g} \u00b5s" for method, t in times.items())
    best = min((t for method, t in times.items() if method != paper), default=times[paper])
    reproduced = (
        f"reproduced means that the fastest build of Pinocchio takes at most {published:g} \u00b5s (without "
        "Pinocchio, that the loops do)"
    )
    return judged(claim, best <= published, f"{words}; {reproduced}")


def _atlas(report: Report) -> Mapping[str, Any]:
    return next((of for robot, of in report["robots"].items() if "atlas" in robot.lower()), {})


def _vectors(by_flags: Mapping[str, Any]) -> list[Claim]:
    """Return the claims on vector instructions; the times are those of whole functions of chains."""
    gain = "Fig. 15: vector instructions (AVX) make DTM 1.05 to 3 times as fast (serial)."
    later = "Fig. 15: with AVX IDFOZA overtakes DTM at a larger N than without AVX (serial)."
    if not by_flags:
        return [not_comparable(claim, UNMEASURED) for claim in (gain, later)]
    times = {flags: curves(entries, FORWARD, FAMILIES[0], TIME) for flags, entries in by_flags.items()}
    ratios = {n: t / times[WITH][FD_SO][n] for n, t in times[WITHOUT][FD_SO].items()}
    crossed, told = {}, []
    for flags, of in times.items():
        shares = {n: of[FD_SO_IDFOZA][n] / of[FD_SO][n] for n in of[FD_SO]}
        crossed[flags] = next((n for n in shares if shares[n] < 1.0), max(shares) + 1)
        told.append(f"{flags} {listed(shares.values())}")
    sizes = f"for N = {listed(ratios)}"
    return [
        judged(
            gain,
            all(1.05 <= x <= 3.0 for x in ratios.values()),
            f"time of {FD_SO} (by DTM) without AVX / its time with AVX {sizes}: {listed(ratios.values())}",
        ),
        judged(
            later,
            crossed[WITH] > crossed[WITHOUT],
            f"time of {FD_SO_IDFOZA} / time of {FD_SO} (by DTM) {sizes}: {'; '.join(told)}",
        ),
    ]


COLUMNS = (
    "the article's loops",
    "CasADi's AD",
    "CasADi's interpreter",
    "CasADi's C",
    "straight-line code",
    "Pinocchio",
)


def tables(report: Report) -> list[Table]:
    """Return the times of Figs. 10 and 19 for robots, and of Figs. 9 and 10 for chains and binary trees."""
    robots = [
        [f"{robot}: {name}", *_row(of["times"], of["absent"], of.get("interpreted"), HEADLINE[name][0])]
        for robot, functions in report["robots"].items()
        for name, of in functions.items()
    ]
    families = []
    for entry in report["code"]:
        of = entry["functions"][SECOND]
        times = {method: m["nanoseconds"] for method, m in of["methods"].items()}
        absent = {a["method"]: a["reason"] for a in of["absent"]}
        families.append([f"{entry['family']} {entry['size']}", *_row(times, absent, None, SO)])
    head = ("robot and function", *COLUMNS)
    titles = ("Figs. 10 and 19: robots", "Figs. 9 and 10: rnea_second_derivatives of chains and binary trees")
    return [Table(title, head, rows) for title, rows in zip(titles, (robots, families), strict=True) if rows]


def _row(
    times: Mapping[str, float], absent: Mapping[str, str], interpreted: float | None, paper: str
) -> list[str]:

    def shown(method: str) -> str:
        return nanoseconds(times[method]) if method in times else absent.get(method, DASH)

    pinocchio = min((t for method, t in times.items() if method.startswith(NATIVE)), default=None)
    unrolled = next((method for method in times if method.startswith("unrolled-")), CODE_GENERATION)
    last = [DASH if x is None else nanoseconds(x) for x in (interpreted, pinocchio)]
    return [shown(paper), shown(AUTOMATIC), last[0], shown(CASADI_CODE), shown(unrolled), last[1]]
