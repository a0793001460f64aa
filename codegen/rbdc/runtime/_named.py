"""Looks of a module and its functions, and the handles that pickle makes of them. It is copied into
each generated package.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from html import escape
from importlib import import_module
from importlib.util import find_spec
from inspect import getdoc, signature
from pathlib import Path
from types import ModuleType
from typing import Any

Restore = Callable[..., Any]

loader: Restore | None = None
"""Finds this package again in another process: (folder, name, identity, function) -> `restore` there.
`rbdc.load` sets it; a package that was imported by its own name is found by that.
"""


_MOST = 12
"""Functions that `advice` lists."""


def advice(*missing: str) -> str:
    """Say how to build functions without losing those that are there."""
    module, adding = _module(), f"`functions={','.join(missing)!r}`, `add=True`"
    every = [*(name for name in module.functions if name not in module._FUSED), *missing]
    return f"`functions={','.join(every)!r}` or {adding}" if len(missing) < len(every) <= _MOST else adding


class Module(ModuleType):
    """A generated module: it pickles as a handle, and says what it is."""

    def __repr__(self) -> str:
        sizes = f"nq {self.nq}, nv {self.nv}, {self.dtype}, {self.variant}"
        count = len(self.functions)
        return f"<{self.name}: rigid-body dynamics, {sizes}, {count} functions, from {_folder()}>"

    def __dir__(self) -> list[str]:
        """Its functions and constants, without what it is made of; frameworks that are installed."""
        own = (name for name, x in vars(self).items() if not isinstance(x, ModuleType))
        frameworks = (name for name in ("casadi", "jax", "torch") if find_spec(name) is not None)
        return sorted(name for name in {*own, *frameworks} - {"inf"} if not name.startswith("_"))

    def _repr_html_(self) -> str:
        rows = [
            f"<tr><td><code>{name}</code></td>{_cells(vars(self)[f'_{name}'])}</tr>"
            for name in self.functions
        ]
        heading = "<tr><th>function</th><th>takes</th><th>returns</th><th></th></tr>"
        sizes = f"nq {self.nq}, nv {self.nv}, {self.njoints} joints, {self.dtype}, {escape(self.variant)}"
        return (
            f"<p><b>{escape(self.name)}</b>: rigid-body dynamics, {sizes}</p>"
            f"<table>{heading}{''.join(rows)}</table>"
            f"<p>joints: {escape(', '.join(self.joint_names))}</p>"
            f"<p>frames: {escape(', '.join(self.frame_names))}</p>"
        )

    def casadi(self, function: str, *, fext: bool = False, **options: Any) -> Any:
        """The `casadi.Function` of a function's name, with the Jacobians and Hessians that were built; of a
        frame as "frame_velocity@tool0" or "frame_velocity@tool0@WORLD".

        Nothing is differentiated numerically: where a derivative is not there, CasADi says so. Matrices are
        by columns, a tensor has its matrices one below the other. Derivatives by q are by its entries, of
        f(q / |q|).

        Args:
            function: the name, with its place.
            fext: external forces (njoints, 6) are one input more, the last, by the function of what they do.
            options: CasADi's, of an external function.

        Raises:
            ImportError: CasADi is not installed.
            AttributeError: the module has no such function, or was built without the target; or without the
                function of external forces, or this one has none.
            ValueError: the frame is missing, unknown or too many.
        """
        try:
            import casadi
        except ImportError as error:
            raise ImportError(f"{self.name}.casadi needs CasADi: pip install casadi") from error
        library = f"lib{self.name}_casadi.so"
        if not (_folder() / library).is_file():
            targets = "`targets='c,batch,casadi'`, `add=True`"
            raise AttributeError(f"{self.name}.casadi was not built; build it with {targets}")
        name, *at = function.split("@")
        if name not in self.functions:
            raise AttributeError(f"{self.name}.casadi has no {name!r}; build it with {advice(name)}")
        entry = vars(self)[f"_{name}"]
        entry.refuse_pair(f"{self.name}.casadi")
        if entry.framed != bool(at):
            remedy = f"give one, as {name}@{self.frame_names[-1]}" if entry.framed else "it takes none"
            raise ValueError(f"{self.name}.casadi: {function!r}: frame: {remedy}")
        # The linker takes a path that it knows for the same library: this one is spelled as the extension's.
        folder = self._native.__file__.rpartition("/")[0]
        given = {"jac_penalty": 0.5, **options}
        external = casadi.external(f"{self.name}_casadi_{name}", f"{folder}/{library}", given)
        made = _as_described(external, entry, at)
        if not fext:
            return made
        forces, through = (*self._DIFFERENTIALS.get(name, ()), "", "")[5:7]
        if forces not in self.functions:
            remedy = f"build it with {advice(forces)}" if forces else "it takes no external forces"
            raise AttributeError(f"{self.name}.casadi: {name!r} with fext: {remedy}")
        return _under_forces(made, self.casadi(forces, **options), through)

    @property
    def jax(self) -> Any:
        """The functions for JAX, with derivatives: `m.jax.rnea(q, v, a)`, with the target `jax`."""
        return self._framework("jax", "JaxFunctions")

    @property
    def torch(self) -> Any:
        """The functions for PyTorch, with derivatives: `m.torch.rnea(q, v, a)`."""
        return self._framework("torch", "TorchFunctions")

    def _framework(self, name: str, functions: str) -> Any:
        """The functions for a framework, made once. Raises ImportError where it is not installed."""
        made = vars(self).get(f"_{name}_functions")
        if made is None:
            try:
                import_module(name)
            except ImportError as error:
                remedy = f"pip install {name}, or rbdc's extra: pip install 'rbdc[{name}]'"
                raise ImportError(f"{self.name}.{name} needs {name}: {remedy}", name=name) from error
            support = import_module(f"{__name__.rpartition('.')[0]}._{name}")
            made = vars(self).setdefault(f"_{name}_functions", getattr(support, functions)(self))
        return made

    def __reduce__(self) -> tuple[Restore, tuple[Any, ...]]:
        return handle(None)

    def __copy__(self) -> Module:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Module:
        return self


class Named:
    """Implementation behind a function of the module, as `_` and its name. The function is a method of it,
    for of a plain one pickle takes the name without asking, and a worker that cannot import the module would
    wait for its task for ever.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self.__module__ = __name__.rpartition(".")[0]

    def function(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function with this as its first argument; a decorator."""
        # As `help` has it: "rnea(q, v, a) method of kuka_iiwa.Function instance".
        type(self).__module__, type(self).__name__ = _module().name, "Function"
        method: Callable[..., Any] = function.__get__(self)
        vars(function)["_repr_html_"] = lambda: _page(method)
        setattr(self, self._name, method)  # where pickle and copy look for it
        return method

    def arrays(self) -> tuple[str, str]:
        """Arguments and results of the function, in words."""
        return "", ""

    def __repr__(self) -> str:
        takes, gives = self.arrays()
        return f"{self._name}({takes}) -> {gives}" if gives else self._name

    def __reduce__(self) -> tuple[Restore, tuple[Any, ...]]:
        return handle(self._name)

    def __copy__(self) -> Named:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Named:
        return self


def handle(function: str | None) -> tuple[Restore, tuple[Any, ...]]:
    """Data that pickle writes of the module, or of what stands behind one of its functions: how to find the
    package, and its identity.

    Raises TypeError where no other process could find it.
    """
    folder, module = _folder(), _module()
    if loader is not None:
        return loader, (str(folder), module.name, identity(), function)
    if __name__.split(".")[-2:-1] == [folder.name]:
        return restore, (identity(), function)
    what = f"module {module.name!r}" if function is None else function
    raise TypeError(
        f"{what} cannot be pickled: load the module with rbdc.load({str(folder)!r}), by which workers find it"
    )


def restore(expected: str, function: str | None) -> Any:
    """This module, or what stands behind one of its functions.

    Raises ImportError where the robot is another one than that which was pickled, AttributeError where the
    function was not built.
    """
    module = _module()
    if identity() != expected:
        raise ImportError(
            f"{_folder()}: not the {module.name} that was pickled: its description, options that bear on the "
            "model or precision are others; give all processes the same package",
            name=module.name,
        )
    if function is None:
        return module
    getattr(module, function)  # which raises what to do about a function that was not built
    return vars(module)[f"_{function}"]


def identity() -> str:
    """Hash that tells the numbers of one module from those of another."""
    m = _module()
    return hashlib.sha256(repr((m.name, m.model_hash, m.dtype.name)).encode()).hexdigest()


def _module() -> Any:
    return sys.modules[__name__.rpartition(".")[0]]


def _folder() -> Path:
    return Path(__file__).absolute().parent


def _as_described(external: Any, entry: Any, at: list[str]) -> Any:
    """An external function with matrices as inputs, of which C has the rows one after the other, and with the
    frame and the reference as constants; calls of it are calls of that.
    """
    import casadi

    place: tuple[int, ...] = ()
    if at:
        last = at.pop() if at[-1] in ("LOCAL", "WORLD", "LOCAL_WORLD_ALIGNED") and len(at) > 1 else "LOCAL"
        place = entry.place("@".join(at), last)
    shapes = {name: shape for name, shape, *_ in entry.inputs}
    names = external.name_in()[: external.n_in() - len(place)]
    if not place and all(len(shapes[name]) < 2 for name in names):
        return external
    inputs = [casadi.MX.sym(name, *shapes[name]) for name in names]
    given = [casadi.vec(x.T) if len(shapes[name]) > 1 else x for name, x in zip(names, inputs, strict=True)]
    title = "_".join([external.name(), *map(str, place)]) + ("" if place else "_by_rows")
    outputs = external.call([*given, *place])
    return casadi.Function(title, inputs, outputs, names, external.name_out(), {"always_inline": True})


def _under_forces(f: Any, torque: Any, through: str) -> Any:
    """A function with external forces as the last input: what they do is added to its input `through`, or
    taken from its one output.
    """
    import casadi

    names, last = f.name_in(), torque.name_in(1)
    inputs = [casadi.MX.sym(name, f.sparsity_in(name)) for name in names]
    fext = casadi.MX.sym(last, torque.sparsity_in(last))
    acting = torque(inputs[0], fext)
    outputs = f.call([x + acting if name == through else x for name, x in zip(names, inputs, strict=True)])
    if through not in names:
        outputs = [outputs[0] - acting]
    title, every = f"{f.name()}_{last}", [*names, last]
    return casadi.Function(title, [*inputs, fext], outputs, every, f.name_out(), {"always_inline": True})


def _cells(named: Named) -> str:
    summary = (getdoc(getattr(named, named._name)) or "").splitlines()[0]
    return "".join(f"<td>{escape(text)}</td>" for text in (*named.arrays(), summary))


def _page(method: Callable[..., Any]) -> str:
    """A function's signature and documentation."""
    return f"<pre>{escape(f'{method.__name__}{signature(method)}')}\n\n{escape(getdoc(method) or '')}</pre>"
