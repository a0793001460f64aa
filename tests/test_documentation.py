"""The pages: every fenced block and every script of an example runs and leaves nothing that git tracks or
shows, links lead somewhere, the first page stays short.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import pytest

from rbdc.functions.catalogue import functions_of
from rbdc.model import Problem
from rbdc.options import BuildOptions
from rbdc.pipeline import build_package
from rbdc.resources import resolve
from tests.support import COMPILERS, OUT

ROOT = Path(__file__).parent.parent
FIRST = ROOT / "README.md"
PAGES = [FIRST, *sorted((ROOT / "codegen").rglob("README.md"))]
FOLDERS = (".github", "docs", "generated", "robots", "templates", "tests")
PAGES += [p for name in FOLDERS for p in sorted((ROOT / name).glob("*.md"))]
WORDS = 700
"""Of the first page, at most."""
COPIED = ("generated/cartpole", "generated/double_pendulum")
"""Folders of the checkout that commands of a page may write to."""
SOURCES = ("codegen", "docs", "robots", "templates", "tests")
"""Folders that they read: links to these take a thousand files less than copies, but for what is installed or
tested, which leaves traces in them.
"""

_BLOCK = re.compile(r"^```([^\n`]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
_COMMAND = re.compile(r"\brbdc (compare|benchmark|experiment [\w-]+)\b")
_QUICKLY = "--peers casadi --seconds 0.01 --samples 16"
"""Options that win over a page's: to compile the calls of Pinocchio's library takes more than a minute."""
_SMALLER = {"hyq": "double_pendulum", "ur5": "double_pendulum", "kuka_iiwa": "double_pendulum_continuous"}
"""Robots of commands that measure, and those on which they do so here: what is tested are the commands."""
_LARGE = re.compile(rf"\b({'|'.join(_SMALLER)})\b")
_TESTS = re.compile(r"\bpytest\b")
_OWN = ("block.py", "my_robot.urdf", "main.c", "CMakeLists.txt", "program", "made")
"""Files of the tests beside those of a block."""
_INSTALL = "python3 -m venv"


@dataclass(frozen=True)
class Block:
    """A fenced block of a page: the line it begins on, the words after the fence, the text."""

    page: Path
    line: int
    words: tuple[str, ...]
    text: str

    @property
    def language(self) -> str:
        return self.words[0] if self.words else ""

    @property
    def file(self) -> str:
        """The file that the page has the reader write it to, or append it; "" of others."""
        return next((word for word in self.words[1:] if word.endswith(".py")), "")

    @property
    def slow(self) -> bool:
        later = "slow" in self.words or _COMMAND.search(self.text) is not None or _INSTALL in self.text
        return later or self.page != FIRST


def blocks(page: Path) -> Iterator[Block]:
    """Yield the fenced blocks of a page."""
    text = page.read_text(encoding="utf-8")
    for match in _BLOCK.finditer(text):
        yield Block(page, text[: match.start()].count("\n") + 1, tuple(match[1].split()), match[2])


def is_run(block: Block) -> bool:
    """Whether a block does something: it shows no text, and is no directive of the site such as {toctree}."""
    return block.language != "text" and not block.language.startswith("{")


BLOCKS = [block for page in PAGES for block in blocks(page) if is_run(block)]
EXAMPLES = [
    Block(script, 1, ("python", "slow"), script.read_text(encoding="utf-8"))
    for script in sorted((ROOT / "docs" / "examples").glob("*.py"))
]
BLOCKS += EXAMPLES
PARAMETERS = [
    pytest.param(b, id=f"{b.page.relative_to(ROOT)}:{b.line}", marks=[pytest.mark.slow] if b.slow else [])
    for b in BLOCKS
]


@pytest.fixture
def folder(block: Block, tmp_path: Path) -> Path:
    """Return a folder with the files of a clone and a description of the reader."""
    linked = () if _INSTALL in block.text or _TESTS.search(block.text) else SOURCES
    for name in {*COPIED, *SOURCES} - {*linked}:
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in linked:
        (tmp_path / name).symlink_to(ROOT / name)
    for name in (".gitignore", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path)
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".")
    git(tmp_path, "-c", "user.name=n", "-c", "user.email=e", "commit", "--quiet", "-m", "a clone")
    furnished(tmp_path)
    with (tmp_path / ".git" / "info" / "exclude").open("a") as exclude:
        for other in (other for other in BLOCKS if other.page == block.page and other.file):
            with (tmp_path / other.file).open("a") as file:
                file.write(other.text)
            exclude.write(f"/{other.file}\n")
    return tmp_path


def furnished(clone: Path) -> Path:
    """Return the clone with files of the tests, which git does not see."""
    shutil.copy(resolve("double_pendulum"), clone / "my_robot.urdf")
    (clone / ".git" / "info" / "exclude").write_text("".join(f"/{name}\n" for name in _OWN))
    return clone


@cache
def fast_compiler() -> Path:
    """Return a compiler that does not optimise. All blocks have the same, so that they share what it made."""
    file = OUT.parent / "bin" / "cc"
    file.parent.mkdir(parents=True, exist_ok=True)
    alone = file.with_name(f"cc-{os.getpid()}")
    alone.write_text(f'#!/bin/sh\nexec {COMPILERS[-1]} "$@" -O0\n')
    alone.chmod(0o755)
    return alone.replace(file)


def git(folder: Path, *words: str) -> str:
    """Return the output of git."""
    return subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True).stdout


def run(command: list[str], folder: Path) -> str:
    """Return the standard output of a command that must succeed, with this environment's programs first."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    variables = os.environ | {"PATH": path, "CC": str(fast_compiler())}
    done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


