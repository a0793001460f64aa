"""rbdc tune-merge: one file for several processors, by the least worst ratio."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from rbdc.cli.commands import commands
from rbdc.planning.tuning import BATCH, BLOCKS, SINGLE, TunedWay, read_tuning
from rbdc.tuning.choosing import with_kernels
from tests.support_tuning import tuning, written

STRAIGHT, COLUMNS, ROLLED = (TunedWay(form, "gcc") for form in ("straight line", "columns", "rolled"))


def files(folder: Path, *names: str) -> list[str]:
    """Return files of two processors that disagree, and of a third that has another function too."""
    tunings = {
        "a": tuning({"minverse": {STRAIGHT: 10.0, COLUMNS: 11.0, ROLLED: 30.0}}, on="a"),
        "b": tuning({"minverse": {STRAIGHT: 20.0, COLUMNS: 10.0, ROLLED: 40.0}}, on="b"),
        "c": tuning(
            {"crba": {STRAIGHT: 5.0}}, {"crba": {TunedWay(8, "clang"): 2.0, TunedWay(1, "gcc"): 1.0}}, on="c"
        ),
        "clang only": tuning({"minverse": {TunedWay("columns", "clang"): 1.0}}, on="d"),
        "empty": tuning({}),
    }
    for name in names:
        (folder / name).mkdir(exist_ok=True)
    return [str(written(tunings[name], folder / name)) for name in names]


def merge(out: Path, *paths: str) -> Result:
    return CliRunner().invoke(commands, ["tune-merge", *paths, "--out", str(out)])


def test_the_least_worst_ratio_is_taken(tmp_path: Path) -> None:
    out = tmp_path / "fleet.json"
    done = merge(out, *files(tmp_path, "a", "b", "c"))
    assert done.exit_code == 0 and f"wrote {out}" in done.output, done.output
    tuning = read_tuning(out)
    assert tuning.processors == ("a", "b", "c")
    assert tuning.decisions[SINGLE]["minverse"].way == COLUMNS, (
        "1.1 times and 1; the default takes 2 times on b"
    )
    assert tuning.decisions[SINGLE]["crba"].way == STRAIGHT and tuning.decisions[BATCH][
        "crba"
    ].way == TunedWay(1, "gcc")
    assert list(tuning.compilers) == ["gcc", "clang"]


def test_both_batches_of_a_merged_file_have_one_kernel(tmp_path: Path) -> None:
    """Each batch by itself would choose another compiler."""
    gcc, clang = TunedWay(8, "gcc"), TunedWay(8, "clang")
    rows, blocks, paths = {"crba": {gcc: 10.0, clang: 9.0}}, {"crba": {gcc: 8.0, clang: 10.0}}, []
    for processor in ("a", "b"):
        (tmp_path / processor).mkdir()
        of_processor = tuning({}, rows, blocks, processor)
        of_processor = replace(of_processor, decisions=with_kernels(of_processor.decisions))
        paths.append(str(written(of_processor, tmp_path / processor)))
    assert merge(tmp_path / "out.json", *paths).exit_code == 0
    both = read_tuning(tmp_path / "out.json").decisions
    assert both[BATCH]["crba"].way == both[BLOCKS]["crba"].way == gcc


def test_a_merged_file_is_merged_further(tmp_path: Path) -> None:
    first, second, third = files(tmp_path, "a", "b", "c")
    assert merge(tmp_path / "two.json", first, second).exit_code == 0
    assert merge(tmp_path / "three.json", str(tmp_path / "two.json"), third).exit_code == 0
    assert merge(tmp_path / "at once.json", first, second, third).exit_code == 0
    assert (tmp_path / "three.json").read_text() == (tmp_path / "at once.json").read_text()


REFUSED = [
    (("a",), "give files of two or more different processors"),
    (("a", "a"), "give files of two or more"),
    (
        ("a", "clang only"),
        "minverse, single: no choice was measured on all processors; tune with the same --tune-comp",
    ),
    (("a", "empty"), "nothing was measured; give a file that --tune wrote"),
]


@pytest.mark.parametrize(("names", "message"), REFUSED)
def test_what_cannot_be_merged_is_refused(names: tuple[str, ...], message: str, tmp_path: Path) -> None:
    done = merge(tmp_path / "out.json", *files(tmp_path, *names))
    assert done.exit_code == 2 and message in done.output and not (tmp_path / "out.json").exists()


def test_batches_without_a_kernel_that_both_were_measured_with_are_refused(tmp_path: Path) -> None:
    """The file was edited."""
    gcc, clang = TunedWay(8, "gcc"), TunedWay(8, "clang")
    of_processor = tuning({}, {"crba": {gcc: 10.0}}, {"crba": {clang: 10.0}}, "e")
    blocks = {"crba": replace(of_processor.decisions[BLOCKS]["crba"], way=gcc)}
    edited = replace(of_processor, decisions={**of_processor.decisions, BLOCKS: blocks})
    (one,) = files(tmp_path, "a")
    done = merge(tmp_path / "out.json", one, str(written(edited, tmp_path)))
    assert done.exit_code == 2, done.output
    assert "batch and blocks: no choice was measured on all processors; tune with the same" in done.output


def test_files_of_one_processor_and_no_files_are_refused(tmp_path: Path) -> None:
    (one,), other = files(tmp_path, "a"), tmp_path / "copy.json"
    other.write_text(Path(one).read_text())
    done = merge(tmp_path / "out.json", one, str(other))
    assert (
        done.exit_code == 2 and f"{one} and {other} were both measured on a; give one of them" in done.output
    )
    absent = merge(tmp_path / "out.json", one, str(tmp_path / "none.json"))
    assert absent.exit_code == 2 and "No such file or directory" in absent.output
    unwritable = merge(tmp_path / "copy.json" / "out.json", *files(tmp_path, "a", "b"))
    assert unwritable.exit_code == 2 and "cannot write" in unwritable.output
