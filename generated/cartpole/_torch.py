"""The functions of a module for PyTorch, with derivatives from the module's own functions. This file is
copied into each generated package and needs PyTorch.

A function is an operator of a `torch.library.Library` inside a `torch.autograd.Function`; its tensors share
memory with NumPy's arrays. Its backward pass is a second such Function, which calls the products of weights
and derivatives. If second derivatives were built, the second Function calls the matrices of derivatives
instead, and its backward pass calls the functions of second derivatives. PyTorch's own operations
normalise configurations first.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib import import_module
from inspect import Parameter, Signature
from typing import Any

import numpy as np

from ._frameworks import Functions, Place

torch: Any = import_module("torch")  # untyped, so that mypy needs no PyTorch

_ANY = Signature([Parameter("given", Parameter.VAR_POSITIONAL)])

_here: Any = None
"""The functions of this package. `torch.compile` finds the functions by this name; it would not accept them
from a closure.
"""


class TorchFunctions(Functions):
    """The functions of a module, as attributes. They take tensors on the CPU with leading batch dimensions.

    mode: "vjp" differentiates in reverse; "jvp" also forward, but `torch.compile` rejects its gradients.
    """

    framework, modes, operations = "torch", ("vjp", "jvp"), torch

    def __init__(self, module: Any) -> None:
        super().__init__(module)
        global _here
        _here = self
        self._space = f"rbdc_{re.sub(r'[^A-Za-z0-9]', '_', module.__name__)}"
        self._operators = torch.library.Library(self._space, "DEF")
        self._calls: dict[tuple[str, str], Any] = {}
        self._overloads: dict[str, Any] = {}
        self._dtype = getattr(torch, module.dtype.name)

    def _register(self, name: str) -> None:
        if name in self._overloads:
            return
        self._define(name)
        for mode in self.modes:
            self._calls[name, mode] = self._function(name, mode)
        for other in self._known.needed(name):
            self._register(other)

    def _converted(self, name: str, argument: str, x: Any) -> Any:
        own = self._dtype if isinstance(x, (int, float)) else None  # Python's numbers have no type
        tensor = x if isinstance(x, torch.Tensor) else torch.as_tensor(x, dtype=own)
        if tensor.dtype != self._dtype:
            if tensor.dtype.is_floating_point or tensor.dtype.is_complex:
                self._refuse_dtype(name, argument, str(tensor.dtype), f"give x.to({self._dtype})")
            tensor = tensor.to(self._dtype)
        if not tensor.is_cpu and tensor.device.type != "meta":
            raise TypeError(f"{name}: argument {argument} is on {tensor.device}; give x.cpu()")
        return tensor

    def _define(self, name: str) -> None:
        """Make a function an operator of PyTorch: (tensors, place) -> results."""
        entry = self._entry(name).unchecked()

        def values(tensors: Sequence[Any], place: Sequence[int]) -> list[Any]:
            arrays = [x.numpy(force=x.requires_grad) for x in tensors]
            missing = [None] * (len(entry.inputs) - len(arrays))
            results = entry.call((*arrays, *missing), extra=tuple(place))
            several = results if len(entry.outputs) > 1 else (results,)
            return [torch.from_numpy(np.asarray(result)) for result in several]

        def shapes(tensors: Sequence[Any], place: Sequence[int]) -> list[Any]:
            first = tensors[0]
            batch = first.shape[: first.ndim - len(entry.inputs[0].shape)]
            return [first.new_empty(batch + shape) for _, shape in entry.outputs]

        self._operators.define(f"{name}(Tensor[] tensors, int[] place) -> Tensor[]")
        self._operators.impl(name, values, "CPU")
        torch.library.register_fake(f"{self._space}::{name}", shapes, lib=self._operators)
        self._overloads[name] = getattr(getattr(torch.ops, self._space), name).default

    def _function(self, name: str, mode: str) -> Any:
        """Return the function with its derivatives: (frame, reference, *tensors with the same batch) ->
        results.
        """

        def forward(*given: Any) -> Any:
            return _here._values(name, given)

        # PyTorch asks for the signature at every call: compute it once.
        forward.__signature__ = _ANY  # type: ignore[attr-defined]
        members = {
            "forward": forward,
            "setup_context": _saved_for_both if mode == "jvp" else _saved,
            "backward": lambda context, *gradients: _here._backward(name, context, gradients),
            "vmap": lambda info, places, *given: _here._mapped((name, mode), info.batch_size, places, given),
        }
        if mode == "jvp":
            members["jvp"] = lambda context, *along: tuple(
                _here._along(name, context.place, context.saved_tensors, along[2:])
            )
        static = {key: staticmethod(member) for key, member in members.items()}
        return type(name, (torch.autograd.Function,), static)

    def _values(self, name: str, given: Sequence[Any]) -> tuple[Any, ...]:
        # If nothing is differentiated, `torch.compile` passes its context to a forward of any arguments.
        frame, reference, *tensors = given if isinstance(given[0], int) else given[1:]
        place = [frame, reference] if self._entry(name).framed else []
        return tuple(self._overloads[name](tensors, place))

    def _results(self, name: str, place: Place, arrays: Sequence[Any], mode: str) -> tuple[Any, ...]:
        results: tuple[Any, ...] = self._calls[name, mode].apply(*(place or (0, 0)), *arrays)
        return results

    def _zeros(self, like: Any, shape: tuple[int, ...]) -> Any:
        return like.new_zeros(shape)

    def _recorded(self) -> bool:
        return bool(torch.is_grad_enabled())

    def _backward(self, name: str, context: Any, gradients: Sequence[Any]) -> tuple[Any, ...]:
        needed = context.needs_input_grad[2:]
        made = self._needed_gradients(name, context.place, context.saved_tensors, gradients, needed)
        return (None, None, *made)

    def _mapped(
        self, call: tuple[str, str], size: int, places: Sequence[Any], given: Sequence[Any]
    ) -> tuple[Any, Any]:
        """Call a function with one more dimension in front, as vmap does. `places`: where each tensor has
        that dimension, or None.
        """
        wide = [
            x.movedim(place, 0) if place is not None else x.expand((size, *x.shape))
            for x, place in zip(given[2:], places[2:], strict=True)
        ]
        results = self._calls[call].apply(*given[:2], *wide)
        return results, (0,) * len(results)


def _saved(context: Any, inputs: Any, output: Any) -> None:
    context.place = inputs[:2]
    context.save_for_backward(*inputs[2:])


def _saved_for_both(context: Any, inputs: Any, output: Any) -> None:
    _saved(context, inputs, output)
    context.save_for_forward(*inputs[2:])