def run_shell(block: Block, folder: Path) -> None:
    """Run all commands of a block; the command that runs all tests is left to `.ci/run`, commands that run
    some only find them. An installation into this environment installs the clone itself, which outlasts the
    copy.
    """
    lines = []
    for line in block.text.splitlines():
        if not _runs_the_tests(line):
            line = re.sub(r"^pip install -e '\.", f"pip install -e '{ROOT}", line)
            line = _TESTS.sub(r"\g<0> --collect-only", line)
            if match := _COMMAND.search(line):
                few = "--root-joint fixed" if match[1].startswith("experiment") else "--checked 2"
                command = _LARGE.sub(lambda name: _SMALLER[name[1]], line.partition(" #")[0])
                line = f"{command} {_QUICKLY} {few}"
            lines.append(line)
    run(["bash", "-euo", "pipefail", "-c", "\n".join(lines)], folder)


def run_python(block: Block, folder: Path) -> None:
    """A block of Python as a script, warnings as errors, but for those of builds."""
    quiet = "import rbdc, warnings; warnings.simplefilter('ignore', rbdc.RbdcWarning)\n"
    (folder / "block.py").write_text(quiet + block.text, encoding="utf-8")
    run([sys.executable, "-W", "error", "block.py"], folder)


def run_c(block: Block, folder: Path) -> None:
    """A program in C with the package that it includes, built here; by every compiler, without a warning."""
    package = c_package(block, folder)
    (folder / "main.c").write_text(block.text)
    sources = [str(folder / "main.c"), *map(str, sorted(package.glob("*.c")))]
    for compiler in COMPILERS:
        flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", f"-I{package}"]
        run([compiler, *flags, *sources, "-lm", "-o", "program"], folder)
        run(["./program"], folder)


def c_package(block: Block, folder: Path) -> Path:
    """Return the package whose header a block includes, with the functions that it calls."""
    (robot,) = set(re.findall(r'#include "(\w+)\.h"', block.text))
    known = functions_of(Problem.from_urdf(resolve(robot)))
    called = [name for name in known if re.search(rf"\b{robot}_{name}(_batch|_lanes)?\(", block.text)]
    assert called, "a program in C calls a function of the package"
    return build_package(robot, BuildOptions(functions=tuple(called), out=folder / "generated")).directory


