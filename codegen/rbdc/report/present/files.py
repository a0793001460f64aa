"""Files of a report: written to a temporary name, then moved into place."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rbdc.errors import OptionError
from rbdc.native.scratch import scratch
from rbdc.report.present.baseline import BENCHMARK_SCHEMA, REPORT_SCHEMA


def write(
    report: Mapping[str, Any], page: str, folder: Path, name: str, pictures: Mapping[str, str] | None = None
) -> list[Path]:
    """Write a report and the text of its page into the folder as `name`.json and `name`.html, and pictures by
    the names of their files; their paths. Raises OptionError if it cannot.
    """
    texts = {f"{name}.json": json.dumps(report, indent=1) + "\n", f"{name}.html": page, **(pictures or {})}
    try:
        with scratch(folder, ".report.", ".new") as aside:
            for file, text in texts.items():
                (aside / file).write_text(text, encoding="utf-8")
            for file in texts:
                (aside / file).replace(folder / file)
    except OSError as error:
        raise OptionError(f"cannot write {folder}: {error.strerror}; check --out") from error
    return [folder / file for file in texts]


def read_baseline(
    path: Path | None, gate_time: float | None, made_by: str = "compare"
) -> dict[str, Any] | None:
    """An earlier report, made by the command `made_by`; None without a path.

    Raises OptionError where it is no such report, and for a factor of times that makes no sense or has
    nothing to be judged by.
    """
    baseline = None if path is None else _report(path, made_by)
    if gate_time is None:
        return baseline
    if baseline is None:
        raise OptionError(f"--gate-time {gate_time:g} needs the report of an earlier run: give --baseline")
    if not 1.0 < gate_time < float("inf"):
        raise OptionError(f"--gate-time {gate_time:g}: give a factor above 1, as 1.5")
    if any("peak" not in one for one in baseline.get("robots", {"": baseline}).values()):
        raise OptionError("--gate-time: the baseline has no peak to tell machines apart; make it anew")
    return baseline


def _report(path: Path, made_by: str) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise OptionError(f"--baseline {path}: {error.strerror}") from error
    except ValueError as error:
        raise OptionError(f"--baseline {path}: not JSON: {error}") from error
    keys = {"compare": (REPORT_SCHEMA, "functions"), "benchmark": (BENCHMARK_SCHEMA, "robots")}
    schema, key = keys[made_by]
    if not isinstance(data, dict) or data.get("schema") != schema or key not in data:
        raise OptionError(f"--baseline {path}: not a report of schema {schema}; make one with rbdc {made_by}")
    return data
