"""The target `c`: functions of one sample, the library around them, the Python module around that."""

from __future__ import annotations

from collections.abc import Sequence

from rbdc.emit.backend import Backend, FunctionSource, Package
from rbdc.emit.library import render_library
from rbdc.emit.python.package import render_python


class CTarget(Backend):
    """C99 of single samples, with loops over the samples of a batch, as planning has it printed; every other
    target of C adds to its library.
    """

    name = "c"
    compiled = (".c", ".h")

    def package_files(self, package: Package, sources: Sequence[FunctionSource]) -> dict[str, str]:
        """The library: all C, the header, CMakeLists.txt and README.md; the module, its stubs, and the
        support at run time that is copied into every package.
        """
        declarations = [source.declaration for source in sources]
        library = render_library(package.model, package.robot, sources, portable=package.portable)
        module = render_python(package.model, package.robot, declarations, package.known, package.warnings)
        return library | module
