"""All studies in one run, the index of their claims, and interrupted runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from markupsafe import escape

from rbdc.cli.commands import commands
from rbdc.report.measure.kept import keeping, kept
from rbdc.report.studies import collection, inertia_inverse, second_order
from rbdc.report.studies.first_order import first_order_page


@pytest.fixture(scope="module")
def quick_studies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a quick run of all studies, of which one had been made before."""
    out = tmp_path_factory.mktemp("paper")
    ended(["experiment", "inertia-inverse", "--quick", "--out", str(out)])
    before = (out / "inertia-inverse" / "study.json").read_text()
    ended(["experiment", "all", "--quick", "--out", str(out)])
    assert (out / "inertia-inverse" / "study.json").read_text() == before, "it is not run again"
    return out


def ended(command: list[str]) -> None:
    result = CliRunner().invoke(commands, command)
    assert result.exit_code == 0, result.output


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("study", "page_of", "figures_of_page"),
    [
        ("second-order", second_order.page, 11),
        ("inertia-inverse", inertia_inverse.page, 3),
        ("table-1", first_order_page, 7),
    ],
)
def test_quick_studies(study: str, page_of: Any, figures_of_page: int, quick_studies: Path) -> None:
    report = json.loads((quick_studies / study / "study.json").read_text())
    assert report["claims"]
    assert all(claim["verdict"].startswith("not comparable: ") for claim in report["claims"])
    page = (quick_studies / study / "study.html").read_text()
    assert page == page_of(report)
    assert page.count("<svg") == figures_of_page
    within = page.replace("url(#", "")
    assert not any(loaded in within for loaded in ("src=", "<link", "@import", "url("))


@pytest.mark.exhaustive
def test_the_index_has_every_claim_and_figures_as_files(quick_studies: Path) -> None:
    report = json.loads((quick_studies / "index.json").read_text())
    page = (quick_studies / "index.html").read_text()
    assert [entry["study"] for entry in report["studies"]] == list(collection.PAPERS)
    for entry in report["studies"]:
        assert entry["claims"] and (quick_studies / entry["page"]).is_file()
        assert all(str(escape(claim["found"])) in page for claim in entry["claims"])
        assert not (quick_studies / entry["page"]).with_name("measured").exists()
        pictures = [quick_studies / "figures" / name for name in entry["figures"]]
        assert all(file.stat().st_size > 1000 for file in pictures)
        kinds = {suffix: sum(file.suffix == suffix for file in pictures) for suffix in (".svg", ".png")}
        known = entry["study"] in ("inertia-inverse", "recursion") or kinds[".svg"] > 0
        assert known and kinds[".svg"] == kinds[".png"]


def test_an_interrupted_study_goes_on(tmp_path: Path) -> None:
    """The study reuses the measurements in its folder, and removes the folder at the end."""
    calls = []

    def measure() -> dict[str, Any]:
        calls.append(1)
        return {"time": 1.5}

    with pytest.raises(KeyboardInterrupt), keeping(tmp_path / "measured"):
        kept(("robot", 1), measure)
        raise KeyboardInterrupt
    with keeping(tmp_path / "measured"):
        assert kept(("robot", 1), measure) == {"time": 1.5}
        assert len(calls) == 1
        kept(("robot", 2), measure)
        assert len(calls) == 2, "another comparison is measured"
    assert not (tmp_path / "measured").exists()
    kept(("robot", 1), measure)
    assert len(calls) == 3, "outside a study nothing is kept"
