"""Calls of the handlers for XLA as XLA makes them, without JAX. The structures of XLA's foreign function
interface are declared here independently of generated code, and filled by hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from cffi import FFI
from numpy.typing import NDArray

from rbdc.errors import VerificationError
from rbdc.functions.declarations import FunctionDeclaration

Array = NDArray[np.floating[Any]]

_FFI: Any = FFI()
_FFI.cdef("""
struct version { size_t size; void *extensions; int major, minor; };
struct error { size_t size; void *extensions; const char *message; int code; };
struct api {
    size_t size; void *extensions; struct version version; void *internal; void *(*create)(struct error *);
};
struct buffer { size_t size; void *extensions; int type; void *data; int64_t rank; int64_t *dims; };
struct buffers { size_t size; void *extensions; int64_t count; int *types; void **at; };
struct scalar { int type; void *value; };
struct attributes { size_t size; void *extensions; int64_t count; int *types; void **names; void **at; };
struct frame {
    size_t size; void *extensions; struct api *api; void *context; int stage;
    struct buffers arguments, results; struct attributes attributes;
};
""")
_SCALAR_ATTRIBUTE, _INT32, _EXECUTE = 3, 4, 3
_TYPES = {"float64": 12, "float32": 11}


def answer(
    library: Path,
    symbol: str,
    declaration: FunctionDeclaration,
    arrays: Sequence[Array | None],
    extra: tuple[int, ...],
) -> list[Array]:
    """Return the outputs, (states, *shape) each, of the handler `symbol`. Raises VerificationError if the
    handler refuses the call.
    """
    _FFI.cdef(f"void *{symbol}(struct frame *);", override=True)
    handler = getattr(_FFI.dlopen(str(library)), symbol)
    inputs = [np.ascontiguousarray(x) for x in arrays if x is not None]
    results = [np.full((len(inputs[0]), *p.shape), np.nan, inputs[0].dtype) for p in declaration.outputs]
    refusals: list[str] = []

    def create(error: Any) -> Any:
        refusals.append(_FFI.string(error.message).decode(errors="replace"))
        return error

    structures, callback = _Structures(), _FFI.callback("void *(struct error *)", create)
    frame = structures.one("struct frame", api=structures.one("struct api", create=callback), stage=_EXECUTE)
    frame.arguments, frame.results = structures.buffers(inputs), structures.buffers(results)
    frame.attributes = structures.attributes(extra)
    if handler(frame) != _FFI.NULL or refusals:
        raise VerificationError(f"{symbol} refuses a call of XLA: {''.join(refusals)}")
    return results


class _Structures:
    """Structures of the interface, which point to each other and live as long as this object."""

    def __init__(self) -> None:
        self._kept: list[object] = []

    def _new(self, kind: str, value: object) -> Any:
        self._kept.append(_FFI.new(kind, value))
        return self._kept[-1]

    def one(self, kind: str, **entries: object) -> Any:
        """Return a pointer to a structure with its size set."""
        sized = {} if kind == "struct scalar" else {"size": _FFI.sizeof(kind)}
        return self._new(f"{kind} *", {**sized, **entries})

    def _list(self, kind: str, of: Sequence[tuple[int, Any]], **others: object) -> Any:
        """Return a list structure: types, each with a pointer to an object of that type."""
        types, at = self._new("int[]", [x for x, _ in of]), self._new("void *[]", [x for _, x in of])
        return self.one(kind, count=len(of), types=types, at=at, **others)[0]

    def buffers(self, arrays: Sequence[Array]) -> Any:
        """Return each array as a buffer."""
        buffers = []
        for x in arrays:
            kind, data = _TYPES[x.dtype.name], _FFI.cast("void *", x.ctypes.data)
            dims = self._new("int64_t[]", x.shape)
            buffer = self.one("struct buffer", type=kind, data=data, rank=x.ndim, dims=dims)
            buffers.append((kind, buffer))
        return self._list("struct buffers", buffers)

    def attributes(self, numbers: Sequence[int]) -> Any:
        """Return numbers as attributes of 32 bits."""
        scalars = [self.one("struct scalar", type=_INT32, value=self._new("int32_t *", x)) for x in numbers]
        names = self._new("void *[]", len(scalars))
        of = [(_SCALAR_ATTRIBUTE, x) for x in scalars]
        return self._list("struct attributes", of, names=names)
