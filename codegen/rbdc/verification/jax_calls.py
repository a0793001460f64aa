"""Calls of the handlers for XLA as XLA makes them, without JAX: its structures, filled by hand."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from ctypes import POINTER, byref, c_char_p, c_int, c_int32, c_int64, c_size_t, c_uint32, c_void_p, pointer
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rbdc.errors import VerificationError
from rbdc.functions.declarations import FunctionDeclaration

Array = NDArray[np.floating[Any]]

_SCALAR_ATTRIBUTE, _INT32, _METADATA, _EXECUTE = 3, 4, 1, 3
_TYPES = {"float64": 12, "float32": 11}
_VERSION = (0, 1)


class _Version(ctypes.Structure):
    _fields_ = [*(("size", c_size_t), ("extensions", c_void_p)), *(("major", c_int), ("minor", c_int))]


class _Metadata(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("version", _Version), ("traits", c_uint32)]


class _Extension(ctypes.Structure):
    _fields_ = [*(("size", c_size_t), ("type", c_int), ("next", c_void_p)), ("metadata", POINTER(_Metadata))]


class _ErrorArguments(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("extensions", c_void_p), ("message", c_char_p), ("code", c_int)]


_CREATE = ctypes.CFUNCTYPE(c_void_p, POINTER(_ErrorArguments))


class _Api(ctypes.Structure):
    _fields_ = [
        *(("size", c_size_t), ("extensions", c_void_p), ("version", _Version)),
        *(("internal", c_void_p), ("error_create", _CREATE)),
    ]


class _Buffer(ctypes.Structure):
    _fields_ = [
        *(("size", c_size_t), ("extensions", c_void_p), ("type", c_int)),
        *(("data", c_void_p), ("rank", c_int64), ("dims", POINTER(c_int64))),
    ]


class _Buffers(ctypes.Structure):
    _fields_ = [
        *(("size", c_size_t), ("extensions", c_void_p), ("count", c_int64)),
        *(("types", POINTER(c_int)), ("at", POINTER(c_void_p))),
    ]


class _Scalar(ctypes.Structure):
    _fields_ = [("type", c_int), ("value", c_void_p)]


class _Attributes(ctypes.Structure):
    _fields_ = [
        *(("size", c_size_t), ("extensions", c_void_p), ("count", c_int64)),
        *(("types", POINTER(c_int)), ("names", POINTER(c_void_p)), ("at", POINTER(c_void_p))),
    ]


class _Frame(ctypes.Structure):
    _fields_ = [
        *(("size", c_size_t), ("extensions", c_void_p), ("api", POINTER(_Api)), ("context", c_void_p)),
        *(("stage", c_int), ("arguments", _Buffers), ("results", _Buffers), ("attributes", _Attributes)),
    ]


def answer(
    library: ctypes.CDLL,
    symbol: str,
    declaration: FunctionDeclaration,
    arrays: Sequence[Array | None],
    extra: tuple[int, ...],
) -> list[Array]:
    """The outputs, (states, *shape) each, of the handler `symbol`. Raises VerificationError where it refuses
    the call, or does not say its version.
    """
    handler = library[symbol]
    handler.restype, handler.argtypes = c_void_p, [POINTER(_Frame)]
    _check_version(handler, symbol)
    given = [np.ascontiguousarray(x) for x in arrays if x is not None]
    results = [np.full((len(given[0]), *p.shape), np.nan, given[0].dtype) for p in declaration.outputs]
    refusals: list[str] = []

    def create(arguments: Any) -> int:
        refusals.append(arguments.contents.message.decode(errors="replace"))
        return 1

    api = _Api(ctypes.sizeof(_Api), None, _Version(), None, _CREATE(create))
    kept: list[object] = []  # what the structures point to
    frame = _Frame(ctypes.sizeof(_Frame), None, pointer(api), None, _EXECUTE)
    frame.arguments, frame.results = _buffers(given, kept), _buffers(results, kept)
    frame.attributes = _attributes(extra, kept)
    if handler(byref(frame)) is not None or refusals:
        raise VerificationError(f"{symbol} refuses a call of XLA: {''.join(refusals)}")
    del kept
    return results


def _check_version(handler: Any, symbol: str) -> None:
    metadata = _Metadata(ctypes.sizeof(_Metadata))
    extension = _Extension(ctypes.sizeof(_Extension), _METADATA, None, pointer(metadata))
    frame = _Frame(ctypes.sizeof(_Frame), ctypes.addressof(extension))
    refused = handler(byref(frame))
    said = (metadata.version.major, metadata.version.minor)
    if refused is not None or said != _VERSION:
        raise VerificationError(f"{symbol} says that it is for version {said} of XLA's interface")


def _buffers(arrays: Sequence[Array], kept: list[object]) -> _Buffers:
    """Each array as a buffer."""
    count = len(arrays)
    dims = [(c_int64 * x.ndim)(*x.shape) for x in arrays]
    buffers = [
        _Buffer(ctypes.sizeof(_Buffer), None, _TYPES[x.dtype.name], x.ctypes.data, x.ndim, sizes)
        for x, sizes in zip(arrays, dims, strict=True)
    ]
    types, at = (c_int * count)(), (c_void_p * count)(*map(ctypes.addressof, buffers))
    kept += [dims, buffers, types, at]
    return _Buffers(ctypes.sizeof(_Buffers), None, count, types, at)


def _attributes(extra: tuple[int, ...], kept: list[object]) -> _Attributes:
    """Numbers as attributes of 32 bits."""
    count, numbers = len(extra), [c_int32(x) for x in extra]
    scalars = [_Scalar(_INT32, ctypes.addressof(x)) for x in numbers]
    types, names = (c_int * count)(*[_SCALAR_ATTRIBUTE] * count), (c_void_p * count)()
    at = (c_void_p * count)(*map(ctypes.addressof, scalars))
    kept += [numbers, scalars, types, names, at]
    return _Attributes(ctypes.sizeof(_Attributes), None, count, types, names, at)
