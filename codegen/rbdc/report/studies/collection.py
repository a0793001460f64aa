"""The index of all studies: every claim of the papers with its verdict, by study."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rbdc.analysis.pages import Part, Table, page_text
from rbdc.report.present.plots import as_files
from rbdc.report.present.study_page import of_claims
from rbdc.report.studies import first_order, inertia_inverse, precision, recursion, second_order, sensitivity
from rbdc.report.studies.items import decided

PAPERS = {
    "recursion": "Caron, recursive Newton-Euler algorithm (tutorial)",
    "table-1": "Carpentier and Mansard (2018), section V",
    "inertia-inverse": "Carpentier (2018)",
    "precision": "Carpentier and Mansard (2018), section V-B",
    "second-order": "Singh, Russell and Wensing (2023)",
    "sensitivity": "Zhakatayev, Rogovchenko and Paetzold (2023)",
}
"""The paper of each study, in the order in which all run."""
PAGES: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "recursion": recursion.page,
    "table-1": first_order.first_order_page,
    "inertia-inverse": inertia_inverse.page,
    "precision": precision.page,
    "second-order": second_order.page,
    "sensitivity": sensitivity.page,
}
"""The function that draws the page of each study from its report."""
OF_A_ROBOT = ("recursion", "precision")
"""Studies of one robot; the name of such a study's folder contains the robot's name."""
_HEAD = ("claim", "verdict", "found")


def finished(place: Path, *, quick: bool) -> bool:
    """Return whether the folder has the result of a finished run with this value of `quick`."""
    file = place / "study.json"
    return file.is_file() and json.loads(file.read_text(encoding="utf-8"))["quick"] == quick


def draw(folder: Path, study: str, place: Path) -> None:
    """Write the figures of a finished study to the folder `figures`, if they are not there."""
    figures = folder / "figures"
    if not any(figures.glob(f"{study}-[0-9]*")):
        with as_files(figures, study):
            PAGES[study](json.loads((place / "study.json").read_text(encoding="utf-8")))


def index(folder: Path, places: Mapping[str, Path]) -> dict[str, Any]:
    """Return, ready for JSON, the claims, the page and the figures of every study, and every item of the
    papers with its verdict.

    places: the folder of each study, by the study's name.
    """
    entries, reports = [], {}
    for study, place in places.items():
        report = reports[study] = json.loads((place / "study.json").read_text(encoding="utf-8"))
        figures = sorted(file.name for file in (folder / "figures").glob(f"{study}-[0-9]*"))
        entry = {name: report[name] for name in ("study", "quick", "claims")}
        entries.append({**entry, "page": f"{place.name}/study.html", "figures": figures})
    machine = next((report["machine"] for report in reports.values() if "machine" in report), None)
    return {"study": "all", "machine": machine, "studies": entries, "items": decided(reports)}


def page(report: Mapping[str, Any]) -> str:
    """Return the page of the index."""
    claims = [claim for entry in report["studies"] for claim in entry["claims"]]
    words = [of_claims(claims), "The folder `figures` has all figures as SVG and PNG."]
    parts = [_part(entry) for entry in report["studies"]]
    parts = [_items(report["items"]), *parts]
    return page_text(Part("Claims of the papers", words, parts=parts), (), report, "index.json")


def _items(items: Sequence[Mapping[str, str]]) -> Part:
    head = ("paper", "place", "what", "command", "verdict", "evidence")
    table = Table("", head, [[item[name] for name in head] for item in items], words=head)
    return Part("Every algorithm, table, figure and claim", [], tables=[table])


def _part(entry: Mapping[str, Any]) -> Part:
    rows = [[claim[name] for name in _HEAD] for claim in entry["claims"]]
    words = [f"{of_claims(entry['claims'])} The page of the study is {entry['page']}."]
    if entry["quick"]:
        words.append("A quick run decides no claim.")
    return Part(PAPERS[entry["study"]], words, tables=[Table("", _HEAD, rows, words=_HEAD)])
