"""The type of generated modules for editors and type checkers, whichever functions one has:
`rbdc/runtime/module.pyi`, of which a test says whether it is as the catalogue has it.

``python -m rbdc.emit.python.module_type`` writes it.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from textwrap import indent

from rbdc.emit.python.package import function_view
from rbdc.emit.render import render
from rbdc.functions.catalogue import functions_of
from rbdc.model import Model

_SIZES = {10007: "nq", 10009: "nv", 100090: "10 nv", 60054: "6 nv"}
"""Sizes of a model that has no bodies, by the words for them."""


def module_type() -> str:
    """The text of the stub."""
    nq, nv = (size for size, name in _SIZES.items() if len(name) == 2)
    catalogue = functions_of(Model("any", (), (), nq, nv))
    views = [function_view(function.declaration, _SIZES) for function in catalogue.values()]
    own = dict.fromkeys(("actuator_names", "contacts", "parameter_names"), "")  # only some modules have them
    attributes = indent(render("module_attributes.pyi.jinja", number="Any", **own), "    ")
    lines = render("module_type.pyi.jinja", functions=views, attributes=attributes).splitlines()
    return "".join(f"{line.rstrip()}\n" for line in lines)


if __name__ == "__main__":
    Path(str(files("rbdc.runtime").joinpath("module.pyi"))).write_text(module_type(), encoding="utf-8")
