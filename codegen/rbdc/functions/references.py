"""The papers' methods for a function, which its record names: for verification and comparisons, never for
generating.

A method is called with a model as read and the function's inputs in their order, each a list of scalars;
external forces, a list of `Force` in the bodies' frames, and `trace` go by name. Those of functions of a
frame take the inputs, the frame's number and "LOCAL", "WORLD" or "LOCAL_WORLD_ALIGNED". The result is a
vector, a matrix by rows, or a tuple of these, as the function's outputs.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any, TypeAlias

from rbdc.errors import UnsupportedError
from rbdc.functions.declarations import Kind
from rbdc.functions.record import Function

Method: TypeAlias = Callable[..., Any]

HOME = "rbdc.algorithms.reference"
"""The package of modules that a record names without a dot, or with a leading one: ".derivatives.idsva"."""


_DIFFERENTIATED = ".derivatives.dual_numbers:differentiated"


def references_of(function: Function) -> dict[str, Method]:
    """The papers' methods by name, the last of which decides."""
    bound = _loaded("couplings:bound")
    found = {method: bound(_loaded(place)) for method, place in function.references.items()}
    if not function.differentiated:
        return found
    required = [p for p in function.declaration.required if p.kind is not Kind.PARAMETERS]
    forces = next((p.name for p in required if p.kind is Kind.WRENCHES), "")
    kinds = [p.configuration for p in required if p.kind is not Kind.WRENCHES]
    differentiated = partial(_loaded(_DIFFERENTIATED), configurations=kinds, forces=forces)
    return {method: partial(differentiated, method=own) for method, own in found.items()}


def reference_of(function: Function) -> Method:
    """The method that decides. Raises UnsupportedError where the record names none."""
    if not function.references:
        raise UnsupportedError(
            f"{function.name}: its record names no reference; give it one, or build without verification"
        )
    return list(references_of(function).values())[-1]


def _loaded(place: str) -> Method:
    module, name = place.split(":")
    method: Method = getattr(import_module(module if "." in module else f".{module}", HOME), name)
    return method
