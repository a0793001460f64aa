"""The page of all functions, from their records: ``python docs/functions_page.py`` writes `functions.md`.

Shapes are in words. The page recognises each size by the pair of its numbers for two robots, which together
have every function; no two sizes have the same pair.
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
    "identification": "Regressor and derivatives with respect to parameters",
    "derivatives": "First derivatives of dynamics",
    "kinematics": "Kinematics of frames",
    "momentum": "Centre of mass, momentum, energies and regressors",
    "manifold": "The configuration manifold",
    "contacts": "Contacts, closed loops and impacts",
    "steps": "Time steps",
    "time_derivatives": "Time derivatives along motions",
    "second_order": "Second derivatives of dynamics",
}
"""Titles of families by name; the title of any other family is its name."""
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
    options: names of further inputs, which only packages built with them have.
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
"""The numbers of one size, for each of the robots."""


def _words() -> dict[Sizes, str]:
    """Return the words for each pair of sizes, and for multiples of the number of joints."""
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
    """Return a shape in words. Raises KeyError for a size without words: add them to `_words`."""
    shapes = [str(size[0]) if len(set(size)) == 1 else words[size] for size in sizes]
    return f"({', '.join(shapes)}{',' if len(shapes) == 1 else ''})"


def families() -> dict[str, list[Entry]]:
    """Return the functions of each family by the family's title, in the order of the catalogue."""
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

