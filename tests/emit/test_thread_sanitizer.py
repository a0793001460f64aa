"""The batch functions of a generated library from several threads: no data race, and not a bit changes."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from rbdc.functions.catalogue import functions_of
from rbdc.model import Problem
from tests.emit.test_generated import c_of, write_c
from tests.support import build_module
from tests.support_trees import random_tree

RANGES = ((0, 16), (16, 24), (24, 43))
"""The samples of each thread; the last has some beyond its whole blocks."""
COUNT = RANGES[-1][1]
FOUND = 66
"""The exit status that ThreadSanitizer gives a program in which it found something."""
FUNCTIONS = ("rnea", "crba", "minverse", "aba", "rnea_derivatives", "frame_jacobian", "integrate")
"""One of each kind of C: the sanitizer takes seconds for each."""
PATIENCE = 300
"""Seconds."""

MAIN = """
#include "tree.h"
#include <pthread.h>
#include <string.h>

{arrays}

/* All functions for the samples from `start` to `stop`. */
static void compute(int set, size_t start, size_t stop)
{{
{calls}
}}

static void *thread(void *range)
{{
    compute(0, ((size_t *)range)[0], ((size_t *)range)[1]);
    return NULL;
}}

/* With an argument every thread computes all samples, which is a race to be found. */
int main(int argc, char **argv)
{{
    size_t ranges[][2] = {{{ranges}}}, count = sizeof ranges / sizeof *ranges;
    pthread_t threads[sizeof ranges / sizeof *ranges];
    (void)argv;
    for (size_t k = 0; k < count; ++k) {{
        if (argc > 1) {{
            ranges[k][0] = 0;
            ranges[k][1] = {samples};
        }}
        pthread_create(&threads[k], NULL, thread, ranges[k]);
    }}
    for (size_t k = 0; k < count; ++k) {{
        pthread_join(threads[k], NULL);
    }}
    compute(1, 0, {samples});
    return {differ};
}}
"""


def inputs(module: ModuleType) -> Iterator[str]:
    """Yield the C of random inputs under the names that the functions give them."""
    rng = np.random.default_rng(0)
    for name in ("q", "q0", "q1", "v", "a", "tau", "dv", "w", "dq", "da", "dtau", "fext"):
        if name.startswith("q"):
            values = np.array([module.random_configuration(rng) for _ in range(COUNT)])
        else:
            values = rng.standard_normal((COUNT, 6 * module.njoints if name == "fext" else module.nv))
        yield f"static const double {name}[] = {{{', '.join(map(repr, values.ravel().tolist()))}}};"


def main_source(model: Problem, module: ModuleType) -> str:
    """Return the C that calls the functions, with and without what is optional, into two sets of results."""
    arrays, calls, results = list(inputs(module)), [], []
    for name in FUNCTIONS:
        d = functions_of(model)[name].declaration
        for with_options in (True, False) if any(p.optional for p in d.inputs) else (True,):
            names = [f"{d.name}_{p.name}_{'all' if with_options else 'few'}" for p in d.outputs]
            arguments = [
                f"{p.name} + {p.size} * start" if with_options or not p.optional else "NULL" for p in d.inputs
            ]
            arguments += [*[str(len(model.frames) - 1)] * (len(d.place) - 1), "1"] if d.framed else []
            arguments += [f"{name}[set] + {p.size} * start" for name, p in zip(names, d.outputs, strict=True)]
            arrays += [
                f"static double {name}[2][{COUNT * p.size}];"
                for name, p in zip(names, d.outputs, strict=True)
            ]
            calls.append(f"    tree_{d.name}_batch(stop - start, {', '.join(arguments)});")
            results += names
    return MAIN.format(
        arrays="\n".join(arrays),
        calls="\n".join(calls),
        ranges=", ".join(f"{{{start}, {stop}}}" for start, stop in RANGES),
        samples=COUNT,
        differ=" || ".join(f"memcmp({name}[0], {name}[1], sizeof {name}[0]) != 0" for name in results),
    )


@pytest.mark.exhaustive
def test_thread_sanitizer_finds_nothing(tmp_path: Path) -> None:
    model = random_tree(6)
    sources = write_c(c_of(model, names=FUNCTIONS), tmp_path)
    (tmp_path / "main.c").write_text(main_source(model, build_module(model, functions=("rnea",))))
    flags = ["-std=c99", "-g", "-O0", "-fsanitize=thread"]
    subprocess.run(
        ["gcc", *flags, *map(str, sources), "main.c", "-o", "main", "-lm", "-lpthread"],
        cwd=tmp_path,
        check=True,
    )
    subprocess.run([str(tmp_path / "main")], check=True, timeout=PATIENCE)
    # The first race is enough: finding the lines of all of them takes minutes.
    environment = {**os.environ, "TSAN_OPTIONS": "halt_on_error=1"}
    command = [str(tmp_path / "main"), "race"]
    racing = subprocess.run(
        command, env=environment, check=False, capture_output=True, text=True, timeout=PATIENCE
    )
    assert racing.returncode == FOUND and "data race" in racing.stderr
