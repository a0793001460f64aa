"""The third parties that each part may use, the names of the root package, and what review refuses."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "codegen" / "rbdc"
FILES = sorted(SOURCE.rglob("*.py"))
NAMES = [str(file.relative_to(SOURCE)) for file in FILES]

HEAVY = ("casadi", "sympy", "jinja2", "matplotlib", "lxml", "rich", "click", "cffi", "mujoco", "pinocchio")


def module_of(file: Path) -> str:
    """Return the dotted name of a file's module."""
    parts = ["rbdc", *file.relative_to(SOURCE).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def imports(file: Path) -> tuple[str, ...]:
    """Return every module that a file imports, at its top or inside a function."""
    return tuple(_imports(file))


def _imports(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if file.parent.name == "runtime" and file.name.startswith("_") and node.level:
                # Copied into packages of any name, with what they import; test_architecture reads on.
                continue
            assert node.level == 0, f"{file}: relative import"
            # `from rbdc.model import tree` may name a module as well as a value.
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def layer(module: str) -> str:
    """Return the part of a name that `LAYERS` lists."""
    return module.split(".")[1] if module.count(".") else ""


def importers(package: str) -> set[str]:
    """Return the modules that import a third party's package."""
    return {module_of(file) for file in FILES if any(name.split(".")[0] == package for name in imports(file))}


def test_who_may_use_what() -> None:
    # spatial.scalars reaches for CasADi inside a function, when it has been given a CasADi scalar.
    assert {layer(m) for m in importers("casadi")} <= {"ir", "report", "runtime", "spatial", "verification"}
    assert importers("jinja2") == {"rbdc.emit.render"}
    assert {layer(m) for m in importers("cffi")} == {
        "native",
        "verification",
    }  # verification calls the library that native builds
    assert {layer(m) for m in importers("lxml")} == {"model"}
    assert importers("platformdirs") == {"rbdc.native.cache"}
    assert importers("filelock") == {"rbdc.native.cache", "rbdc.native.scratch"}
    assert importers("fcntl") == set()
    assert {layer(m) for m in importers("matplotlib")} <= {"report"}
    assert {layer(m) for m in importers("click")} <= {"cli", "cli_compare", "cli_support"}


@pytest.mark.parametrize(
    "code", ["import rbdc", "import rbdc; rbdc.load, rbdc.Model, rbdc.Vector3, rbdc.RbdcError"]
)
def test_import_is_light(code: str) -> None:
    listing = f"{code}; import sys; print(*sorted(m for m in {HEAVY} if m in sys.modules))"
    done = subprocess.run([sys.executable, "-c", listing], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_lazy_attributes() -> None:
    code = (
        "import rbdc\n"
        "assert all(getattr(rbdc, name) is not None for name in rbdc.__all__)\n"
        "assert set(rbdc.__all__) == set(dir(rbdc))\n"
        "try: rbdc.nonsense\n"
        "except AttributeError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "module 'rbdc' has no attribute 'nonsense'\n"


@pytest.mark.parametrize("file", FILES, ids=NAMES)
def test_what_review_refuses(file: Path) -> None:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    assert ast.get_docstring(tree), "a module says what it is for"
    for node in ast.walk(tree):
        assert not isinstance(node, ast.Assert), f"line {node.lineno}: assert in library code"
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            refused = ("print", "exec", "eval", "os.chdir", "os.system", "sys.path.insert", "sys.path.append")
            assert called not in refused, f"line {node.lineno}: {called}"
            counts = called == "Cost" and file.parent.name != "ir"
            assert not counts, f"line {node.lineno}: operations are counted by rbdc.ir.cost, from nodes"
            assert not any(k.arg == "shell" for k in node.keywords), f"line {node.lineno}: a shell"


NEEDS_ITS_NEIGHBOUR = ("The same", "Those", "That of", "Likewise", "Of ", "What ")
"""Beginnings of a docstring that says nothing alone in a tooltip."""


@pytest.mark.parametrize("file", FILES, ids=NAMES)
def test_a_docstring_makes_sense_alone(file: Path) -> None:
    """The test reads docstrings of modules, classes and functions, and strings below names."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            assert not str(node.value.value).startswith(NEEDS_ITS_NEIGHBOUR), f"line {node.lineno}"
