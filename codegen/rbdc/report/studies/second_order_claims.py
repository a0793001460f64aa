"""Claims of Singh, Russell and Wensing (2023), and whether the study found them so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rbdc.report.compare import growth
from rbdc.report.methods.contenders import ZEROED
from rbdc.report.present.tables import ERROR, TIME, curves
from rbdc.report.studies.claims import judged, listed, not_comparable

FIRST, SECOND, FORWARD = "rnea_derivatives", "rnea_second_derivatives", "aba_second_derivatives"
TABLE_3 = {
    (SECOND, "bicomplex-step"): (2.98, 2.14, 2.98, 2.13),
    (SECOND, "chain-rule"): (3.05, 0.93, 3.17, 0.47),
    (SECOND, "finite-diff-1"): (3.02, 1.16, 3.03, 1.13),
    (SECOND, "finite-diff-2"): (2.38, 0.66, 2.15, 1.38),
    (SECOND, ZEROED): (3.08, -4.71, 1.45, -0.77),
    (FIRST, "generated"): (1.76, -2.06, 1.03, 0.01),
}
"""Table III: A and B of serial chains, A and B of binary trees. Generated code stands for IDSVA-SO and
IDSVA-FO; the exponents of IDSVA-SO are of its O(N d^2) work, so that the N^3 entries that are always zero are
left alone.
"""
WRITTEN = {(SECOND, ZEROED): "generated"}
"""The form that writes every entry, of a method that leaves those alone that are always zero."""
WITHIN = 0.3
"""An exponent is reproduced if it is this close to the article's."""
WITHIN_DECADE = 10.0
"""An error, or a ratio of two, is reproduced if it is within this factor of the article's."""
FAMILIES = ("serial", "binary")
BY_STEPS = ("bicomplex-step", "chain-rule", "finite-diff-1", "finite-diff-2")

Report = Mapping[str, Any]


def claims(report: Report) -> list[dict[str, str]]:
    """Every claim with its verdict."""
    made = _exponents(report)
    made += _lead(
        report, SECOND, BY_STEPS, "Fig. 8: IDSVA-SO outperforms the other methods by more than 10x.", 10.0
    )
    made += [*_differences(report), *_accuracy(report), *_automatic(report)]
    if any(f["name"] == FORWARD for f in report["functions"]):
        made += _forward(report)
    return [*made, *_steps(report)]


def times(report: Report, function: str, family: str) -> dict[str, dict[int, float]]:
    """Microseconds by method and size."""
    return curves(report["entries"], function, family, TIME)


def fits(report: Report, function: str, method: str) -> dict[str, Mapping[str, float]]:
    """The fitted exponents and constants by family, where there are enough sizes."""
    found = {
        family: grown["time"].get(method)
        for one in report["functions"]
        if one["name"] == function
        for family, grown in one["families"].items()
    }
    return {family: fit for family, fit in found.items() if fit is not None}


def _exponents(report: Report) -> list[dict[str, str]]:
    """A claim for each method and family."""
    made = []
    for (function, method), published in TABLE_3.items():
        own = fits(report, function, method)
        dense = fits(report, function, WRITTEN.get((function, method), ""))
        for family, theirs in zip(FAMILIES, published[::2], strict=True):
            words = f"Table III: {method} of {function} grows as N^{theirs} ({family})."
            if family not in own:
                made.append(not_comparable(words, "too few sizes"))
                continue
            sizes = sorted(times(report, function, family)[method])
            exponent = own[family]["exponent"]
            found = f"N^{exponent:.2f} over N = {sizes[0]} to {sizes[-1]}, where the article has up to 100 "
            found += f"and more; reproduced means within {WITHIN}"
            if family in dense:
                found += f". With every entry written, N^{dense[family]['exponent']:.2f}"
            made.append(judged(words, abs(exponent - theirs) <= WITHIN, found))
    return made


def ratios(report: Report, function: str, method: str) -> dict[tuple[str, int], float]:
    """A method's times over those of generated code, by family and size; both write every entry."""
    found: dict[tuple[str, int], float] = {}
    for family in FAMILIES:
        by_method = times(report, function, family)
        own = by_method.get("generated", {})
        found |= {(family, n): t / own[n] for n, t in by_method.get(method, {}).items()}
    return found


