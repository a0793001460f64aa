"""Labels for intermediate quantities: what makes generated code readable.

An algorithm announces each per-body quantity as it is computed; numeric evaluation ignores the announcements,
the compiler turns them into sections and names of the generated C.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from rbdc.spatial import Scalar

Trace: TypeAlias = Callable[[str, str, str, Sequence[Scalar]], None]
"""trace(section, formula, symbol, values): `section` names the body, `symbol` is a C identifier stem such as
"v3".
"""


def silent(section: str, formula: str, symbol: str, values: Sequence[Scalar]) -> None:
    """The trace that keeps nothing."""
