"""Names that come from descriptions are data: here is every way in which one reaches generated text."""

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
"""rbdc and what it is made with. Test: the dependencies in pyproject.toml."""
_MAXIMUM_LENGTH = 100


def is_module_name(name: str) -> bool:
    """Return whether `name` can be a C and Python identifier, a folder and a file's name everywhere."""
    plain = re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name) is not None and len(name) <= _MAXIMUM_LENGTH
    return plain and not keyword.iskeyword(name) and name not in _C_KEYWORDS


def check_module_name(name: str) -> str:
    """Return the name itself, or OptionError."""
    if not is_module_name(name):
        raise OptionError(
            f"{asked('name', name)} is not a C and Python identifier; use ASCII letters, digits and _, "
            f"beginning with a letter, at most {_MAXIMUM_LENGTH} characters, no keyword"
        )
    return name


def refuse_taken(name: str) -> None:
    """Raise OptionError for a module's name that belongs to Python or to what rbdc needs: on the path one
    would hide the other.
    """
    if name in sys.stdlib_module_names or name in OWN:
        owner = "Python's own" if name in sys.stdlib_module_names else "one that rbdc needs"
        raise OptionError(
            f"a module named {name} would hide {owner}, or be hidden by it; give another with `name`"
        )


def namesake(name: str) -> Path | None:
    """Return the file of another module that can be imported by this name now; nothing is imported to find
    it.
    """
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):  # a module in memory that came from nowhere
        return None
    return Path(spec.origin) if spec is not None and spec.has_location and spec.origin else None


def module_name(name: str) -> str:
    """Return a valid module name made from any text: other characters become _, a keyword or a leading digit
    gets a prefix.
    """
    made = re.sub(r"[^A-Za-z0-9_]", "_", name)[:_MAXIMUM_LENGTH].strip("_")
    return made if is_module_name(made) else f"robot_{made}"[:_MAXIMUM_LENGTH].strip("_")


def robot_name(description: str | PathLike[str] | Model, model: Model, given: str | None) -> str:
    """Return the name of a robot's module: the one that was given, or one made from its description's.

    Raises OptionError where it is no identifier or belongs to another module.
    """
    name = module_name(_title(description, model)) if given is None else check_module_name(given)
    refuse_taken(name)
    return name


def _title(description: str | PathLike[str] | Model, model: Model) -> str:
    """Return the name of the file without its ending; without a file, or if the model was renamed, the
    robot's.
    """
    if not isinstance(description, Model):
        return model.name if is_text(description) else stem_of(description)
    made, file = description.assembly, description.file
    as_read = made is not None and made.description.name == description.name
    return stem_of(file) if file not in (None, TEXT) and as_read else description.name


def identifiers(names: Sequence[str]) -> list[str]:
    """Return the end of a C identifier for each of several different names, all different: a name that can be
    one is kept; elsewhere what identifiers cannot have becomes _, and a number follows where that is taken.
    """
    plain = [re.sub(r"[^A-Za-z0-9_]+", "_", name) for name in names]
    taken, found = {name for name, made in zip(names, plain, strict=True) if name == made}, list[str]()
    for name, made in zip(names, plain, strict=True):
        numbered = (f"{made}_{count}" for count in itertools.count(2))
        candidates = itertools.chain([made], numbered)
        chosen = made if name == made else next(x for x in candidates if x not in taken)
        taken.add(chosen)
        found.append(chosen)
    return found


def comment(text: str) -> str:
    """Return text that is harmless inside a C comment: printable ASCII, nothing that ends or nests a comment
    or continues a line.

    What is neither stands there as an escape of Python's, so that different texts stay different. Test: the
    codec unicode_escape gives the text again.
    """
    safe = text.encode("unicode_escape").decode("ascii").replace("\\\\", r"\x5c")
    safe = safe.replace("*/", r"*\x2f").replace("/*", r"/\x2a")
    return re.sub(r"(?<=\?)\?", r"\\x3f", safe)


def docstring(text: str) -> str:
    """Return text inside a docstring of Python between three double quotes. Test: Python reads it as the
    text.
    """
    return comment(text).replace('"', r"\x22")
