"""Every numbered algorithm, table, figure and claim of the five papers, each with the evidence that decides
it: claims of a study, or a test of this repository.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

CARON = "Caron, recursive Newton-Euler algorithm (tutorial)"
CARPENTIER = "Carpentier (2018)"
MANSARD = "Carpentier and Mansard (2018)"
SINGH = "Singh, Russell and Wensing (2023)"
ZHAKATAYEV = "Zhakatayev, Rogovchenko and Paetzold (2023)"
NOTHING = "nothing to measure"
"""Verdict on an illustration or a table of symbols."""
TESTED = "holds: tested"
"""Verdict of an item that tests decide."""


class Item(NamedTuple):
    """An item of a paper.

    paper, place: where the item stands.
    what: what the item says.
    study: the study whose claims decide it; empty for tests and illustrations.
    claims: prefixes of these claims.
    tests: tests that decide it, as file::function.
    """

    paper: str
    place: str
    what: str
    study: str = ""
    claims: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()

    @property
    def command(self) -> str:
        """The command that shows the evidence."""
        return f"rbdc experiment {self.study}" if self.study else f"pytest {' '.join(self.tests)}".strip()


ERRATA, TEXTS = "tests/report/test_errata.py", "tests/report/test_reference_loops.py"
LAGRANGIAN, LOADS = "tests/laws/test_lagrangian.py", "tests/algorithms/test_texts.py"
NEWTON, IDENTITIES = "tests/laws/test_newton.py", "tests/laws/test_tensor_identities.py"
CLAIMS = "tests/report/test_claims.py"
LIE = "tests/laws/test_lie_derivatives.py"
LOOPS = (f"{TEXTS}::test_loops_in_c_give_what_numbers_give", f"{LOADS}::test_references_over_numbers")


def _of(paper: str, *rows: Sequence[Any]) -> list[Item]:
    return [Item(paper, *row) for row in rows]


ITEMS: tuple[Item, ...] = (
    *_of(
        CARON,
        ("Pseudocode", "RNEA, forward and backward pass, step by step", "recursion",
         ("Tutorial: v_i", "Tutorial: a_i", "Tutorial: f_i", "Tutorial: f_p", "Tutorial: tau",
          "Tutorial: the"),
         LOOPS),
        ("a_0", "gravity as an acceleration of the world", "recursion", ("Tutorial: a_0",)),
        ("Introduction", "unknown contact forces", "recursion", ("Tutorial: with unknown",)),
        ("Prototype", "a_0, the number of links and the cross products of the program", "", (),
         (f"{ERRATA}::test_caron_acceleration_of_the_root", f"{ERRATA}::test_caron_number_of_links",
          f"{ERRATA}::test_caron_cross_products")),
        ("External forces", "forces in the inertial frame are mapped by iX0*", "", (),
         (f"{ERRATA}::test_caron_external_forces",)),
        ("Joints", "k = 3 for a spherical joint, printed as 2", "", (),
         (f"{ERRATA}::test_caron_spherical_joint",)),
    ),
    *_of(
        CARPENTIER,
        ("Algorithm 1", "line by line as printed", "inertia-inverse", ("Algorithm 1, line by line",),
         (f"{ERRATA}::test_carpentier_algorithm_1",)),
        ("Section I", "the inverse of M without computing M", "inertia-inverse", ("Algorithm 1 gives",)),
        ("Section II", "Pinocchio's implementation", "inertia-inverse", ("Section II",)),
    ),
    *_of(
        MANSARD,
        ("Algorithm 1", "RNEA", "", (), LOOPS),
        ("Algorithms 2, 3", "derivatives of RNEA", "", (), LOOPS),
        ("Equations (11) to (14)", "derivatives of transformations", "", (),
         (f"{ERRATA}::test_carpentier_mansard_equation_14",)),
        ("Equations (16) to (24)", "derivatives of forward dynamics from those of inverse dynamics", "", (),
         (f"{ERRATA}::test_carpentier_mansard_equation_16b", *LOOPS)),
        ("Fig. 1", "illustration of frames", "", ()),
        ("Table I", "times of Pinocchio's algorithms", "table-1", ("Table I",),
         (f"{ERRATA}::test_carpentier_mansard_table_1",)),
        ("Figs. 2a, 2b", "ratios of analytical derivatives, differences and dynamics", "table-1",
         ("Analytical derivatives", "Finite differences")),
        ("Fig. 2c", "the direct inverse of M and Cholesky's factorisation", "inertia-inverse",
         ("Fig. 2c", "The direct algorithm")),
        ("Fig. 3, section V-B", "derivatives at rest", "precision", ("Section V-B", "Fig. 3"),
         (f"{ERRATA}::test_carpentier_mansard_section_5_b",)),
        ("Section V-A2", "automatic differentiation on HyQ", "table-1", ("Section V-A2",)),
        ("Section VI", "complexity linear in the number of bodies", "table-1", ("Section VI",),
         (f"{ERRATA}::test_carpentier_mansard_section_6",)),
        ("Section V-A3; abstract of Carpentier (2018)", "times of M^-1 on the robots of Table I", "table-1",
         ("Fig. 2c",)),
    ),
    *_of(
        SINGH,
        ("Table I, Figs. 1 to 6, 13", "lists of symbols, illustrations, a flow chart", "", ()),
        ("Equation (17)", "order of Lie derivatives", "", (), (f"{LIE}",)),
        ("Table II, appendix B", "identities M1 to M27, K1 to K16", "", (),
         (f"{IDENTITIES}::test_identity",)),
        ("Algorithm 1", "IDSVA-SO, and its line 22", "", (),
         (*LOOPS, f"{ERRATA}::test_singh_algorithm_1_line_22")),
        ("Section IV-G", "times of the triple and of the double loop", "second-order", ("Section IV-G",)),
        ("Equations (40) to (43)", "metrics of errors", "", (), ("tests/report/test_accuracy.py",)),
        ("Equations (46) to (49), (50), (52)", "FDSVA-SO by DTM, AZA and IDFOZA", "", (), LOOPS),
        ("Section VI-A", "AZA in first derivatives of forward dynamics", "second-order", ("Section VI-A",)),
        ("Table III", "exponents of N in the times", "second-order", ("Table III",)),
        ("Figs. 7, 8", "times of all methods", "second-order", ("Fig. 7", "Fig. 8")),
        ("Fig. 9", "size of AD's code", "second-order", ("Fig. 9",)),
        ("Figs. 10, 19", "AD and code generation", "second-order", ("Fig. 10", "Fig. 19")),
        ("Figs. 11, 12, 20", "errors over N", "second-order", ("Fig. 11", "Fig. 12", "Fig. 20")),
        ("Figs. 14, 15, 18", "terms of FDSVA-SO by DTM, AZA and IDFOZA", "second-order",
         ("Figs. 14, 15", "Fig. 15")),
        ("Figs. 16, 17", "second derivatives of forward dynamics", "second-order", ("Fig. 16", "Fig. 17")),
        ("Figs. 21 to 23", "best steps of differences", "second-order", ("Fig. 21", "Fig. 23")),
        ("Abstract", "times on Atlas", "second-order", ("Abstract",)),
        ("Appendix A", "bicomplex numbers, Finite-Diff-1, Finite-Diff-2", "", (),
         (f"{ERRATA}::test_singh_bicomplex_numbers", f"{CLAIMS}::test_steps_of_differences")),
    ),
    *_of(
        ZHAKATAYEV,
        ("Algorithms 1 to 3, equations (4) to (17)", "the recursion and its sensitivities", "sensitivity",
         ("The recursion gives",),
         (f"{LAGRANGIAN}::test_against_newton_euler", f"{ERRATA}::test_zhakatayev_equation_14",
          f"{ERRATA}::test_zhakatayev_transformations")),
        ("Equations (8), (9), (13)", "external forces and torques on all links", "sensitivity",
         ("Section 3.2",), (f"{LOADS}::test_lagrangian_with_loads",)),
        ("Figs. 1, 3, equations (18) to (20)", "graphs of joints and branches", "", (),
         (f"{LAGRANGIAN}::test_the_matrices_of_the_paper", f"{ERRATA}::test_zhakatayev_section_2_2")),
        ("Fig. 2, Tables 1, 2", "the human model", "", (), (f"{ERRATA}::test_zhakatayev_figure_2",)),
        ("Section 5.2", "sensitivities between different branches", "sensitivity", ("Torques and angles",)),
        ("Fig. 4", "numerical and analytical sensitivities agree", "sensitivity", ("Fig. 4",)),
        ("Fig. 5", "spikes in the errors of adaptive finite differences", "sensitivity", ("Fig. 5",)),
        ("Section 6", "errors of differences where the coordinate vanishes", "sensitivity", ("Section 6",),
         (f"{ERRATA}::test_zhakatayev_section_6",)),
        ("Fig. 6", "values along the motion", "sensitivity", ("The values of",)),
        ("Section 6, times", "times of analytical sensitivities and of differences", "sensitivity",
         ("All analytical", "Differences take")),
    ),
)  # fmt: skip


def decided(reports: Mapping[str, Mapping[str, Any]]) -> list[dict[str, str]]:
    """Return every item, ready for JSON, with its command, its verdict and its evidence (a line for each
    claim).

    reports: the reports of studies by the study's name.
    """
    return [_decided(item, reports.get(item.study)) for item in ITEMS]


def claims_of(item: Item, claims: Iterable[Mapping[str, str]]) -> list[Mapping[str, str]]:
    """Return those claims of the item's study that decide the item."""
    return [claim for claim in claims if claim["claim"].startswith(item.claims)] if item.claims else []


def _decided(item: Item, report: Mapping[str, Any] | None) -> dict[str, str]:
    if not item.study:
        verdict, evidence = (TESTED, ", ".join(item.tests)) if item.tests else (NOTHING, "")
    elif report is None:
        verdict, evidence = "not run", f"the study {item.study} is not among these results"
    else:
        decisive = claims_of(item, report["claims"])
        verdict = "; ".join(dict.fromkeys(_counted(decisive)))
        evidence = "\n".join(_told(claim) for claim in decisive)
    return {
        "paper": item.paper,
        "place": item.place,
        "what": item.what,
        "command": item.command,
        "verdict": verdict,
        "evidence": evidence,
    }


def _told(claim: Mapping[str, str]) -> str:
    verdict, _, _ = claim["verdict"].partition(": ")
    found = f" Found: {claim['found']}" if claim["found"] else ""
    words = f"{verdict}: {claim['claim']}{found}".rstrip()
    return words if words.endswith(".") else f"{words}."


def _counted(claims: Sequence[Mapping[str, str]]) -> list[str]:
    verdicts = [claim["verdict"] for claim in claims]
    return [f"{verdicts.count(x)} {x}" if len(verdicts) > 1 else x for x in verdicts]
