"""rbdc compare --batch: who takes part, what the shares are, what is said where there is no kernel or no
room, and that results count.
"""

from __future__ import annotations

import copy
import ctypes
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from click.testing import CliRunner, Result

from rbdc.cli.commands import commands
from rbdc.emit.backend import FunctionSource
from rbdc.emit.generation import GenerationOptions, generate
from rbdc.emit.registry import Generated
from rbdc.functions.catalogue import functions_of
from rbdc.functions.record import Function
from rbdc.functions.scalar_types import DOUBLE
from rbdc.model import Problem
from rbdc.native.build import Unit, shared_library
from rbdc.native.toolchain import STANDARD_FLAGS, default_flags, find_compiler
from rbdc.report.measure import worker
from rbdc.report.measure.loops import LoadedMethod, Timer
from rbdc.report.measure.timing import bandwidth_percent, measuring
from rbdc.report.measure.worker import LIMIT_INPUT, bandwidth, batched, best, buffer_size, kernel
from rbdc.report.methods import assembly
from rbdc.report.methods.records import Contender, FunctionRecord
from rbdc.report.options import CompareOptions
from rbdc.report.present.baseline import judge
from rbdc.report.present.document import wrong_results
from rbdc.report.present.page import page
from rbdc.resources import resolve

pytestmark = pytest.mark.slow

QUICK = ("--peers", "casadi", "--seconds", "0.01", "--samples", "16", "--checked", "16", "--cflags", "-O1")
METHODS = ("--methods", "casadi,ad-forward-casadi")
FUNCTIONS = ("rnea", "aba_derivatives", "frame_jacobian")


def run(*arguments: str) -> Result:
    """Return rbdc compare of the double pendulum in this process."""
    return CliRunner().invoke(commands, ["compare", "double_pendulum", *arguments, *QUICK])


def report_of(folder: Path) -> dict[str, Any]:
    """Return the report in a folder."""
    report: dict[str, Any] = json.loads((folder / "report.json").read_text())
    return report


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    """A function with one output, one with several, and one without a kernel, in batches that end within a
    block of lanes.
    """
    folder = tmp_path_factory.mktemp("batches")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(assembly, "generate", without_kernel)
        result = run(
            "--batch",
            "--batch-samples",
            "100",
            "--functions",
            ",".join(FUNCTIONS),
            *METHODS,
            "--out",
            str(folder),
        )
    assert result.exit_code == 0, result.output
    return folder, result


def without_kernel(
    model: Problem,
    robot: str,
    names: Sequence[str],
    done: Callable[[Sequence[str]], None],
    options: GenerationOptions,
) -> Generated:
    """Return the generated batches, the last one a loop, as for functions that are too large."""
    targets = options.targets if names != [FUNCTIONS[-1]] else ("c",)
    return generate(model, robot, names, done, replace(options, targets=targets))


