"""JSON and YAML whose values have line numbers, and checks of a schema whose errors name file and line.

Python's JSON reader checks the text; a second pass over its tokens gives each value its line. The package
PyYAML reads YAML. Aliases are refused, so that the data are no larger than the text.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, NoReturn

from rbdc.errors import DescriptionError, UnsupportedError
from rbdc.model.xml import NUMBER, shown

_WORD = re.compile(r'[{}\[\]]|"(?:[^"\\]|\\.)*"|[^\s{}\[\],:"]+')


@dataclass(frozen=True)
class LocatedValue:
    """A value of a file (a node) and the line on which it begins.

    value: text, number, truth value, None, list of nodes, or an object: its nodes by name.
    line: line in the file.
    """

    value: str | float | bool | list[LocatedValue] | dict[str, LocatedValue] | None
    line: int


class Source:
    """A file of JSON or YAML: its root node, and errors that name file and line."""

    def __init__(self, file: str, text: bytes) -> None:
        self.file, self.text = file, text
        try:
            decoded = text.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = text[: error.start].count(b"\n") + 1
            self.fail("not UTF-8 text", "save the file as UTF-8", line)
        self.root = self._json(decoded) if decoded.lstrip().startswith("{") else self._yaml(decoded)

    def fail(self, problem: str, remedy: str, where: LocatedValue | int | None) -> NoReturn:
        """Raise DescriptionError at a node or a line."""
        line = where.line if isinstance(where, LocatedValue) else where
        raise DescriptionError(problem, remedy, self.file, line)

    def _json(self, text: str) -> LocatedValue:
        try:
            json.loads(text)
        except json.JSONDecodeError as error:
            self.fail(f"not JSON: {error.msg}", "mend the JSON at this place", error.lineno)
        except ValueError as error:
            self.fail(f"not JSON: {shown(str(error))}", "write numbers of fewer digits", None)
        words = _words(text)
        return self._value(words, *next(words))

    def _value(self, words: Iterator[tuple[str, int]], word: str, line: int) -> LocatedValue:
        """Return the value of JSON that begins with a token; `words` are the tokens after it."""
        if word == "[":
            return LocatedValue(
                [self._value(words, *token) for token in takewhile(lambda x: x[0] != "]", words)], line
            )
        if word == "{":
            members: dict[str, LocatedValue] = {}
            for name, place in takewhile(lambda x: x[0] != "}", words):
                self._add(members, str(json.loads(name)), self._value(words, *next(words)), place)
            return LocatedValue(members, line)
        return LocatedValue(json.loads(word), line)

    def _add(self, members: dict[str, LocatedValue], name: str, node: LocatedValue, line: int) -> None:
        if name in members:
            self.fail(f'"{shown(name)}" appears twice', "keep one", line)
        members[name] = node

    def _yaml(self, text: str) -> LocatedValue:
        try:
            import yaml
        except ImportError as error:
            raise UnsupportedError(
                f"{self.file}: reading YAML needs the package PyYAML, which is not installed: "
                "pip install 'rbdc[yaml]', or write JSON"
            ) from error
        reader: Any = yaml
        try:
            for event in reader.parse(text, Loader=reader.SafeLoader):
                if isinstance(event, reader.AliasEvent):
                    self.fail("an alias is not accepted", "repeat the value", event.start_mark.line + 1)
            root = reader.compose(text, Loader=reader.SafeLoader)
        except reader.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            line = None if mark is None else int(mark.line) + 1
            problem = shown(str(getattr(error, "problem", None) or "an unknown error"))
            self.fail(f"not YAML: {problem}", "mend the YAML at this place", line)
        return self._of_yaml(root)

    def _of_yaml(self, node: Any) -> LocatedValue:
        line = int(node.start_mark.line) + 1
        if node.id == "sequence":
            return LocatedValue([self._of_yaml(item) for item in node.value], line)
        if node.id == "mapping":
            members: dict[str, LocatedValue] = {}
            for key, value in node.value:
                if key.id != "scalar":
                    self.fail("a name is not a string", "write a word before the colon", line)
                self._add(members, str(key.value), self._of_yaml(value), int(key.start_mark.line) + 1)
            return LocatedValue(members, line)
        return LocatedValue(_yaml_scalar(node), line)


def _yaml_scalar(node: Any) -> str | float | bool | None:
    """Return a plain scalar. Words that are numbers in JSON are numbers; YAML 1.1 would read 1e-3 as text and
    010 as eight.
    """
    word = str(node.value)
    if node.style is None and NUMBER.fullmatch(word):
        return float(word)
    kind = str(node.tag).rpartition(":")[2]
    if kind == "bool":
        return word.lower() in ("true", "yes", "on")
    return None if kind == "null" else word


def _words(text: str) -> Iterator[tuple[str, int]]:
    """Yield the tokens of a JSON text, without commas and colons, each with its line."""
    line, read = 1, 0
    for match in _WORD.finditer(text):
        line += text.count("\n", read, match.start())
        read = match.start()
        yield match[0], line


class Fields:
    """The members of an object, checked against a schema. `what` names the object in messages."""

    def __init__(self, source: Source, node: LocatedValue, what: str) -> None:
        if not isinstance(node.value, dict):
            source.fail(f"{what} is not an object", 'write names and values, such as {"name": ...}', node)
        self.source, self.node, self.what = source, node, what
        self.members: Mapping[str, LocatedValue] = node.value
        self.asked: set[str] = set()

    def fail(self, problem: str, remedy: str, where: LocatedValue | None = None) -> NoReturn:
        """Raise DescriptionError at a node, or where the object begins."""
        self.source.fail(f"{self.what}: {problem}", remedy, where or self.node)

    def get(self, name: str) -> LocatedValue | None:
        """Return a member; None if it is absent or null."""
        self.asked.add(name)
        node = self.members.get(name)
        return None if node is None or node.value is None else node

    def required(self, name: str) -> LocatedValue:
        node = self.get(name)
        if node is None:
            self.fail(f"it has no {name}", f"give it {name}")
        return node

    def number(self, name: str, default: float) -> float:
        """Return a finite number."""
        node = self.get(name)
        return default if node is None else self._finite(name, node)

    def items(self, name: str, node: LocatedValue) -> list[LocatedValue]:
        """Return the nodes of a list."""
        if not isinstance(node.value, list):
            self.fail(f"{name} is not a list", "write it in brackets", node)
        return node.value

    def numbers(self, name: str, count: int) -> list[float]:
        """Return a list of `count` finite numbers; zeros if the member is absent."""
        node = self.get(name)
        if node is None:
            return [0.0] * count
        items = self.items(name, node)
        if len(items) != count:
            self.fail(f"{name} is not a list of {count} numbers", f"write {count} numbers in brackets", node)
        return [self._finite(name, item) for item in items]

    def text(self, name: str) -> str | None:
        """Return a printable text that is not empty."""
        node = self.get(name)
        return None if node is None else self.word(name, node)

    def word(self, name: str, node: LocatedValue) -> str:
        """Return the text of a node."""
        if not isinstance(node.value, str) or not node.value.strip() or not node.value.isprintable():
            self.fail(f"{name} is not a string of one line", "write a word in quotes", node)
        return node.value

    def unused(self) -> list[str]:
        """Return the names of members that were never read."""
        return [name for name in self.members if name not in self.asked]

    def _finite(self, name: str, node: LocatedValue) -> float:
        number = math.nan
        if isinstance(node.value, (int, float)) and not isinstance(node.value, bool):
            with suppress(OverflowError):  # the integer has hundreds of digits
                number = float(node.value)
        if not math.isfinite(number):
            self.fail(f"{name} is not a finite number", "write a decimal number such as 0.25", node)
        return number
