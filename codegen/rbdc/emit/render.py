"""Jinja, configured once and strictly: an undefined name is an error, and white space comes out as the
template shows it.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from rbdc.emit import VERSION


@cache
def _environment(html: bool) -> Environment:
    # autoescape is for HTML: what goes into C and Python is made safe in rbdc.emit.names, as it becomes text.
    environment = Environment(
        loader=PackageLoader("rbdc.templates", ""),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=html,
    )
    environment.globals["version"] = VERSION
    return environment


def render(template: str, **context: Any) -> str:
    """The text of a template, which gets plain data, and rbdc's version, and does no more than lay it out."""
    return _environment(False).get_template(template).render(context)


def render_html(template: str, **context: Any) -> str:
    """A template of HTML: every value is escaped, but for what the template marks as markup."""
    return _environment(True).get_template(template).render(context)


def braced(entries: Iterable[object]) -> str:
    """An initialiser of C."""
    return "{" + ", ".join(map(str, entries)) + "}"
