"""One build cache for a checkout, equal examples in every run, the tiers of tests, and the slices of the
exhaustive tier.
"""

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
# Fresh environments never import most of the installed modules: pip need not compile them.
os.environ["PIP_COMPILE"] = "0"
# pytest-xdist tells its workers how wide the terminal is: what commands print would depend on it.
os.environ.pop("COLUMNS", None)

os.environ["RBDC_CACHE"] = str(Path(__file__).parent.parent / ".rbdc-cache" / "cache")

# A busy machine is no error: no example has to be made or tested in time.
settings.register_profile(
    "untimed", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("untimed")


def pytest_configure() -> None:
    """Refuse a slice that is none before tests are collected."""
    from tests.support_slices import parsed

    try:
        parsed(os.environ.get("RBDC_SLICE", "1/1"))
    except ValueError as error:
        raise pytest.UsageError(str(error)) from None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark tests of robots that `tests.support.QUICK` lacks as slow or exhaustive, before -m selects. Of two
    parameters, one slow and one exhaustive, the latter wins. Of exhaustive tests `RBDC_SLICE` keeps a slice.
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
    if "RBDC_SLICE" in os.environ:
        _keep_slice(config, items, os.environ["RBDC_SLICE"])


def _keep_slice(config: pytest.Config, items: list[pytest.Item], text: str) -> None:
    """Deselect the exhaustive tests that are not in slice k of n."""
    from tests.support_slices import parsed, slices

    k, n = parsed(text)
    tier = [item for item in items if item.get_closest_marker("exhaustive")]
    of = zip(tier, slices([item.nodeid for item in tier], n), strict=True)
    others = [item for item, one in of if one != k]
    config.hook.pytest_deselected(items=others)
    left = set(others)
    items[:] = [item for item in items if item not in left]


def _words(params: Mapping[str, object]) -> Iterator[str]:
    """Yield the strings that a test is parametrized by, those in tuples too."""
    for value in params.values():
        values = value if isinstance(value, tuple) else (value,)
        yield from (word for word in values if isinstance(word, str))