def _lead(
    report: Report, function: str, methods: tuple[str, ...], words: str, least: float
) -> list[dict[str, str]]:
    """Whether generated code takes `least` times less time than each of the methods at every size."""
    ranges = {method: list(ratios(report, function, method).values()) for method in methods}
    kept = {method: values for method, values in ranges.items() if values}
    if not kept:
        return [not_comparable(words, "none of them was measured in this run")]
    found = "; ".join(f"{method} {min(x):.3g} to {max(x):.3g} times as long" for method, x in kept.items())
    return [judged(words, all(min(x) > least for x in kept.values()), found)]


def _largest(
    report: Report, function: str, family: str, one: str, other: str
) -> tuple[int, float, float] | None:
    """The largest size at which both methods' errors are known, and these."""
    errors = curves(report["entries"], function, family, ERROR)
    sizes = set(errors.get(one, {})) & set(errors.get(other, {}))
    if not sizes:
        return None
    return max(sizes), errors[one][max(sizes)], errors[other][max(sizes)]


def _alike(one: float, other: float) -> bool:
    return 1.0 / WITHIN_DECADE < one / other < WITHIN_DECADE


def _differences(report: Report) -> list[dict[str, str]]:
    both = [times(report, SECOND, family) for family in FAMILIES]
    faster = [
        by["finite-diff-1"][n] / t
        for by in both
        for n, t in by["finite-diff-2"].items()
        if n in by["finite-diff-1"]
    ]
    made = [
        judged(
            "Fig. 7: Finite-Diff-2 outperforms Finite-Diff-1.",
            min(faster) > 1.0,
            f"{min(faster):.3g} to {max(faster):.3g} times faster",
        )
    ]
    last = _largest(report, SECOND, "binary", "finite-diff-1", "finite-diff-2")
    if last is not None:
        size, first, second = last
        made.append(
            judged(
                "Fig. 12: for a binary tree of 40 bodies the error of Finite-Diff-2 is about 1e-3 of that of "
                "Finite-Diff-1.",
                _alike(second, 1e-3 * first),
                f"{second / first:.1e} for {size} bodies; reproduced means within a factor of ten",
            )
        )
    return made


def _accuracy(report: Report) -> list[dict[str, str]]:
    errors = {family: curves(report["entries"], SECOND, family, ERROR) for family in FAMILIES}
    own = errors["serial"]["generated"]
    shared = sorted(set(own) & set(errors["binary"]["generated"]))
    binary = [errors["binary"]["generated"][n] for n in shared]
    chains = [own[n] for n in shared]
    made = [
        _rising(own),
        judged(
            "Fig. 11: the root mean square errors of binary trees are below those of chains.",
            all(b <= c for b, c in zip(binary, chains, strict=True)),
            f"N = {listed(shared)}: {listed(binary)} beside {listed(chains)}",
        ),
    ]
    last = _largest(report, SECOND, "serial", "chain-rule", "generated")
    if last is not None:
        size, rule, generated = last
        found = (
            f"{rule:.1e} and {generated:.1e} for a chain of {size}; reproduced means within a factor of ten"
        )
        made.append(judged("Fig. 12: the chain rule and IDSVA-SO err alike.", _alike(rule, generated), found))
    return made


def _rising(errors: Mapping[int, float]) -> dict[str, str]:
    """Whether errors grow with the size: the exponent that fits them is positive."""
    claim, fit = "Fig. 11: errors of IDSVA-SO grow with N.", growth(errors)
    words = f"{listed(list(errors.values()))} for N = {listed(list(errors))}"
    if fit is None:
        return not_comparable(claim, "too few sizes", words)
    return judged(claim, fit["exponent"] > 0.0, f"{words}: as N^{fit['exponent']:.2g}")


