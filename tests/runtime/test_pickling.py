"""Pickling a module and its functions: a handle, by which another process finds the same robot or refuses."""

from __future__ import annotations

import copy
import inspect
import pickle
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import rbdc
from rbdc.runtime.load import restored
from tests.support_handmade import ROBOT, build_tiny

PATIENCE = 60.0


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_tiny(tmp_path_factory.mktemp("pickling") / ROBOT)


@pytest.fixture(scope="module")
def tiny(folder: Path) -> ModuleType:
    return rbdc.load(folder)


def entry_of(tiny: ModuleType) -> Any:
    """Return the object behind a function."""
    return tiny._mix


PICKLED: dict[str, Callable[[ModuleType], Any]] = {
    "function": lambda tiny: tiny.mix,
    "framed function": lambda tiny: tiny.where,
    "random_configuration": lambda tiny: tiny.random_configuration,
    "in a container": lambda tiny: {"call": [tiny.pair]},
    "what is behind": entry_of,
    "module": lambda tiny: tiny,
}


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("what", sorted(PICKLED))
def test_comes_back_as_itself(tiny: ModuleType, what: str, protocol: int) -> None:
    pickled = PICKLED[what](tiny)
    assert pickle.loads(pickle.dumps(pickled, protocol)) == pickled


def test_a_handle_is_small(tiny: ModuleType, folder: Path) -> None:
    assert len(pickle.dumps(tiny)) < 200 + len(str(folder))


def test_data_is_pickled(tiny: ModuleType) -> None:
    for name in ("q_neutral", "frame_names", "dtype", "variant", "nq"):
        again = pickle.loads(pickle.dumps(getattr(tiny, name)))
        assert repr(again) == repr(getattr(tiny, name))


def test_copies_are_the_functions_themselves(tiny: ModuleType) -> None:
    for copied in (copy.copy(tiny.mix), copy.deepcopy(tiny.mix), copy.deepcopy({"f": tiny.mix})["f"]):
        assert copied == tiny.mix
    for original in (entry_of(tiny), tiny):
        assert copy.copy(original) is copy.deepcopy(original) is original


def test_functions_look_like_functions(tiny: ModuleType) -> None:
    assert tiny.mix.__name__ == "mix"
    assert tiny.mix.__module__ == tiny.__name__
    assert inspect.isroutine(tiny.mix)
    assert "entry" not in inspect.signature(tiny.mix).parameters
    assert str(inspect.signature(tiny.random_configuration)) == "(rng=None)"


READ = """
import pickle, sys
sys.path[:0] = sys.argv[1:]
value = pickle.load(sys.stdin.buffer)
print(value([1.0, 2.0], [0.0, 0.0]).tolist())
print(sum(name.endswith("._runtime") for name in sys.modules))
"""


def read(pickled: bytes, *path: Path) -> tuple[int, str, str]:
    """Read a pickled function of two arrays in a fresh process. Return exit status, output and the last line
    of errors.
    """
    command = [sys.executable, "-c", READ, *map(str, path)]
    done = subprocess.run(command, input=pickled, capture_output=True, check=False, timeout=PATIENCE)
    return done.returncode, done.stdout.decode(), (done.stderr.decode().splitlines() or [""])[-1]


def test_a_fresh_process_unpickles_a_function(tiny: ModuleType) -> None:
    assert read(pickle.dumps(tiny.mix))[:2] == (0, "[2.0, 4.0]\n1\n")


def test_another_robot_is_refused(tiny: ModuleType, tmp_path: Path) -> None:
    """The folder has been built anew for another precision: its numbers are not those that were asked for."""
    pickled = pickle.dumps(rbdc.load(build_tiny(tmp_path / ROBOT)).mix)
    other = build_tiny(tmp_path / "other" / ROBOT)
    initial = other / "__init__.py"
    (digest,) = [line for line in initial.read_text().splitlines() if line.startswith("model_hash")]
    initial.write_text(initial.read_text().replace(digest, 'model_hash = "0"'))
    shutil.rmtree(tmp_path / ROBOT)
    other.rename(tmp_path / ROBOT)
    status, printed, error = read(pickled)
    assert (status, printed) == (1, "")
    assert "this tiny is not the one that was pickled" in error
    assert "use the same package in all processes" in error


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    folder = build_tiny(tmp_path / ROBOT)
    pickled = pickle.dumps(rbdc.load(folder).mix)
    installed = tmp_path / "site" / ROBOT
    shutil.copytree(folder, installed)
    shutil.rmtree(folder)
    status, _, error = read(pickled)
    assert status == 1 and "not on this machine, and no package tiny is installed" in error
    assert read(pickled, installed.parent)[:2] == (0, "[2.0, 4.0]\n1\n")


def test_a_function_that_is_not_there(tiny: ModuleType, folder: Path) -> None:
    with pytest.raises(AttributeError, match="tiny.absent was not built; build it with"):
        restored(str(folder), ROBOT, tiny._named.identity(), "absent")


def test_a_worker_loads_once(tiny: ModuleType, folder: Path) -> None:
    identity = tiny._named.identity()
    assert restored(str(folder), ROBOT, identity) is restored(str(folder), ROBOT, identity)


SPAWNED = """
import multiprocessing, sys
from concurrent.futures import ProcessPoolExecutor
import rbdc

if __name__ == "__main__":
    m, spawn = rbdc.load(sys.argv[1]), multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, spawn) as pool:
        print(pool.submit(m.mix, [1.0, 2.0], [0.0, 0.0]).result().tolist())
    with spawn.Pool(1) as pool:
        print(pool.apply(m.mix, ([1.0, 2.0], [0.0, 0.0])).tolist())
        print(pool.apply(m.random_configuration, (7,)).tolist() == m.random_configuration(7).tolist())
"""


def test_processes_that_are_spawned(folder: Path, tmp_path: Path) -> None:
    program = tmp_path / "spawned.py"
    program.write_text(SPAWNED)
    command = [sys.executable, str(program), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=PATIENCE)
    assert done.stdout.splitlines() == ["[2.0, 4.0]", "[2.0, 4.0]", "True"]


IMPORTED = """
import pickle, sys
sys.path.insert(0, sys.argv[1])
import tiny
for given in (tiny, tiny.mix, tiny.random_configuration):
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(given, protocol)) == given
sys.stdout.buffer.write(pickle.dumps(tiny.mix))
"""


def test_a_module_imported_by_its_name_is_found_by_it(folder: Path) -> None:
    """The handle does without rbdc."""
    command = [sys.executable, "-c", IMPORTED, str(folder.parent)]
    written = subprocess.run(command, capture_output=True, check=True).stdout
    assert b"rbdc" not in written
    assert read(written, folder.parent)[:2] == (0, "[2.0, 4.0]\n1\n")


UNNAMED = """
import importlib.util, pickle, sys
folder = sys.argv[1]
spec = importlib.util.spec_from_file_location(
    "other", folder + "/__init__.py", submodule_search_locations=[folder]
)
module = sys.modules["other"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
try:
    pickle.dumps(module.mix)
except TypeError as error:
    print(error)
"""


def test_what_no_process_could_find_is_refused(folder: Path) -> None:
    command = [sys.executable, "-c", UNNAMED, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("mix cannot be pickled: load the module with rbdc.load(")
