"""A form and an algorithm have one name each, in the code, in templates, in manifests and on the pages."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import get_args

import pytest

from rbdc.emit.backend import Package
from rbdc.emit.generation import PLAIN, GenerationOptions, generate
from rbdc.emit.library import render_manifest
from rbdc.functions.catalogue import known
from rbdc.model import Problem
from rbdc.planning.forms import FORMS
from rbdc.planning.plans import Content
from rbdc.planning.windows.kernels import KERNELS
from rbdc.resources import resolve
from tests.support_windows import chain

ROOT = Path(__file__).parent.parent
ENDINGS = (".py", ".jinja", ".md", ".toml", ".json", ".c", ".h")
PLACES = (
    "pyproject.toml",
    "codegen",
    "templates",
    "tests",
    "generated/cartpole",
    "generated/double_pendulum",
)

OLD = {
    r"along_paths|second_order_source|\bsecond_(state|start|\w+\.c)\b": "paths",
    r"[Ll]oops? along( the)? paths": "paths",
    r"[Kk]ernels? along( ancestor)? paths|[Kk]ernels?_along|[Aa]long ancestor paths|PathKernel": "windows",
    r"frames_(cost|source)\b": "climb",
    r"\bbody_up\b": "idsva",
    r"by_factors\b": "cholesky",
    r"source\.style|\[.style.\] ==": "form",
}
"""What a form, an algorithm or the field of a manifest was called once, and its name."""


@cache
def texts() -> dict[str, str]:
    """Return every file of ours but for this one, by its name, those of the committed packages too."""
    pages = [path for place in (".", "docs", "generated", "robots") for path in (ROOT / place).glob("*.md")]
    paths = [path for place in PLACES for path in (ROOT / place, *(ROOT / place).rglob("*"))]
    ours = {*pages, *paths} - {Path(__file__), ROOT / "CHANGELOG.md"}
    files = sorted(path for path in ours if path.suffix in ENDINGS and path.is_file())
    return {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in files}


@pytest.mark.parametrize("old", OLD)
def test_old_names_stay_away(old: str) -> None:
    assert len(texts()) > 500
    assert [name for name, text in texts().items() if re.search(old, text)] == [], f"say {OLD[old]!r}"


def test_a_form_has_one_name() -> None:
    """The function that plans it, the class of its data, its row on the page of packages."""
    words = [name.replace(" ", "_") for name in FORMS]
    assert [form.__name__ for form in FORMS.values()] == words
    assert [kind.__name__ for kind in get_args(Content)] == [word.title().replace("_", "") for word in words]
    rows = re.findall(r"^\| `([a-z ]+)` \|", (ROOT / "docs" / "packages.md").read_text(), re.MULTILINE)
    assert rows == list(FORMS)


def forms_of(model: Problem, *names: str, options: GenerationOptions = PLAIN) -> set[str]:
    """Return the forms that the manifest of a package of these functions names."""
    package = generate(model, "robot", names, lambda _: None, options)
    manifest = json.loads(render_manifest(Package(model, "robot"), package.sources, {}))
    return {entry["form"] for entry in manifest["functions"].values()}


def test_manifests_name_forms() -> None:
    arm = Problem.from_file(resolve("kuka_iiwa"))
    forms = [
        forms_of(arm, "rnea"),
        forms_of(arm, "minverse"),
        forms_of(chain(130), "minverse"),
        forms_of(chain(4), "rnea_second_derivatives"),
        forms_of(arm, "frame_jacobian"),
        forms_of(arm, "rnea", options=GenerationOptions("rolled")),
    ]
    assert forms == [{name} for name in FORMS]


def test_an_algorithm_has_one_name() -> None:
    """Rolled code and windows are named after methods of the record."""
    for function in known().values():
        policy = function.policy
        methods = {*policy.rolled, *([KERNELS[policy.windows].method] if policy.windows else [])}
        assert methods <= {*function.methods}, function.name
