"""The site: ``sphinx-build -W -n docs site``, after ``pip install -e '.[docs]'``."""

from __future__ import annotations

import importlib.util
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any

import rbdc

sys.path.insert(0, str(Path(__file__).parent))
import measurements  # beside this file
import sources

# The stub for generated modules is Python too: autodoc reads it as the module `module`.
stub = Path(rbdc.__file__).parent / "runtime" / "module.pyi"
loader = SourceFileLoader("module", str(stub))
sys.modules["module"] = importlib.util.module_from_spec(importlib.util.spec_from_loader("module", loader))
loader.exec_module(sys.modules["module"])

project = "rbdc"
author = "The rbdc authors"
copyright = "the rbdc authors"
version = release = rbdc.__version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "docstrings",
    "repository_pages",
    "links",
]
html_theme = "furo"
html_title = f"rbdc {rbdc.__version__}"
html_static_path = ["style"]
html_css_files = ["site.css"]
html_extra_path = ["llms.txt", "measured"]
html_show_sphinx = False
html_copy_source = False
pygments_dark_style = "monokai"
exclude_patterns = ["_build"]
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]

autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
napoleon_numpy_docstring = False
# Groups of options in the docstring of rbdc.build.
napoleon_custom_sections = [(name, "params_style") for name in ("Model", "Functions", "C", "Output")]
default_role = "code"
# Names of other libraries, whose pages are not read at build time.
nitpick_ignore_regex = [("py:.*", r"(?!rbdc).*"), ("py:.*", r"rbdc\..*\.Any\w+")]  # type variables

GENERATED = {"measured": measurements.page, "mathematics": sources.page}


def generate(app: Any, document: str, source: list[str]) -> None:
    """Put the text of a generated page in place of its document."""
    if document in GENERATED:
        source[0] = GENERATED[document]()


def setup(app: Any) -> None:
    """Register with Sphinx."""
    app.connect("source-read", generate)
