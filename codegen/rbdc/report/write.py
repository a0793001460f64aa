"""report.json and report.html, written aside and moved into place."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from rbdc.errors import OptionError
from rbdc.report.baseline import check
from rbdc.report.page import page


def write(report: dict[str, Any], folder: Path) -> list[Path]:
    """Write both into the folder; their paths. Raises OptionError where it cannot be written."""
    texts = {"report.json": json.dumps(report, indent=1) + "\n", "report.html": page(report)}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            aside = folder / f".{name}.{os.getpid()}.new"
            aside.write_text(text, encoding="utf-8")
            aside.replace(folder / name)
    except OSError as error:
        raise OptionError(f"cannot write {folder}: {error.strerror}; check --out") from error
    return [folder / name for name in texts]


def read_baseline(path: Path) -> dict[str, Any]:
    """An earlier report. Raises OptionError where there is none."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise OptionError(f"--baseline {path}: {error.strerror}") from error
    except ValueError as error:
        raise OptionError(f"--baseline {path}: not JSON: {error}") from error
    return check(data, str(path))
