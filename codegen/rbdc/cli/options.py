"""Options of the command line, from the fields of the classes of options."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any

import click

from rbdc.option_fields import SWITCH, Option, options_of
from rbdc.options import BuildOptions

Command = Callable[..., Any]


def takes(*names: str, without: tuple[str, ...] = ()) -> Callable[[Command], Command]:
    """A decorator: the command takes options of `BuildOptions` as arguments of their names, by default all of
    them. `BuildOptions` itself reads their values, which are those of the command line or its defaults.
    """
    options = options_of(BuildOptions)

    def decorated(command: Command) -> Command:
        for name in reversed(names or [name for name in options if name not in without]):
            command = _click_option(options[name])(command)
        return command

    return decorated


def _click_option(option: Option[Any]) -> Callable[[Command], Command]:
    reading, default = option.reading, option.default
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
