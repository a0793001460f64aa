"""Jinja, configured once and strictly: an undefined name is an error, and white space is printed as in the
template.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from rbdc.emit import VERSION

# HTML is escaped. Texts for C and Python are made safe in rbdc.emit.names.
_ENVIRONMENT = Environment(
    loader=PackageLoader("rbdc.templates", ""),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
    autoescape=select_autoescape(["html.jinja"]),
)
_ENVIRONMENT.globals["version"] = VERSION


def render(template: str, **context: Any) -> str:
    """Return the text of a template. The template receives plain data and rbdc's version, and only lays them
    out. In HTML every value is escaped unless the template marks it as markup.
    """
    return _ENVIRONMENT.get_template(template).render(context)


def part(template: str, **context: Any) -> str:
    """Return the text of a template without its last line break, for use in another template."""
    return render(template, **context).removesuffix("\n")


def braced(entries: Iterable[object]) -> str:
    """Return a C initialiser."""
    return "{" + ", ".join(map(str, entries)) + "}"
