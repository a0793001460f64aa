"""The direction of imports, the weight of `import rbdc`, and the size budget."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Set as AbstractSet
from dataclasses import fields
from functools import cache
from pathlib import Path

import pytest

from rbdc.model import Model

SOURCE = Path(__file__).parent.parent / "codegen" / "rbdc"
FILES = sorted(SOURCE.rglob("*.py"))

# Each may import what stands before it. A package stands for all its modules.
ORDER = [
    ["errors", "processes"],
    ["runtime"],
    ["option_fields"],
    ["spatial"],
    ["model"],
    ["algorithms"],
    ["reduction"],
    ["ir"],
    ["functions"],
    ["planning"],
    ["emit"],
    ["native"],
    ["resources"],
    ["analysis", "verification"],
    ["options", "build_result"],
    ["progress"],
    ["pipeline"],
    ["report"],
    ["tuning"],
    ["cli"],
    ["__main__"],
]
LEVEL = {name: level for level, names in enumerate(ORDER) for name in names}


def imports(path: Path) -> list[tuple[str, int]]:
    """Return every imported module of a file, wherever the import stands, with its line."""
    modules = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            modules += [(alias.name, node.lineno) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module is not None and node.level == 0:
            modules.append((node.module, node.lineno))
    return modules


def part(module: str) -> str | None:
    """Return the part of rbdc that a module belongs to."""
    words = module.split(".")
    return words[1] if words[0] == "rbdc" and len(words) > 1 else None


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_imports_point_backwards(path: Path) -> None:
    relative = path.relative_to(SOURCE)
    room = relative.parts[0].removesuffix(".py")
    if room == "__init__":
        return  # lazy attributes: names only
    for module, line in imports(path):
        other = part(module)
        if other is not None and other != room:
            assert LEVEL[other] < LEVEL[room], f"{relative}:{line} imports {module}"


REPORT = SOURCE / "report"
REPORT_FILES = sorted(REPORT.rglob("*.py"))

# Within the report, likewise: rooms and the files at its top.
REPORT_ORDER = [
    ["options"],
    ["accuracy"],
    ["methods"],
    ["measure"],
    ["present"],
    ["compare"],
    ["benchmark", "families"],
    ["forms"],
    ["studies"],
]
REPORT_LEVEL = {name: level for level, names in enumerate(REPORT_ORDER) for name in names}


@pytest.mark.parametrize("path", REPORT_FILES, ids=lambda p: str(p.relative_to(REPORT)))
def test_imports_of_the_report_point_backwards(path: Path) -> None:
    part = path.relative_to(REPORT).parts[0].removesuffix(".py")
    others = {module.split(".")[2] for module in of_rbdc(path) if module.startswith("rbdc.report.")} - {part}
    if part == "__init__":
        assert not others
        return
    later = {name for name in others if REPORT_LEVEL[name] >= REPORT_LEVEL[part]}
    assert not later, f"{path.relative_to(REPORT)} imports {sorted(later)}"


def test_rooms_are_small() -> None:
    for room in {path.parent for path in FILES}:
        assert len(list(room.glob("*.py"))) <= 15, room.name
    assert len(list(SOURCE.glob("*.py"))) <= 10


@pytest.mark.parametrize("room", sorted({path.parent for path in FILES}), ids=lambda p: p.name)
def test_no_circles(room: Path) -> None:
    """Files and folders of a room import each other without circles."""
    above, inside = room.relative_to(SOURCE).parts, dict[str, set[str]]()
    for path in room.rglob("*.py"):
        part = path.relative_to(room).parts[0].removesuffix(".py")
        if part != "__init__":
            parts = [tuple(module.split(".")[1:]) for module in of_rbdc(path)]
            others = {p[len(above)] for p in parts if p[: len(above)] == above and len(p) > len(above)}
            inside[part] = inside.get(part, set()) | others - {part}
    while free := [name for name, others in inside.items() if not others & inside.keys()]:
        for name in free:
            del inside[name]
    assert not inside, f"{room.name}: {sorted(inside)}"


BY_PROTOCOL = {"self", "fext", "trace"}
"""Arguments that are not counted: every recursion has the last two, by keyword, whatever its inputs."""


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_signatures_are_short(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef):
            arguments = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
            assert len({argument.arg for argument in arguments} - BY_PROTOCOL) <= 7, node.name


@pytest.mark.parametrize("path", REPORT_FILES, ids=lambda p: str(p.relative_to(REPORT)))
def test_the_report_needs_no_exception_of_types(path: Path) -> None:
    assert "type: ignore" not in path.read_text()


ALGORITHMS = SOURCE / "algorithms"
REFERENCE, TOOLS = ALGORITHMS / "reference", ALGORITHMS / "tools"
OF_TOOLS = {"rbdc.errors", "rbdc.algorithms.trace", "rbdc.spatial"}
OF_TOOLS |= {"rbdc.model", "rbdc.model.joints", "rbdc.model.joints.coupling"}
OF_TOOLS |= {f"rbdc.spatial.{name}" for name in ("scalars", "vectors", "transforms", "inertias")}
"""What the tools of algorithms may import beside NumPy, the standard library and each other."""
OF_REFERENCES = OF_TOOLS | {"rbdc.spatial.tangent", "rbdc.algorithms.tools", "rbdc.model.contacts"}
OF_REFERENCES |= {f"rbdc.algorithms.tools.{path.stem}" for path in TOOLS.glob("[!_]*.py")}
"""What the references may import beside NumPy, the standard library and each other: dual numbers, and the
tools, which are tested against NumPy alone.
"""

READING = {
    f"rbdc.model.{name}"
    for name in (
        "bodies",
        "description",
        "lumping",
        "notes",
        "numbers",
        "options",
        "problem",
        "rearranged",
        "text",
        "tree",
        "validation",
        "xml",
    )
}
READING |= {f"rbdc.model.formats.{path.stem}" for path in (SOURCE / "model" / "formats").glob("[!_]*.py")}
READING |= {"rbdc.model.formats", "rbdc.option_fields"}
READING |= {
    f"rbdc.model.joints.{path.stem}"
    for path in (SOURCE / "model" / "joints").glob("*.py")
    if path.stem != "__init__"
}
READING |= {"rbdc.spatial.quaternions", "rbdc.processes", "rbdc.runtime._suggestions"}
"""What comes with these: how a description is read, and the joints' own manifolds, which `OF_JOINTS` keeps
the references from.
"""

OF_JOINTS = {"integrate", "difference", "placement_at", "own_force"}
"""Methods of joints and bodies that generated code is made from and the references do without."""

DECIDING = {"reduction/mobility.py", "reduction/clusters.py", "planning/availability.py"}
"""Modules that ask the references what a model can do; nothing that generates imports them."""

MAY_CHECK = {"report", "verification", *DECIDING}
"""The parts that may use the references; none of them generates."""


CHECKING = {"functions/references.py"}
"""The module of `functions` that comes down to the references, by their names in records."""


def module_path(module: str) -> Path | None:
    """Return the file of a module of rbdc."""
    path = SOURCE.joinpath(*module.split(".")[1:])
    return next((p for p in (path / "__init__.py", path.with_suffix(".py")) if p.is_file()), None)


@cache
def of_rbdc(path: Path) -> frozenset[str]:
    """Return the modules of rbdc that a file imports, wherever the import stands; of a package the modules
    that are named.
    """
    modules: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        names = [alias.name for alias in node.names] if isinstance(node, (ast.Import, ast.ImportFrom)) else []
        if isinstance(node, ast.ImportFrom) and node.level == 0:
            inner = [f"{node.module}.{name}" for name in names]
            names = [str(node.module), *(name for name in inner if module_path(name) is not None)]
        modules |= {name for name in names if name.split(".")[0] == "rbdc"}
    return frozenset(modules)


def reached(start: AbstractSet[str]) -> set[str]:
    """Return the modules of rbdc that some import, whatever these import, and so on."""
    modules: set[str] = set()
    while start:
        modules |= start
        paths = [module_path(module) for module in start]
        start = {name for path in paths if path is not None for name in of_rbdc(path)} - modules
    return modules


@pytest.mark.parametrize(
    "path",
    sorted([*REFERENCE.rglob("*.py"), *TOOLS.glob("*.py")]),
    ids=lambda p: str(p.relative_to(ALGORITHMS)),
)
def test_references_and_tools_import_nothing_that_is_generated(path: Path) -> None:
    part = f"rbdc.algorithms.{path.relative_to(ALGORITHMS).parts[0]}"
    shared = OF_TOOLS if path.is_relative_to(TOOLS) else OF_REFERENCES
    imported = {module for module, _ in imports(path)} | of_rbdc(path)
    for module in imported:
        allowed = module in shared or module == part or module.startswith(f"{part}.")
        assert allowed or module.split(".")[0] in {*sys.stdlib_module_names, "numpy"}, (
            f"{path.name} imports {module}"
        )
    beyond = (
        {m for m in reached(of_rbdc(path)) if not m.startswith(part)} - shared - READING - {"rbdc.algorithms"}
    )
    assert not beyond, f"{path.name} comes down to {sorted(beyond)}"
    calls = (node.func for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call))
    banned = OF_JOINTS - {"placement_at"} if path.is_relative_to(TOOLS) else OF_JOINTS
    assert not banned & {function.attr for function in calls if isinstance(function, ast.Attribute)}


RUN = 5
"""So many lines of code in a row that stand elsewhere too are a copy."""


def code_lines(path: Path) -> list[str]:
    """Return the lines of a file without imports, docstrings, signatures, white space and lone brackets."""
    text, skipped = path.read_text(), set[int]()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Import, ast.ImportFrom)) or (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        ):
            skipped |= set(range(node.lineno, (node.end_lineno or 0) + 1))
        elif isinstance(node, ast.FunctionDef):
            skipped |= set(range(node.lineno, node.body[0].lineno))
    lines = ("".join(line.split()) for k, line in enumerate(text.splitlines(), 1) if k not in skipped)
    return [line for line in lines if len(line) > 2]


def runs(path: Path) -> set[tuple[str, ...]]:
    """Return all runs of `RUN` lines of code of a file."""
    lines = code_lines(path)
    return {tuple(lines[k : k + RUN]) for k in range(len(lines) - RUN + 1)}


@cache
def runs_of_generated() -> set[tuple[str, ...]]:
    """Return those of all algorithms that are generated."""
    others = (REFERENCE, TOOLS)
    paths = [p for p in ALGORITHMS.rglob("*.py") if not any(p.is_relative_to(room) for room in others)]
    return {run for path in paths for run in runs(path)}


@pytest.mark.parametrize("path", sorted(REFERENCE.rglob("*.py")), ids=lambda p: str(p.relative_to(REFERENCE)))
def test_no_reference_is_a_copy(path: Path) -> None:
    """Generated code is compared with another formulation, not with its own lines."""
    assert not runs(path) & runs_of_generated()


def test_nothing_that_generates_imports_the_references() -> None:
    users = {
        path.relative_to(SOURCE)
        for path in FILES
        if any(m.startswith("rbdc.algorithms.reference") for m in of_rbdc(path))
    }
    outside = {path for path in users if path.parts[:2] != ("algorithms", "reference")}
    assert all(path.parts[0] in MAY_CHECK or str(path) in MAY_CHECK for path in outside)
    others = DECIDING | CHECKING
    rooms = ("planning", "emit", "reduction", "functions")
    generating = [p.relative_to(SOURCE) for room in rooms for p in (SOURCE / room).rglob("*.py")]
    modules = reached({_module(path) for path in generating if str(path) not in others})
    assert not {module for module in modules if module.startswith("rbdc.algorithms.reference")}
    assert not {_module(Path(path)) for path in others} & modules


def _module(path: Path) -> str:
    return ".".join(("rbdc", *path.with_suffix("").parts))


def test_analysis_is_for_people() -> None:
    """Only commands and reports import the room, and `import rbdc` the functions that users call."""
    users = {
        path.relative_to(SOURCE).parts[0]
        for path in FILES
        if any(module.startswith("rbdc.analysis") for module in of_rbdc(path))
    }
    assert users <= {"analysis", "cli", "report", "__init__.py"}


def test_a_model_is_the_robot() -> None:
    """A build's request is in `Problem`."""
    assert len(fields(Model)) <= 13


def test_emit_and_model_know_no_casadi() -> None:
    users = {
        str(p.relative_to(SOURCE))
        for p in FILES
        for module, _ in imports(p)
        if module.split(".")[0] == "casadi"
    }
    assert users == {
        "ir/from_casadi.py",
        "ir/symbolic.py",
        "report/methods/casadi_methods.py",
        "verification/casadi_calls.py",
    }


def test_runtime_support_needs_numpy_only() -> None:
    frameworks = ("__init__.py", "_casadi.py", "_jax.py", "_torch.py")
    files = [file for file in (SOURCE / "runtime").glob("_*.py") if file.name not in frameworks]
    tops = {module.split(".")[0] for file in files for module, _ in imports(file)}
    plain = {"__future__", "collections", "math", "operator", "os", "pathlib", "threading", "typing"}
    plain |= {"difflib", "hashlib", "html", "importlib", "inspect", "itertools", "re", "sys", "types"}
    assert tops <= plain | {"numpy", "_arrays", "_differential", "_named", "_suggestions"}


def test_import_is_light() -> None:
    heavy = ("casadi", "sympy", "jinja2", "matplotlib", "numpy", "lxml")
    code = f"import rbdc, sys; print([m for m in {heavy} if m in sys.modules])"
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
