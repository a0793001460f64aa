"""Templates lay out what they are given: they compute nothing, compare nothing and call nothing."""

from __future__ import annotations

import fnmatch
import re
from pathlib import Path

import pytest
from jinja2 import Environment, meta, nodes

TEMPLATES = Path(__file__).parent.parent.parent / "templates"
PAGE = (TEMPLATES / "README.md").read_text(encoding="utf-8")
PAGES = ("page.html.jinja", "part.html.jinja")
"""They mark figures and data as markup."""
FILES = [path for path in sorted(TEMPLATES.glob("*.jinja")) if path.name not in PAGES]

COMPUTES = (nodes.BinExpr, nodes.Neg, nodes.Pos, nodes.Concat, nodes.Compare, nodes.And, nodes.Or, nodes.Test)
CALLS = (
    nodes.Call,
    nodes.CallBlock,
    nodes.Macro,
    nodes.Assign,
    nodes.AssignBlock,
    nodes.Import,
    nodes.FromImport,
)
FILTERS = {"join", "upper", "reverse"}
"""They change how a list or a name is laid out."""


def refused(text: str) -> list[str]:
    """Return the constructs that a template must not contain, with their lines."""
    template = Environment(trim_blocks=True, lstrip_blocks=True).parse(text)
    forbidden: list[nodes.Node] = [*template.find_all(COMPUTES), *template.find_all(CALLS)]
    forbidden += [node for node in template.find_all(nodes.Filter) if node.name not in FILTERS]
    forbidden += [node for node in template.find_all(nodes.If) if not is_optional_part(node.test)]
    forbidden += [node for node in template.find_all(nodes.CondExpr) if not is_optional_part(node.test)]
    forbidden += [
        node
        for node in template.find_all(nodes.For)
        if node.test is not None and not is_optional_part(node.test)
    ]
    return [f"{type(node).__name__} in line {node.lineno}" for node in forbidden]


def is_optional_part(condition: nodes.Node) -> bool:
    """Return whether a condition only asks if something is there: a name, an attribute of a view, or the
    negation of one.
    """
    if isinstance(condition, nodes.Not):
        return is_optional_part(condition.node)
    return isinstance(condition, (nodes.Name, nodes.Getattr))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_templates_lay_out(path: Path) -> None:
    assert refused(path.read_text(encoding="utf-8")) == []


MOST_LINES, MOST_NAMES = 150, 25
"""Of a template with all that it includes."""


def with_includes(name: str, templates: dict[str, nodes.Template] | None = None) -> dict[str, nodes.Template]:
    """Return a template and those that it includes by name, once each."""
    templates = {} if templates is None else templates
    if name not in templates:
        templates[name] = Environment().parse((TEMPLATES / name).read_text(encoding="utf-8"))
        for included in meta.find_referenced_templates(templates[name]):
            if included is not None:
                with_includes(included, templates)
    return templates


@pytest.mark.parametrize("path", sorted(TEMPLATES.glob("*.jinja")), ids=lambda path: path.name)
def test_templates_are_small(path: Path) -> None:
    whole = with_includes(path.name)
    lines = sum((TEMPLATES / name).read_text(encoding="utf-8").count("\n") for name in whole)
    names = len(set[str]().union(*map(meta.find_undeclared_variables, whole.values())))
    size, template = f"with its includes {lines} lines and {names} names", path.name.removesuffix(".jinja")
    assert lines <= MOST_LINES and names <= MOST_NAMES, f"{template}: {size}"


def rows_of_the_page() -> list[tuple[list[str], list[str]]]:
    """Return the names of templates and of the Python beside them, for each row of the table."""
    rows = re.findall(r"^\| ([a-z ]*`.*?) \| .*? \| (.*?) \|$", PAGE, re.MULTILINE)
    return [(re.findall("`(.*?)`", templates), re.findall("`(.*?)`", python)) for templates, python in rows]


def test_the_page_names_every_template_and_no_other() -> None:
    there = [path.name.removesuffix(".jinja") for path in TEMPLATES.glob("*.jinja")]
    named = [name for templates, _ in rows_of_the_page() for name in templates]
    assert [name for name in named if not fnmatch.filter(there, name)] == []
    assert [file for file in there if not any(fnmatch.fnmatch(file, name) for name in named)] == []


def test_what_else_the_page_names_exists() -> None:
    package = TEMPLATES.parent / "codegen" / "rbdc"
    for name in (name for _, python in rows_of_the_page() for name in python):
        assert list(package.glob(name.rstrip("/"))), name
    files = re.findall(r"`(?:pytest )?((?:codegen|tests)/[^`<\s]*)`", PAGE)
    assert len(files) > 5 and all((TEMPLATES.parent / file).exists() for file in files), files
    source = "\n".join(path.read_text(encoding="utf-8") for path in package.rglob("*.py"))
    views = re.findall(r"`([A-Z][a-z]+[A-Z]\w+)`", PAGE)
    assert len(views) > 3 and all(f"class {view}(" in source or f"class {view}:" in source for view in views)


@pytest.mark.parametrize(
    "text",
    [
        "{{ a + 1 }}",
        "{{ -a }}",
        "{{ a ~ b }}",
        "{{ f(a) }}",
        "{{ a.items() }}",
        "{{ a | length }}",
        "{{ a | map('f') }}",
        "{% if kind == 'revolute' %}x{% endif %}",
        "{% if 'revolute' in kinds %}x{% endif %}",
        "{% if a or b %}x{% endif %}",
        "{% if a is defined %}x{% endif %}",
        "{% if a[0] %}x{% endif %}",
        "{{ 'x' if n < 2 }}",
        "{% for a in b if a > 1 %}{{ a }}{% endfor %}",
        "{% for a in range(3) %}{{ a }}{% endfor %}",
        "{% set a = b %}",
        "{% macro f(x) %}{{ x }}{% endmacro %}",
        "{% import 'other.jinja' as other %}",
    ],
)
def test_what_a_template_may_not_do(text: str) -> None:
    assert refused(text)


def test_what_a_template_may_do() -> None:
    text = (
        "{% extends 'base.jinja' %}{% block body %}"
        "{% for a, b in views %}{{ ', ' if not loop.first }}{{ a.name | upper }}"
        "{% if a.optional %}{{ b | join(', ') }}{% else %}{{ rows[0] }}{% endif %}{% endfor %}"
        "{% include 'part.jinja' %}{% endblock %}"
    )
    assert refused(text) == []
