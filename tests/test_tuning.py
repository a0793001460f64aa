"""Tunings: files that say which form, compiler and batch each function takes, and builds that follow them."""

from __future__ import annotations

import json
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import rbdc
from rbdc.cli.commands import commands
from rbdc.errors import DescriptionError, OptionError, RbdcWarning, UnsupportedError
from rbdc.native.wheel import make_wheel
from rbdc.options import BuildOptions
from rbdc.pipeline import build_package
from rbdc.planning.plans import FormChoice
from rbdc.planning.tuning import BATCH, BLOCKS, FILE, SINGLE, TunedWay, Tuning, read_tuning
from rbdc.tuning.choosing import TIE, decided, with_kernels
from tests.support import COMPILERS, UNOPTIMISED
from tests.support_tuning import timings, tuning, written

ROBOT = "double_pendulum"
FUNCTIONS = ("crba", "minverse")
FIRST, LAST = COMPILERS[0], COMPILERS[-1]


def a_tuning() -> Tuning:
    """Return another form for `minverse`, another width for `crba`, and of two compilers each for one."""
    return tuning(
        {
            "crba": {TunedWay("straight line", FIRST): 10.0, TunedWay("rolled", FIRST): 30.0},
            "minverse": {TunedWay("straight line", FIRST): 20.0, TunedWay("columns", LAST): 15.0},
        },
        {"crba": {TunedWay(8, FIRST): 9.0, TunedWay(1, FIRST): 8.0}},
        {"crba": {TunedWay(8, FIRST): 7.0, TunedWay(8, LAST): 6.0}},
    )


def built(out: Path, tuned: Any, **options: Any) -> Path:
    values = {"functions": FUNCTIONS, "cflags": UNOPTIMISED, "compiler": FIRST, "jobs": 1, **options}
    return build_package(ROBOT, BuildOptions(out=out, tuning=tuned, **values)).directory


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_a_file_reads_as_it_was_written(tmp_path: Path) -> None:
    tuning = a_tuning()
    path = written(tuning, tmp_path)
    assert read_tuning(path) == tuning and read_tuning(path).text == tuning.text
    lines = [line for line in tuning.text.splitlines() if '"nanoseconds"' in line]
    assert len(lines) == sum(len(decision.measured) for decision in tuning.all()) >= 7
    (place,) = {decision.place for decision in read_tuning(path).decisions[BATCH].values()}
    line = int(place.removeprefix(f"{path}:"))
    assert '"batch": {' in tuning.text.splitlines()[line - 1]


def test_the_fastest_is_chosen_and_the_default_kept_in_a_tie() -> None:
    default, other = TunedWay("straight line", "gcc"), TunedWay("columns", "gcc")
    assert decided(default, timings({default: 20.0, other: 10.0})).way == other
    assert decided(default, timings({default: 10.0 * TIE, other: 10.0})).way == default
    assert decided(default, timings({default: 10.2, other: 10.0})).way == other
    assert decided(default, timings({default: 20.0, other: 10.0})).gain == pytest.approx(2.0)


def test_of_two_processors_the_least_worst_ratio_decides() -> None:
    first, second, third = (TunedWay(form, "gcc") for form in ("straight line", "columns", "windows"))
    one = timings({first: 10.0, second: 14.0, third: 11.0}, "a")
    two = timings({first: 30.0, second: 10.0}, "b")
    decision = decided(first, [*one, *two])
    assert decision.way == second, "1.4 and 1.0 times; the first takes 3 times on b, the third was not tried"
    assert (
        decision.nanoseconds(second) == pytest.approx(np.sqrt(140.0)) and decision.nanoseconds(third) is None
    )
    with pytest.raises(ValueError, match="no choice was measured on all processors"):
        decided(first, [*timings({first: 1.0}, "a"), *timings({second: 1.0}, "b")])


def test_a_build_follows_the_file(tmp_path: Path) -> None:
    tuning = a_tuning()
    folder = built(tmp_path / "tuned", written(tuning, tmp_path))
    manifest = json.loads((folder / "manifest.json").read_text())
    functions = manifest["functions"]
    assert {name: functions[name]["form"] for name in FUNCTIONS} == {
        "crba": "straight line",
        "minverse": "columns",
    }
    assert "double_pendulum_load" not in (folder / f"{ROBOT}_crba_batch.c").read_text(), "one by one"
    assert (functions["crba"]["compiler"], functions["minverse"]["compiler"]) == (FIRST, LAST)
    assert functions["crba"]["batch_compiler"] == LAST and "batch_compiler" not in functions["minverse"]
    assert set(manifest["compiler"]["others"]) == {FIRST, LAST}
    assert (folder / FILE).read_text() == tuning.text and FILE in manifest["files"]
    module, plain = rbdc.load(folder), rbdc.load(built(tmp_path / "plain", None))
    assert "tuning.json" not in contents(tmp_path / "plain" / ROBOT)
    q = np.array([0.3, -0.7])
    for name in FUNCTIONS:
        tuned, expected = getattr(module, name), getattr(plain, name)(q)
        np.testing.assert_allclose(tuned(q), expected, rtol=1e-12)
        np.testing.assert_allclose(tuned(np.tile(q, (100, 1)), num_threads=2)[99], expected, rtol=1e-12)


