"""Pages as browsers read them: their elements, and their scripts in Node."""

from __future__ import annotations

import json
import shutil
import subprocess
from html.parser import HTMLParser
from typing import Any

import pytest


class Page(HTMLParser):
    """The elements of a page in their order, its scripts by type and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[tuple[str, str]] = []
        self.text = ""
        self._script: str | None = None
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag == "script":
            self._script = dict(attrs).get("type") or "text/javascript"
            self.scripts.append((self._script, ""))

    def handle_endtag(self, tag: str) -> None:
        if tag == "script":
            self._script = None

    def handle_data(self, data: str) -> None:
        if self._script is None:
            self.text += data
        else:
            kind, text = self.scripts[-1]
            self.scripts[-1] = (kind, text + data)

    @property
    def data(self) -> dict[str, Any]:
        """The JSON that the page carries."""
        (text,) = [text for kind, text in self.scripts if kind == "application/json"]
        data: dict[str, Any] = json.loads(text)
        return data

    @property
    def programs(self) -> list[str]:
        """The scripts that a browser runs."""
        return [text for kind, text in self.scripts if kind == "text/javascript"]

    def run(self, expression: str, **values: Any) -> Any:
        """The value of an expression of `scene`, what is given and the functions of the first script."""
        node = shutil.which("node")
        if node is None:
            pytest.skip("Node is not installed: scripts of pages are not run")
        constants = "".join(
            f"const {name} = {json.dumps(x)};\n" for name, x in {"scene": self.data, **values}.items()
        )
        program = f"{self.programs[0]}\n{constants}console.log(JSON.stringify({expression}));"
        done = subprocess.run([node, "-"], input=program, capture_output=True, text=True, check=True)
        return json.loads(done.stdout)
