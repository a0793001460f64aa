"""Options of the command line, from the fields of the classes of options."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Any

import click

from rbdc.option_fields import SWITCH, Option, options_of
from rbdc.options import BuildOptions

Command = Callable[..., Any]


def takes(
    *names: str, of: type = BuildOptions, without: tuple[str, ...] = (), **defaults: Any
) -> Callable[[Command], Command]:
    """A decorator: the command takes options of a class of options as arguments of their names, by default
    all of them. The class itself reads their values, which are those of the command line or the defaults, of
    which a command may have its own.
    """
    options = options_of(of)

    def decorated(command: Command) -> Command:
        for name in reversed(names or [name for name in options if name not in without]):
            default = defaults.get(name, options[name].default)
            command = _click_option(options[name], default)(command)
        return command

    return decorated


def out(default: str | None, words: str = "The folder of what is written.") -> Callable[[Command], Command]:
    """The option of a folder that is written to."""
    folder = click.Path(file_okay=False, path_type=Path)
    path = None if default is None else Path(default)
    return click.option("--out", type=folder, default=path, show_default=default is not None, help=words)


AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print as JSON.")


def _click_option(option: Option[Any], default: Any) -> Callable[[Command], Command]:
    reading = option.reading
    if reading is SWITCH:
        flags = (f"{flag}/--no-{flag[2:]}" if default else flag for flag in option.flags)
        return click.option(*flags, option.name, is_flag=True, default=default, help=option.help)
    return click.option(
        *option.flags,
        option.name,
        type=click.UNPROCESSED,
        multiple=reading.repeated,
        nargs=reading.words,
        default=default,
        metavar=reading.metavar,
        help=option.help + ("" if default in (None, ()) else f"  [default: {_in_words(default)}]"),
    )


def _in_words(default: Any) -> str:
    """A default as the command line takes it."""
    if isinstance(default, tuple):
        return ("," if isinstance(default[0], str) else " ").join(map(_in_words, default))
    return (
        default.value
        if isinstance(default, StrEnum)
        else f"{default:g}"
        if isinstance(default, float)
        else str(default)
    )
