"""The companion `python` of the target `c`: the importable package around the compiled library."""

from __future__ import annotations

from collections.abc import Sequence

from rbdc.emit.backend import Backend, FunctionSource, Package
from rbdc.emit.python.package import render_python


class PythonTarget(Backend):
    """The module, its stubs, and the run-time support that is copied into every package."""

    name = "python"
    companion = "c"

    def package_files(self, package: Package, sources: Sequence[FunctionSource]) -> dict[str, str]:
        """The Python files."""
        declarations = [source.declaration for source in sources]
        return render_python(
            package.model, package.robot, declarations, package.known, package.version, package.warnings
        )