def batches(report: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return those of each function."""
    return {f["name"]: f["batch"] for f in report["functions"]}


def test_sizes() -> None:
    assert CompareOptions().batch_sizes == []
    assert [CompareOptions(batch=n).batch_sizes for n in (1, 8, 9)] == [[1], [1, 8], [1, 8, 9]]
    assert CompareOptions(batch=32768).batch_sizes == [1, 8, 64, 512, 4096, 32768]
    assert CompareOptions(batch=1_000_000).batch_sizes[-2:] == [262144, 1_000_000]


def test_the_report_keeps_to_the_schema(measured: tuple[Path, Result]) -> None:
    report = report_of(measured[0])
    schema = json.loads(files("rbdc.report.present").joinpath("report.schema.json").read_text())
    jsonschema.validate(report, schema)
    report["functions"][0]["batch"]["methods"][0]["points"][0]["nanoseconds"] = 0.0
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(report, schema)


def test_who_takes_part(measured: tuple[Path, Result]) -> None:
    of = batches(report_of(measured[0]))
    assert tuple(of) == FUNCTIONS
    assert {name: [m["method"] for m in batch["methods"]] for name, batch in of.items()} == {
        "rnea": ["generated-batch", "generated-loop", "casadi-map"],
        "aba_derivatives": ["generated-batch", "generated-loop", "casadi-map"],
        "frame_jacobian": ["generated-batch", "generated-loop"],
    }
    assert [of[name]["lanes"] for name in FUNCTIONS] == [DOUBLE.lanes, DOUBLE.lanes, None]
    last = [
        of[name]["methods"][-1]["of"] for name in FUNCTIONS
    ]  # CasADi's fastest, which may be any of its own
    assert last[0] == "casadi" and last[1].endswith("casadi") and last[2] == "generated"
    assert "a loop over samples" in of["frame_jacobian"]["methods"][0]["algorithm"]
    absent = {name: {a["method"]: a["reason"] for a in batch["absent"]} for name, batch in of.items()}
    assert [sorted(absent[name]) for name in FUNCTIONS] == [["pinocchio-loop"]] * 2 + [
        ["casadi-map", "pinocchio-loop"]
    ]
    assert absent["rnea"]["pinocchio-loop"] == "not asked for"


def test_results_are_right_and_every_size_has_its_shares(measured: tuple[Path, Result]) -> None:
    report = report_of(measured[0])
    peaks, bandwidth = report["peak"], report["bandwidth"]["bytes_per_second"]
    doubles = {"rnea": (3 * 2, 2), "frame_jacobian": (2, 12), "aba_derivatives": (3 * 2, 3 * 4)}
    for function in report["functions"]:
        batch = function["batch"]
        assert batch["flops"] == function["methods"][0]["flops"]
        assert batch["samples"] == [1, 8, 64, 100]
        for method in batch["methods"]:
            assert method["right"]
            assert method["errors"]["scaled"] < 1e-12
            assert method["bytes"] == 8 * sum(doubles[function["name"]])
            assert [p["samples"] for p in method["points"]] == batch["samples"]
            for p in method["points"]:
                assert p["median"] >= p["nanoseconds"] > 0.0
                flops = 100.0 * batch["flops"] / (1e-9 * p["nanoseconds"])
                assert p["peak_percent"]["vector"] == pytest.approx(
                    flops / peaks["vector_flops_per_second"], rel=0.01, abs=1e-3
                )
                assert p["peak_percent"]["scalar"] == pytest.approx(
                    flops / peaks["scalar_flops_per_second"], rel=0.01, abs=1e-3
                )
                moved = 100.0 * method["bytes"] / (1e-9 * p["nanoseconds"])
                assert p["bandwidth_percent"] == pytest.approx(moved / bandwidth, rel=0.01, abs=1e-3)


def test_the_page_and_the_terminal_show_them(measured: tuple[Path, Result]) -> None:
    folder, result = measured
    report, text = report_of(folder), (folder / "report.html").read_text()
    assert page(report) == text, "the same report gives the same page"
    shown = text[: text.index('<script type="application/json"')]
    assert shown.count("samples in a batch") == len(FUNCTIONS)
    assert shown.count("the generated batch is a loop over samples") == 1
    table = result.stdout[result.stdout.index("Batches") :]
    for words in (
        "generated-batch",
        "generated-loop",
        "casadi-map",
        "bandwidth",
        "GB/s",
        "frame_jacobian: the generated batch is a loop",
    ):
        assert words in table
    for function in report["functions"]:
        assert function["name"] in table
        for method in function["batch"]["methods"]:
            for point in method["points"]:
                assert f">{point['nanoseconds']:.1f}</td>" in shown
                assert f">{point['bandwidth_percent']:.3g} %</td>" in shown


def test_without_the_option_there_are_none(measured: tuple[Path, Result], tmp_path: Path) -> None:
    result = run("--functions", "rnea", "--methods", "casadi", "--out", str(tmp_path))
    assert result.exit_code == 0, result.output
    assert "Batches" not in result.stdout
    report = report_of(tmp_path)
    assert report["bandwidth"] is report["settings"]["batch"] is report["functions"][0]["batch"] is None
    assert "samples in a batch" not in page(report)


def test_baselines_without_batches_are_good(measured: tuple[Path, Result]) -> None:
    new = report_of(measured[0])
    old = copy.deepcopy(new)
    del old["bandwidth"], old["settings"]["batch"]
    for function in old["functions"]:
        del function["batch"]
    jsonschema.validate(
        old, json.loads(files("rbdc.report.present").joinpath("report.schema.json").read_text())
    )
    for pair in ((new, old), (old, new)):
        verdict = judge(*pair)
        assert verdict.worse == verdict.better == verdict.notes == []
    assert "samples in a batch" not in page(old)


def test_a_wrong_batch_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_time = assembly.generated

    def one_sample_late(model: Problem, function: Function) -> tuple[assembly.Files, FunctionSource]:
        files, source = in_time(model, function)
        adapter = files["adapter.c"]
        wrong = re.sub(r"_batch\(n, in\[0\]", "_batch(n - 1, in[0] + 2", adapter)
        assert wrong != adapter
        return {**files, "adapter.c": wrong}, source

    monkeypatch.setattr(assembly, "generated", one_sample_late)
    result = run(
        "--batch",
        "--batch-samples",
        "16",
        "--functions",
        "rnea",
        "--methods",
        "casadi",
        "--out",
        str(tmp_path),
    )
    assert result.exit_code == 1
    assert (
        "rnea: generated-batch is wrong: its error relative to the largest entry is not finite"
        in result.output
    )
    assert [line.split(":")[1] for line in wrong_results(report_of(tmp_path))] == [
        " generated-batch is wrong"
    ]


def test_single_precision_takes_half_the_room(tmp_path: Path) -> None:
    options = ("--batch-samples", "40", "--functions", "rnea,frame_jacobian", "--methods", "single")
    result = run("--batch", *options, "--out", str(tmp_path))
    assert result.exit_code == 0, result.output
    report = report_of(tmp_path)
    jsonschema.validate(
        report, json.loads(files("rbdc.report.present").joinpath("report.schema.json").read_text())
    )
    assert list(batches(report)) == ["rnea", "frame_jacobian"]
    for batch in batches(report).values():
        double, single = batch["methods"][0], batch["methods"][2]
        assert (single["method"], single["of"], single["family"]) == (
            "generated-float32-batch",
            "generated-float32",
            "single",
        )
        assert "16 samples side by side" in single["algorithm"]
        assert 2 * single["bytes"] == double["bytes"]
        assert single["right"] is None and 1e-10 < single["errors"]["max_rel"] < 1e-5
        assert all(p["nanoseconds"] > 0.0 and p["peak_percent"] is None for p in single["points"])
    assert "generated-float32-batch" in result.stdout


def test_samples_side_by_side_are_shown_where_single_calls_were_taken(tmp_path: Path) -> None:
    options = ("--batch-samples", "40", "--functions", "integrate", "--methods", "casadi")
    result = run("--batch", *options, "--out", str(tmp_path))
    assert result.exit_code == 0, result.output
    report = report_of(tmp_path)
    jsonschema.validate(
        report, json.loads(files("rbdc.report.present").joinpath("report.schema.json").read_text())
    )
    batch = batches(report)["integrate"]
    methods = {method["method"]: method for method in batch["methods"]}
    assert batch["lanes"] is None
    assert "a loop over samples" in methods["generated-batch"]["algorithm"]
    assert f"{DOUBLE.lanes} samples side by side" in methods["generated-lanes"]["algorithm"]
    assert methods["generated-lanes"]["right"]


def test_what_does_not_fit_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assembly, "BATCH_MEMORY", 10 * 8 * 8)  # rnea has 8 numbers
    result = run(
        "--batch",
        "--batch-samples",
        "100",
        "--functions",
        "rnea",
        "--methods",
        "casadi",
        "--out",
        str(tmp_path),
    )
    assert result.exit_code == 0, result.output
    batch = report_of(tmp_path)["functions"][0]["batch"]
    assert (batch["samples"], batch["left_out"]) == ([1, 8], [64, 100])
    assert "rnea: batches of 64, 100 are left out" in result.stdout
    assert "batches of 64, 100 are left out" in (tmp_path / "report.html").read_text()


def test_bad_usage(tmp_path: Path) -> None:
    result = run("--batch", "--batch-samples", "0", "--out", str(tmp_path / "out"))
    assert result.exit_code == 2
    assert "--batch-samples 0: give a number of at least 1" in result.stderr


PEER = """
#include <stdlib.h>
void *rbdc_peer_load(const char *archive);
void *rbdc_peer_load(const char *archive) { (void)archive; return calloc(2, sizeof(double)); }
void peer(double *sums, const double *const *in, double *const *out);
void peer(double *sums, const double *const *in, double *const *out)
{
    sums[0] += 1.0;
    out[0][0] = sums[1] += in[0][0] + 10.0 * in[1][1] + 100.0 * in[2][1];
}
"""


def test_a_peer_is_called_for_every_sample() -> None:
    """A stand-in for Pinocchio that counts its calls and adds up some of its arguments."""
    compiler = find_compiler()
    library = shared_library("peer.so", [Unit("peer.c", PEER, {}, (*STANDARD_FLAGS, "-O2"))], compiler).path
    method = LoadedMethod(Contender("m", "", "", library, "peer", "peer", archive=Path("any")))
    q, v, a = (np.arange(10.0).reshape(5, 2) + k for k in range(3))
    rows, room = np.arange(12) % 5, np.zeros((12, 2))
    timer = Timer(str(measuring(compiler)), [q[rows], v[rows], a[rows]], outputs=[room])
    assert batched(timer, method, 12, 1)(1) > 0.0
    assert room[-1, 0] == (q[rows, 0] + 10.0 * v[rows, 1] + 100.0 * a[rows, 1]).sum()
    assert ctypes.cast(method.context, ctypes.POINTER(ctypes.c_double))[0] == 12.0


@pytest.mark.parametrize(
    ("sizes", "blocks"), [([1, 8, 20, 64], [20, 2, 1, 1]), ([1, 4], [4, 1])], ids=["more", "fewer"]
)
def test_small_batches_go_through_all_samples(
    sizes: list[int], blocks: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A small batch cycles through all samples; the largest batch repeats them."""
    unit = Unit("sums.c", SUMS, {}, (*STANDARD_FLAGS, "-O2"))
    library = shared_library("sums.so", [unit], find_compiler()).path
    seen: list[int] = []

    def noted(timer: Timer, method: LoadedMethod, n: int, blocks: int) -> Callable[[int], float]:
        assert np.array_equal(timer.inputs[0][:, 0], 2.0 * (np.arange(sizes[-1]) % 20))
        seen.append(blocks)
        return lambda calls: timer.hot(method, calls, n, blocks)

    monkeypatch.setattr(worker, "batched", noted)
    job = {"library": str(measuring(find_compiler())), "checked": 1}
    inputs, methods = np.arange(40.0).reshape(20, 2), [Contender("m", "", "", library, "sums")]
    function = {"inputs": [inputs], "outputs": [1], "methods": methods, "samples": sizes}
    function["seconds"] = 0.001
    times, _ = worker.batches(job, function)
    assert seen == blocks and len(times["m"]) == len(sizes)


def test_the_fastest_of_a_peer_is_taken() -> None:
    one = FunctionRecord(functions_of(Problem.from_urdf(resolve("double_pendulum")))["rnea"])
    for name, ns in (("generated", 1.0), ("pinocchio-gcc", 5.0), ("pinocchio-clang", 4.0), ("casadi", 2.0)):
        one.contenders.append(Contender(name, "", "", Path(), ""))
        one.times[name] = {"minimum": ns}
    best = assembly._fastest(one, "pinocchio")
    assert best is not None
    assert best.method == "pinocchio-clang"


@pytest.mark.parametrize("count", [1, 8, 1003])
def test_the_bandwidth_kernel_goes_through_the_whole_buffer(count: int) -> None:
    library = str(measuring(find_compiler(), default_flags()))
    buffer = np.arange(float(count))
    timer = Timer(library, [LIMIT_INPUT[np.newaxis]], outputs=[buffer])
    timer.hot(kernel(library, "bandwidth"), 1, count, 1)
    assert np.array_equal(buffer, 0.5 * np.arange(count) + 0.5)
    once, again = bandwidth(library, buffer), bandwidth(library, buffer)
    both, rate = best([once, again]), "bytes_per_second"
    assert both[rate] == max(once[rate], again[rate]) > 0.0, "the best counts"
    assert buffer_size() >= 2**28


def test_shares_of_the_bandwidth() -> None:
    limit = {"bytes_per_second": 20e9}
    assert bandwidth_percent(limit, 200, 100.0) == 10.0
    assert bandwidth_percent(limit, 0, 100.0) == 0.0


def test_timers_keep_to_their_blocks() -> None:
    """Blocks of 3 samples of 2 numbers, of which there are 2."""
    inputs, outputs = [np.arange(14.0).reshape(7, 2)], [np.zeros((7, 1))]
    unit = Unit("sums.c", SUMS, {}, (*STANDARD_FLAGS, "-O2"))
    compiler = find_compiler()
    library = shared_library("sums.so", [unit], compiler).path
    method = LoadedMethod(Contender("m", "", "", library, "sums"))
    Timer(str(measuring(compiler)), inputs, outputs=outputs).hot(method, 5, 3, 2)
    assert outputs[0].ravel().tolist() == [3 * 1.0, 3 * 5.0, 3 * 9.0, 2 * 13.0, 2 * 17.0, 2 * 21.0, 0.0]


SUMS = """
#include <stddef.h>
void sums(void *context, const double *const *in, double *const *out);
void sums(void *context, const double *const *in, double *const *out)
{
    const size_t n = *(const size_t *)context;
    for (size_t i = 0; i < n; ++i) {
        out[0][i] += in[0][2 * i] + in[0][2 * i + 1];
    }
}
"""
