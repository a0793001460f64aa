"""Claims of Singh, Russell and Wensing (2023), each with the verdict of the study."""

from __future__ import annotations

from collections.abc import Mapping
from math import log
from typing import Any

from rbdc.report.compare import growth
from rbdc.report.methods.contenders import ZEROED
from rbdc.report.present.tables import ERROR, OPERATIONS, TIME, curves, ratios
from rbdc.report.studies.claims import judged, listed, not_comparable
from rbdc.report.studies.methods.forward_terms import AZA, DTM, IDFOZA, INNER, OUTER

BICOMPLEX, CHAIN, FINITE_1, FINITE_2 = (
    "loops-bicomplex-step",
    "loops-chain-rule",
    "loops-finite-diff-1",
    "loops-finite-diff-2",
)
FO, SO, FD_SO = "loops-idsva", "loops-idsva-so-zeroed", "loops-fdsva-so"
FD_SO_AZA, FD_SO_IDFOZA, DOUBLE_LOOP = (
    "loops-fdsva-so-aza",
    "loops-fdsva-so-idfoza",
    "loops-idsva-so-double-loop",
)
"""The article's algorithms, as loops over the joints. The products of `FD_SO` are computed by the article's
DTM.
"""
TRIPLE_LOOP = "loops-idsva-so"
"""The triple loop of `SO`, which here writes all entries, as the double loop does."""
CODE_GENERATION = "unrolled-idsva-so"
"""IDSVA-SO as straight-line code, the article's "IDSVA-SO + CodeGen"."""
OWN = "generated"
FIRST, SECOND, FORWARD = "rnea_derivatives", "rnea_second_derivatives", "aba_second_derivatives"
FIRST_FORWARD = "aba_derivatives"
FIRST_PRODUCTS = ("loops-fdsva-aza", "loops-carpentier-mansard")
"""First derivatives of forward dynamics with products by AZA, and as matrix products (DMM)."""
TABLE_3 = {
    (SECOND, BICOMPLEX): (2.98, 2.14, 2.98, 2.13),
    (SECOND, CHAIN): (3.05, 0.93, 3.17, 0.47),
    (SECOND, FINITE_1): (3.02, 1.16, 3.03, 1.13),
    (SECOND, FINITE_2): (2.38, 0.66, 2.15, 1.38),
    (SECOND, SO): (3.08, -4.71, 1.45, -0.77),
    (FIRST, FO): (1.76, -2.06, 1.03, 0.01),
}
"""Table III by function and method: A and B of serial chains, then A and B of binary trees, where the time is
exp(B) N^A (us). The exponents of IDSVA-SO are those of its O(N d^2) work (d: depth of the tree), since it
does not write the structurally zero entries among its N^3 entries.
"""
BESIDE = {(SECOND, SO): ZEROED, (FIRST, FO): OWN}
"""The generated code that is reported beside a paper's algorithm."""
FROM = 4
"""Least number of bodies for fits of exponents and comparisons of times. Compilers unroll the loops of two
bodies completely: for the chain rule clang keeps a quarter of the operations. The exponent of the chain rule
is therefore 3.4 from two bodies on, but 3.0 from four on.
"""
WITHIN = 0.3
"""An exponent is reproduced if it differs from the article's exponent by at most this."""
WITHIN_DECADE = 10.0
"""An error, or a ratio of two errors, is reproduced if it differs from the article's value by at most this
factor.
"""
FAMILIES = ("serial", "binary")
UNMEASURED = "not measured in this run"

Report = Mapping[str, Any]
Claim = dict[str, str]

