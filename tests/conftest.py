"""One build cache for a checkout, the same examples in every run, and the tier of tests of robots."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Most tests start processes that import rbdc, the check of a build among them: bytecode saves each a second.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# Of what is installed into fresh environments most is never imported: pip need not compile it.
os.environ["PIP_COMPILE"] = "0"

os.environ["RBDC_CACHE"] = str(Path(__file__).parent.parent / ".rbdc-cache" / "cache")

# A busy machine is no error: no example has to be made or tested in time.
settings.register_profile(
    "untimed", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("untimed")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests of robots that `tests.support.QUICK` lacks as slow or exhaustive, before -m selects. Of two
    parameters, one slow and one exhaustive, the latter wins.
    """
    from tests.support import is_exhaustive, is_quick

    for item in items:
        callspec = getattr(item, "callspec", None)
        words = [] if callspec is None else list(_words(callspec.params))
        if is_exhaustive(words):
            item.add_marker(pytest.mark.exhaustive)
        elif not is_quick(words):
            item.add_marker(pytest.mark.slow)
        if item.get_closest_marker("exhaustive"):
            item.own_markers[:] = [mark for mark in item.own_markers if mark.name != "slow"]


def _words(params: Mapping[str, object]) -> Iterator[str]:
    """The strings that a test is parametrized by, those in tuples too."""
    for value in params.values():
        values = value if isinstance(value, tuple) else (value,)
        yield from (word for word in values if isinstance(word, str))
