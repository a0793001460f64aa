"""Jinja, configured once and strictly: an undefined name is an error, and white space comes out as the
template shows it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from rbdc.emit import VERSION

# Of HTML all is escaped; what goes into C and Python is made safe in rbdc.emit.names, as it becomes text.
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
    """Return the text of a template, which gets plain data, and rbdc's version, and does no more than lay it
    out; of HTML every value is escaped, but for what the template marks as markup.
    """
    return _ENVIRONMENT.get_template(template).render(context)


def part(template: str, **context: Any) -> str:
    """Return the text of a template, without its last line break, for another one to print."""
    return render(template, **context).removesuffix("\n")


def braced(entries: Iterable[object]) -> str:
    """Return an initialiser of C."""
    return "{" + ", ".join(map(str, entries)) + "}"
