"""The functions of a module for PyTorch, with derivatives from the module's own functions. It is copied into
each generated package and needs PyTorch.

A function is an operator of a `torch.library.Library`, which shares memory with NumPy's arrays, under a
`torch.autograd.Function`. Its backward is a second such Function, of the derivatives: of products with
weights, or, where the functions for second derivatives were built, of the matrices, whose own backward is of
those. Configurations are normalised in PyTorch's own operations, before.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from importlib import import_module
from inspect import Parameter, Signature
from typing import Any

import numpy as np

from ._differential import Functions, by_output, changed, weighted

torch: Any = import_module("torch")  # without types: checking this needs no PyTorch
MODES = ("vjp", "jvp")

_ANY = Signature([Parameter("given", Parameter.VAR_POSITIONAL)])

_here: Any = None
"""The functions of this package: by this name `torch.compile` finds what it would not take from a closure."""


class TorchFunctions(Functions):
    """The functions of a module, as attributes: of tensors on the CPU with leading batch dimensions.

    mode: "vjp" differentiates in reverse, "jvp" also forward, but `torch.compile` refuses its gradients.
    """

    framework = "torch"

    def __init__(self, module: Any) -> None:
        super().__init__(module, lambda tensors: torch.cat(tuple(tensors), -1))
        global _here
        _here = self
        self._space = f"rbdc_{re.sub(r'[^A-Za-z0-9]', '_', module.__name__)}"
        self._operators = torch.library.Library(self._space, "DEF")
        self._calls: dict[tuple[str, str], Any] = {}
        self._overloads: dict[str, Any] = {}
        self._dtype = getattr(torch, module.dtype.name)

    def _made(self, name: str) -> Callable[..., Any]:
        def function(*arguments: Any, mode: str = "vjp", **named: Any) -> Any:
            if mode not in MODES:
                raise ValueError(f"{name}: mode: {mode!r} is neither 'vjp' nor 'jvp'")
            given, place, less = self._given(name, mode, arguments, named)
            inputs = self._entry(name).inputs[: len(given)]
            batches = self._batch(name, [tuple(x.shape) for x in given])
            wide = [self._chart.unit(x) if spec[3] else x for x, spec in zip(given, inputs, strict=True)]
            if any(batch != batches[0] for batch in batches):
                batch = tuple(torch.broadcast_shapes(*batches))
                wide = [x.expand(batch + spec[1]) for x, spec in zip(wide, inputs, strict=True)]
            results = calls[mode].apply(*(place or (0, 0)), *wide)
            if less is not None:
                return results[0] - less
            return results[0] if len(results) == 1 else results

        self._define(name)
        known, twice = self._known.of(name), self._known.second(name)
        others = [known.first, self._known.weighted(name)] if known is not None else []
        forces = self._known.forces(name)
        others += [*([forces.forces] if forces is not None else []), self._known.rows(name)]
        for other in [*others, *([twice[1].second] if twice is not None else [])]:
            if other:
                getattr(self, other)  # which makes it an operator
        calls = {mode: self._function(name, mode) for mode in MODES}
        return function

    def _converted(self, name: str, argument: str, x: Any) -> Any:
        tensor = x if isinstance(x, torch.Tensor) else torch.as_tensor(x)
        if tensor.dtype != self._dtype:
            if tensor.dtype.is_floating_point or tensor.dtype.is_complex:
                self._refuse_dtype(name, argument, str(tensor.dtype), f"give x.to({self._dtype})")
            tensor = tensor.to(self._dtype)
        if not tensor.is_cpu and tensor.device.type != "meta":
            raise TypeError(f"{name}: argument {argument} is on {tensor.device}; give x.cpu()")
        return tensor

    def _define(self, name: str) -> None:
        """Make a function an operator of PyTorch: (tensors, place) -> results."""
        entry = self._entry(name)

        def values(tensors: Sequence[Any], place: Sequence[int]) -> list[Any]:
            arrays = [x.numpy(force=x.requires_grad) for x in tensors]
            missing = [None] * (len(entry.inputs) - len(arrays))
            results = entry.call((*arrays, *missing), extra=tuple(place))
            several = results if len(entry.outputs) > 1 else (results,)
            return [torch.from_numpy(np.asarray(result)) for result in several]

        def shapes(tensors: Sequence[Any], place: Sequence[int]) -> list[Any]:
            first = tensors[0]
            batch = first.shape[: first.ndim - len(entry.inputs[0][1])]
            return [first.new_empty(batch + shape) for _, shape in entry.outputs]

        self._operators.define(f"{name}(Tensor[] tensors, int[] place) -> Tensor[]")
        self._operators.impl(name, values, "CPU")
        torch.library.register_fake(f"{self._space}::{name}", shapes, lib=self._operators)
        self._overloads[name] = getattr(getattr(torch.ops, self._space), name).default

    def _function(self, name: str, mode: str) -> Any:
        """The function with its derivatives: (frame, reference, *tensors with the same batch) -> results."""

        def forward(*given: Any) -> Any:
            return _here._values(name, given)

        # PyTorch asks for the signature at every call; this way it is at hand.
        forward.__signature__ = _ANY  # type: ignore[attr-defined]
        members = {
            "forward": forward,
            "setup_context": _saved_for_both if mode == "jvp" else _saved,
            "backward": lambda context, *gradients: _here._backward(name, context, gradients),
            "vmap": lambda info, places, *given: _here._mapped((name, mode), info.batch_size, places, given),
        }
        if mode == "jvp":
            members["jvp"] = lambda context, *along: _here._along(name, context, along)
        static = {key: staticmethod(member) for key, member in members.items()}
        self._calls[name, mode] = type(name, (torch.autograd.Function,), static)
        return self._calls[name, mode]

    def _values(self, name: str, given: Sequence[Any]) -> tuple[Any, ...]:
        # Where nothing is differentiated, `torch.compile` passes its context to a forward of any arguments.
        frame, reference, *tensors = given if isinstance(given[0], int) else given[1:]
        place = [frame, reference] if self._entry(name).framed else []
        return tuple(self._overloads[name](tensors, place))

    def _apply(self, name: str, mode: str, given: Sequence[Any]) -> tuple[Any, ...]:
        """Another function of the module."""
        results: tuple[Any, ...] = self._calls[name, mode].apply(*given)
        return results

    def _arranged(self, name: str, other: str, given: Sequence[Any], **more: Any) -> list[Any]:
        """The arguments of another function: those of this one, and zero for what it does not take."""
        frame, reference, *tensors = given
        own = dict(zip((spec[0] for spec in self._entry(name).inputs), tensors, strict=False)) | more
        batch = tensors[0].shape[:-1]
        made = [frame, reference]
        for argument, shape, optional, _ in self._entry(other).inputs:
            if argument in own:
                made.append(own[argument])
            elif not optional:
                made.append(tensors[0].new_zeros(batch + shape))
        return made

    def _matrices(self, name: str, mode: str, given: Sequence[Any]) -> tuple[Any, ...]:
        """The derivatives of a function by its inputs."""
        known = self._known.of(name)
        if known is None:
            self._known.refuse(name)
        return self._apply(known.first, mode, self._arranged(name, known.first, given))

    def _backward(self, name: str, context: Any, gradients: Sequence[Any]) -> tuple[Any, ...]:
        given = (*context.place, *context.saved_tensors)
        inputs, tensors = self._entry(name).inputs, context.saved_tensors
        made = self._gradients(name, given, gradients)
        for (argument, *_), wanted in list(zip(inputs, context.needs_input_grad[2:], strict=False))[
            len(made) :
        ]:
            if wanted:
                self._known.refuse_input(name, argument)
        made = [
            self._chart.covector(x, g) if spec[3] else g
            for x, g, spec in zip(tensors, made, inputs, strict=False)
        ]
        return (None, None, *made, *[None] * (len(tensors) - len(made)))

    def _gradients(self, name: str, given: Sequence[Any], gradients: Sequence[Any]) -> list[Any]:
        """By each input that derivatives are known of, in the tangent space."""
        entry, known = self._entry(name), self._known.of(name)
        required = sum(not spec[2] for spec in entry.inputs)
        twice = self._known.second(name)
        if known is None and twice is not None:
            return self._gradients_twice(name, twice, given, gradients)
        if known is None and (of := self._known.rows(name)):
            return self._gradients_by_rows(name, of, given, gradients)
        products = self._known.weighted(name)
        if known is not None and known.configuration and gradients[0] is not None:
            gradients = [self._chart.direction(self._apply(name, "vjp", given)[0], gradients[0])]
        if not products or (torch.is_grad_enabled() and known and self._known.second(known.first)):
            rows = by_output(self._matrices(name, "vjp", given), len(entry.outputs))
            made = [
                [weighted(J, g, own, spec[1]) for J, spec in zip(row[:required], entry.inputs, strict=False)]
                for row, g, own in zip(rows, gradients, self._differentiated(name), strict=True)
                if g is not None
            ]
            return [sum(column) for column in zip(*made, strict=True)]
        arguments = self._arranged(name, products, given, **{self._weights(name, products): gradients[0]})
        found = self._apply(products, "vjp", arguments)[:required]
        inputs = zip(found, given[2:], entry.inputs, strict=False)
        return [x if spec[3] else x.reshape(a.shape) for x, a, spec in inputs]

    def _gradients_twice(
        self, first: str, of: tuple[str, Any], given: Sequence[Any], gradients: Sequence[Any]
    ) -> list[Any]:
        """By q, v and a or tau, of the three matrices of derivatives of inverse or forward dynamics with
        weights.

        With G and M those of inverse dynamics, F those of forward dynamics: dF = -F_tau (dG + dM F), at the
        acceleration that forward dynamics gives.
        """
        name, known = of
        more: dict[str, Any] = {}
        if known.inverse:
            F = self._apply(first, "vjp", given)
            turned = [-(F[2].mT @ g) for g in gradients]
            gradients = [*turned[:2], sum(g @ f.mT for g, f in zip(turned, F, strict=True))]
            more[self._entry(known.second).inputs[2][0]] = self._apply(name, "vjp", given)[0]
        second = self._apply(known.second, "vjp", self._arranged(first, known.second, given, **more))
        by_q, by_v, inertia = gradients
        qq, vv, qv, mass = second
        sums = "...ij,...ijk->...k"
        along_q = torch.einsum(sums, by_q, qq) + torch.einsum(sums, by_v, qv.mT)
        along_q = along_q + torch.einsum(sums, inertia, mass)
        along_v = torch.einsum(sums, by_q, qv) + torch.einsum(sums, by_v, vv)
        along_a = torch.einsum(sums, by_q, mass.mT)
        if not known.inverse:
            return [along_q, along_v, along_a]
        moved = [(along_a[..., None, :] @ f)[..., 0, :] for f in F]
        return [along_q + moved[0], along_v + moved[1], moved[2]]

    def _gradients_by_rows(
        self, first: str, products: str, given: Sequence[Any], gradients: Sequence[Any]
    ) -> list[Any]:
        """By each input, of matrices of derivatives with weights: row by row from the derivatives of the
        products with unit weights.
        """
        place, tensors, inputs = given[:2], given[2:], self._entry(first).inputs
        batch, rows = tensors[0].shape[:-1], self._entry(first).outputs[0][1][0]
        wide = [
            x.unsqueeze(len(batch)).expand(*batch, rows, *spec[1])
            for x, spec in zip(tensors, inputs, strict=True)
        ]
        units = torch.eye(rows, dtype=self._dtype).expand(*batch, rows, rows)
        weights = {self._weights(first, products): units}
        matrices = self._matrices(
            products, "vjp", self._arranged(first, products, (*place, *wide), **weights)
        )
        by = by_output(matrices, len(self._entry(products).outputs))
        names = [spec[0] for spec in self._entry(products).inputs]
        made = []
        for x, spec in zip(tensors, inputs, strict=True):
            terms = [
                torch.einsum("...is,...isk->...k", g, row[names.index(spec[0])])
                for g, row in zip(gradients, by, strict=True)
                if g is not None
            ]
            made.append(sum(terms) if spec[3] else sum(terms).reshape(x.shape))
        return made

    def _along(self, name: str, context: Any, along: Sequence[Any]) -> tuple[Any, ...]:
        """The change of the result along tangents, forward."""
        entry, tensors = self._entry(name), context.saved_tensors
        rows = by_output(self._matrices(name, "jvp", (*context.place, *tensors)), len(entry.outputs))
        shapes = self._differentiated(name)
        changes = [tensors[0].new_zeros(tensors[0].shape[:-1] + own) for own in shapes]
        for k, (x, dx, spec) in enumerate(zip(tensors, along[2:], entry.inputs, strict=False)):
            if dx is None:
                continue
            if k >= len(rows[0]):
                self._known.refuse_input(name, spec[0])
            step = self._chart.velocity(x, dx) if spec[3] else dx
            for place, (row, own) in enumerate(zip(rows, shapes, strict=True)):
                changes[place] = changes[place] + changed(row[k], step, own)
        known = self._known.of(name)
        if known is not None and known.configuration:
            given = (*context.place, *tensors)
            changes = [self._chart.change(self._apply(name, "jvp", given)[0], changes[0])]
        return tuple(changes)

    def _mapped(
        self, call: tuple[str, str], size: int, places: Sequence[Any], given: Sequence[Any]
    ) -> tuple[Any, Any]:
        """A function over one more dimension, the first: `places` says where tensors have it, if they do."""
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
