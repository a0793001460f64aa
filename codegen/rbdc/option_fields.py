"""Declaration of options: each option is one field of a frozen dataclass.

The field holds the option's default, its reader, its help text, its spellings, and whether a package depends
on it. The command line, the arguments of `rbdc.build`, the manifest and the pages follow from these fields.
A value is read in the same way from every source; texts of the command line are accepted in Python too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from inspect import getattr_static
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar, get_args

from rbdc.errors import LONGEST, OptionError, brief
from rbdc.runtime._suggestions import suggestion

Value = TypeVar("Value")
Read = TypeVar("Read", covariant=True)


class Reading(NamedTuple, Generic[Read]):
    """How the values of an option are read.

    read: function that converts an argument to a value; a converted value stays unchanged. It raises
        ValueError, whose message has the accepted values.
    metavar: placeholder of the value in --help.
    words: number of words of a value on the command line.
    repeated: whether the option may be repeated; its value then holds all arguments.
    record: function that returns the value as the manifest stores it.
    bare: value if the command line has the option without an argument; None if that is not allowed.
    """

    read: Callable[[Any], Read]
    metavar: str
    words: int = 1
    repeated: bool = False
    record: Callable[[Any], Any] = lambda value: plain(value)
    bare: str | None = None


class Option(Generic[Value]):
    """A descriptor for a field of a class of options. It converts an assigned argument to a value; a wrong
    argument raises OptionError with the option's name.

    default: value if nothing is assigned. If the default is None, None may be assigned.
    help: one sentence for --help.
    spellings: spellings on the command line, if they differ from the field's name.
    recorded: whether the package depends on the option; then its manifest stores the value.
    """

    def __init__(
        self, reading: Reading[Value], default: Value, help: str, *spellings: str, recorded: bool = True
    ) -> None:
        self.reading, self.default, self.help = reading, default, help
        self.recorded, self.flags, self.name = recorded, spellings, ""
        self.__doc__ = help

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name
        self.flags = self.flags or (f"--{name.replace('_', '-')}",)

    def __get__(self, instance: object | None, owner: type) -> Value:
        value: Value = self.default if instance is None else vars(instance)[self.name]
        return value

    def __set__(self, instance: object, value: Value | Any) -> None:
        vars(instance)[self.name] = self.read(value)

    def read(self, value: Value | Any, name: str = "") -> Value:
        """Return the value of an argument that was passed under one of the option's names.

        Raises OptionError, with the option in backquotes, for a value that the option does not accept.
        """
        try:
            missing = value is None and self.default is None
            return self.default if missing else self.reading.read(value)
        except ValueError as error:
            raise OptionError(f"{asked(name or self.names[0], self._wrong(value))}: {error}") from None

    def _wrong(self, value: object) -> object:
        """Return the entry to name in an error: the first invalid one of a repeated option, or else the
        whole argument.
        """
        if not self.reading.repeated or isinstance(value, (str, PathLike)) or not isinstance(value, Iterable):
            return value
        parts = [{k: v} for k, v in value.items()] if isinstance(value, Mapping) else [[x] for x in value]
        for part in parts:
            try:
                self.reading.read(part)
            except ValueError:
                return part[0] if isinstance(part, list) else part
        return value

    @property
    def names(self) -> tuple[str, ...]:
        """The spellings as names of arguments in Python, the usual one first."""
        return tuple(flag.removeprefix("--").replace("-", "_") for flag in self.flags)


def options_of(owner: type) -> dict[str, Option[Any]]:
    """Return the options of a class of options, in order, by the names of their fields."""
    by_name = {field.name: getattr_static(owner, field.name, None) for field in fields(owner)}
    return {name: option for name, option in by_name.items() if isinstance(option, Option)}


def arguments(owner: type, passed: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments for a class of options by field name, whichever spelling was used.

    Raises OptionError for an unknown name, and for an option that is passed twice.
    """
    options = options_of(owner)
    fields_by_name = {name: field for field, option in options.items() for name in option.names}
    values: dict[str, Any] = {}
    for name, value in passed.items():
        if name not in fields_by_name:
            raise OptionError(f"no option {name!r}; {suggestion(name, fields_by_name)}")
        option = options[fields_by_name[name]]
        if option.name in values:
            raise OptionError(f"`{option.names[0]}` is given twice, once as {name}; give it once")
        values[option.name] = option.read(value, name)
    return values


