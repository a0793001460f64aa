"""Messages in the spelling of the command line.

Errors, warnings and help name an option as Python does, in backquotes: `snap`, `damping='include'`,
`verify=False`. The commands print them through `in_commands`: --snap, --damping include, --no-verify.
"""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise
from shlex import quote
from typing import Any

import click

from rbdc.option_fields import Option, options_of
from rbdc.report.options import CompareOptions

WORDS = "rbdc.words"
"""Key of the words of the command line in `click.Context.meta`."""
_REFERENCE = re.compile(r"`([a-z]\w*)(?:=([^`]*))?`")


def in_commands(text: str) -> str:
    """Return a message with its options as on the command line, in the spelling that the user chose."""
    return _REFERENCE.sub(_in_commands, text)


@cache
def _options() -> dict[str, Option[Any]]:
    return {name: option for option in options_of(CompareOptions).values() for name in option.names}


def _in_commands(reference: re.Match[str]) -> str:
    name, text = reference.groups()
    option, flag = _options().get(name), f"--{name.replace('_', '-')}"
    if option is None:
        return reference[0]
    if text is None:
        return flag
    try:
        value = literal_eval(text)
    except (ValueError, SyntaxError):  # the value was too long to be shown
        return f"{flag} {text}"
    if isinstance(value, bool):
        return flag if value else f"--no-{flag[2:]}"
    if isinstance(value, (tuple, list)) and option.reading.repeated:
        return " ".join(f"{_spelled(option, flag, entry)} {_word(entry)}" for entry in value)
    if isinstance(value, (tuple, list)) and option.reading.words > 1:
        return " ".join([flag, *map(_word, value)])
    return f"{_spelled(option, flag, value)} {_word(value)}"


def _spelled(option: Option[Any], flag: str, value: Any) -> str:
    """Return the spelling with which the user passed this value, otherwise `flag`."""
    return next((used for used, word in _typed() if used in option.flags and word == value), flag)


def _typed() -> Iterator[tuple[str, str]]:
    """Yield the options of the running command line, each with the word after it."""
    context = click.get_current_context(silent=True)
    for word, after in pairwise([*(context.meta.get(WORDS, ()) if context else ()), ""]):
        flag, equals, value = word.partition("=")
        yield (flag, value) if equals and flag.startswith("--") else (word, after)


def _word(value: Any) -> str:
    if value is ...:
        return "..."
    if isinstance(value, Mapping):
        value = ",".join(f"{name}={_plain(number)}" for name, number in value.items())
    if isinstance(value, (tuple, list)):
        value = ",".join(map(_plain, value))
    text = _plain(value)
    return quote(text) if text.isascii() and text.isprintable() else ascii(text)


def _plain(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
