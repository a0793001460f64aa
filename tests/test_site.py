"""The site: the page of all functions, which no other page repeats, links, the summary for agents."""

from __future__ import annotations

import json
import re
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

from docs import docstrings, functions_page, links, measurements, repository_pages
from rbdc.functions.catalogue import functions_of, known
from tests.analysis.differentiability import TOUCHING, table
from tests.test_documentation import PAGES, ROOT

DOCS = ROOT / "docs"
MODULES = {"Pinocchio": "pinocchio", "MuJoCo": "mujoco"}
NAMES = {*known(), *functions_of(TOUCHING)}


@pytest.fixture(scope="module")
def page() -> str:
    return functions_page.page()


def test_all_functions_are_on_their_page(page: str) -> None:
    assert set(re.findall(r"^### `(\w+)`$", page, re.MULTILINE)) >= NAMES


def test_functions_have_what_a_caller_asks(page: str) -> None:
    """A signature in each language, shapes of all arrays, a preset and a source."""
    for section in re.split(r"^### ", page, flags=re.MULTILINE)[1:]:
        name = section[1 : section.index("`", 1)]
        entry = functions_page.entries()[name]
        assert f"m.{name}(" in section and f"void ROBOT_{name}(" in section, name
        assert f'm.casadi("{name}' in section or entry.declaration.pair, name
        for array in (*entry.declaration.inputs, *entry.declaration.outputs):
            assert re.search(rf"`{array.name}` \| \(.*\) \| \S", section), (name, array.name)
        assert "- Preset: " in section and "- Source: " in section, name


def test_derivatives_are_on_the_page(page: str) -> None:
    assert table() in page


def test_the_page_does_not_depend_on_its_run(page: str) -> None:
    functions_page.entries.cache_clear()
    assert functions_page.page() == page


def test_measurements_are_shown() -> None:
    """The page has each row of each report, and no row with wrong results."""
    page, files = measurements.page(), sorted(measurements.MEASURED.glob("*.json"))
    reports = [json.loads(file.read_text(encoding="utf-8")) for file in files]
    rows = [row for report in reports for row in report["rows"]]
    assert rows and page.count("\n| ") == len(rows) + sum(len(report["robots"]) for report in reports)
    assert all(entry["right"] for row in rows for entry in row["entries"].values())


def test_no_other_page_lists_functions() -> None:
    """No table has rows of functions, but for what differs from other libraries."""
    exempt = {"functions.md", "from_pinocchio.md", "from_mujoco.md"}
    for path in PAGES:
        if path.name not in exempt and path.is_relative_to(DOCS):
            for first in re.findall(r"^\| *((?:`\w+`(?:, )?)+) *\|", path.read_text("utf-8"), re.MULTILINE):
                assert not set(re.findall(r"\w+", first)) <= NAMES, f"{path}: {first}"


@pytest.mark.parametrize("peer", functions_page.PEERS)
def test_peers_have_their_names(peer: str) -> None:
    module = import_module(MODULES[peer])
    for name, theirs in functions_page.PEERS[peer].items():
        assert name in NAMES, name
        assert [attribute for attribute in theirs if not hasattr(module, attribute)] == [], name


def test_links_hold_where_pages_are_shown() -> None:
    text = "[a](codegen/README.md#recipes) [b](docs/c.md)\n```text\n[c](docs/c.md)\n```\n"
    shown = repository_pages.turned(text, "README.md", "docs/maintainers/tests.md")
    assert shown == "[a](compiler.md#recipes) [b](../c.md)\n```text\n[c](docs/c.md)\n```\n"


def test_fields_are_lists() -> None:
    lines = ["A thing:", "it has parts.", "", "a, b: two", "    parts.", "c: one.", "", "More words."]
    shown = [
        "A thing:",
        "it has parts.",
        "",
        "- ``a, b``: two",
        "  parts.",
        "- ``c``: one.",
        "",
        "More words.",
    ]
    assert docstrings.listed(lines) == shown


def test_broken_links_are_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<a href="b.html#here"></a><a href="b.html#there"></a><a href="c.html"></a>'
    )
    (tmp_path / "b.html").write_text('<p id="here"></p>')
    assert links.broken(tmp_path) == ["a.html: b.html#there", "a.html: c.html"]


def test_the_summary_for_agents_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (DOCS / "llms.txt").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(compile(block, "llms.txt", "exec"), {})
    pages = re.findall(r"\((\w+)\.html\)", text)
    assert pages and all((DOCS / f"{name}.md").is_file() for name in pages)


def test_the_site_has_every_page() -> None:
    """Each page of `docs/` is in a table of contents, and an extra installs the packages of the site."""
    contents = (DOCS / "index.md").read_text(encoding="utf-8")
    listed = {"index", *re.findall(r"^([a-z_/]+)$", contents, re.MULTILINE)}
    assert listed == {str(p.relative_to(DOCS).with_suffix("")) for p in DOCS.rglob("*.md")}
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    assert {"sphinx", "myst-parser", "furo"} == {re.split("[<>=]", name)[0] for name in extras["docs"]}
