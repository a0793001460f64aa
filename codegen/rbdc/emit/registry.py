"""The targets of a build, one line of `BACKENDS` each, and the target `c`, which every package has."""

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
    """C99 for single samples, with loops over the samples of a batch. The other targets of C extend its
    library.
    """

    name = "c"
    compiled = (".c", ".h")

    def package_files(self, package: Package, sources: Sequence[FunctionSource]) -> dict[str, str]:
        """Return the library: all C, the header, CMakeLists.txt and README.md; the module and its stubs; and
        the run-time support, which is copied into every package.
        """
        library = render_library(package.model, package.robot, sources, portable=package.portable)
        return library | render_python(package, [source.declaration for source in sources])


BACKENDS: dict[str, Backend] = {
    "c": CTarget(),
    "batch": BatchTarget(),
    "casadi": CasadiTarget(),
    "jax": JaxTarget(),
}
"""Every target by name, in the order of printing."""

FOUNDATION = "c"
"""The target that every package has: the extension is compiled from it and verified."""


@dataclass(frozen=True)
class Generated:
    """The text files of a package, and the sources of its functions.

    files: texts by file name.
    sources: one for each function.
    compiled: names of the files that are compiled into the extension.
    libraries: C file that each shared library beside the extension adds, by name of the library.
    """

    files: dict[str, str]
    sources: tuple[FunctionSource, ...]
    compiled: frozenset[str]
    libraries: dict[str, str]


def backends_of(targets: Sequence[str]) -> tuple[Backend, ...]:
    """Return the targets of these names, in the order of printing.

    Raises OptionError for an unknown or repeated name, and UnsupportedError without the target `c`.
    """
    option = asked("targets", ",".join(targets))
    for target in targets:
        if target not in BACKENDS:
            raise OptionError(f"{option}: no target {target!a}; {suggestion(target, BACKENDS)}")
        if list(targets).count(target) > 1:
            raise OptionError(f"{option}: {target} is given twice")
    if FOUNDATION not in targets:
        raise UnsupportedError(
            f"{option}: a package is compiled from the C of target {FOUNDATION}; add {FOUNDATION}"
        )
    return tuple(backend for name, backend in BACKENDS.items() if name in targets)


def emitted(package: Package, planned: PlannedFunction, backends: Sequence[Backend]) -> FunctionSource:
    """Return the text of the targets for one function: its C, and their additions."""
    source = printed(package.robot, planned.plan)
    if not planned.batch.samples:
        add_loop(package.robot, source)
    for backend in backends:
        backend.add_function(package, planned, source)
    return source


def assembled(package: Package, sources: Sequence[FunctionSource], backends: Sequence[Backend]) -> Generated:
    """Return the files of a package from all targets. Raises ValueError if two targets return a file of the
    same name.
    """
    files: dict[str, str] = {}
    compiled: set[str] = set()
    libraries: dict[str, str] = {}
    for backend in backends:
        of_target = backend.package_files(package, sources)
        if common := sorted(files.keys() & of_target.keys()):
            raise ValueError(
                f"target {backend.name} writes {', '.join(common)}, which another target already writes"
            )
        files |= of_target
        compiled |= {name for name in of_target if name.endswith(backend.compiled)}
        if backend.shared:
            stem = f"{package.robot}_{backend.name}"
            libraries[f"lib{stem}.so"] = f"{stem}.c"
    return Generated(files, tuple(sources), frozenset(compiled), libraries)
