"""Portable packages with a tuning for each variant, by which their forms, batches and compilers differ."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from rbdc.cli.commands import commands
from rbdc.emit.library import VARIANTS
from rbdc.errors import OptionError, UnsupportedError
from rbdc.options import BuildOptions
from rbdc.pipeline import build_package
from rbdc.planning.tuning import TunedWay, Tuning
from tests.support import COMPILERS
from tests.support_tuning import tuning, written

ROBOT = "double_pendulum"
FIRST, LAST = COMPILERS[0], COMPILERS[-1]
FUNCTIONS = ("crba", "minverse")


def columns() -> Tuning:
    """Another form of `minverse`, by the last compiler, and a batch of `crba` two by two."""
    single = {"minverse": {TunedWay("columns", LAST): 1.0}}
    return tuning(single, {"crba": {TunedWay(2, LAST): 1.0}}, {"crba": {TunedWay(2, LAST): 1.0}})


def rolled() -> Tuning:
    """Rolled forms by the first compiler; says nothing of batches."""
    return tuning({name: {TunedWay("rolled", FIRST): 1.0} for name in FUNCTIONS})


def built(out: Path, tunings: Any, **options: Any) -> Path:
    values = {
        "functions": FUNCTIONS,
        "march": "portable",
        "cflags": ("-O0",),
        "compiler": FIRST,
        "jobs": 1,
        **options,
    }
    return build_package(ROBOT, BuildOptions(out=out, tuning=tunings, **values)).directory


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a package with a tuning for `avx2` and one for the other variants."""
    folder = tmp_path_factory.mktemp("variants")
    (folder / "own").mkdir()
    files = [f"avx2={written(columns(), folder / 'own')}", str(written(rolled(), folder))]
    return built(folder / "out", files)


def preprocessed(text: str, *macros: str) -> str:
    """Return the lines of a C file that the preprocessor keeps under the conditions of `__AVX`."""
    lines = "\n".join(
        line for line in text.splitlines() if not re.match(r"#\s*(include|define|ifndef)", line)
    )
    command = ["gcc", "-E", "-P", "-undef", "-x", "c", "-", *(f"-D{macro}" for macro in macros)]
    return subprocess.run(command, input=lines, check=True, capture_output=True, text=True).stdout


def test_each_variant_has_its_form(package: Path) -> None:
    text = (package / f"{ROBOT}_minverse.c").read_text()
    assert text.count("#elif") == 1
    baseline, avx2, avx512 = (
        preprocessed(text, *macros) for macros in ((), ("__AVX2__",), ("__AVX2__", "__AVX512F__"))
    )
    assert baseline == avx512 != avx2 and "for (" in baseline
    alone = built(package.parent / "alone", columns())
    assert avx2 == preprocessed((alone / f"{ROBOT}_minverse.c").read_text())


def test_the_manifest_says_which(package: Path) -> None:
    manifest = json.loads((package / "manifest.json").read_text())
    minverse, crba = (manifest["functions"][name] for name in ("minverse", "crba"))
    assert (minverse["form"], minverse["compiler"]) == ("rolled", FIRST)
    assert minverse["variants"] == {"avx2": {"form": "columns", "compiler": LAST}}
    assert crba["variants"] == {"avx2": {"batch_compiler": LAST}}
    assert {"tuning.json", "tuning_avx2.json"} <= {*manifest["files"]}
    assert {*manifest["options"]["tuning"]} == {"", "avx2"}
    assert set(manifest["compiler"]["others"]) == {FIRST, LAST}


CALL = f"""
import {ROBOT} as m
print(m.variant, *m.minverse([0.3, -0.7]).ravel(), *m.crba([[0.3, -0.7]] * 9)[8].ravel())
"""


def test_every_variant_computes_the_same(package: Path) -> None:
    """The build verified those that this processor runs; here each runs in a process of its own."""
    by_variant = {}
    for variant in VARIANTS:
        variables = os.environ | {"RBDC_VARIANT": variant, "PYTHONPATH": str(package.parent)}
        command = [sys.executable, "-c", CALL]
        done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            name, *words = done.stdout.split()
            by_variant[name] = [float(word) for word in words]
    assert "baseline" in by_variant
    for numbers in by_variant.values():
        np.testing.assert_allclose(numbers, by_variant["baseline"], rtol=1e-12)


def test_replaying_gives_the_same_bytes(package: Path, tmp_path: Path) -> None:
    files = {"avx2": package / "tuning_avx2.json"}
    again = built(
        tmp_path, [str(package / "tuning.json"), *(f"{name}={file}" for name, file in files.items())]
    )
    for path in package.iterdir():
        if path.is_file():
            assert path.read_bytes() == (again / path.name).read_bytes(), path.name


def test_a_variant_without_a_file_is_built_as_without(tmp_path: Path) -> None:
    folder = built(tmp_path / "own", {"baseline": rolled()}, functions=("minverse",), targets=("c",))
    plain = built(tmp_path / "plain", None, functions=("minverse",), targets=("c",))
    texts = [(folder_of_build / f"{ROBOT}_minverse.c").read_text() for folder_of_build in (folder, plain)]
    assert preprocessed(texts[0], "__AVX2__") == preprocessed(texts[1]) != preprocessed(texts[0])
    assert {path.name for path in folder.glob("tuning*")} == {"tuning_baseline.json"}


REFUSED = [
    (["avx=FILE"], "no variant 'avx'; did you mean avx2"),
    (["FILE", "FILE"], "two files for all variants; give VARIANT=FILE for each variant"),
    (["avx2=FILE", "avx2=FILE"], "two files for avx2; give VARIANT=FILE"),
    (["avx2=FILE.none"], "No such file or directory; give the path of a file such as tuning.json"),
]


@pytest.mark.parametrize(("words", "message"), REFUSED)
def test_files_that_do_not_go_together_are_refused(words: list[str], message: str, tmp_path: Path) -> None:
    file = str(written(rolled(), tmp_path))
    options = [word for one in words for word in ("--tuning", one.replace("FILE", file))]
    out = ["--out", str(tmp_path / "out")]
    done = CliRunner().invoke(commands, ["build", ROBOT, "--march", "portable", *options, *out])
    assert done.exit_code == 2 and message in done.output and "--tuning" in done.output
    assert not (tmp_path / "out").exists()


def test_variants_are_of_portable_packages(tmp_path: Path) -> None:
    with pytest.raises(
        OptionError, match="`tuning`: avx2 is a variant of `march='portable'`; give that option too"
    ):
        built(tmp_path, {"avx2": rolled()}, march="native")
    with pytest.raises(
        OptionError, match=r"`tuning=5`: give the path of a file such as tuning.json, or VARIANT=FILE"
    ):
        BuildOptions(tuning=5)
    with pytest.raises(UnsupportedError, match="both choose forms"):
        built(tmp_path, {"avx2": rolled()}, style="rolled")
    assert not any(tmp_path.iterdir())


def test_a_remark_names_its_variant(tmp_path: Path) -> None:
    result = build_package(
        ROBOT,
        BuildOptions(
            out=tmp_path,
            tuning={"avx2": columns()},
            functions=("rnea",),
            march="portable",
            cflags=("-O0",),
            targets=("c",),
        ),
    )
    assert "`tuning`: avx2 has no choice for rnea: built as without a tuning" in result.warnings