def run_cmake(block: Block, folder: Path) -> None:
    """Lines for the CMakeLists.txt of somebody's program, `controller`, which is the page's program in C."""
    if shutil.which("cmake") is None:
        pytest.skip("no cmake")
    (program,) = [other for other in BLOCKS if other.page == block.page and other.language == "c"]
    c_package(program, folder)
    (folder / "main.c").write_text(program.text)
    start = "cmake_minimum_required(VERSION 3.16)\nproject(page C)\nadd_executable(controller main.c)\n"
    (folder / "CMakeLists.txt").write_text(start + block.text)
    run(["cmake", "-S", ".", "-B", "made"], folder)
    run(["cmake", "--build", "made"], folder)
    run(["made/controller"], folder)


Runner = Callable[[Block, Path], None]
RUNNERS: dict[str, Runner] = {"sh": run_shell, "python": run_python, "c": run_c, "cmake": run_cmake}


def _runs_the_tests(line: str) -> bool:
    return line.startswith(_INSTALL) and "pytest" in line


@pytest.mark.parametrize("block", PARAMETERS)
def test_blocks_run(block: Block, folder: Path) -> None:
    assert block.language in RUNNERS, (
        f'{block.words}: a block that only shows something has the language "text"'
    )
    RUNNERS[block.language](block, folder)
    assert git(folder, "status", "--porcelain") == "", "a reader's clone is as it was"


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.page.stem)
def test_examples_have_pictures(example: Block) -> None:
    """Each script draws a picture, which is on the page of examples or on that of how it works."""
    picture = example.page.with_suffix(".svg")
    assert f'savefig("{picture.name}")' in example.text and picture.is_file()
    pages = [
        (ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("examples.md", "how_it_works.md")
    ]
    assert any(f"(examples/{picture.name})" in page for page in pages)


def test_the_first_picture_is_of_a_motion_that_keeps_its_energy(tmp_path: Path) -> None:
    """The picture names its axes, too."""
    (block,) = [example for example in EXAMPLES if example.page.stem == "swing"]
    checks = """
assert 0 < np.ptp(total) < 1e-6 < np.ptp(energies[0])
assert all(axes.get_ylabel().endswith(("(rad)", "(J)")) and axes.get_legend() for axes in figure.axes)
assert below.get_xlabel() == "time (s)"
"""
    git(tmp_path, "init", "--quiet")
    run_python(replace(block, text=block.text + checks), furnished(tmp_path))
    assert (tmp_path / "swing.svg").is_file()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    links = [link for link in _LINK.findall(page.read_text(encoding="utf-8")) if "://" not in link]
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_rows_of_tables_have_the_cells_of_their_head(page: Path) -> None:
    """A row that was wrapped like a paragraph shows its bars to the reader."""
    text = _BLOCK.sub("", page.read_text(encoding="utf-8"))
    for table in re.findall(r"(?:^ *\|.*\n)+(?:.+\n)?", text, re.MULTILINE):
        rows = [re.sub(r"`[^`]*`|\\\|", "", row).strip() for row in table.splitlines()]
        assert {(row[:1], row[-1:], row.count("|")) for row in rows} == {("|", "|", rows[0].count("|"))}, (
            table
        )


def test_the_first_page_is_short() -> None:
    assert len(FIRST.read_text(encoding="utf-8").split()) <= WORDS


def test_the_tests_are_run_as_the_first_page_says() -> None:
    """`.ci/run` takes the command from the page."""
    (line,) = [line for block in blocks(FIRST) for line in block.text.splitlines() if _runs_the_tests(line)]
    script = (ROOT / ".ci" / "run").read_text()
    (pattern,) = re.findall(r"grep -m 1 '(.*)' README.md", script)
    printed = run(["grep", "-m", "1", pattern, str(FIRST)], ROOT)
    assert printed.rstrip("\n") == line