def _automatic(report: Report) -> list[dict[str, str]]:
    found = ratios(report, SECOND, "ad")
    robots = {robot: by[SECOND] for robot, by in report["robots"].items() if SECOND in by}
    words = ", ".join(f"{family} {n}: {x:.3g}" for (family, n), x in found.items())
    words += "".join(f", {robot}: {x:.3g}" for robot, x in robots.items())
    claim = "Fig. 10: IDSVA-SO is 1.2 to 5 times faster than CasADi's AD with generated code."
    values = [*found.values(), *robots.values()]
    limit = "AD's code of more than 12 degrees of freedom is not tried here"
    made = [
        judged(claim, all(1.2 <= x <= 5.0 for x in values), f"{words}; both through the same compiler")
        if values
        else not_comparable(claim, "AD was not measured in this run")
    ]
    made.append(
        not_comparable("Figs. 10, 19: 3.2x (ID) and 3.8x (FD) on Atlas, Talos only by analysis.", limit)
    )
    made.append(not_comparable("Fig. 9: millions of lines of C, 12 MB, for a chain of 40 by AD.", limit))
    return made


def _forward(report: Report) -> list[dict[str, str]]:
    methods = ("chain-rule", "bicomplex-step", "finite-diff-1")
    made = _lead(report, FORWARD, methods, "Fig. 16: FDSVA-SO outperforms the other methods for all N.", 1.0)
    made += _lead(
        report, FORWARD, ("chain-rule",), "Fig. 17: it is at least 5 times faster than the chain rule.", 5.0
    )
    by = times(report, FORWARD, "serial")
    flips = [by["chain-rule"][n] / t for n, t in by["finite-diff-1"].items() if n in by["chain-rule"]]
    made.append(
        judged(
            "Fig. 16: the chain rule takes longer than Finite-Diff-1, unlike for inverse dynamics.",
            min(flips) > 1.0,
            f"{listed(flips)} times as long over the sizes",
        )
    )
    made += _forward_errors(report)
    products = [m for m in by if m.startswith("unrolled-fdsva-so")]
    words = "; ".join(f"{m}: {listed(list(by[m].values()))} \u00b5s" for m in products)
    made.append(
        not_comparable(
            "Figs. 14, 15, 18: IDFOZA overtakes DTM at N = 45 (serial) and 25 (binary) in the inner term.",
            "the products are compiled into straight-line code, which is too large at such sizes; generated "
            "code merges both terms in loops along the paths",
            f"chains of 2 and 4 bodies: {words}",
        )
    )
    return made


def _forward_errors(report: Report) -> list[dict[str, str]]:
    """Fig. 20: how far apart the errors are, and their bound."""
    bound = "Fig. 20: errors of FDSVA-SO are bounded by 1e-8, for N < 150."
    apart = "Fig. 20: for a chain of 40 FDSVA-SO errs by 1e-11, a thousand times as much as the chain rule."
    own = curves(report["entries"], FORWARD, FAMILIES[0], ERROR)["generated"]
    largest = max(own.values())
    made = [judged(bound, largest < 1e-8, f"at most {largest:.1e}, for N up to {max(own)}")]
    last = _largest(report, FORWARD, FAMILIES[0], "chain-rule", "generated")
    if last is not None:
        size, rule, generated = last
        holds = _alike(generated, 1e-11) and _alike(generated, 1e3 * rule)
        found = f"{generated:.1e} and {rule:.1e} for a chain of {size}: {generated / rule:.2g} times that; "
        found += f"reproduced means both within a factor of {WITHIN_DECADE:g}"
        made.append(judged(apart, holds, found))
    return made


def _steps(report: Report) -> list[dict[str, str]]:
    entries = report["steps"]["entries"]
    pairs = [tuple(entry["best_1"]) for entry in entries]
    inside = [all(10**-4.25 <= x <= 10**-2.75 for x in pair) for pair in pairs]
    best = [entry["best_2"] for entry in entries]
    near = [10**-5.75 <= x <= 10**-4.25 for x in best]
    words = ", ".join(f"({h:.0e}, {k:.0e})" for h, k in pairs)
    return [
        judged("Fig. 21: the best h and k of Finite-Diff-1 lie between 1e-4 and 1e-3.", all(inside), words),
        judged(
            "Fig. 23: the best h of Finite-Diff-2 is 1e-5 for almost all N.",
            sum(near) >= 0.8 * len(near),
            f"{', '.join(f'{x:.0e}' for x in best)}; on a grid of half decades",
        ),
    ]