`--functions` names the functions to build, and `--preset` chooses [a set of them](#presets). In the
signatures `m` is a module and ROBOT its name. Shapes are those of one sample.

| size | meaning |
|---|---|
| nq | entries of q |
| nv | entries of v, a and tau |
| njoints | moving joints, each with one body |
| nframes | frames; every link has one |
| nq_tree, nv_tree | entries of q and v of the whole tree, including joints that follow others |
| ncontacts | contacts and loops |
| nc | rows of all contacts and loops |
| nc_loops | rows of the loops |
| np | parameters of the torque regressor: 10 njoints unless the build chose others |

| symbol | meaning |
|---|---|
| M, C, g | joint-space inertia, Coriolis matrix, gravity |
| r | forces of joint drives: springs, damping, friction; formulas of `rnea`, `nle` and `aba` omit r |
| h | C v + g + r |
| J | Jacobian of the bodies, the frame or the contacts of the function |
| direction k of q | basis vector k of the tangent space at q, which has nv dimensions |
| direction k of v, a, tau | entry k |
| q (+) dv | q moved by the tangent vector dv: `integrate(q, dv)` |
| 1 | the identity matrix, in `mu 1` |

- **Python**: arguments broadcast over leading dimensions. Every function takes `out=`, `layout=` and
  `num_threads=`.
- **C**: matrices are row-major. `ROBOT_NAME_batch(size_t n, ...)` computes n samples. Arguments that may be
  None in Python may be NULL.
- **CasADi**: names include frame and reference, `m.casadi("frame_jacobian@tool0@WORLD")`. JAX and PyTorch
  have `m.jax.NAME` and `m.torch.NAME` with the signature of Python.
- `frame` is the name of a link or its index in `m.frame_names`. `reference` is LOCAL (the default), WORLD or
  LOCAL_WORLD_ALIGNED. [Conventions](conventions.md) explains the references, and the order of q and v.
- `w` has one weight for each entry of a result, such as tau or ddq. Functions with `vjp` in their names
  return the gradient of the weighted sum of these entries. Functions with `hessian` in their names return
  blocks of the Hessian of the weighted sum, or products of this Hessian with a direction.
- `parameters` is an input of packages built with [`--parameters` or
  `--payload`](conventions.md#inertial-parameters-at-run-time). `friction_width` is an input of packages built
  with [`--friction include`](robots.md#what-is-honoured).

Each section ends with facts about the function:

- **Preset**: the smallest preset with the function. **Needs**: properties that the model must have.
- **Derivatives**: functions that compute derivatives of the function. **Differentiates**: the function whose
  derivatives the function computes.
- **Further inputs**: which of `parameters` and `friction_width` the function takes in packages built with
  them.
- **Source**: the literature that the reference follows. Builds are verified against the reference, a slower
  implementation in Python. **Reference**: what the reference returns; tensors are matrices, whose rows merge
  all dimensions but the last. **Checked**: how tests of rbdc check the reference.
- **Pinocchio**, **MuJoCo**: functions of these libraries for the same quantity.
"""


def _index() -> Iterator[str]:
    """Return the table of all functions, with the names of functions for the same quantity in other
    libraries.
    """
    yield from ["## All functions", "", f"| function | computes | {' | '.join(PEERS)} |"]
    yield "|---|---|" + "---|" * len(PEERS)
    for entry in entries().values():
        peers = (", ".join(f"`{name}`" for name in names.get(entry.name, ())) for names in PEERS.values())
        summary = _plain(entry.declaration.summary.rstrip(".")).replace("|", "\\|")
        yield f"| [`{entry.name}`](#{entry.name}) | {summary} | {' | '.join(peers)} |"
    yield from [
        "",
        "[Coming from Pinocchio](from_pinocchio.md) and [from MuJoCo](from_mujoco.md) list the differences.",
        "",
    ]


def _plain(text: str) -> str:
    """Return Markdown with the signs of formulas escaped, except in code between backquotes."""
    parts = text.split("`")
    return "`".join(part if k % 2 else re.sub(r"([*_<\[])", r"\\\1", part) for k, part in enumerate(parts))


def _presets() -> Iterator[str]:
    yield from ["## Presets", "", "| preset | functions |", "|---|---|"]
    before: set[str] = set()
    for name, functions in presets().items():
        new = [f"`{name}`" for name in functions if name not in before]
        yield f"| `{name}` | {'those above, and ' if before and name != SECOND else ''}{', '.join(new)} |"
        before |= set(functions)
    alone = [f"`{entry.name}`" for entry in entries().values() if entry.function.preset == ALONE]
    yield from [f"| none; name them in `--functions` | {', '.join(alone)} |", ""]
    yield from [
        "The table omits functions of contacts, which only modules with contacts or loops have: the sections "
        "below name their presets. `control` is the default preset.",
        "",
    ]


def _derivatives() -> Iterator[str]:
    """Return the table of functions that CasADi, JAX and PyTorch can differentiate."""
    yield from ["## Where derivatives are", "", _OF_DERIVATIVES.strip(), ""]
    yield from [
        "| function | first derivatives | second derivatives | with respect to `fext` |",
        "|---|---|---|---|",
    ]
    for entry in entries().values():
        names = _differential(entry)
        if names is not None:
            yield f"| `{entry.name}` | {' | '.join(f'`{name}`' if name else '' for name in names)} |"
    yield ""


_OF_DERIVATIVES = """
In C and NumPy, call the functions in the columns on the right. CasADi, JAX and PyTorch differentiate a
function if the module has the functions on the right: [Derivatives in frameworks](derivatives.md).
"""


def _differential(entry: Entry) -> tuple[str, str, str] | None:
    """Return the functions with first derivatives, second derivatives and derivatives with respect to
    external forces; None if there are none.
    """
    there, functions = entries(), entry.function.differential
    if functions is None or functions.first not in there:
        return None
    then = [there[name].function.differential for name in (functions.first, functions.weighted) if name]
    second = functions.second or next((d.first for d in then if d is not None), "")
    return functions.first, second, functions.forces


def _sections() -> Iterator[str]:
    sources: dict[str, str] = {}
    for title, functions in families().items():
        yield from [f"## {title}", ""]
        for entry in functions:
            yield from _section(entry, sources)


def _section(entry: Entry, sources: dict[str, str]) -> Iterator[str]:
    d = entry.declaration
    yield from [f"### `{entry.name}`", "", _plain(d.summary), "", "```text", *_signatures(entry), "```", ""]
    yield from ["| | shape | meaning |", "|---|---|---|"]
    for p in _arrays(d):
        prefix = "returns " if p in d.outputs else ""
        optional = "; may be None" if p.optional else ""
        yield f"| {prefix}`{p.name}` | {entry.shapes[p.name]} | {_plain(p.meaning)}{optional} |"
    yield from ["", *(f"- {line}" for line in _facts(entry, sources)), ""]


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


def _facts(entry: Entry, sources: dict[str, str]) -> Iterator[str]:
    function = entry.function
    preset = f"`{function.preset}`" if function.preset != ALONE else "none; name it in `--functions`"
    needs = ", ".join(sorted(need.value for need in function.requires))
    yield f"Preset: {preset}.{f' Needs: {needs}.' if needs else ''}"
    if (names := _differential(entry)) is not None:
        words = [
            f"`{name}` ({word})"
            for word, name in zip(("first", "second", "with respect to `fext`"), names, strict=True)
            if name
        ]
        yield f"Derivatives: {', '.join(words)}."
    if function.chain is not None and function.chain.of in entries():
        yield f"Differentiates [`{function.chain.of}`](#{function.chain.of})."
    if entry.options:
        yield f"Further inputs: {', '.join(f'`{name}`' for name in entry.options)}."
    yield from _sources(function, sources)
    for peer, listed in PEERS.items():
        if entry.name in listed:
            yield f"{peer}: {', '.join(f'`{name}`' for name in listed[entry.name])}."


_CITED = re.compile(r"\b(1[89]|20)\d\d\b|\b(table|section|Algorithm|equations?|tutorial)\b")
_ENDS = re.compile(r"(?<=[a-z0-9)\]*]\.)\s+(?=[A-Z])")
_TESTED = re.compile(r"\b(Checked(?: against|:)\s.*?)(?=\n\n|$)", re.DOTALL)


def _head(text: str) -> str:
    """Return the first paragraph of a module's docstring. If it cites nothing, append the sentences with
    citations of the first paragraph that has any.
    """
    paragraphs = text.split("\n\n")
    cited = next((k for k, paragraph in enumerate(paragraphs) if _CITED.search(paragraph)), 0)
    others = [sentence for sentence in _ENDS.split(paragraphs[cited]) if _CITED.search(sentence)]
    words = " ".join([paragraphs[0], *(others if cited else [])]).split()
    return " ".join(words).rstrip(".") + "."


def _sources(function: Function, sources: dict[str, str]) -> Iterator[str]:
    """Return the literature that the reference follows, its results, and how tests check it. sources: for
    each text about the literature, the function that printed it first; later functions link to it.
    """
    name_of_function = function.name
    ending = ""
    if not function.references and function.chain is not None:
        if (of := function.chain.of) in entries():
            yield f"Source: the reference of [`{of}`](#{of}), differentiated with dual numbers."
            return
        function, ending = function.chain.function, " These results are differentiated with dual numbers."
    module, name = function.references[function.oracle or next(iter(function.references))].split(":")
    home = import_module(f".{module.lstrip('.')}", HOME)
    text = _plain(_head(inspect.getdoc(home) or ""))
    same = sources.setdefault(text, name_of_function)
    yield f"Source: {text if same == name_of_function else f'as for [`{same}`](#{same}).'}"
    method = getattr(home, name)
    of_method = inspect.getdoc(getattr(method, "func", method)) or ""
    if text := " ".join(_TESTED.sub("", of_method).split()):
        yield f"Reference: {_plain(re.sub(r'^Return ', 'returns ', text))}{ending}"
    if tested := _TESTED.search(of_method):
        yield _plain(" ".join(tested[1].split()))


if __name__ == "__main__":
    (FOLDER / "functions.md").write_text(page(), encoding="utf-8")
