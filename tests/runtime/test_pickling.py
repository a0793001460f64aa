"""Pickling a module's functions: it gives nothing that another process could not read."""

from __future__ import annotations

import copy
import inspect
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import rbdc
from tests.support_handmade import ROBOT, build_tiny

PATIENCE = 60.0


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_tiny(tmp_path_factory.mktemp("pickling") / ROBOT)


@pytest.fixture(scope="module")
def tiny(folder: Path) -> ModuleType:
    return rbdc.load(folder)


def entry_of(tiny: ModuleType) -> Any:
    """The object behind a function."""
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
def test_refused_with_what_to_do(tiny: ModuleType, folder: Path, what: str, protocol: int) -> None:
    with pytest.raises(
        TypeError, match="cannot be pickled: send the path of its folder and load it there"
    ) as caught:
        pickle.dumps(PICKLED[what](tiny), protocol)
    assert f"rbdc.load({str(folder)!r})" in str(caught.value)


def test_every_function_is_refused(tiny: ModuleType) -> None:
    callables = [name for name, value in vars(tiny).items() if not name.startswith("_") and callable(value)]
    conversions = {"to_mujoco", "from_mujoco", "to_pinocchio", "from_pinocchio"}
    assert set(callables) == {*tiny.functions, *conversions, "random_configuration"}
    for name in callables:
        with pytest.raises(TypeError, match=f"^{name} cannot be pickled"):
            pickle.dumps(getattr(tiny, name))


def test_data_is_pickled(tiny: ModuleType) -> None:
    for name in ("q_neutral", "frame_names", "dtype", "variant", "nq"):
        again = pickle.loads(pickle.dumps(getattr(tiny, name)))
        assert repr(again) == repr(getattr(tiny, name))


def test_copies_are_the_functions_themselves(tiny: ModuleType) -> None:
    for made in (copy.copy(tiny.mix), copy.deepcopy(tiny.mix), copy.deepcopy({"f": tiny.mix})["f"]):
        assert made == tiny.mix
    assert copy.copy(entry_of(tiny)) is copy.deepcopy(entry_of(tiny)) is entry_of(tiny)


def test_functions_look_like_functions(tiny: ModuleType) -> None:
    assert tiny.mix.__name__ == "mix"
    assert tiny.mix.__module__ == tiny.__name__
    assert inspect.isroutine(tiny.mix)
    assert "entry" not in inspect.signature(tiny.mix).parameters
    assert str(inspect.signature(tiny.random_configuration)) == "(rng=None)"


SPAWNED = """
import multiprocessing, sys
from concurrent.futures import ProcessPoolExecutor
import rbdc

def shape(path):
    return rbdc.load(path).mix([1.0, 2.0], [0.0, 0.0]).tolist()

if __name__ == "__main__":
    m, spawn = rbdc.load(sys.argv[1]), multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, spawn) as pool:
        try:
            pool.submit(m.mix, [1.0, 2.0], [0.0, 0.0]).result()
        except TypeError as error:
            print(error)
    with spawn.Pool(1) as pool:
        for function in (m.mix, m.random_configuration):
            try:
                pool.apply(function, ([1.0, 2.0], [0.0, 0.0]))
            except TypeError as error:
                print(error)
        print(pool.map(shape, [sys.argv[1]]))
"""


def test_processes_that_are_spawned(folder: Path, tmp_path: Path) -> None:
    """The call returns, with the reason, and what it advises works."""
    program = tmp_path / "spawned.py"
    program.write_text(SPAWNED)
    command = [sys.executable, str(program), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=PATIENCE)
    *refusals, result = done.stdout.splitlines()
    assert [line.split(" cannot be pickled")[0] for line in refusals] == [
        "mix",
        "mix",
        "random_configuration",
    ]
    assert result == "[[2.0, 4.0]]"


IMPORTED = """
import pickle, sys
sys.path.insert(0, sys.argv[1])
import tiny
for function in (tiny.mix, tiny.random_configuration):
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(function, protocol)) == function
sys.stdout.buffer.write(pickle.dumps(tiny.mix))
"""
READ = """
import pickle, sys
sys.path.insert(0, sys.argv[1])
print(pickle.load(sys.stdin.buffer)([1.0, 2.0], [0.0, 0.0]).tolist())
"""


def test_a_module_imported_by_its_name_is_found_by_it(folder: Path) -> None:
    written = subprocess.run(
        [sys.executable, "-c", IMPORTED, str(folder.parent)], capture_output=True, check=True
    ).stdout
    read = subprocess.run(
        [sys.executable, "-c", READ, str(folder.parent)], input=written, capture_output=True, check=True
    )
    assert read.stdout.decode().strip() == "[2.0, 4.0]"
