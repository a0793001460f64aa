"""Declaration of options: each option is one field of a frozen dataclass.

The field holds the option's default, its reader, its help text, its spellings, and whether a package depends
on it. The command line, the arguments of `rbdc.build`, the manifest and the pages follow from it. A value is
read in the same way from every source; texts of the command line are accepted in Python too.
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

    read: function that returns the value of an argument, which may be such a value already. It raises
        ValueError with the accepted values.
    metavar: placeholder of the value in --help.
    words: number of words on the command line.
    repeated: whether the option may be repeated; its value then holds all arguments.
    record: function that returns the value as the manifest stores it.
    bare: value of the option without an argument on the command line, if that is allowed.
    """

    read: Callable[[Any], Read]
    metavar: str
    words: int = 1
    repeated: bool = False
    record: Callable[[Any], Any] = lambda value: plain(value)
    bare: str | None = None


class Option(Generic[Value]):
    """A descriptor for a field of a class of options. An assigned value is read; a wrong one is refused with
    the option's name.

    default: value if nothing is assigned; if it is None, None may be assigned.
    help: one sentence for --help.
    spellings: spellings on the command line, if they differ from the field's name.
    recorded: whether a package depends on the option.
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

    def __set__(self, instance: object, given: Value | Any) -> None:
        vars(instance)[self.name] = self.read(given)

    def read(self, given: Value | Any, name: str = "") -> Value:
        """Return the value of an argument that was passed under one of the option's names.

        Raises OptionError, with the option in backquotes, for any other argument.
        """
        try:
            missing = given is None and self.default is None
            return self.default if missing else self.reading.read(given)
        except ValueError as error:
            raise OptionError(f"{asked(name or self.names[0], self._wrong(given))}: {error}") from None

    def _wrong(self, given: object) -> object:
        """Return the first entry of a repeated option that is refused by itself, or else the whole
        argument.
        """
        if not self.reading.repeated or isinstance(given, (str, PathLike)) or not isinstance(given, Iterable):
            return given
        parts = [{k: v} for k, v in given.items()] if isinstance(given, Mapping) else [[x] for x in given]
        for part in parts:
            try:
                self.reading.read(part)
            except ValueError:
                return part[0] if isinstance(part, list) else part
        return given

    @property
    def names(self) -> tuple[str, ...]:
        """The spellings as names of arguments in Python, the usual one first."""
        return tuple(flag.removeprefix("--").replace("-", "_") for flag in self.flags)


def options_of(owner: type) -> dict[str, Option[Any]]:
    """Return the options of a class of options, in order, by the names of their fields. Other fields are
    skipped.
    """
    found = {field.name: getattr_static(owner, field.name, None) for field in fields(owner)}
    return {name: option for name, option in found.items() if isinstance(option, Option)}


def arguments(owner: type, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments of a class of options by field name, whichever spelling was used.

    Raises OptionError for an unknown name, and for an option that is passed twice.
    """
    options = options_of(owner)
    fields_by_name = {name: field for field, option in options.items() for name in option.names}
    found: dict[str, Any] = {}
    for name, value in given.items():
        if name not in fields_by_name:
            raise OptionError(f"no option {name!r}; {suggestion(name, fields_by_name)}")
        option = options[fields_by_name[name]]
        if option.name in found:
            raise OptionError(f"`{option.names[0]}` is given twice, once as {name}")
        found[option.name] = option.read(value, name)
    return found


def asked(name: str, value: object) -> str:
    """Return an option and its value as messages show them: `name='value'`, in backquotes.

    The commands print it in their spelling, --name value (`rbdc.cli.wording`).
    """
    return f"`{name}={_shown(value)}`"


def plain(value: Any) -> Any:
    """Return a value as JSON stores it."""
    return [plain(entry) for entry in value] if isinstance(value, tuple) else value


def _shown(given: object) -> str:
    given = str(given) if isinstance(given, PathLike) else given
    text = ascii(brief(given) if isinstance(given, str) else given)
    return brief(text.replace("`", r"\x60"), 2 * LONGEST)


# Readings


def choice(literal: Any) -> Reading[Any]:
    """Return the reading of one of the texts of a `Literal`."""
    values = get_args(literal)

    def read(given: Any) -> str:
        if not isinstance(given, str) or given not in values:
            raise ValueError(suggestion(given, values))
        return given

    return Reading(read, f"[{'|'.join(values)}]")


def _of_type(kind: type[Value], remedy: str, metavar: str) -> Reading[Value]:
    def read(given: Any) -> Value:
        if not isinstance(given, kind):
            raise ValueError(remedy)
        return given

    return Reading(read, metavar)


SWITCH = _of_type(bool, "give True or False", "")
"""True or False; on the command line a flag without a value."""
TEXT = _of_type(str, "give a text", "TEXT")


def _folder(given: Any) -> Path:
    if not isinstance(given, (str, PathLike)) or isinstance(fspath(given), bytes):
        raise ValueError("give the path of a folder")
    return Path(given)


FOLDER = Reading(_folder, "DIRECTORY")


def number(given: Any) -> float:
    """Return a number, or the number in a text. Raise ValueError for anything else."""
    try:
        if isinstance(given, (bool, bytes)):
            raise TypeError
        return float(given)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{_shown(given)} is not a number") from None


def _count(given: Any) -> int:
    value = number(given)
    if not math.isfinite(value) or value != int(value):
        raise ValueError("give a whole number")
    if value < 1.0:
        raise ValueError("give a number of at least 1")
    return int(value)


COUNT = Reading(_count, "INTEGER")
"""A whole number of at least one."""


def within(least: float, most: float, remedy: str, metavar: str = "NUMBER") -> Reading[float]:
    """Return the reading of a number within limits. `remedy` is the message for other numbers."""

    def read(given: Any) -> float:
        value = number(given)
        if not least <= value <= most:
            raise ValueError(remedy)
        return value

    return Reading(read, metavar)


def entries(given: Any) -> list[Any]:
    """Return the entries of a sequence; a text is one entry. Raise ValueError for anything without
    entries.
    """
    if isinstance(given, (str, PathLike)):
        return [given]
    if not isinstance(given, Iterable) or isinstance(given, (bytes, Mapping)):
        raise ValueError("give a text or a sequence of texts")
    return list(given)


def words_of(text: str, separator: str | None = ",") -> list[str]:
    """Return the words of a text with separators between them."""
    return [word.strip() for word in text.split(separator) if word.strip()]


def names(metavar: str, separator: str | None = ",") -> Reading[tuple[str, ...]]:
    """Return the reading of a sequence of names, or of one text with names between separators; None stands
    for blanks.
    """

    def read(given: Any) -> tuple[str, ...]:
        return tuple(words_of(given, separator) if isinstance(given, str) else map(TEXT.read, entries(given)))

    return Reading(read, metavar)


def each(one: Reading[Value], metavar: str) -> Reading[tuple[Value, ...]]:
    """Return the reading of an option that may be repeated: in Python a sequence, or one text."""
    return Reading(lambda given: tuple(map(one.read, entries(given))), metavar, repeated=True)