def test_replaying_gives_the_same_bytes(tmp_path: Path) -> None:
    first = built(tmp_path / "first", written(a_tuning(), tmp_path))
    again = built(tmp_path / "again", first / FILE, force=True)
    assert contents(again) == contents(first)
    (tmp_path / "folded").mkdir()
    folded = tmp_path / "folded" / FILE
    folded.write_text(json.dumps(json.loads((first / FILE).read_text())))
    result = build_package(
        ROBOT,
        BuildOptions(
            out=tmp_path / "third",
            tuning=folded,
            functions=FUNCTIONS,
            cflags=UNOPTIMISED,
            compiler=FIRST,
            jobs=2,
        ),
    )
    assert result.cached and contents(result.directory) == contents(first), "white space is no content"


def test_losing_a_tuning_is_said(tmp_path: Path) -> None:
    tuning = replace(a_tuning(), decisions={**a_tuning().decisions, BATCH: {}, BLOCKS: {}})
    how: dict[str, Any] = {"functions": ("crba",), "targets": ("c",), "cflags": UNOPTIMISED}
    tuned = build_package(ROBOT, BuildOptions(out=tmp_path, tuning=tuning, compiler=FIRST, **how))
    assert not any("removes" in text for text in tuned.news)
    plain = build_package(ROBOT, BuildOptions(out=tmp_path, compiler=FIRST, **how))
    (said,) = (text for text in plain.news if "removes" in text)
    assert "this build removes its tuning; another `out` or `name` keeps both" in said
    assert FILE not in contents(plain.directory)


def test_a_portable_build_and_an_addition_follow_it(tmp_path: Path) -> None:
    tuning = replace(a_tuning(), decisions={**a_tuning().decisions, BATCH: {}, BLOCKS: {}})
    folder = built(tmp_path, tuning, march="portable", functions=("minverse",), targets=("c",))
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["functions"]["minverse"]["form"] == "columns" and rbdc.load(folder).variant
    assert zipfile.is_zipfile(make_wheel(folder, tmp_path / "wheels", {}))
    options: dict[str, Any] = {"march": "portable", "targets": ("c",), "add": True, "functions": ("crba",)}
    with pytest.raises(OptionError, match="another value of `tuning`"):
        built(tmp_path, None, **options)


def test_another_processor_and_unnamed_functions_are_said(tmp_path: Path) -> None:
    path = written(tuning({"crba": {TunedWay("straight line", FIRST): 1.0}}, on="Abacus 9000"), tmp_path)
    with pytest.warns(RbdcWarning) as told:
        rbdc.build(
            ROBOT, functions=FUNCTIONS, tuning=path, targets="c", cflags=UNOPTIMISED, out=tmp_path / "out"
        )
    texts = [str(warning.message) for warning in told]
    assert any(text.startswith("`tuning`: measured on Abacus 9000; this processor is ") for text in texts)
    assert "`tuning`: has no choice for minverse: built as without a tuning" in texts
    assert read_tuning(path).remarks(["crba"], "") == [], "portable: for every processor"
    here = tuning({"crba": {TunedWay("straight line", FIRST): 1.0}})
    assert here.remarks(["crba"], here.processors[0]) == []


WRONG = [
    ('"minverse"', '"minvers"', r"tuning.json:\d+: no function minvers; did you mean minverse\?"),
    ('"columns"', '"column"', r"tuning.json:\d+: minverse, single: no form column; did you mean columns\?"),
    (f'"compiler": "{LAST}"', '"compiler": "tcc"', r"tuning.json:\d+: .*: no compiler tcc; did you mean"),
    ('"lanes": 1', '"lanes": 0', r"tuning.json:\d+: crba, batch: no batch has 0 lanes; give"),
    ('"lanes": 1', '"lanes": 1.5', r"tuning.json:\d+: crba, batch: no batch has 1.5 lanes; give"),
    ('"schema": 1', '"schema": 0', r"tuning.json:2: the tuning: it is not of schema 1; tune again"),
    ('"form"', '"from"', r"tuning.json:\d+: crba, single: it has no form; give it form"),
    ('"nanoseconds": 10.0', '"nanoseconds": -1', r"tuning.json:\d+: .*nanoseconds are not above 0"),
    ("{", "{{", r"tuning.json:1: not JSON: .*; mend"),
    ('"functions": {', '"functions": 7, "x": {', r"tuning.json:\d+: functions is not an object; write"),
]