ALL = (BICOMPLEX, CHAIN, FINITE_1, FINITE_2)
LEADS: dict[str, tuple[str, tuple[str, ...], str, float]] = {
    "Fig. 8: IDSVA-SO outperforms the other methods by more than 10x.": (SECOND, ALL, SO, 10.0),
    "Fig. 7: Finite-Diff-2 outperforms Finite-Diff-1.": (SECOND, (FINITE_1,), FINITE_2, 1.0),
    "Fig. 16: FDSVA-SO outperforms the other methods for all N.": (FORWARD, ALL[:3], FD_SO, 1.0),
    "Fig. 17: FDSVA-SO is at least 5 times faster than the chain rule.": (FORWARD, (CHAIN,), FD_SO, 5.0),
    "Fig. 16: the chain rule takes longer than Finite-Diff-1.": (FORWARD, (CHAIN,), FINITE_1, 1.0),
    "Section IV-G: IDSVA-SO's triple loop is 1.5 to 4 times as fast as its double loop.": (
        SECOND,
        (DOUBLE_LOOP,),
        TRIPLE_LOOP,
        1.5,
    ),
}
"""Claims that several methods of a function take more than `factor` times as long as another method, at every
size of both families from `FROM` on: function, methods, the other method, factor.
"""
ERRORS: dict[str, tuple[str, str, tuple[str, str], float, float | None]] = {
    "Fig. 12: for a binary tree of 40 bodies the error of Finite-Diff-2 is about 1e-3 of Finite-Diff-1's.": (
        SECOND,
        "binary",
        (FINITE_2, FINITE_1),
        1e-3,
        None,
    ),
    "Fig. 12: the chain rule and IDSVA-SO have similar errors.": (SECOND, "serial", (CHAIN, SO), 1.0, None),
    "Fig. 20: for a chain of 40 bodies the error of FDSVA-SO is 1e-11, a thousand times the chain rule's.": (
        FORWARD,
        "serial",
        (FD_SO, CHAIN),
        1e3,
        1e-11,
    ),
}
"""For each claim: a function, a family, two methods, the ratio of the first method's error to the second's,
and the first method's error if the article gives it.
"""


def claims(report: Report) -> list[Claim]:
    """Return every claim with its verdict."""
    return [
        *_exponents(report),
        *(_lead(report, claim, *of) for claim, of in LEADS.items()),
        *(_errors(report, claim, *of) for claim, of in ERRORS.items()),
        *_accuracy(report),
        _branching(report),
        *_crossings(report),
        *(_not_overtaken(report, family) for family in FAMILIES),
        *_steps(report),
    ]


def _exponents(report: Report) -> list[Claim]:
    return [
        _exponent(report, *of, family, theirs)
        for of, published in TABLE_3.items()
        for family, theirs in zip(FAMILIES, published[::2], strict=True)
    ]


def _exponent(report: Report, function: str, method: str, family: str, theirs: float) -> Claim:
    words = f"Table III: the time of {method} for {function} grows as N^{theirs} ({family})."
    measured, counted = (curves(report["entries"], function, family, x) for x in (TIME, OPERATIONS))
    fit = _from_four(measured.get(method, {}))
    if fit is None:
        return not_comparable(words, "too few sizes")
    sizes, every = sorted(measured[method]), growth(measured[method])
    evidence = f"N^{fit:.2f}, fitted over N = {FROM} to {sizes[-1]} (in the article to N > 100); "
    evidence += f"reproduced means that the exponents differ by at most {WITHIN}. "
    evidence += f"Time from N = {sizes[0]} on: N^{every and every['exponent']:.2f}. {_last(measured[method])}"
    if (of_operations := _from_four(counted.get(method, {}))) is not None:
        evidence += f". Operations: N^{of_operations:.2f}"
    if (ours := _from_four(measured.get(BESIDE.get((function, method), ""), {}))) is not None:
        evidence += f". Time of generated code: N^{ours:.2f}"
    return judged(words, abs(fit - theirs) <= WITHIN, evidence)


def _last(times: Mapping[int, float]) -> str:
    (less, before), (size, time) = sorted(times.items())[-2:]
    return f"Time from N = {less} to {size}: N^{log(time / before) / log(size / less):.2f}"


def _from_four(points: Mapping[int, float]) -> float | None:
    fit = growth({n: x for n, x in points.items() if n >= FROM})
    return None if fit is None else float(fit["exponent"])


