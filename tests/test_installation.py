"""Wheel, sdist and editable install: every file is in them, and what is installed in a fresh environment
works.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
FOLDERS = {"rbdc": "codegen/rbdc", "rbdc.templates": "templates", "rbdc.robots": "robots"}


def test_every_folder_of_code_is_a_package() -> None:
    source = ROOT / "codegen"
    assert {f.parent for f in source.rglob("*.py")} == {f.parent for f in source.rglob("__init__.py")}


def test_data_folders_are_flat() -> None:
    for folder in (ROOT / "templates", ROOT / "robots"):
        assert [p.name for p in folder.iterdir() if p.is_dir() and p.name != "__pycache__"] == []


def run(command: list[str], folder: Path, **environment: str) -> str:
    """Return the standard output of a command that must succeed."""
    usual = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    done = subprocess.run(
        command, cwd=folder, env=usual | environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what a clone has, so that building leaves nothing in the checkout."""
    folder = tmp_path_factory.mktemp("source")
    ignore = shutil.ignore_patterns("__pycache__", "*.egg-info", "build")
    for name in ("codegen", "templates", "robots"):
        shutil.copytree(ROOT / name, folder / name, ignore=ignore)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder / name)
    return folder


@pytest.fixture(scope="module")
def distributions(source: Path) -> dict[str, Path]:
    """The sdist, and the wheel built from that sdist."""
    run([sys.executable, "-m", "build", "--no-isolation", "--outdir", "dist"], source)
    return {file.suffix: file for file in (source / "dist").iterdir()}


def installed(wheel: Path, folder: Path) -> Path:
    """Return a fresh environment with the wheel in it; the dependencies come from this one. The folder of its
    programs.
    """
    venv.create(folder, with_pip=False)
    programs = folder / ("Scripts" if os.name == "nt" else "bin")
    python = programs / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python)]
    run([*pip, "install", "--quiet", "--no-deps", "--no-index", str(wheel)], folder)
    paths = run([str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], folder)
    theirs = [entry for entry in sys.path if Path(entry).name in ("site-packages", "dist-packages")]
    (Path(paths.strip()) / "zz_dependencies.pth").write_text("\n".join(theirs) + "\n")
    return programs


def check(programs: Path, origin: Path, folder: Path) -> None:
    """rbdc comes from `origin`, lists its robots, and builds one that can be called."""
    python = str(programs / "python")
    where = run([python, "-c", "import rbdc; print(rbdc.__file__)"], folder)
    assert Path(where.strip()).is_relative_to(origin.resolve())
    listed = run([str(programs / "rbdc"), "list"], folder)
    shipped = [*(ROOT / "robots").glob("*.urdf"), *(ROOT / "robots").glob("*.json")]
    assert all(file.stem in listed for file in shipped)
    cache = str(folder / "cache")
    run(
        [str(programs / "rbdc"), "build", "double_pendulum", "--functions", "gravity_torque"],
        folder,
        RBDC_CACHE=cache,
    )
    called = (
        "import rbdc; m = rbdc.load('generated/double_pendulum'); print(m.gravity_torque(m.q_neutral).shape)"
    )
    assert run([python, "-c", called], folder) == "(2,)\n"


def data_files() -> set[str]:
    """Return every file of the repository that an installation needs, as a path below site-packages."""
    files = set()
    for package, folder in FOLDERS.items():
        for file in (ROOT / folder).rglob("*"):
            if file.is_file() and file.suffix not in (".pyc", ".so"):
                files.add(f"{package.replace('.', '/')}/{file.relative_to(ROOT / folder).as_posix()}")
    return files


def test_the_wheel_holds_every_file(distributions: dict[str, Path]) -> None:
    with zipfile.ZipFile(distributions[".whl"]) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
        licences = [name for name in archive.namelist() if name.endswith("LICENSE")]
    assert names == data_files()
    assert len(licences) == 1


def test_the_sdist_holds_every_file(distributions: dict[str, Path]) -> None:
    with tarfile.open(distributions[".gz"]) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}
    needed = {f"codegen/{name}" for name in data_files()}
    assert needed | {"pyproject.toml", "README.md", "LICENSE"} <= names


def test_the_wheel_works(distributions: dict[str, Path], tmp_path: Path) -> None:
    programs = installed(distributions[".whl"], tmp_path / "env")
    check(programs, tmp_path / "env", tmp_path)


@pytest.fixture(scope="module")
def editable(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of a fresh environment after what `pip install -e` does, but with the build tools of this
    one.
    """
    folder = tmp_path_factory.mktemp("editable")
    code = "import sys, setuptools.build_meta as backend; backend.build_editable(sys.argv[1])"
    run([sys.executable, "-c", code, str(folder)], source)
    (wheel,) = folder.glob("*.whl")
    return installed(wheel, folder / "env")


def test_the_editable_install_works(source: Path, editable: Path, tmp_path: Path) -> None:
    check(editable, source, tmp_path)
    (source / "codegen" / "rbdc" / "_probe.py").write_text("VALUE = 7\n")
    assert run([str(editable / "python"), "-c", "import rbdc._probe as p; print(p.VALUE)"], tmp_path) == "7\n"


@pytest.mark.slow
def test_type_checkers_see_the_editable_install(editable: Path, tmp_path: Path) -> None:
    """A hook of the import system, which setuptools makes for folders that lie apart, hides it from them."""
    user = tmp_path / "user"
    user.mkdir()
    (user / "robot.py").write_text("import rbdc\n\nnumber: int = rbdc.Model.from_urdf('a.urdf').name\n")
    python = str(editable / "python")
    command = [sys.executable, "-m", "mypy", "--strict", "--python-executable", python, "robot.py"]
    done = subprocess.run(command, cwd=user, capture_output=True, text=True, check=False)
    assert 'expression has type "str", variable has type "int"' in done.stdout, done.stdout + done.stderr
    assert "Found 1 error in 1 file" in done.stdout
