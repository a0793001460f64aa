"""Functions of a module, and what pickle makes of them. It is copied into each generated package."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any


class Named:
    """What stands behind a function of the module, as `_` and its name. The function is a method of it, for
    of a plain one pickle takes the name without asking, and a worker that cannot import the module would wait
    for its task for ever.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self.__module__ = __name__.rpartition(".")[0]

    def function(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function with this as its first argument; a decorator."""
        method: Callable[..., Any] = function.__get__(self)
        setattr(self, self._name, method)  # where pickle and copy look for it
        return method

    def __reduce__(self) -> str:
        refuse_pickle(self._name, unless_named=True)
        return f"_{self._name}"

    def __copy__(self) -> Named:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Named:
        return self


def refuse_pickle(what: str, *, unless_named: bool = False) -> None:
    """Raise TypeError, which says what to send instead; `unless_named`: but for a module that was imported by
    its folder's name, by which other processes can find it.
    """
    folder = Path(__file__).absolute().parent
    if not (unless_named and __name__.split(".")[-2:-1] == [folder.name]):
        raise TypeError(
            f"{what} cannot be pickled: send the path of its folder and load it there, "
            f"with rbdc.load({str(folder)!r})"
        )
