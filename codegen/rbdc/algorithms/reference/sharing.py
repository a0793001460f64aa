"""A cache of intermediate results that several calls of references use, such as the motion of the tree for
many frames.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeAlias, TypeVar

Result = TypeVar("Result")

_Steps: TypeAlias = deque[tuple[tuple[Any, ...], Any]]
_SHARED: ContextVar[_Steps | None] = ContextVar("shared steps", default=None)

MOST = 12
"""Number of results kept: dual numbers, models at curves, and motions, for derivatives along three inputs."""


@contextmanager
def shared_steps() -> Iterator[None]:
    """Let `once` remember the last results within this context."""
    token = _SHARED.set(deque(maxlen=MOST))
    try:
        yield
    finally:
        _SHARED.reset(token)


def once(step: Callable[..., Result], *arguments: Any) -> Result:
    """Return step(*arguments), remembered within `shared_steps`.

    The remembered result is returned for the same argument objects, which must not change in between.
    """
    steps, key = _SHARED.get(), (step, *arguments)
    for other, result in steps or ():
        if len(other) == len(key) and all(x is y for x, y in zip(other, key, strict=True)):
            value: Result = result
            return value
    value = step(*arguments)
    if steps is not None:
        steps.append((key, value))
    return value
