"""Names from descriptions are data. They reach generated text only through the functions of this module."""

from __future__ import annotations

import importlib.util
import itertools
import keyword
import re
import sys
from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from rbdc.errors import OptionError
from rbdc.model import Model
from rbdc.model.text import TEXT, is_text, stem_of
from rbdc.option_fields import asked

_C_KEYWORDS = frozenset(
    """
    alignas alignof and and_eq asm atomic auto bitand bitor bool break case catch char class compl complex
    concept const consteval constexpr constinit const_cast continue co_await co_return co_yield decltype
    default delete do double dynamic_cast else enum explicit export extern false float for friend goto if
    imaginary inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private
    protected public register reinterpret_cast requires restrict return short signed sizeof static
    static_assert static_cast struct switch template this thread_local throw true try typedef typeid typename
    typeof union unsigned using virtual void volatile wchar_t while xor xor_eq
    """.split()  # noqa: SIM905 - forty lines as a list
)
OWN = frozenset(
    "rbdc numpy casadi sympy mpmath jinja2 cffi lxml click rich platformdirs filelock".split()  # noqa: SIM905
)
"""rbdc and its dependencies. Checked against the dependencies in pyproject.toml."""
_MAXIMUM_LENGTH = 100


def is_module_name(name: str) -> bool:
    """Return whether `name` can be a C and Python identifier, a folder and a file's name everywhere."""
    plain = re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name) is not None and len(name) <= _MAXIMUM_LENGTH
    return plain and not keyword.iskeyword(name) and name not in _C_KEYWORDS


def check_module_name(name: str) -> str:
    """Return the name, or raise OptionError."""
    if not is_module_name(name):
        raise OptionError(
            f"{asked('name', name)} is not a C and Python identifier; use ASCII letters, digits and _, "
            f"beginning with a letter, at most {_MAXIMUM_LENGTH} characters, no keyword"
        )
    return name


def refuse_taken(name: str) -> None:
    """Raise OptionError for a module name that belongs to Python or to a dependency of rbdc: one of the two
    modules would hide the other on the path.
    """
    if name in sys.stdlib_module_names or name in OWN:
        owner = "Python's own" if name in sys.stdlib_module_names else "one that rbdc needs"
        raise OptionError(
            f"a module named {name} would hide {owner}, or be hidden by it; give another name with `name`"
        )


def namesake(name: str) -> Path | None:
    """Return the file of another module that this name would import now; nothing is imported to find it."""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):  # a module in memory without a file
        return None
    return Path(spec.origin) if spec is not None and spec.has_location and spec.origin else None


def module_name(name: str) -> str:
    """Return a valid module name for any text: other characters become _, and a keyword or a leading digit
    gets a prefix.
    """
    valid = re.sub(r"[^A-Za-z0-9_]", "_", name)[:_MAXIMUM_LENGTH].strip("_")
    return valid if is_module_name(valid) else f"robot_{valid}"[:_MAXIMUM_LENGTH].strip("_")


def robot_name(description: str | PathLike[str] | Model, model: Model, asked: str | None) -> str:
    """Return the name of a robot's module: the argument, or one from its description.

    Raises OptionError if the name is no identifier or belongs to another module.
    """
    name = module_name(_title(description, model)) if asked is None else check_module_name(asked)
    refuse_taken(name)
    return name


def _title(description: str | PathLike[str] | Model, model: Model) -> str:
    """Return the name of the file without its suffix; the robot's name if there is no file or the model
    was renamed.
    """
    if not isinstance(description, Model):
        return model.name if is_text(description) else stem_of(description)
    assembly, file = description.assembly, description.file
    as_read = assembly is not None and assembly.description.name == description.name
    return stem_of(file) if file not in (None, TEXT) and as_read else description.name


def identifiers(names: Sequence[str]) -> list[str]:
    """Return distinct suffixes of C identifiers for distinct names. A valid name is kept; otherwise invalid
    characters become _, and a number follows if the result is taken.
    """
    plain = [re.sub(r"[^A-Za-z0-9_]+", "_", name) for name in names]
    used, results = {name for name, valid in zip(names, plain, strict=True) if name == valid}, list[str]()
    for name, valid in zip(names, plain, strict=True):
        numbered = (f"{valid}_{count}" for count in itertools.count(2))
        candidates = itertools.chain([valid], numbered)
        chosen = valid if name == valid else next(x for x in candidates if x not in used)
        used.add(chosen)
        results.append(chosen)
    return results


def comment(text: str) -> str:
    """Return text that is safe inside a C comment: printable ASCII that neither ends nor nests a comment, nor
    continues a line.

    Other characters become Python escapes, so that different texts stay different. Checked: the codec
    unicode_escape returns the text.
    """
    safe = text.encode("unicode_escape").decode("ascii").replace("\\\\", r"\x5c")
    safe = safe.replace("*/", r"*\x2f").replace("/*", r"/\x2a")
    return re.sub(r"(?<=\?)\?", r"\\x3f", safe)


def docstring(text: str) -> str:
    """Return text for a Python docstring in three double quotes. Checked: Python reads the result as the
    text.
    """
    return comment(text).replace('"', r"\x22")
