"""The functions of a module for JAX, with derivatives from the module's own functions. This file is copied
into each generated package and needs JAX, and the handlers of the target `jax`.

A function is a foreign function call of XLA inside a `jax.custom_jvp`. The rule contracts the matrices of
derivatives with the directions; JAX transposes it for reverse mode. Derivatives of these matrices come from
the functions of second derivatives. JAX's own operations normalise configurations first.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from ._frameworks import Functions, Place

jax: Any = import_module("jax")  # untyped, so that mypy needs no JAX
jnp: Any = jax.numpy
_Call = Callable[..., tuple[Any, ...]]
_Zero: Any = jax.custom_derivatives.SymbolicZero


class JaxFunctions(Functions):
    """The functions of a module, as attributes. They take `jax.Array`s with leading batch dimensions.

    mode: "jvp" differentiates forward and in reverse; "vjp" only in reverse, and faster.
    """

    framework, modes, operations = "jax", ("jvp", "vjp"), jnp

    def __init__(self, module: Any) -> None:
        super().__init__(module)
        self._library: ctypes.CDLL | None = None
        self._calls: dict[tuple[Any, ...], _Call] = {}
        self._compiled: dict[tuple[Any, ...], _Call] = {}

    def _evaluated(self, name: str, place: Place, arrays: Sequence[Any], mode: str) -> tuple[Any, ...]:
        key = name, place, mode
        if key not in self._compiled:
            self._compiled[key] = jax.jit(lambda *arrays: self._call(*key)(*self._alike(name, arrays)))
        results: tuple[Any, ...] = self._compiled[key](*arrays)
        return results

    def _converted(self, name: str, argument: str, x: Any) -> Any:
        array, own = x if isinstance(x, jax.Array) else jnp.asarray(x), self._module.dtype
        if array.dtype.kind in "iu":
            array = array.astype(own)
        if array.dtype != own:
            self._refuse_dtype(name, argument, str(array.dtype), self._remedy(array))
        return array

    def _remedy(self, array: Any) -> str:
        """Say how to convert an array of another type to one that the module takes."""
        own = self._module.dtype
        if own == np.float64 and not jax.config.jax_enable_x64:
            return 'jax.config.update("jax_enable_x64", True), or build with `dtype="float32"`'
        other = (
            f", or build with `dtype={str(array.dtype)!a}`"
            if str(array.dtype) in ("float64", "float32")
            else ""
        )
        return f'give x.astype("{own}"){other}'

    def _register(self, name: str) -> None:
        module = self._module.name
        if self._library is None:
            # The linker takes a known path for the same library, so the path is spelled as for the extension.
            folder = self._module._native.__file__.rpartition("/")[0]
            self._library = ctypes.CDLL(f"{folder}/lib{module}_jax.so")
        handler = jax.ffi.pycapsule(getattr(self._library, f"{module}_jax_{name}"))
        jax.ffi.register_ffi_target(self._target(name), handler, platform="cpu")

    def _target(self, name: str) -> str:
        return f"{self._module.__name__}.{name}"

    def _values(self, name: str, place: Place, arrays: Sequence[Any]) -> tuple[Any, ...]:
        entry = self._entry(name)
        batch = arrays[0].shape[: arrays[0].ndim - len(entry.inputs[0].shape)]
        types = [jax.ShapeDtypeStruct(batch + shape, self._module.dtype) for _, shape in entry.outputs]
        attributes = {key: np.int32(value) for key, value in zip(("frame", "reference"), place, strict=False)}
        call = jax.ffi.ffi_call(self._target(name), types, vmap_method="broadcast_all")
        return tuple(call(*arrays, **attributes))

    def _results(self, name: str, place: Place, arrays: Sequence[Any], mode: str = "") -> tuple[Any, ...]:
        return self._call(name, place)(*arrays)

    def _zeros(self, like: Any, shape: tuple[int, ...]) -> Any:
        return jnp.zeros(shape, self._module.dtype)

    def _call(self, name: str, place: Place, mode: str = "jvp") -> _Call:
        """Return the function with its derivatives, for unit configurations and arrays with the same
        batch dimensions.
        """
        key = (name, place, mode)
        if key not in self._calls:
            getattr(self, name)  # registers it with JAX
            made = self._forward if mode == "jvp" else self._reverse
            self._calls[key] = made(name, place)
        return self._calls[key]

    def _forward(self, name: str, place: Place) -> Any:
        call: Any = jax.custom_jvp(lambda *arrays: self._values(name, place, arrays))

        def rule(primals: Any, tangents: Any) -> tuple[Any, Any]:
            along = [None if isinstance(dx, _Zero) else dx for dx in tangents]
            return call(*primals), tuple(self._along(name, place, primals, along))

        call.defjvp(rule, symbolic_zeros=True)
        return call

    def _reverse(self, name: str, place: Place) -> Any:
        values = self._call(name, place)
        call: Any = jax.custom_vjp(lambda *arrays: values(*arrays))

        def forward(*primals: Any) -> tuple[Any, Any]:
            for x, spec in zip(primals, self._entry(name).inputs, strict=False):
                if x.perturbed and spec.optional:
                    self._known.refuse_input(name, spec.name)
            arrays = [x.value for x in primals]
            marks = [
                () if x.perturbed else None for x in primals
            ]  # no arrays, so they are known while tracing
            return values(*arrays), (arrays, marks)

        def backward(kept: Any, given: Any) -> tuple[Any, ...]:
            arrays, marks = kept
            if all(isinstance(g, _Zero) for g in given):
                return tuple(jnp.zeros_like(x) for x in arrays)
            full = [jnp.zeros(g.shape, g.dtype) if isinstance(g, _Zero) else g for g in given]
            needed = [mark is not None for mark in marks]
            made = self._needed_gradients(name, place, arrays, full, needed)
            return tuple(jnp.zeros_like(x) if g is None else g for x, g in zip(arrays, made, strict=True))

        call.defvjp(forward, backward, symbolic_zeros=True)
        return call
