"""Arrays that the functions of a module take: what is converted, and what is refused. It is copied into each
generated package beside `_runtime.py` and needs NumPy only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

import numpy as np

# NumPy imports it late: in a call, it would be locked in what another thread forks meanwhile.
from numpy.ma import MaskedArray
from numpy.typing import NDArray

from ._arrays import Array

UNIT = 1e-6
"""How far the length of a quaternion may be from 1: what single precision leaves of it."""

_RANGES: dict[str, tuple[Callable[[Array], Any], str, str]] = {
    "switches": (lambda x: (x == 0.0) | (x == 1.0), "has entries other than 0 and 1", "1 for what holds"),
    "not negative": (lambda x: x >= 0.0, "has entries that are not numbers from 0 on", "give none below 0"),
    "positive": (lambda x: x > 0.0, "has entries that are not positive numbers", "give some above 0"),
    "placements": (
        lambda x: np.abs(np.linalg.norm(x[..., 3:], axis=-1) - 1.0) <= UNIT,
        "has quaternions that are not of unit length",
        "give x y z qx qy qz qw, divided by their length",
    ),
}
"""Whether entries are as they have to be, the complaint where they are not, and what to do."""


class Input(NamedTuple):
    """An array that a function takes: its name, its shape without batch dimensions, whether None is allowed,
    whether it is a configuration, which must be finite, and a key of `_RANGES`, or "" where it may be
    anything.
    """

    name: str
    shape: tuple[int, ...]
    optional: bool
    configuration: bool
    kind: str
    function: str
    dtype: np.dtype[Any]

    @property
    def _expected(self) -> str:
        return f"(..., {', '.join(str(n) for n in self.shape)})" if self.shape else "(...)"

    def converted(self, x: Any) -> Array | None:
        """The argument as an array of the right dtype and trailing shape, not yet broadcast."""
        if x is None:
            if self.optional:
                return None
            self.refuse(TypeError, "is None", f"give an array of shape {self._expected}")
        if isinstance(x, MaskedArray):
            self.refuse(TypeError, "is a masked array", "give a plain array; masks are not honoured")
        try:
            array = np.asarray(x)
        except ValueError as error:
            self.refuse(ValueError, f"is no array: {error}", f"expected {self._expected}")
        self._refuse_loss(array, isinstance(x, (list, tuple)))
        if array.ndim < len(self.shape) or array.shape[array.ndim - len(self.shape) :] != self.shape:
            self.refuse(ValueError, f"has shape {array.shape}", f"expected {self._expected}")
        return array.astype(self.dtype, copy=False)

    def _refuse_loss(self, array: NDArray[Any], listed: bool) -> None:
        """Refuse an array that would lose something as `dtype`. Python's own numbers, `listed`, may be
        rounded; what an array holds must stay as it is.
        """
        kind, size, own, limits = array.dtype.kind, array.dtype.itemsize, self.dtype, np.finfo(self.dtype)
        if kind not in "biuf" or size > (own.itemsize if kind == "f" and not listed else 8):
            remedy = f"give real numbers that convert to {own} without loss"
            self.refuse(TypeError, f"has dtype {array.dtype}", remedy)
        wide = kind in "iu" and size >= own.itemsize and array.size > 0
        if wide and max(abs(int(array.max())), abs(int(array.min()))) > 2 ** (limits.nmant + 1):
            self.refuse(TypeError, f"has integers beyond 2^{limits.nmant + 1}", f"give {own}")
        if kind == "f" and size > own.itemsize and (np.isfinite(array) & (np.abs(array) > limits.max)).any():
            self.refuse(ValueError, f"has numbers beyond {limits.max:.3g}", f"{own} holds none")

    def check_range(self, x: Any) -> None:
        """Refuse an argument with entries that are not as they have to be."""
        holds, problem, remedy = _RANGES[self.kind]
        array = self.converted(x)
        if array is not None and not np.all(holds(array)):
            self.refuse(ValueError, problem, remedy)

    def blocks(self, x: Any, block: int, known: int | None) -> int:
        """How many blocks an array of layout "lanes" has: as many as are `known`, as the C code takes it."""
        last = (*self.shape, block)
        expected = f"({'blocks' if known is None else known}, {', '.join(str(n) for n in last)})"
        plain = type(x) is np.ndarray and x.dtype == self.dtype and x.flags.c_contiguous and x.flags.aligned
        if not plain:
            remedy = f"with layout='lanes' give one of shape {expected}"
            self.refuse(TypeError, f"is not a C-contiguous {self.dtype} array", remedy)
        if x.shape[1:] != last or x.ndim != len(last) + 1 or known not in (None, x.shape[0]):
            self.refuse(ValueError, f"has shape {x.shape}", f"with layout='lanes' it must be {expected}")
        return int(x.shape[0])

    def refuse(self, kind: type[Exception], what: str, remedy: str) -> NoReturn:
        """Raise an exception that says what is wrong with the argument, and what to do."""
        raise kind(f"{self.function}: argument {self.name} {what}; {remedy}") from None
