"""Templates lay out what they are given: they compute nothing, compare nothing and call nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from jinja2 import Environment, nodes

TEMPLATES = Path(__file__).parent.parent.parent / "templates"
PAGES = ("benchmark.html.jinja", "explain.html.jinja", "report.html.jinja", "study.html.jinja")
"""Those of reports; the package reads them elsewhere."""
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
    """What a template may not do, with its lines."""
    template = Environment(trim_blocks=True, lstrip_blocks=True).parse(text)
    found: list[nodes.Node] = [*template.find_all(COMPUTES), *template.find_all(CALLS)]
    found += [node for node in template.find_all(nodes.Filter) if node.name not in FILTERS]
    found += [node for node in template.find_all(nodes.If) if not is_optional_part(node.test)]
    found += [node for node in template.find_all(nodes.CondExpr) if not is_optional_part(node.test)]
    found += [
        node
        for node in template.find_all(nodes.For)
        if node.test is not None and not is_optional_part(node.test)
    ]
    return [f"{type(node).__name__} in line {node.lineno}" for node in found]


def is_optional_part(condition: nodes.Node) -> bool:
    """Whether a condition only asks if something is there: a name, an attribute of a view, or the negation of
    one.
    """
    if isinstance(condition, nodes.Not):
        return is_optional_part(condition.node)
    return isinstance(condition, (nodes.Name, nodes.Getattr))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_templates_lay_out(path: Path) -> None:
    assert refused(path.read_text(encoding="utf-8")) == []


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
