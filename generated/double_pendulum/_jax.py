"""The functions of a module for JAX, with derivatives from the module's own functions. It is copied into each
generated package and needs JAX, and the handlers of the target `jax`.

A function is a call of XLA's foreign functions under `jax.custom_jvp`: its rule contracts the matrices of
derivatives with the directions, which JAX transposes for reverse mode. Derivatives of these matrices come
from the functions of second derivatives. Configurations are normalised in JAX's own operations, before.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from ._differential import Functions, by_output, changed, weighted

jax: Any = import_module("jax")  # without types: checking this needs no JAX
jnp: Any = jax.numpy
MODES = ("jvp", "vjp")
_Call = Callable[..., tuple[Any, ...]]


class JaxFunctions(Functions):
    """The functions of a module, as attributes: of `jax.Array`s with leading batch dimensions.

    mode: "jvp" differentiates forward and in reverse, "vjp" only in reverse and faster.
    """

    framework = "jax"

    def __init__(self, module: Any) -> None:
        super().__init__(module, lambda arrays: jnp.concatenate(arrays, axis=-1))
        self._library: ctypes.CDLL | None = None
        self._calls: dict[tuple[Any, ...], _Call] = {}

    def _made(self, name: str) -> Callable[..., Any]:
        self._register(name)
        compiled: dict[tuple[Any, ...], Callable[..., Any]] = {}

        def function(*arguments: Any, mode: str = "jvp", **named: Any) -> Any:
            if mode not in MODES:
                raise ValueError(f"{name}: mode: {mode!r} is neither 'jvp' nor 'vjp'")
            arrays, place, less = self._given(name, mode, arguments, named)
            if (mode, place) not in compiled:
                compiled[mode, place] = jax.jit(lambda *arrays: self._evaluated(name, place, mode, arrays))
            results = compiled[mode, place](*arrays)
            return results if less is None else results - less

        return function

    def _evaluated(self, name: str, place: tuple[int, ...], mode: str, arrays: Sequence[Any]) -> Any:
        batches = self._batch(name, [x.shape for x in arrays])
        batch = np.broadcast_shapes(*batches)
        inputs = self._entry(name).inputs
        normal = [
            self._chart.unit(x) if finite else x for x, (_, _, _, finite) in zip(arrays, inputs, strict=False)
        ]
        wide = [jnp.broadcast_to(x, batch + spec[1]) for x, spec in zip(normal, inputs, strict=False)]
        results = self._call(name, place, mode)(*wide)
        return results[0] if len(results) == 1 else results

    def _converted(self, name: str, argument: str, x: Any) -> Any:
        array, own = x if isinstance(x, jax.Array) else jnp.asarray(x), self._module.dtype
        if array.dtype.kind in "iu":
            array = array.astype(own)
        if array.dtype != own:
            self._refuse_dtype(name, argument, str(array.dtype), self._remedy(array))
        return array

    def _remedy(self, array: Any) -> str:
        """How an array of another type becomes one that the module takes."""
        own = self._module.dtype
        if own == np.float64 and not jax.config.jax_enable_x64:
            return 'jax.config.update("jax_enable_x64", True), or build with --dtype float32'
        other = f", or build with --dtype {array.dtype}" if str(array.dtype) in ("float64", "float32") else ""
        return f'give x.astype("{own}"){other}'

    def _register(self, name: str) -> None:
        """Make a function known to JAX. Raises AttributeError where the package has no library for it."""
        folder, module = Path(self._module.__file__).absolute().parent, self._module.name
        file = f"lib{module}_jax.so"
        if not (folder / file).is_file():
            raise AttributeError(f"{module}.jax was not built; build with --targets c,batch,jax")
        if self._library is None:
            # The linker takes a path that it knows for the same library: this is spelled as the extension's.
            self._library = ctypes.CDLL(f"{self._module._native.__file__.rpartition('/')[0]}/{file}")
        handler = jax.ffi.pycapsule(getattr(self._library, f"{module}_jax_{name}"))
        jax.ffi.register_ffi_target(self._target(name), handler, platform="cpu")

    def _target(self, name: str) -> str:
        return f"{self._module.__name__}.{name}"

    def _values(self, name: str, place: tuple[int, ...], arrays: Sequence[Any]) -> tuple[Any, ...]:
        """The results of the C, of arrays with the same batch dimensions."""
        entry = self._entry(name)
        batch = arrays[0].shape[: arrays[0].ndim - len(entry.inputs[0][1])]
        types = [jax.ShapeDtypeStruct(batch + shape, self._module.dtype) for _, shape in entry.outputs]
        attributes = {key: np.int32(value) for key, value in zip(("frame", "reference"), place, strict=False)}
        call = jax.ffi.ffi_call(self._target(name), types, vmap_method="broadcast_all")
        return tuple(call(*arrays, **attributes))

    def _call(self, name: str, place: tuple[int, ...], mode: str = "jvp") -> _Call:
        """The function with its derivatives, of unit configurations and arrays with the same batch."""
        key = (name, place, mode)
        if key not in self._calls:
            getattr(self, name)  # which makes it known to JAX
            made = self._forward if mode == "jvp" else self._reverse
            self._calls[key] = made(name, place)
        return self._calls[key]

    def _forward(self, name: str, place: tuple[int, ...]) -> _Call:
        call: Any = jax.custom_jvp(lambda *arrays: self._values(name, place, arrays))

        def rule(primals: Any, tangents: Any) -> tuple[Any, Any]:
            along, values = self._directions(name, primals, tangents), call(*primals)
            if (known := self._known.of(name)) is not None:
                change = self._along(name, place, primals, along)
                if known.configuration:
                    change = [self._chart.change(values[0], change[0])]
            elif (twice := self._known.second(name)) is not None:
                change = self._along_twice(name, twice, primals, along)
            elif products := self._known.rows(name):
                change = self._along_rows(name, products, primals, along)
            else:
                self._known.refuse(name)
            return values, tuple(change)

        call.defjvp(rule, symbolic_zeros=True)
        made: _Call = call
        return made

    def _directions(self, name: str, primals: Any, tangents: Any) -> list[Any]:
        """Tangent vectors; None for those that are zero."""
        along: list[Any] = []
        inputs = self._entry(name).inputs
        for x, dx, (argument, _, optional, finite) in zip(primals, tangents, inputs, strict=False):
            if isinstance(dx, jax.custom_derivatives.SymbolicZero):
                along.append(None)
            elif optional:
                self._known.refuse_input(name, argument)
            else:
                along.append(self._chart.velocity(x, dx) if finite else dx)
        return along

    def _arranged(self, name: str, other: str, arrays: Sequence[Any], **more: Any) -> list[Any]:
        """The arguments of another function: those of this one, and zero for what it does not take."""
        own = dict(zip((spec[0] for spec in self._entry(name).inputs), arrays, strict=False)) | more
        batch = arrays[0].shape[:-1]
        made = []
        for argument, shape, optional, _ in self._entry(other).inputs:
            if argument in own:
                made.append(own[argument])
            elif not optional:
                made.append(jnp.zeros(batch + shape, self._module.dtype))
        return made

    def _matrices(self, name: str, place: tuple[int, ...], arrays: Sequence[Any]) -> tuple[Any, ...]:
        """The derivatives of a function by its inputs."""
        known = self._known.of(name)
        if known is None:
            self._known.refuse(name)
        return self._call(known.first, place)(*self._arranged(name, known.first, arrays))

    def _along(self, name: str, place: tuple[int, ...], primals: Any, along: Sequence[Any]) -> list[Any]:
        """The change of each result."""
        entry, rows = self._entry(name), self._by_output(name, place, primals)
        for dx, (argument, *_) in list(zip(along, entry.inputs, strict=False))[len(rows[0]) :]:
            if dx is not None:
                self._known.refuse_input(name, argument)
        made = []
        for matrices, own in zip(rows, self._differentiated(name), strict=True):
            wanted = [(J, dx) for J, dx in zip(matrices, along, strict=False) if dx is not None]
            nothing = jnp.zeros(primals[0].shape[:-1] + own, self._module.dtype)
            made.append(sum((changed(J, dx, own) for J, dx in wanted), nothing))
        return made

    def _by_output(self, name: str, place: tuple[int, ...], arrays: Sequence[Any]) -> list[Sequence[Any]]:
        """The derivatives of each result by the inputs."""
        return by_output(self._matrices(name, place, arrays), len(self._entry(name).outputs))

    def _along_twice(self, first: str, of: tuple[str, Any], primals: Any, along: Sequence[Any]) -> list[Any]:
        """The change of the three matrices of derivatives of inverse or forward dynamics.

        With G and M those of inverse dynamics, F those of forward dynamics: F_q = -F_tau G_q and so on, of
        which the change is -F_tau (dG_q + dM F_q), at the acceleration that forward dynamics gives.
        """
        name, known = of
        dq, dv, da = (
            jnp.zeros(primals[1].shape, self._module.dtype) if dx is None else dx for dx in along[:3]
        )
        if not known.inverse:
            return self._turned(known.second, self._arranged(name, known.second, primals), (dq, dv, da))
        F = self._call(first, ())(*primals)
        third = self._entry(known.second).inputs[2][0]
        at = self._arranged(name, known.second, primals, **{third: self._call(name, ())(*primals)[0]})
        moved = sum((J @ dx[..., None])[..., 0] for J, dx in zip(F, (dq, dv, da), strict=True))
        by_q, by_v, inertia = self._turned(known.second, at, (dq, dv, moved))
        return [-(F[2] @ change) for change in (by_q + inertia @ F[0], by_v + inertia @ F[1], inertia @ F[2])]

    def _along_rows(self, first: str, products: str, primals: Any, along: Sequence[Any]) -> list[Any]:
        """The change of matrices of derivatives, row by row from the derivatives of the products with unit
        weights.
        """
        inputs, batch = self._entry(first).inputs, primals[0].shape[:-1]
        rows = self._entry(first).outputs[0][1][0]

        def each_row(x: Any, shape: tuple[int, ...]) -> Any:
            return jnp.broadcast_to(jnp.expand_dims(x, len(batch)), (*batch, rows, *shape))

        wide = [each_row(x, spec[1]) for x, spec in zip(primals, inputs, strict=True)]
        units = jnp.broadcast_to(jnp.eye(rows, dtype=self._module.dtype), (*batch, rows, rows))
        arguments = self._arranged(first, products, wide, **{self._weights(first, products): units})
        matrices = self._by_output(products, (), arguments)
        names = [spec[0] for spec in self._entry(products).inputs]
        made = []
        for row, (_, own) in zip(matrices, self._entry(products).outputs, strict=True):
            change = jnp.zeros((*batch, rows, *own), self._module.dtype)
            for dx, spec in zip(along, inputs, strict=True):
                if dx is not None:
                    shape = (self._module.nv,) if spec[3] else spec[1]
                    change = change + changed(row[names.index(spec[0])], each_row(dx, shape), own)
            made.append(change)
        return made

    def _turned(self, second: str, arguments: Sequence[Any], along: Sequence[Any]) -> list[Any]:
        """The change of the matrices of derivatives of inverse dynamics."""
        qq, vv, qv, mass = self._call(second, ())(*arguments)
        dq, dv, da = (dx[..., None, :, None] for dx in along)
        by_q = (qq @ dq + qv @ dv)[..., 0] + (jnp.swapaxes(mass, -1, -2) @ da)[..., 0]
        by_v = (jnp.swapaxes(qv, -1, -2) @ dq + vv @ dv)[..., 0]
        return [by_q, by_v, (mass @ dq)[..., 0]]

    def _reverse(self, name: str, place: tuple[int, ...]) -> _Call:
        values = self._call(name, place)
        call: Any = jax.custom_vjp(lambda *arrays: values(*arrays))

        def forward(*primals: Any) -> tuple[Any, Any]:
            for x, (argument, _, optional, _) in zip(primals, self._entry(name).inputs, strict=False):
                if x.perturbed and optional:
                    self._known.refuse_input(name, argument)
            arrays = [x.value for x in primals]
            return values(*arrays), arrays

        def backward(arrays: Any, given: Any) -> tuple[Any, ...]:
            if all(isinstance(g, jax.custom_derivatives.SymbolicZero) for g in given):
                return tuple(jnp.zeros_like(x) for x in arrays)
            zero = jax.custom_derivatives.SymbolicZero
            full = [jnp.zeros(g.shape, g.dtype) if isinstance(g, zero) else g for g in given]
            gradients = self._gradients(name, place, arrays, full)
            inputs = self._entry(name).inputs
            made = [
                self._chart.covector(x, g) if finite else g
                for x, g, (_, _, _, finite) in zip(arrays, gradients, inputs, strict=False)
            ]
            return (*made, *(jnp.zeros_like(x) for x in arrays[len(made) :]))

        call.defvjp(forward, backward, symbolic_zeros=True)
        made: _Call = call
        return made

    def _gradients(
        self, name: str, place: tuple[int, ...], arrays: Sequence[Any], given: Sequence[Any]
    ) -> list[Any]:
        """By each input that derivatives are known of, in the tangent space: of the results times `given`."""
        entry, known = self._entry(name), self._known.of(name)
        required = sum(not spec[2] for spec in entry.inputs)
        products = self._known.weighted(name)
        if known is not None and known.configuration:
            given = [self._chart.direction(self._call(name, place)(*arrays)[0], given[0])]
        if not products:
            made = [
                [weighted(J, g, own, spec[1]) for J, spec in zip(row[:required], entry.inputs, strict=False)]
                for row, g, own in zip(
                    self._by_output(name, place, arrays), given, self._differentiated(name), strict=True
                )
            ]
            return [sum(column) for column in zip(*made, strict=True)]
        arguments = self._arranged(name, products, arrays, **{self._weights(name, products): given[0]})
        found = self._call(products, place)(*arguments)[:required]
        return [
            x if spec[3] else x.reshape(a.shape)
            for x, a, spec in zip(found, arrays, entry.inputs, strict=False)
        ]
