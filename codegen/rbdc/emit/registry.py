"""The targets of a build: each is one line of `BACKENDS`. The target `c`, which every package has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rbdc.emit.backend import Backend, FunctionSource, Package, PlannedFunction
from rbdc.emit.batch import BatchTarget
from rbdc.emit.c.csource import add_loop
from rbdc.emit.casadi.target import CasadiTarget
from rbdc.emit.jax import JaxTarget
from rbdc.emit.library import render_library
from rbdc.emit.printing import printed
from rbdc.emit.python import render_python
from rbdc.errors import OptionError, UnsupportedError
from rbdc.option_fields import asked
from rbdc.runtime._suggestions import suggestion


class CTarget(Backend):
    """C99 of single samples, with loops over the samples of a batch, as planning has it printed; every other
    target of C adds to its library.
    """

    name = "c"
    compiled = (".c", ".h")

    def package_files(self, package: Package, sources: Sequence[FunctionSource]) -> dict[str, str]:
        """Return the library: all C, the header, CMakeLists.txt and README.md; the module, its stubs, and the
        support at run time that is copied into every package.
        """
        library = render_library(package.model, package.robot, sources, portable=package.portable)
        return library | render_python(package, [source.declaration for source in sources])


BACKENDS: dict[str, Backend] = {
    "c": CTarget(),
    "batch": BatchTarget(),
    "casadi": CasadiTarget(),
    "jax": JaxTarget(),
}
"""Every target by its name, in the order in which they print."""

FOUNDATION = "c"
"""The target that every package has: its extension is compiled from it, and verified."""


@dataclass(frozen=True)
class Generated:
    """The text files of a package, by name, and what was made of each function.

    compiled: the files that go into the extension of the package. libraries: shared libraries beside it, by
    name, with the C file that each adds to these.
    """

    files: dict[str, str]
    sources: tuple[FunctionSource, ...]
    compiled: frozenset[str]
    libraries: dict[str, str]


def backends_of(targets: Sequence[str]) -> tuple[Backend, ...]:
    """Return the targets of these names, in the order in which they print.

    Raises OptionError for a name that is none or is given twice, UnsupportedError where C is missing.
    """
    given = asked("targets", ",".join(targets))
    for target in targets:
        if target not in BACKENDS:
            raise OptionError(f"{given}: no target {target!a}; {suggestion(target, BACKENDS)}")
        if list(targets).count(target) > 1:
            raise OptionError(f"{given}: {target} is given twice")
    if FOUNDATION not in targets:
        raise UnsupportedError(f"{given}: a package is compiled and verified by its C; add {FOUNDATION}")
    return tuple(backend for name, backend in BACKENDS.items() if name in targets)


def emitted(package: Package, planned: PlannedFunction, backends: Sequence[Backend]) -> FunctionSource:
    """Return the text that the targets make of one function: its C, and what they add to that."""
    source = printed(package.robot, planned.plan)
    if not planned.batch.samples:
        add_loop(package.robot, source)
    for backend in backends:
        backend.add_function(package, planned, source)
    return source


def assembled(package: Package, sources: Sequence[FunctionSource], backends: Sequence[Backend]) -> Generated:
    """Return the files of a package by all targets. Raises ValueError where two give a file of the same
    name.
    """
    files: dict[str, str] = {}
    compiled: set[str] = set()
    libraries: dict[str, str] = {}
    for backend in backends:
        given = backend.package_files(package, sources)
        if common := sorted(files.keys() & given.keys()):
            raise ValueError(
                f"target {backend.name} gives {', '.join(common)}, which another target gives already"
            )
        files |= given
        compiled |= {name for name in given if name.endswith(backend.compiled)}
        if backend.shared:
            own = f"{package.robot}_{backend.name}"
            libraries[f"lib{own}.so"] = f"{own}.c"
    return Generated(files, tuple(sources), frozenset(compiled), libraries)
