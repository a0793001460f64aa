"""Keep finished comparisons, so that an interrupted study continues from them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from hashlib import sha256
from pathlib import Path
from typing import Any

import rbdc
from rbdc.native.machine import processor
from rbdc.native.scratch import placed

_FOLDER: ContextVar[Path | None] = ContextVar("folder of comparisons", default=None)


@contextmanager
def keeping(folder: Path) -> Iterator[None]:
    """Keep comparisons in a folder and reuse those that it holds. The folder is removed if the context ends
    without an error, since the report then contains all comparisons.
    """
    token = _FOLDER.set(folder)
    try:
        yield
    finally:
        _FOLDER.reset(token)
    shutil.rmtree(folder, ignore_errors=True)


def kept(asked: object, measure: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return what an interrupted study has kept of a comparison, or measure and keep it.

    asked: everything that the comparison depends on, compared by its `repr`. The sources of rbdc and the
        processor are always compared too.
    """
    folder = _FOLDER.get()
    if folder is None:
        return measure()
    file = folder / f"{sha256(repr((asked, processor(), _sources())).encode()).hexdigest()[:24]}.json"
    if file.is_file():
        stored: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        return stored
    report = measure()
    placed(folder, {file.name: json.dumps(report)}, "--out")
    return report


def _sources() -> list[tuple[str, int]]:
    package = Path(rbdc.__file__).parent
    return sorted((file.name, file.stat().st_mtime_ns) for file in package.rglob("*.py"))
