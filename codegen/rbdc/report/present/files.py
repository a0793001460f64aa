"""Files of a report: written to a temporary name, then moved into place."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rbdc.errors import OptionError
from rbdc.native.scratch import scratch
from rbdc.report.present.baseline import check
from rbdc.report.present.benchmark_page import benchmark_page
from rbdc.report.present.family_page import family_page
from rbdc.report.present.page import page


def write(report: dict[str, Any], folder: Path) -> list[Path]:
    """Write report.json and report.html into the folder; their paths. Raises OptionError if it cannot."""
    return _write({"report.json": _json(report), "report.html": page(report)}, folder)


def write_benchmark(report: dict[str, Any], folder: Path) -> list[Path]:
    """Write benchmark.json and benchmark.html likewise."""
    return _write({"benchmark.json": _json(report), "benchmark.html": benchmark_page(report)}, folder)


def write_families(report: dict[str, Any], folder: Path) -> list[Path]:
    """Write families.json and families.html likewise."""
    return _write({"families.json": _json(report), "families.html": family_page(report)}, folder)


def write_study(report: dict[str, Any], page: str, folder: Path) -> list[Path]:
    """Write study.json and study.html likewise; `page` is the text of the page."""
    return _write({"study.json": _json(report), "study.html": page}, folder)


def write_forms(report: dict[str, Any], page: str, folder: Path) -> list[Path]:
    """Write forms.json and forms.html likewise; `page` is the text of the page."""
    return _write({"forms.json": _json(report), "forms.html": page}, folder)


def _json(report: dict[str, Any]) -> str:
    return json.dumps(report, indent=1) + "\n"


def _write(texts: Mapping[str, str], folder: Path) -> list[Path]:
    try:
        with scratch(folder, ".report.", ".new") as aside:
            for name, text in texts.items():
                (aside / name).write_text(text, encoding="utf-8")
            for name in texts:
                (aside / name).replace(folder / name)
    except OSError as error:
        raise OptionError(f"cannot write {folder}: {error.strerror}; check --out") from error
    return [folder / name for name in texts]


def read_baseline(path: Path, made_by: str = "compare") -> dict[str, Any]:
    """An earlier report, made by the command `made_by`. Raises OptionError where there is none."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise OptionError(f"--baseline {path}: {error.strerror}") from error
    except ValueError as error:
        raise OptionError(f"--baseline {path}: not JSON: {error}") from error
    return check(data, str(path), made_by)
