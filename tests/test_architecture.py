"""The direction of imports, the weight of `import rbdc`, and the size budget."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "codegen" / "rbdc"
FILES = sorted(SOURCE.rglob("*.py"))

# Each may import what stands before it. A package stands for all its modules.
ORDER = [
    ["errors", "processes"],
    ["workers"],
    ["spatial"],
    ["model"],
    ["algorithms"],
    ["ir"],
    ["emit"],
    ["native"],
    ["runtime", "resources"],
    ["reduction"],
    ["evaluation"],
    ["catalogue"],
    ["fusion", "lanes", "rests"],
    ["generate", "singularity"],
    ["savings"],
    ["pipeline"],
    ["info"],
    ["report"],
    ["cli_support"],
    ["cli_compare"],
    ["cli"],
    ["__main__"],
]
LEVEL = {name: level for level, names in enumerate(ORDER) for name in names}


def imports(path: Path) -> list[tuple[str, int]]:
    """Every imported module of a file, wherever the import stands, with its line."""
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found += [(alias.name, node.lineno) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module is not None and node.level == 0:
            found.append((node.module, node.lineno))
    return found


def part(module: str) -> str | None:
    """The part of rbdc that a module belongs to."""
    words = module.split(".")
    return words[1] if words[0] == "rbdc" and len(words) > 1 else None


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_imports_point_backwards(path: Path) -> None:
    relative = path.relative_to(SOURCE)
    own = relative.parts[0].removesuffix(".py")
    if own == "__init__":
        return  # lazy attributes: names only
    for module, line in imports(path):
        other = part(module)
        if other is not None and other != own:
            assert LEVEL[other] < LEVEL[own], f"{relative}:{line} imports {module}"


def test_emit_and_model_know_no_casadi() -> None:
    users = {str(p.relative_to(SOURCE)) for p in FILES for module, _ in imports(p) if module.split(".")[0] == "casadi"}
    assert users == {"ir/from_casadi.py", "ir/symbolic.py", "report/ad.py"}


def test_runtime_support_needs_numpy_only() -> None:
    tops = {module.split(".")[0] for name in ("robot", "_threads", "processor") for module, _ in imports(SOURCE / "runtime" / f"{name}.py")}
    assert tops <= {"__future__", "collections", "math", "operator", "os", "threading", "typing", "numpy", "_threads"}


def test_import_is_light() -> None:
    code = (
        "import rbdc, sys; print([m for m in ('casadi', 'sympy', 'jinja2', 'matplotlib', 'numpy', 'lxml') if m in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_size_budget(path: Path) -> None:
    text = path.read_text()
    assert text.count("\n") < 400
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            assert node.end_lineno is not None
            assert node.end_lineno - node.lineno < 80, node.name
