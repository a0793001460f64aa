"""One build cache for all tests of a checkout, and examples that are the same in every run."""

from __future__ import annotations

import os
from pathlib import Path

from hypothesis import HealthCheck, settings

os.environ["RBDC_CACHE"] = str(Path(__file__).parent.parent / ".rbdc-cache" / "cache")

# A busy machine is no error: no example has to be made or tested in time.
settings.register_profile("untimed", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")