def _lead(
    report: Report, claim: str, function: str, methods: tuple[str, ...], over: str, least: float
) -> Claim:
    of_families = [ratios(report["entries"], function, family, over) for family in FAMILIES]
    pairs = {
        method: [pair for of in of_families for pair in of.get(method, {}).items()] for method in methods
    }
    ranges = {method: [x for n, x in found if n >= FROM] for method, found in pairs.items()}
    ranges = {method: values for method, values in ranges.items() if values}
    if not ranges:
        return not_comparable(claim, UNMEASURED)
    words = f"time divided by the time of {over}, least to greatest value over N >= {FROM}: "
    words += "; ".join(f"{method} {min(x):.3g} to {max(x):.3g}" for method, x in ranges.items())
    words += f"; reproduced means that all exceed {least:g}"
    if fewer := [x for method in ranges for n, x in pairs[method] if n < FROM]:
        words += f". For smaller N, where compilers unroll loops: {min(fewer):.3g} to {max(fewer):.3g}"
    return judged(claim, all(min(x) > least for x in ranges.values()), words)


def _errors(
    report: Report,
    claim: str,
    function: str,
    family: str,
    methods: tuple[str, str],
    ratio: float,
    size: float | None,
) -> Claim:
    by_method = curves(report["entries"], function, family, ERROR)
    one, other = (by_method.get(method, {}) for method in methods)
    if not one.keys() & other.keys():
        return not_comparable(claim, UNMEASURED)
    n = max(one.keys() & other.keys())
    expected = [ratio * other[n], *([] if size is None else [size])]
    holds = all(1.0 / WITHIN_DECADE < one[n] / x < WITHIN_DECADE for x in expected)
    evidence = f"error of {methods[0]} {one[n]:.1e}, of {methods[1]} {other[n]:.1e} for {n} bodies: ratio "
    evidence += f"{one[n] / other[n]:.2g}"
    values = "the ratio is" if size is None else "the ratio and the first error are"
    bounds = f"1/{WITHIN_DECADE:g} to {WITHIN_DECADE:g}"
    reproduced = f"reproduced means that {values} {bounds} times the article's"
    return judged(claim, holds, f"{evidence}; {reproduced}")


def _accuracy(report: Report) -> list[Claim]:
    chains, binary = (curves(report["entries"], SECOND, x, ERROR)[SO] for x in FAMILIES)
    shared = sorted(chains.keys() & binary.keys())
    below, above = [binary[n] for n in shared], [chains[n] for n in shared]
    forward = curves(report["entries"], FORWARD, FAMILIES[0], ERROR).get(FD_SO, {})
    largest = max(forward.values(), default=0.0)
    bound = "Fig. 20: errors of FDSVA-SO are bounded by 1e-8, for N < 150."
    return [
        _rising(chains),
        judged(
            "Fig. 11: the root mean square errors of binary trees are below those of chains.",
            all(b <= c for b, c in zip(below, above, strict=True)),
            f"for N = {listed(shared)}: {listed(below)} (binary); {listed(above)} (serial)",
        ),
        judged(bound, largest < 1e-8, f"at most {largest:.1e} for chains of up to {max(forward)} bodies")
        if forward
        else not_comparable(bound, UNMEASURED),
    ]


def _rising(errors: Mapping[int, float]) -> Claim:
    claim, fit = "Fig. 11: errors of IDSVA-SO grow with N.", growth(errors)
    words = f"{listed(list(errors.values()))} for chains of N = {listed(list(errors))} bodies"
    if fit is None:
        return not_comparable(claim, "too few sizes", words)
    return judged(claim, fit["exponent"] > 0.0, f"{words}, fitted as N^{fit['exponent']:.2g}")


