"""The compilers that a tuning chooses, one for each C file of a package."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from rbdc.emit.backend import FunctionSource
from rbdc.errors import OptionError, ToolchainError
from rbdc.native.toolchain import Compiler, Toolchain, find_compiler
from rbdc.planning.tuning import Tuning


def compilers_of(tuning: Tuning, functions: Iterable[str], usual: Toolchain) -> dict[str, Compiler]:
    """Return the compilers that a tuning names for these functions, by name. The name of the usual compiler
    gives that compiler.

    Raises OptionError, with file and line, for a compiler that is not installed.
    """
    by_name, names = {usual.name: usual.compiler}, {*functions}
    used: list[str] = []
    for decision in (d for each in tuning.decisions.values() for name, d in each.items() if name in names):
        name = decision.way.compiler
        try:
            by_name[name] = by_name.get(name) or find_compiler(name)
        except ToolchainError as error:
            remedy = "install it, name another in the file, or tune again"
            raise OptionError(f"{decision.place}: no compiler {name} here; {remedy}") from error
        used.append(name)
    return {name: by_name[name] for name in used}


def compilers_of_files(
    tuning: Tuning, sources: Sequence[FunctionSource], by_name: Mapping[str, Compiler]
) -> dict[str, Compiler]:
    """Return the compiler of each C file of the functions in a tuning. A file that several functions share
    gets the compiler that most of them chose; ties go to the first.
    """
    wanted: dict[str, Counter[str]] = {}
    for source in sources:
        for batch, files in ((False, source.files), (True, source.batch_files)):
            if (compiler := tuning.compiler(source.declaration.name, batch=batch)) is not None:
                for file in files:
                    wanted.setdefault(file, Counter())[compiler] += 1
    return {file: by_name[names.most_common(1)[0][0]] for file, names in wanted.items()}
