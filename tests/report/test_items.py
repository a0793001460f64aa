"""Every item of the papers has claims or tests that decide it, every claim of a study belongs to an item, and
the page shows them.
"""

from __future__ import annotations

import json
import re
from importlib import util
from pathlib import Path
from typing import Any

import pytest

from rbdc.report.studies import collection, items
from rbdc.report.studies.claims import judged
from rbdc.report.studies.items import ITEMS, NOTHING, TESTED, decided

ROOT = Path(__file__).parents[2]
STUDIES = ROOT / "codegen" / "rbdc" / "report" / "studies"
SOURCES = {file.name: file.read_text(encoding="utf-8") for file in STUDIES.rglob("*.py")}


def page_module() -> Any:
    spec = util.spec_from_file_location("claims_page", ROOT / "docs" / "claims_page.py")
    assert spec is not None and spec.loader is not None
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: f"{item.paper[:10]} {item.place}")
def test_what_decides_an_item_is_there(item: items.Item) -> None:
    assert bool(item.study) == bool(item.claims)
    assert not item.study or item.study in collection.PAPERS
    others = "".join(text for name, text in SOURCES.items() if name != "items.py")
    for claim in item.claims:
        of_tutorial = claim.startswith("Tutorial: ") and claim.removeprefix("Tutorial: ") in others
        assert of_tutorial or f'"{claim}' in others, "a study makes such a claim"
    for test in item.tests:
        file, _, name = test.partition("::")
        text = (ROOT / file).read_text(encoding="utf-8")
        assert not name or f"def {name}(" in text


def test_every_claim_has_an_item() -> None:
    """The claims are those of the results on the page, and those in the sources of the studies."""
    known = tuple(claim for item in ITEMS for claim in item.claims)
    numbered = r'f?"((?:Fig|Figs|Table|Section|Abstract|Algorithm)\b[^"]*)"'
    for name, text in SOURCES.items():
        if "claims" in name or name in ("first_order.py", "first_order_peers.py", "second_order_code.py"):
            for claim in re.findall(numbered, text):
                if claim.endswith((".", "(", " ")) and ": " in claim:
                    assert claim.startswith(known), (name, claim)


def test_verdicts_of_items() -> None:
    """An item with one claim has its verdict, one with several their counts; no item is silent."""
    claims = [
        judged("Table III: a", True, "x"),
        judged("Table III: b", False, "y"),
        judged("Fig. 9: c", True, "z"),
    ]
    by_place = {(i["place"], i["what"]): i for i in decided({"second-order": {"claims": claims}})}
    assert by_place["Table III", "exponents of N in the times"]["verdict"] == "1 reproduced; 1 not reproduced"
    assert by_place["Table III", "exponents of N in the times"]["evidence"].splitlines() == [
        "reproduced: Table III: a Found: x.",
        "not reproduced: Table III: b Found: y.",
    ]
    assert by_place["Fig. 9", "size of AD's code"]["verdict"] == "reproduced"
    verdicts = {i["verdict"] for i in by_place.values()}
    assert {"not run", TESTED, NOTHING} <= verdicts


def test_the_page_is_that_of_its_data() -> None:
    """`python docs/claims_page.py` writes it; its items are those of the table."""
    module = page_module()
    data = json.loads(module.DATA.read_text(encoding="utf-8"))
    assert module.PAGE.read_text(encoding="utf-8") == module.page(data)
    shown = [(item["paper"], item["place"], item["command"]) for item in data["items"]]
    assert shown == [(item.paper, item.place, item.command) for item in ITEMS]
    assert not any(item["verdict"] == "" for item in data["items"])