def _crossings(report: Report) -> list[Claim]:
    aza, products = FIRST_PRODUCTS
    inner = {family: ratios(report["terms"], INNER, family, DTM).get(IDFOZA, {}) for family in FAMILIES}
    first = ratios(report["entries"], FIRST_FORWARD, FAMILIES[0], products).get(aza, {})
    return [
        *(
            _overtaken(
                f"Figs. 14, 15, 18: IDFOZA overtakes DTM at N = {size} ({family}) in the inner term.",
                "time of IDFOZA / time of DTM",
                inner[family],
                size,
            )
            for family, size in zip(FAMILIES, (45, 25), strict=True)
        ),
        _overtaken(
            "Section VI-A: AZA overtakes DMM in first derivatives at N = 50 (serial).",
            "time of AZA / time of DMM",
            first,
            50,
        ),
    ]


def _overtaken(claim: str, ratio: str, beside: Mapping[int, float], size: int) -> Claim:
    """Return the claim that a method overtakes another method near `size` bodies.

    ratio: the time of the method divided by the time of the other method, in words.
    beside: value of the ratio for each number of bodies.
    """
    if not beside:
        return not_comparable(claim, UNMEASURED)
    sizes = sorted(beside)
    words = f"{ratio} for N = {listed(sizes)}: {listed(beside[n] for n in sizes)}; reproduced means that the "
    words += f"ratio stays below 1 from a measured N between {size / 2:g} and {2 * size} on"
    crossing = next((n for n in sizes if all(beside[m] < 1.0 for m in sizes if m >= n)), None)
    if crossing is None and sizes[-1] < size:
        return not_comparable(claim, f"no more than {sizes[-1]} bodies were measured", words)
    return judged(claim, crossing is not None and size / 2 <= crossing <= 2 * size, words)


def _branching(report: Report) -> Claim:
    claim = "Fig. 17: the speed-ups of FDSVA-SO are higher for binary trees than for chains."
    chains, trees = (ratios(report["entries"], FORWARD, family, FD_SO) for family in FAMILIES)
    pairs = {
        method: {n: (trees[method][n], x) for n, x in chains[method].items() if n in trees[method]}
        for method in ALL[:3]
        if method in chains and method in trees
    }
    found = [pair for of in pairs.values() for pair in of.values()]
    if not found:
        return not_comparable(claim, UNMEASURED)
    words = "; ".join(
        f"{method} for N = {listed(of)}: {listed(x for x, _ in of.values())} (binary), "
        f"{listed(x for _, x in of.values())} (serial)"
        for method, of in pairs.items()
    )
    words = f"time divided by the time of {FD_SO}: {words}"
    return judged(claim, all(x >= y for x, y in found), words)


def _not_overtaken(report: Report, family: str) -> Claim:
    claim = f"Figs. 14, 15: AZA does not overtake DTM below N = 100 in the outer term ({family})."
    beside = ratios(report["terms"], OUTER, family, DTM).get(AZA, {})
    if not beside:
        return not_comparable(claim, UNMEASURED)
    words = f"time of AZA / time of DTM for N = {listed(beside)}: {listed(beside.values())}"
    return judged(claim, all(x > 1.0 for n, x in beside.items() if n <= 100), words)


def _steps(report: Report) -> list[Claim]:
    entries = report["steps"]["entries"]
    pairs = [tuple(entry["best_1"]) for entry in entries]
    inside = [all(10**-4.25 <= x <= 10**-2.75 for x in pair) for pair in pairs]
    best = [entry["best_2"] for entry in entries]
    near = [10**-5.75 <= x <= 10**-4.25 for x in best]
    names = [f"{entry['family']} {entry['size']}" for entry in entries]
    first = ", ".join(f"{name} ({h:.0e}, {k:.0e})" for name, (h, k) in zip(names, pairs, strict=True))
    second = ", ".join(f"{name} {h:.0e}" for name, h in zip(names, best, strict=True))
    return [
        judged(
            "Fig. 21: the best h and k of Finite-Diff-1 lie between 1e-4 and 1e-3.",
            all(inside),
            f"best steps (h, k): {first}",
        ),
        judged(
            "Fig. 23: the best h of Finite-Diff-2 is 1e-5 for almost all N.",
            sum(near) >= 0.8 * len(near),
            f"best step h on a grid of half decades: {second}",
        ),
    ]