def asked(name: str, value: object) -> str:
    """Return an option and its value as messages show them: `name='value'`, in backquotes.

    The command line replaces this spelling with --name value (`rbdc.cli.wording`).
    """
    return f"`{name}={_shown(value)}`"


def plain(value: Any) -> Any:
    """Return a value as JSON stores it."""
    return [plain(entry) for entry in value] if isinstance(value, tuple) else value


def _shown(value: object) -> str:
    value = str(value) if isinstance(value, PathLike) else value
    text = ascii(brief(value) if isinstance(value, str) else value)
    return brief(text.replace("`", r"\x60"), 2 * LONGEST)


# Readings


def choice(literal: Any) -> Reading[Any]:
    """Return the reading of an option that accepts the texts of a `Literal`."""
    values = get_args(literal)

    def read(value: Any) -> str:
        if not isinstance(value, str) or value not in values:
            raise ValueError(suggestion(value, values))
        return value

    return Reading(read, f"[{'|'.join(values)}]")


def _of_type(kind: type[Value], remedy: str, metavar: str) -> Reading[Value]:
    def read(value: Any) -> Value:
        if not isinstance(value, kind):
            raise ValueError(remedy)
        return value

    return Reading(read, metavar)


SWITCH = _of_type(bool, "give True or False", "")
"""True or False; on the command line a flag without a value."""
TEXT = _of_type(str, "give a text", "TEXT")


def _folder(value: Any) -> Path:
    if not isinstance(value, (str, PathLike)) or isinstance(fspath(value), bytes):
        raise ValueError("give the path of a folder")
    return Path(value)


FOLDER = Reading(_folder, "DIRECTORY")


def number(value: Any) -> float:
    """Return a number, or the number in a text. Raise ValueError for anything else."""
    try:
        if isinstance(value, (bool, bytes)):
            raise TypeError
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{_shown(value)} is not a number") from None


def _count(argument: Any) -> int:
    value = number(argument)
    if not math.isfinite(value) or value != int(value):
        raise ValueError("give a whole number")
    if value < 1.0:
        raise ValueError("give a number of at least 1")
    return int(value)


COUNT = Reading(_count, "INTEGER")
"""A whole number of at least one."""


def within(least: float, most: float, remedy: str, metavar: str = "NUMBER") -> Reading[float]:
    """Return the reading of a number within limits. `remedy` is the message for other numbers."""

    def read(argument: Any) -> float:
        value = number(argument)
        if not least <= value <= most:
            raise ValueError(remedy)
        return value

    return Reading(read, metavar)


def entries(value: Any) -> list[Any]:
    """Return the entries of a sequence; a text is one entry. Raise ValueError for anything without
    entries.
    """
    if isinstance(value, (str, PathLike)):
        return [value]
    if not isinstance(value, Iterable) or isinstance(value, (bytes, Mapping)):
        raise ValueError("give a text or a sequence of texts")
    return list(value)


def words_of(text: str, separator: str | None = ",") -> list[str]:
    """Return the words of a text that separators divide; the separator None stands for blanks."""
    return [word.strip() for word in text.split(separator) if word.strip()]


def names(metavar: str, separator: str | None = ",") -> Reading[tuple[str, ...]]:
    """Return the reading of a sequence of names, or of one text with separators between the names; the
    separator None stands for blanks.
    """

    def read(value: Any) -> tuple[str, ...]:
        return tuple(words_of(value, separator) if isinstance(value, str) else map(TEXT.read, entries(value)))

    return Reading(read, metavar)


def each(one: Reading[Value], metavar: str) -> Reading[tuple[Value, ...]]:
    """Return the reading of an option that may be repeated: in Python a sequence, or one text."""
    return Reading(lambda value: tuple(map(one.read, entries(value))), metavar, repeated=True)
