"""The page of all functions, from their records: ``python docs/functions_page.py`` writes `functions.md`.

Sizes of shapes are words. They are found on two robots, which have every kind of function and no two sizes in
the same pair.
"""

from __future__ import annotations

import inspect
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from rbdc.emit.python import function_view
from rbdc.functions import catalogue
from rbdc.functions.catalogue import functions_of, presets
from rbdc.functions.declarations import FRICTION_WIDTH, PARAMETERS, FunctionDeclaration, Parameter
from rbdc.functions.inputs import sizes_of
from rbdc.functions.record import ALONE, SECOND, Function
from rbdc.functions.references import HOME
from rbdc.model import Problem
from rbdc.options import BuildOptions
from rbdc.pipeline import read

FOLDER = Path(__file__).parent
PEERS: Mapping[str, Mapping[str, list[str]]] = tomllib.loads((FOLDER / "peers.toml").read_text("utf-8"))

TITLES = {
    "dynamics": "Inverse and forward dynamics",
    "identification": "Regressor and derivatives by parameters",
    "derivatives": "First derivatives of dynamics",
    "kinematics": "Kinematics of frames",
    "momentum": "Centre of mass, momentum, energies and regressors",
    "manifold": "The configuration manifold",
    "contacts": "Contacts, closed loops and impacts",
    "steps": "Time steps",
    "time_derivatives": "Time derivatives along motions",
    "second_order": "Second derivatives of dynamics",
}
"""Titles of the families of records by their names; others have the name as title."""
REST = "Derivatives of other functions"

_FEET = ("foot=surface@lf_foot", "toe=point@rf_foot")
_HELD = ("left=point@lh_foot=trunk:-0.35,0.2,-0.5", "right=point@rh_foot=trunk:-0.35,-0.2,-0.5")
_ROBOTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("hyq", {"root_joint": "free-flyer", "contacts": (*_FEET, *_HELD)}),
    (
        "panda",
        {
            "mimic": "coupled",
            "contacts": ("tip=point@panda_leftfinger", "loop=point@panda_link5=panda_link1:0.4,0,0.4"),
        },
    ),
)


@cache
def models() -> tuple[Problem, ...]:
    """Return the robots from which shapes are read."""
    return tuple(read(name, BuildOptions(**options)) for name, options in _ROBOTS)


def with_all_inputs() -> Problem:
    """Return the first robot with inertial parameters as inputs, and with dry friction."""
    name, options = _ROBOTS[0]
    model = read(name, BuildOptions(**options, parameters=(), friction="include"))
    return replace(model, bodies=tuple(replace(body, friction=1.0) for body in model.bodies))


@dataclass(frozen=True)
class Entry:
    """A function of the page.

    function: the record for the first robot.
    shapes: shapes of inputs and outputs by name, in words.
    options: names of further inputs that packages have if they are built with them.
    """

    function: Function
    shapes: Mapping[str, str]
    options: tuple[str, ...]

    @property
    def declaration(self) -> FunctionDeclaration:
        """Declaration of the function for the first robot."""
        return self.function.declaration

    @property
    def name(self) -> str:
        """Name of the function."""
        return self.function.name


@cache
def entries() -> Mapping[str, Entry]:
    """Return every function of the catalogue by name."""
    catalogues = [functions_of(model) for model in models()]
    optional = functions_of(with_all_inputs())
    words = _words()
    by_name = {}
    for name, function in catalogues[0].items():
        pairs = zip(*(_arrays(catalogue[name].declaration) for catalogue in catalogues), strict=True)
        shapes = {p.name: _shape(zip(p.shape, q.shape, strict=True), words) for p, q in pairs}
        more = {p.name for p in optional[name].declaration.inputs} & {PARAMETERS, FRICTION_WIDTH}
        by_name[name] = Entry(function, shapes, tuple(sorted(more)))
    return by_name


def _arrays(d: FunctionDeclaration) -> list[Parameter]:
    return [*d.inputs, *d.outputs]


Sizes = tuple[int, ...]
"""A size on each of the robots."""


def _words() -> dict[Sizes, str]:
    """Return words for the sizes that differ between the robots, and for multiples of the number of
    joints.
    """
    one, other = (sizes_of(model) for model in models())
    words: dict[Sizes, str] = {}
    for name in one:
        words.setdefault(
            (one[name], other[name]), name.replace("frames", "nframes").replace("contacts", "ncontacts")
        )
    words |= {(k * one["njoints"], k * other["njoints"]): f"{k} njoints" for k in (3, 4, 6, 10)}
    world = tuple(sum(contact.second is None for contact in model.contacts) for model in models())
    return words | {world: "contacts with the world"}


def _shape(sizes: Iterable[Sizes], words: Mapping[Sizes, str]) -> str:
    """Return a shape in words. Raises KeyError for a size that has no name: add it to `_words`."""
    shapes = [str(size[0]) if len(set(size)) == 1 else words[size] for size in sizes]
    return f"({', '.join(shapes)}{',' if len(shapes) == 1 else ''})"


