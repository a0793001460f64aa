"""One build cache for all tests of a checkout."""

from __future__ import annotations

import os
from pathlib import Path

os.environ["RBDC_CACHE"] = str(Path(__file__).parent.parent / ".rbdc-cache" / "cache")
