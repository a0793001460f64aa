"""Files of a report: written to a temporary name, then moved into place."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rbdc.errors import OptionError
from rbdc.native.scratch import scratch
from rbdc.report.present.baseline import check


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


def read_baseline(path: Path, made_by: str = "compare") -> dict[str, Any]:
    """An earlier report, made by the command `made_by`. Raises OptionError where there is none."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise OptionError(f"--baseline {path}: {error.strerror}") from error
    except ValueError as error:
        raise OptionError(f"--baseline {path}: not JSON: {error}") from error
    return check(data, str(path), made_by)