@pytest.mark.parametrize(("old", "new", "message"), WRONG, ids=[new for _, new, _ in WRONG])
def test_what_no_file_can_say_is_refused(old: str, new: str, message: str, tmp_path: Path) -> None:
    path = written(a_tuning(), tmp_path)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(DescriptionError, match=message) as told:
        BuildOptions(tuning=path)
    assert told.value.exit_status == 2


def test_what_this_robot_does_not_have_is_refused(tmp_path: Path) -> None:
    paths = tuning({"crba": {TunedWay("paths", FIRST): 1.0}})
    message = r"tuning.json:\d+: crba has no form 'paths' for this model; give one of straight line, rolled"
    with pytest.raises(OptionError, match=message):
        built(tmp_path / "out", written(paths, tmp_path))
    three = tuning({}, {"crba": {TunedWay(3, FIRST): 1.0}})
    with pytest.raises(
        OptionError, match=r"tuning.json:\d+: crba has no batch of 3 lanes for this model; give 1 or 2 or 4"
    ):
        built(tmp_path / "out", written(three, tmp_path))
    absent = tuning({"crba": {TunedWay("straight line", "no-such-cc"): 1.0}})
    with pytest.raises(OptionError, match=r"tuning.json:\d+: no compiler no-such-cc here; install it"):
        built(tmp_path / "out", written(absent, tmp_path))
    with pytest.raises(UnsupportedError, match="both choose forms: leave one out"):
        built(tmp_path / "out", a_tuning(), style="rolled")
    assert not (tmp_path / "out").exists() or not any((tmp_path / "out").iterdir())


def test_a_kernel_is_chosen_for_both_batches() -> None:
    first, second = TunedWay(8, "gcc"), TunedWay(8, "clang")
    rows = decided(first, timings({first: 10.0, second: 9.0, TunedWay(1, "gcc"): 30.0}))
    blocks = decided(first, timings({first: 8.0, second: 10.0}))
    plain = {"f": decided(first, timings({first: 1.0}))}
    both = with_kernels({SINGLE: plain, BATCH: {"f": rows}, BLOCKS: {"f": blocks}})
    assert both[BATCH]["f"].way == both[BLOCKS]["f"].way == first, "1.11 times in rows, but 1.25 in blocks"
    one_by_one = decided(first, timings({first: 10.0, second: 9.0, TunedWay(1, "gcc"): 3.0}))
    both = with_kernels({SINGLE: plain, BATCH: {"f": one_by_one}, BLOCKS: {"f": blocks}})
    assert (both[BATCH]["f"].way, both[BLOCKS]["f"].way) == (TunedWay(1, "gcc"), first)


def test_both_batches_have_one_kernel(tmp_path: Path) -> None:
    """Samples in rows may go one by one; else those in blocks are computed as they are."""
    rows, blocks = {"crba": {TunedWay(8, FIRST): 1.0}}, {"crba": {TunedWay(8, "other"): 1.0}}
    message = r"tuning.json:\d+: crba: batch is '8, .*', blocks is '8, other', but they share one kernel"
    with pytest.raises(DescriptionError, match=message):
        read_tuning(written(tuning({}, rows, blocks), tmp_path))
    assert (
        FormChoice(lanes=1, blocks=4).kernel == 4
        and FormChoice(lanes=4).kernel == 4
        and FormChoice(lanes=1).kernel is None
    )
    five = tuning({}, {"crba": {TunedWay(1, FIRST): 1.0}}, {"crba": {TunedWay(5, FIRST): 1.0}})
    with pytest.raises(OptionError, match=r"tuning.json:\d+: crba has no batch of 5 lanes for this model"):
        built(tmp_path / "out", written(five, tmp_path))


def test_commands_refuse_with_status_2(tmp_path: Path) -> None:
    missing = CliRunner().invoke(commands, ["build", ROBOT, "--tuning", str(tmp_path / "none.json")])
    assert missing.exit_code == 2 and "No such file or directory; give the path" in missing.output
    assert "--tuning" in missing.output
    path = written(a_tuning(), tmp_path)
    path.write_text(path.read_text().replace('"columns"', '"pillars"'))
    wrong = CliRunner().invoke(
        commands, ["build", ROBOT, "--tuning", str(path), "--out", str(tmp_path / "out")]
    )
    assert (
        wrong.exit_code == 2
        and f"{path}:" in wrong.output
        and "there are straight line, columns" in wrong.output
    )
    with pytest.raises(OptionError, match="`tuning=5`: give the path of a file"):
        BuildOptions(tuning=5)
    assert not (tmp_path / "out").exists()


def test_choices_are_what_planning_is_told() -> None:
    choices = a_tuning().choices()
    assert (choices["crba"].form, choices["crba"].lanes) == ("straight line", 1)
    assert (choices["minverse"].form, choices["minverse"].lanes) == ("columns", None)
    assert a_tuning().decisions[SINGLE]["minverse"].way == TunedWay("columns", LAST)
