"""Functions of a module for frameworks that differentiate (JAX, PyTorch): their arguments, and derivatives by
the module's own functions, forward and in reverse. This file is copied into each generated package and needs
NumPy alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from ._differential import PARAMETERS, Chart, Differential, Known, Part, Solution, changed, weighted

Place = tuple[int, ...]
"""Indices of the frame and of the reference; ignored for a function without a frame."""


class Functions:
    """Base class: the functions of a module for a framework, as attributes."""

    framework = ""
    modes: tuple[str, ...] = ()
    """Modes of differentiation; the first is the default."""
    operations: Any = None
    """The framework's module of array functions."""

    def __init__(self, module: Any) -> None:
        self._module = module
        self._known = Known(
            {name: Differential(*row) for name, row in module._DIFFERENTIALS.items()}, module.functions
        )
        self._chart = Chart([Part(*row) for row in module._CHART], self.operations)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._module.functions:
            getattr(self._module, name)  # raises, and says how to build the function
            raise AttributeError(f"{self._module.name}.{self.framework} has no function {name!r}")
        self._entry(name).refuse_pair(f"{self._module.name}.{self.framework}")
        made = self._made(name)
        setattr(self, name, made)
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return getattr, (self._module, self.framework)

    def __dir__(self) -> list[str]:
        return sorted(self._module.functions)

    def __repr__(self) -> str:
        return f"<{self._module.name}.{self.framework}: {', '.join(self._module.functions)}>"

    def _made(self, name: str) -> Callable[..., Any]:
        """Return the function of a name. It is a method, so that it pickles as its name and the module's
        handle.
        """
        self._register(name)

        def function(self: Functions, /, *arguments: Any, mode: str = self.modes[0], **named: Any) -> Any:
            try:
                return self._called(name, mode, arguments, named)
            except (TypeError, NotImplementedError) as error:
                if "jvp" not in str(error) or name in str(error):
                    raise
                remedy = 'give mode="jvp", and take the second of two derivatives in reverse'
                raise type(error)(f"{name} is not differentiated forward here: {remedy}") from error

        function.__name__, function.__doc__ = name, getattr(self._module, name).__doc__
        made: Callable[..., Any] = function.__get__(self)
        return made

    def _called(self, name: str, mode: str, positional: Sequence[Any], named: Mapping[str, Any]) -> Any:
        if mode not in self.modes:
            raise ValueError(f"{name}: mode: {mode!r} is neither {' nor '.join(map(repr, self.modes))}")
        arrays, place, less = self._given(name, mode, positional, named)
        results = self._evaluated(name, place, arrays, mode)
        if less is not None:
            return results[0] - less
        return results[0] if len(results) == 1 else results

    def _register(self, name: str) -> None:
        """Register a function with the framework."""
        raise NotImplementedError

    def _evaluated(self, name: str, place: Place, arrays: Sequence[Any], mode: str) -> tuple[Any, ...]:
        """Return the results of a function, differentiable by the framework in this mode."""
        return self._results(name, place, self._alike(name, arrays), mode)

    def _converted(self, name: str, argument: str, x: Any) -> Any:
        """Convert an argument to an array of the framework."""
        raise NotImplementedError

    def _results(self, name: str, place: Place, arrays: Sequence[Any], mode: str) -> tuple[Any, ...]:
        """Return the results for unit configurations and arrays with the same batch dimensions."""
        raise NotImplementedError

    def _zeros(self, like: Any, shape: tuple[int, ...]) -> Any:
        """Return zeros of a shape, for arithmetic with the array `like`."""
        raise NotImplementedError

    def _recorded(self) -> bool:
        """Return whether the framework may differentiate the present computation."""
        return False

    def _given(
        self, name: str, mode: str, positional: Sequence[Any], named: Mapping[str, Any]
    ) -> tuple[list[Any], Place, Any]:
        """Return the arrays of a call, its frame and reference, and the array to subtract from its result, or
        None. External forces enter as torques if the derivatives of these torques were built.
        """
        bound, place = self._bound(name, positional, named)
        inputs = self._entry(name).inputs
        arrays = [self._converted(name, spec.name, x) for x, spec in zip(bound, inputs, strict=False)]
        forces, through = self._known.forces(name), self._known[name].through
        if not forces or len(arrays) <= sum(not spec.optional for spec in inputs):
            return arrays, place, None
        names = [spec.name for spec in inputs]  # external forces are the first optional input
        at = names.index(self._entry(forces).inputs[-1].name)
        torque = getattr(self, forces)(arrays[0], arrays[at], mode=mode)
        absent = self._converted(name, names[at], self._or_default(inputs[at], None))
        arrays[at:] = [absent, *arrays[at + 1 :]] if arrays[at + 1 :] else []
        if through not in names:
            return arrays, place, torque
        k = names.index(through)
        arrays[k] = arrays[k] + torque
        return arrays, place, None

    def _along(self, name: str, place: Place, arrays: Sequence[Any], along: Sequence[Any]) -> list[Any]:
        """Return the change of each result along changes of the inputs' entries; None stands for no
        change.
        """
        names = [spec.name for spec in self._entry(name).inputs]
        by_parameters = along[names.index(PARAMETERS)] if PARAMETERS in names else None
        if by_parameters is None:
            return self._along_motion(name, place, arrays, along)
        J, batch = self._by_parameters(name, arrays), arrays[0].shape[:-1]
        change = changed(J, by_parameters.reshape((*batch, J.shape[-1])), J.shape[len(batch) : -1])
        others = [None if own == PARAMETERS else dx for own, dx in zip(names, along, strict=False)]
        if any(dx is not None for dx in others):
            change = change + self._along_motion(name, place, arrays, others)[0]
        return [change]

    def _along_motion(
        self, name: str, place: Place, arrays: Sequence[Any], along: Sequence[Any]
    ) -> list[Any]:
        """Return the change of each result along changes of other inputs than inertial parameters."""
        rows, steps = self._jacobians(name, place, arrays, "jvp"), []
        for k, (x, dx, spec) in enumerate(zip(arrays, along, self._entry(name).inputs, strict=False)):
            if dx is not None and k >= len(rows[0]):
                self._known.refuse_input(name, spec.name)
            steps.append(self._chart.velocity(x, dx) if spec.configuration and dx is not None else dx)
        if (solution := self._solution(name, place, arrays, "jvp")) is not None:
            steps = solution.steps(steps)
        changes, batch = [], arrays[0].shape[:-1]
        for row, own in zip(rows, self._differentiated(name), strict=True):
            pairs = [(J, dx) for J, dx in zip(row, steps, strict=False) if J is not None and dx is not None]
            changes.append(self._sum([changed(J, dx, own) for J, dx in pairs], arrays[0], batch + own))
        if solution is not None:
            return solution.changes(changes)
        if self._known[name].configuration:
            changes[0] = self._chart.change(self._results(name, place, arrays, "jvp")[0], changes[0])
        return changes

    def _gradients(self, name: str, place: Place, arrays: Sequence[Any], weights: Sequence[Any]) -> list[Any]:
        """Return the gradients of the weighted results by the entries of each required input."""
        known = self._known[name]
        inputs = self._motion(name)
        if known.configuration:
            first = self._chart.direction(self._results(name, place, arrays, "vjp")[0], weights[0])
            weights = [first, *weights[1:]]
        if (products := known.weighted) and not (self._recorded() and self._known.second(known.first)):
            more = dict(zip(self._weights(name, products), weights, strict=True))
            given = self._arranged(name, products, arrays, **more)
            found: Sequence[Any] = self._results(products, place, given, "vjp")
        else:
            found = self._weighted_sums(name, place, arrays, weights)
        return [
            self._chart.covector(x, g) if spec.configuration else g.reshape(x.shape)
            for x, g, spec in zip(arrays, found, inputs, strict=False)
        ]

    def _needed_gradients(
        self, name: str, place: Place, arrays: Sequence[Any], weights: Sequence[Any], needed: Sequence[bool]
    ) -> list[Any]:
        """Return the gradients of the weighted results by the entries of the inputs that need one, None for
        others.
        """
        specs = self._entry(name).inputs[: len(arrays)]
        by_motion = any(needed[: len(self._motion(name))])
        made = self._gradients(name, place, arrays, weights) if by_motion else []
        found: list[Any] = []
        for k, (spec, need) in enumerate(zip(specs, needed, strict=True)):
            if need and spec.name == PARAMETERS:
                found.append(self._parameter_gradient(name, arrays, weights[0]).reshape(arrays[k].shape))
            elif need and k >= len(made):
                self._known.refuse_input(name, spec.name)
            else:
                found.append(made[k] if need else None)
        return found

    def _motion(self, name: str) -> list[Any]:
        """Return the required inputs but for the run-time inertial parameters, which come last."""
        return [spec for spec in self._entry(name).inputs if not spec.optional and spec.name != PARAMETERS]

    def _parameter_gradient(self, name: str, arrays: Sequence[Any], weights: Any) -> Any:
        """Return the gradient of the weighted result by the run-time inertial parameters (..., 10 * rows)."""
        products = self._known[name].parameters or self._known.refuse_input(name, PARAMETERS)
        (own,) = self._weights(name, products)
        given = self._arranged(name, products, arrays, **{own: weights})
        return self._rows_of(self._results(products, (), given, "vjp")[0])

    def _by_parameters(self, name: str, arrays: Sequence[Any]) -> Any:
        """Return the derivatives by the run-time inertial parameters (..., nv, 10 * rows)."""
        products = self._known[name].parameters or self._known.refuse_input(name, PARAMETERS)
        given = self._with_unit_weights(name, products, arrays)
        return self._rows_of(self._results(products, (), given, "jvp")[0])

    def _rows_of(self, x: Any) -> Any:
        """Return the entries for the rows of run-time parameters, from the entries for all parameters."""
        starts = self._module._PARAMETER_COLUMNS
        return self.operations.concatenate([x[..., k : k + 10] for k in starts], -1)

    def _weighted_sums(
        self, name: str, place: Place, arrays: Sequence[Any], weights: Sequence[Any]
    ) -> list[Any]:
        """Return the gradients by each required input, in the tangent space, from the matrices of
        derivatives.
        """
        rows, shapes = self._jacobians(name, place, arrays, "vjp"), self._differentiated(name)
        if (solution := self._solution(name, place, arrays, "vjp")) is not None:
            weights = solution.weights(weights)
        found = []
        for column in zip(*rows, strict=True):
            terms = [
                x for x in zip(column, weights, shapes, strict=True) if x[0] is not None and x[1] is not None
            ]
            shape = (*arrays[0].shape[:-1], next(J.shape[-1] for J in column if J is not None))
            found.append(self._sum([weighted(*x) for x in terms], arrays[0], shape))
        return found if solution is None else solution.gradients(found)

    def _jacobians(self, name: str, place: Place, arrays: Sequence[Any], mode: str) -> list[Sequence[Any]]:
        """Return the derivatives of each result by the inputs, in the tangent space; None where they are
        zero. For the matrices of forward dynamics, return those of inverse dynamics, as `Solution` takes
        them.
        """
        first, twice, entry = self._known[name].first, self._known.second(name), self._entry(name)
        if first:
            matrices = self._results(first, place, self._arranged(name, first, arrays), mode)
            count = len(matrices) // len(entry.outputs)
            taken = min(count, len(self._motion(name)))
            made = [matrices[count * k :][:taken] for k in range(len(entry.outputs))]
            single = [not spec.shape for spec in entry.inputs]
            return [[J[..., None] if one else J for J, one in zip(row, single, strict=False)] for row in made]
        if twice is not None:
            of, differential = twice
            third = self._entry(differential.second).inputs[2].name
            more = {third: self._results(of, place, arrays, mode)[0]} if differential.inverse else {}
            given = self._arranged(name, differential.second, arrays, **more)
            qq, vv, qv, inertia = self._results(differential.second, place, given, mode)
            return [(qq, qv, inertia.mT), (qv.mT, vv, None), (inertia, None, None)]
        if not (products := self._known.rows(name)):
            self._known.refuse(name)
        return self._jacobians_of_rows(name, products, arrays, mode)

    def _jacobians_of_rows(
        self, name: str, products: str, arrays: Sequence[Any], mode: str
    ) -> list[Sequence[Any]]:
        """Return the derivatives of matrices of derivatives, row by row, as the derivatives of the products
        with unit weights.
        """
        inputs = self._entry(name).inputs
        given = self._with_unit_weights(name, products, arrays)
        names = [spec.name for spec in self._entry(products).inputs]
        return [
            [row[names.index(spec.name)] for spec in inputs]
            for row in self._jacobians(products, (), given, mode)
        ]

    def _with_unit_weights(self, name: str, products: str, arrays: Sequence[Any]) -> list[Any]:
        """Return the arguments of a function of products with a unit weight for each row of the result."""
        inputs, (weights,) = self._entry(name).inputs, self._weights(name, products)
        batch, rows = arrays[0].shape[:-1], self._entry(name).outputs[0][1][0]

        def each_row(x: Any, shape: tuple[int, ...]) -> Any:
            return self._zeros(x, (*batch, rows, *shape)) + x

        wide = [
            each_row(x.reshape((*batch, 1, *spec.shape)), spec.shape)
            for x, spec in zip(arrays, inputs, strict=False)
        ]
        units = self._converted(products, weights, np.eye(rows, dtype=self._module.dtype))
        return self._arranged(name, products, wide, **{weights: each_row(units, (rows,))})

    def _solution(self, name: str, place: Place, arrays: Sequence[Any], mode: str) -> Solution | None:
        twice = self._known.second(name)
        if self._known[name].first or twice is None or not twice[1].inverse:
            return None
        return Solution(*self._results(name, place, arrays, mode))

    def _arranged(self, name: str, other: str, arrays: Sequence[Any], **more: Any) -> list[Any]:
        """Return the arguments of another function: the arguments that both functions have, and zeros for the
        rest.
        """
        own = dict(zip((spec.name for spec in self._entry(name).inputs), arrays, strict=False)) | more
        batch = arrays[0].shape[:-1]
        return [
            own[spec.name] if spec.name in own else self._zeros(arrays[0], batch + spec.shape)
            for spec in self._entry(other).inputs
            if spec.name in own or not spec.optional
        ]

    def _sum(self, terms: Sequence[Any], like: Any, shape: tuple[int, ...]) -> Any:
        return sum(terms[1:], terms[0]) if terms else self._zeros(like, shape)

    def _entry(self, name: str) -> Any:
        return vars(self._module)[f"_{name}"]

    def _differentiated(self, name: str) -> list[tuple[int, ...]]:
        """Return the shape of each result as its derivatives see it: a configuration counts as a tangent
        vector.
        """
        shapes = [shape for _, shape in self._entry(name).outputs]
        return [(self._module.nv,), *shapes[1:]] if self._known[name].configuration else shapes

    def _weights(self, name: str, products: str) -> list[str]:
        """Return the inputs of a function of products that hold the weights of each result: w, or w_q and so
        on. Any further input, such as an acceleration, is zero.
        """
        own = [spec.name for spec in self._entry(name).inputs]
        inputs = self._entry(products).inputs
        return [spec.name for spec in inputs if spec.name not in own and spec.name.partition("_")[0] == "w"]

    def _alike(self, name: str, arrays: Sequence[Any]) -> list[Any]:
        """Return the arrays of a call with unit configurations and the same batch dimensions. Raise
        ValueError for a wrong shape.
        """
        inputs, batches = self._entry(name).inputs[: len(arrays)], []
        arrays = [
            self.operations.broadcast_to(x, spec.shape) if spec.fills and not x.ndim else x
            for x, spec in zip(arrays, inputs, strict=True)
        ]
        for x, spec in zip(arrays, inputs, strict=True):
            shape = tuple(x.shape)
            batches.append(shape[: len(shape) - len(spec.shape)])
            if batches[-1] + spec.shape != shape:
                raise ValueError(f"{name}: argument {spec.name} has shape {shape}; expected {spec.expected}")
        unit = [
            self._chart.unit(x) if spec.configuration else x for x, spec in zip(arrays, inputs, strict=True)
        ]
        if all(batch == batches[0] for batch in batches):
            return unit
        batch = tuple(self.operations.broadcast_shapes(*batches))
        return [
            self.operations.broadcast_to(x, batch + spec.shape) for x, spec in zip(unit, inputs, strict=True)
        ]

    def _bound(
        self, name: str, positional: Sequence[Any], named: Mapping[str, Any]
    ) -> tuple[list[Any], Place]:
        """Return the arrays of a call without trailing optional ones that are None, and the frame and
        reference of a framed function.
        """
        entry = self._entry(name)
        if not named and len(positional) == entry.plain and not any(x is None for x in positional):
            return list(positional), ()
        arrays = [spec.name for spec in entry.inputs]
        required = [spec.name for spec in entry.inputs if not spec.optional]
        names = [*required, *(["frame", "reference"] if entry.framed else []), *arrays[len(required) :]]
        given = dict(zip(names, positional, strict=False))
        twice = [key for key in named if key in given or key not in names]
        if len(positional) > len(names) or twice:
            raise TypeError(f"{name}: takes {', '.join(names)}, not {', '.join(twice) or 'more than these'}")
        given |= named
        for spec in entry.inputs:
            if given.get(spec.name) is None and not spec.optional:
                raise TypeError(f"{name}: argument {spec.name} is missing")
        place = entry.place(given.get("frame"), given.get("reference", "LOCAL")) if entry.framed else ()
        last = max([-1, *(k for k, array in enumerate(arrays) if given.get(array) is not None)])
        return [self._or_default(spec, given.get(spec.name)) for spec in entry.inputs[: last + 1]], place

    def _or_default(self, spec: Any, x: Any) -> Any:
        """Return the array, or the default of an omitted input that precedes one that was passed."""
        if x is not None:
            return x
        absent = self._module._DEFAULTS.get(spec.name)
        own = np.zeros(spec.shape, self._module.dtype)
        return own if absent is None else own + np.reshape(absent, spec.shape)

    def _refuse_dtype(self, name: str, argument: str, dtype: str, remedy: str) -> NoReturn:
        own = self._module.dtype
        raise TypeError(f"{name}: argument {argument} is of {dtype}; this module takes {own}: {remedy}")