def families() -> dict[str, list[Entry]]:
    """Return the functions by the titles of their families, in the order of the catalogue."""
    left = dict(entries())
    by_title = {}
    for family in catalogue.FAMILIES:
        names = [function.name for function in family(models()[0])]
        by_title[TITLES.get(family.__name__, family.__name__.title())] = [left.pop(name) for name in names]
    return by_title | {REST: list(left.values())}


def page() -> str:
    """Return the page."""
    return (
        "\n".join([_HEAD.strip(), "", *_index(), *_derivatives(), *_presets(), *_sections()]).rstrip() + "\n"
    )


_HEAD = """
# Functions

% python docs/functions_page.py writes this page from the records of functions: do not edit it

This page lists all functions that a module can have, with shapes, units, derivatives and sources.

`--functions` lists the functions of a build, `--preset` chooses a list. In the signatures `m` is a module and
ROBOT its name. Shapes are those of one sample.

| size | meaning |
|---|---|
| nq, nv | entries of q; entries of v, a and tau |
| njoints, nframes | moving joints, each with one body; frames: every link is one |
| nq_tree, nv_tree | entries of q and v of the whole tree, including joints that follow others |
| ncontacts, nc, nc_loops | contacts and loops; their rows; the rows of loops |

- **Python**: arguments broadcast over leading dimensions. Every function takes `out=`, `layout=` and
  `num_threads=`. Derivatives by q are along the nv directions of the tangent space.
  `column: direction` means that column k is the derivative along direction k of q, or by entry k of v, a or
  tau.
- **C**: matrices are row-major. `ROBOT_NAME_batch(size_t n, ...)` computes n samples. Arguments that may be
  None in Python may be NULL.
- **CasADi**: names include frame and reference, `m.casadi("frame_jacobian@tool0@WORLD")`. JAX and PyTorch
  have `m.jax.NAME` and `m.torch.NAME` with the signature of Python.
- `frame` is the name of a link or its index in `m.frame_names`. `reference` is LOCAL (the default), WORLD or
  LOCAL_WORLD_ALIGNED. [Conventions](conventions.md) explains these, and the order of q and v.
- `w` has one weight for each entry of a result, such as tau or ddq. Functions with `vjp` in their names
  return the gradient of the weighted sum, functions with `hessian` blocks of its Hessian or products with it.
- `parameters` is an input of packages built with [`--parameters` or
  `--payload`](conventions.md#inertial-parameters-at-run-time), `friction_width` of those built with
  [`--friction include`](robots.md#what-is-honoured).
"""


def _index() -> Iterator[str]:
    """Return every function with the names that others have for it."""
    yield from ["## All functions", "", f"| function | computes | {' | '.join(PEERS)} |"]
    yield "|---|---|" + "---|" * len(PEERS)
    for entry in entries().values():
        peers = (", ".join(f"`{name}`" for name in names.get(entry.name, ())) for names in PEERS.values())
        summary = _plain(entry.declaration.summary.rstrip(".")).replace("|", "\\|")
        yield f"| [`{entry.name}`](#{entry.name}) | {summary} | {' | '.join(peers)} |"
    yield from [
        "",
        "[Coming from Pinocchio](from_pinocchio.md) and [from MuJoCo](from_mujoco.md) say what differs.",
        "",
    ]


def _plain(text: str) -> str:
    """Return text in Markdown in which signs of formulas make no emphasis; code between backquotes
    remains.
    """
    parts = text.split("`")
    return "`".join(part if k % 2 else re.sub(r"([*_<\[])", r"\\\1", part) for k, part in enumerate(parts))


def _presets() -> Iterator[str]:
    """Return the functions that each preset adds."""
    yield from ["## Presets", "", "| preset | functions |", "|---|---|"]
    before: set[str] = set()
    for name, functions in presets().items():
        new = [f"`{name}`" for name in functions if name not in before]
        yield f"| `{name}` | {'those before, and ' if before and name != SECOND else ''}{', '.join(new)} |"
        before |= set(functions)
    alone = [f"`{entry.name}`" for entry in entries().values() if entry.function.preset == ALONE]
    yield from [f"| none; name them | {', '.join(alone)} |", ""]
    yield from [
        "A module with contacts also has the contact functions of its preset. `control` is the default.",
        "",
    ]


def _derivatives() -> Iterator[str]:
    """Return the functions with derivatives for CasADi, JAX and PyTorch."""
    yield from ["## Where derivatives are", "", _OF_DERIVATIVES.strip(), ""]
    yield from ["| function | first derivatives | second derivatives | by `fext` |", "|---|---|---|---|"]
    for entry in entries().values():
        names = _differential(entry)
        if names is not None:
            yield f"| `{entry.name}` | {' | '.join(f'`{name}`' if name else '' for name in names)} |"
    yield ""


_OF_DERIVATIVES = """
In C and NumPy call the functions of the second and third column. CasADi, JAX and PyTorch differentiate a
function if those were built with it: [Derivatives in frameworks](derivatives.md).
"""


