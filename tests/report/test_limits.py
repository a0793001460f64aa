"""The time limit of methods: what exceeds it is named, and left out for larger mechanisms."""

from __future__ import annotations

import signal
import time
from dataclasses import replace

import pytest

from rbdc.errors import TimeLimitError
from rbdc.model.families import SERIAL, tree
from rbdc.report.compare import Family, families_report
from rbdc.report.methods import assembly
from rbdc.report.methods.contenders import toolchains
from rbdc.report.methods.implementation import Implementation, Method
from rbdc.report.methods.limits import over, within
from rbdc.report.options import CompareOptions

FUNCTION = "kinetic_energy"
OPTIONS = CompareOptions(
    functions=(FUNCTION,), methods=("generated",), peers=(), samples=2, checked=1, seconds=0.001,
    cflags=("-O0",), limit=30.0,
)  # fmt: skip


def busy(seconds: float) -> str:
    began = time.process_time()
    while time.process_time() - began < seconds:
        pass
    return "done"


def test_work_within_a_limit_and_beyond() -> None:
    before = signal.getsignal(signal.SIGPROF)
    assert within(10.0, lambda: busy(0.01)) == within(None, lambda: busy(0.01)) == "done"
    with pytest.raises(TimeLimitError, match=r"^over 0\.02 s$"):
        within(0.02, lambda: busy(5.0))
    busy(0.05)  # no alarm is left
    assert signal.getsignal(signal.SIGPROF) is before


def endless() -> Implementation:
    busy(60.0)
    raise AssertionError("the limit is 0.02 s")


def test_a_method_that_exceeds_the_limit_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = Method("slow", "analytical", endless)
    monkeypatch.setattr(assembly, "methods_of", lambda *_, **__: [slow])
    options = replace(OPTIONS, methods=None, limit=0.02)
    (one,) = assembly.assemble(tree(2), options, toolchains(options), lambda _: None)
    assert [(a.method, a.reason) for a in one.absent] == [("slow", over(0.02))]
    options = replace(options, given_up=((FUNCTION, "slow"),))
    (one,) = assembly.assemble(tree(2), options, toolchains(options), lambda _: None)
    assert [a.reason for a in one.absent] == ["over 0.02 s already for fewer bodies"], "it is not tried again"


def test_larger_mechanisms_do_not_try_again(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def report(label: str, model: object, options: CompareOptions, progress: object) -> dict[str, object]:
        asked.append(options.given_up)
        absent = [{"method": "slow", "family": "ad", "reason": over(30.0)}] if "3" in label else []
        absent.append({"method": "other", "family": "ad", "reason": "not installed"})
        function = {"name": FUNCTION, "methods": [], "absent": absent}
        return {"functions": [function], "machine": {}, "compiler": {}, "settings": {}}

    monkeypatch.setattr("rbdc.report.compare.labelled_report", report)
    families_report([Family(SERIAL, (3, 4)), Family(2.0, (4,))], lambda *_: OPTIONS, lambda _: None)
    assert asked == [(), ((FUNCTION, "slow"),), ()], "a family has its own"


def test_a_reference_that_exceeds_the_limit_leaves_errors_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(*_: object) -> None:
        raise TimeLimitError(over(30.0))

    monkeypatch.setattr("rbdc.report.compare.reference", slow)
    report = families_report([Family(SERIAL, (2, 3))], lambda *_: OPTIONS, lambda _: None)
    functions = [entry["functions"][FUNCTION] for entry in report["entries"]]
    assert [one["reason"] for of in functions for one in of["absent"]] == [
        over(30.0),
        "over 30 s already for fewer bodies",
    ]
    assert [of["methods"]["generated"]["right"] for of in functions] == [None, None]
