"""Loading generated packages."""

from __future__ import annotations

import importlib
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import rbdc
from rbdc.errors import LoadError
from tests.support_handmade import ROBOT, build_tiny, c_files

Q, V = np.array([1.0, 2.0]), np.array([0.5, -0.25])


def test_loading_leaves_the_path_alone_and_gives_one_module(tmp_path: Path) -> None:
    folder = build_tiny(tmp_path / ROBOT)
    before = list(sys.path)
    module = rbdc.load(folder)
    assert rbdc.load(str(folder)) is module
    assert rbdc.load(folder / ".." / ROBOT) is module
    assert sys.path == before and ROBOT not in sys.modules


def test_a_rebuilt_package_gives_the_new_code_and_the_old_module_stays(tmp_path: Path) -> None:
    old = rbdc.load(build_tiny(tmp_path / ROBOT))
    files = c_files()
    source = f"{ROBOT}_mix.c"
    files[source] = files[source].replace("2 * q[i]", "3 * q[i]")
    (tmp_path / "again").mkdir()
    built = build_tiny(tmp_path / "again" / ROBOT, files)
    new = rbdc.load(built)
    np.testing.assert_array_equal(new.mix(Q, V), 3 * Q + V)
    np.testing.assert_array_equal(old.mix(Q, V), 2 * Q + V)


def test_rebuilding_in_place(tmp_path: Path) -> None:
    folder = build_tiny(tmp_path / ROBOT)
    old = rbdc.load(folder)
    files = c_files()
    source = f"{ROBOT}_mix.c"
    files[source] = files[source].replace("2 * q[i]", "5 * q[i]")
    (tmp_path / f"{ROBOT}.parts").rename(tmp_path / "first.parts")
    new = rbdc.load(build_tiny(folder, files))
    assert new is not old
    np.testing.assert_array_equal(new.mix(Q, V), 5 * Q + V)
    np.testing.assert_array_equal(old.mix(Q, V), 2 * Q + V)


@pytest.fixture
def on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Packages in the folder can be imported by name, and are forgotten after the test."""
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    for name in [name for name in sys.modules if name.split(".")[0] == ROBOT]:
        del sys.modules[name]


@pytest.mark.parametrize("forgotten", [(), (ROBOT,), (ROBOT, f"{ROBOT}._runtime", f"{ROBOT}._native")])
def test_importing_a_rebuilt_package_again_says_so(
    tmp_path: Path, on_path: None, forgotten: tuple[str, ...]
) -> None:
    """The dynamic linker keeps the extension that it has loaded from a path."""
    build_tiny(tmp_path / ROBOT)
    first = importlib.import_module(ROBOT)
    assert importlib.reload(first).mix(Q, V).tolist() == (2 * Q + V).tolist()
    files = c_files()
    files[f"{ROBOT}_mix.c"] = files[f"{ROBOT}_mix.c"].replace("2 * q[i]", "7 * q[i]")
    (tmp_path / f"{ROBOT}.parts").rename(tmp_path / "first.parts")
    folder = build_tiny(tmp_path / ROBOT, files)
    for name in forgotten:
        del sys.modules[name]
    with pytest.raises(ImportError, match=rf"{ROBOT}: .* was built again .*rbdc\.load\('{folder}'\)"):
        importlib.import_module(ROBOT) if forgotten else importlib.reload(first)
    np.testing.assert_array_equal(rbdc.load(folder).mix(Q, V), 7 * Q + V)


def test_many_threads_get_one_whole_module(tmp_path: Path) -> None:
    folder, modules = build_tiny(tmp_path / ROBOT), []
    threads = [threading.Thread(target=lambda: modules.append(rbdc.load(folder).mix)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(modules) == 8 and len(set(modules)) == 1


@pytest.mark.parametrize("text", ["nowhere", "", "a\0b"])
def test_no_package(tmp_path: Path, text: str) -> None:
    with pytest.raises(LoadError, match="no generated package here|not a path"):
        rbdc.load(str(tmp_path / text) if text else tmp_path)


def test_no_extension(tmp_path: Path) -> None:
    folder = build_tiny(tmp_path / ROBOT)
    (folder / "_native.abi3.so").unlink()
    with pytest.raises(LoadError, match="no compiled extension; build it again"):
        rbdc.load(folder)


@pytest.mark.parametrize("damage", ["extension", "python"])
def test_a_damaged_package_leaves_nothing_behind(tmp_path: Path, damage: str) -> None:
    folder = build_tiny(tmp_path / ROBOT)
    file = folder / ("_native.abi3.so" if damage == "extension" else "__init__.py")
    file.write_bytes(b"not a library (")
    before = set(sys.modules)
    with pytest.raises(LoadError, match="build it again for this interpreter") as refused:
        rbdc.load(folder)
    assert "//" not in str(refused.value)
    assert not [name for name in set(sys.modules) - before if name.startswith("_rbdc_generated_")]


@pytest.mark.parametrize("length", [0.99, 0.5, 4096, 40, 16])
@pytest.mark.parametrize("name", ["_native.abi3.so", "libtiny_casadi.so"])
def test_a_library_that_is_cut_off(tmp_path: Path, name: str, length: float) -> None:
    """It would end the process with SIGBUS."""
    folder = build_tiny(tmp_path / ROBOT, extra=("libtiny_casadi.so",))
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(content[: int(length if length > 1 else length * len(content))])
    code = f"import rbdc\ntry: rbdc.load({str(folder)!r})\nexcept rbdc.LoadError as error: print(error)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    remedy = f"{name} is truncated: it has .* bytes and needs at least .*; build it again\n"
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(f"{re.escape(str(folder))}: {remedy}", done.stdout), done.stdout


def test_an_extension_of_another_package(tmp_path: Path) -> None:
    files = c_files()
    source = f"{ROBOT}_mix.c"
    files[source] = files[source].replace("2 * q[i]", "3 * q[i]")
    (tmp_path / "other").mkdir()
    other = build_tiny(tmp_path / "other" / ROBOT, files)
    folder = build_tiny(tmp_path / ROBOT)
    shutil.copyfile(other / "_native.abi3.so", folder / "_native.abi3.so")
    message = "the compiled extension is not the one that was built with this package; build it again"
    with pytest.raises(LoadError, match=message):
        rbdc.load(folder)
    np.testing.assert_array_equal(rbdc.load(other).mix(Q, V), 3 * Q + V)


def test_a_package_is_imported_without_the_generator(tmp_path: Path) -> None:
    build_tiny(tmp_path / ROBOT)
    code = f"""
import sys
sys.path.insert(0, {str(tmp_path)!r})
import {ROBOT}
assert {ROBOT}.mix([1.0, 2.0], [0.0, 0.0]).tolist() == [2.0, 4.0]
print(sorted(m for m in ("rbdc", "casadi", "sympy", "jinja2", "lxml", "cffi") if m in sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