def _differential(entry: Entry) -> tuple[str, str, str] | None:
    """Return the functions with first and second derivatives and those by external forces, None
    without any.
    """
    there, functions = entries(), entry.function.differential
    if functions is None or functions.first not in there:
        return None
    then = [there[name].function.differential for name in (functions.first, functions.weighted) if name]
    second = functions.second or next((d.first for d in then if d is not None), "")
    return functions.first, second, functions.forces


def _sections() -> Iterator[str]:
    for title, functions in families().items():
        yield from [f"## {title}", ""]
        for entry in functions:
            yield from _section(entry)


def _section(entry: Entry) -> Iterator[str]:
    d = entry.declaration
    yield from [f"### `{entry.name}`", "", _plain(d.summary), "", "```text", *_signatures(entry), "```", ""]
    yield from ["| | shape | meaning |", "|---|---|---|"]
    for p in _arrays(d):
        prefix = "returns " if p in d.outputs else ""
        optional = "; may be None" if p.optional else ""
        yield f"| {prefix}`{p.name}` | {entry.shapes[p.name]} | {_plain(p.meaning)}{optional} |"
    yield from ["", *(f"- {line}" for line in _facts(entry)), ""]


_EVERYWHERE = re.compile(r"(, \*)?, out=None.*")
"""The arguments that every function of a module takes."""


def _signatures(entry: Entry) -> Iterator[str]:
    d = entry.declaration
    results = ", ".join(p.name for p in d.outputs)
    yield f"Python  {results} = m.{entry.name}({_EVERYWHERE.sub('', function_view(d)['signature'])})"
    name = "@".join([entry.name, *(word.upper() for word in d.place)])
    if not d.pair:
        yield f'CasADi  {results} = m.casadi("{name}")({", ".join(p.name for p in d.required)})'
    yield f"C       {d.prototype('ROBOT', restrict='')};"


def _facts(entry: Entry) -> Iterator[str]:
    function = entry.function
    preset = f"`{function.preset}`" if function.preset != ALONE else "none; name it in `--functions`"
    needs = ", ".join(sorted(need.value for need in function.requires))
    yield f"Preset: {preset}.{f' Needs: {needs}.' if needs else ''}"
    if (names := _differential(entry)) is not None:
        words = [
            f"{word} `{name}`"
            for word, name in zip(("first", "second", "by `fext`"), names, strict=True)
            if name
        ]
        yield f"Derivatives: {', '.join(words)}."
    elif function.chain is not None:
        of = function.chain.of
        yield f"Derivatives of [`{of}`](#{of})." if of in entries() else f"Derivatives of `{of}`."
    if entry.options:
        yield f"Inputs of packages built for them: {', '.join(f'`{name}`' for name in entry.options)}."
    yield from _sources(function)
    for peer, listed in PEERS.items():
        if entry.name in listed:
            yield f"{peer}: {', '.join(f'`{name}`' for name in listed[entry.name])}."


_CITED = re.compile(r"\b(1[89]|20)\d\d\b|\b(table|section|Algorithm|equations?|tutorial)\b")
_ENDS = re.compile(r"(?<=[a-z0-9)\]*]\.)\s+(?=[A-Z])")
_TESTED = re.compile(r"\b(Checked(?: against|:)\s.*?)(?=\n\n|$)", re.DOTALL)


def _head(text: str) -> str:
    """Return the first paragraph of the docstring of a module, and if it has no citation, the sentences with
    one of the first paragraph that has.
    """
    paragraphs = text.split("\n\n")
    cited = next((k for k, paragraph in enumerate(paragraphs) if _CITED.search(paragraph)), 0)
    others = [sentence for sentence in _ENDS.split(paragraphs[cited]) if _CITED.search(sentence)]
    words = " ".join([paragraphs[0], *(others if cited else [])]).split()
    return " ".join(words).rstrip(".") + "."


def _sources(function: Function) -> Iterator[str]:
    """Return the author and the equation of the reference of builds, and the identity that tests check."""
    if not function.references and function.chain is not None:
        of = function.chain.of
        if of in entries():
            yield f"Source: the reference of [`{of}`](#{of}), evaluated with dual numbers."
            return
        function = function.chain.function
    module, name = function.references[function.oracle or next(iter(function.references))].split(":")
    home = import_module(f".{module.lstrip('.')}", HOME)
    yield f"Source: {_plain(_head(inspect.getdoc(home) or ''))}"
    method = getattr(home, name)
    of_method = inspect.getdoc(getattr(method, "func", method)) or ""
    if text := " ".join(_TESTED.sub("", of_method).split()):
        yield f"Reference: {_plain(re.sub(r'^Return ', 'returns ', text))}"
    if tested := _TESTED.search(of_method):
        yield _plain(" ".join(tested[1].split()))


if __name__ == "__main__":
    (FOLDER / "functions.md").write_text(page(), encoding="utf-8")
