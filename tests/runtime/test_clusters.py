"""Samples spread over processes by joblib and by Dask: the bits are those of one process; a worker that is
lost costs a retry.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import build_module

PATIENCE = 240.0
SOON = {"DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "3s"}
"""Who asks the lost worker for data may try for half a minute by default."""

JOBLIB = """
import sys
import joblib, numpy as np, rbdc

if __name__ == "__main__":
    m = rbdc.load(sys.argv[1])
    q = np.random.default_rng(0).uniform(-1.0, 1.0, (64, m.nq))
    call = joblib.delayed(lambda q: m.rnea(q, m.v_zero, m.v_zero))  # closes over the module
    parts = joblib.Parallel(2)(call(part) for part in np.split(q, 2))
    print(np.array_equal(np.concatenate(parts), m.rnea(q, m.v_zero, m.v_zero)))
"""

DASK = """
import os, signal, sys
import dask.array as da, numpy as np, rbdc
from dask.distributed import Client, LocalCluster

def lost_once(flag, rnea, *arrays):
    try:
        open(flag, "x").close()  # by one process alone, whichever comes first
    except FileExistsError:
        return rnea(*arrays)
    os.kill(os.getpid(), signal.SIGKILL)

if __name__ == "__main__":
    folder, count, flag = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    m = rbdc.load(folder)
    rng = np.random.default_rng(0)
    some = np.array([m.random_configuration(rng) for _ in range(100)])
    q = np.tile(some, (count // 100, 1))
    v, a = rng.standard_normal((2, count, m.nv))
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster):
        arrays = [da.from_array(x, chunks=(count // 10, -1)) for x in (q, v, a)]
        expected = m.rnea(q, v, a)
        taus = da.apply_gufunc(m.rnea, "(q),(v),(v)->(v)", *arrays, output_dtypes=float)
        print(np.array_equal(taus.compute(), expected))
        if flag:
            call = lambda q, v, a: lost_once(flag, m.rnea, q, v, a)
            again = da.apply_gufunc(call, "(q),(v),(v)->(v)", *arrays, output_dtypes=float)
            print(np.array_equal(again.compute(), expected), os.path.exists(flag))
"""


def run(program: str, folder: Path, *arguments: str) -> list[str]:
    """Return the words that a program in a file prints."""
    file = folder / "program.py"
    file.write_text(program)
    command = [sys.executable, str(file), *arguments]
    env = os.environ | SOON
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE, env=env)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def package(robot: str, root: str = "fixed") -> str:
    """Return the folder of a package with inverse dynamics."""
    module = build_module(robot, root_joint=root, functions=("rnea",), targets=("c", "batch"))
    return str(Path(str(module.__file__)).parent)


def test_joblib(tmp_path: Path) -> None:
    pytest.importorskip("joblib")
    assert run(JOBLIB, tmp_path, package("double_pendulum")) == ["True"]


@pytest.mark.slow
def test_dask(tmp_path: Path) -> None:
    """Two processes, one of which is killed in the middle."""
    pytest.importorskip("distributed")
    flag = str(tmp_path / "lost")
    assert run(DASK, tmp_path, package("double_pendulum"), "1000", flag) == ["True", "True", "True"]


@pytest.mark.exhaustive
def test_dask_with_a_million_samples(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    assert run(DASK, tmp_path, package("hyq", "free-flyer"), "1000000", "") == ["True"]
