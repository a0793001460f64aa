"""Representations of a module and its functions, and the handles with which pickle stores them. It is copied
into each generated package.
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Callable
from html import escape
from importlib import import_module
from importlib.util import find_spec
from inspect import getdoc, signature
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

from ._suggestions import hint

Restore = Callable[..., Any]

loader: Restore | None = None
"""Finds this package in another process: (folder, name, identity, function) -> the result of `restore` there.
`rbdc.load` sets it. A package that was imported by its name is found by that name.
"""


_MOST = 12
"""Largest number of functions that `advice` lists."""


def advice(*missing: str) -> str:
    """Return the options that build the missing functions in addition to the present ones."""
    module, adding = _module(), f"`functions={','.join(missing)!r}`, `add=True`"
    every = [*(name for name in module.functions if name not in module._FUSED), *missing]
    return f"`functions={','.join(every)!r}` or {adding}" if len(missing) < len(every) <= _MOST else adding


def refuse(name: str) -> NoReturn:
    """Raise AttributeError for a name that the module lacks, with the remedy."""
    module = _module()
    if name in module._ABSENT:
        raise AttributeError(f"{module.name}.{name} was not built; build it with {advice(name)}")
    if name in _LIBRARIES and not _library(name).is_file():
        targets = f"`targets='c,batch,{name}'`, `add=True`"
        raise AttributeError(f"{module.name}.{name} was not built; build it with {targets}")
    close = "" if name.startswith("_") else hint(name, [*dir(module), *module._ABSENT], "")
    problem = f"module {module.name!r} has no attribute {name!r}"
    raise AttributeError(f"{problem}; {close}" if close else problem)


_LIBRARIES = ("casadi", "jax")
"""Frameworks that need a library, which a build target provides."""


def _library(framework: str) -> Path:
    return _folder() / f"lib{_module().name}_{framework}.so"


class Module(ModuleType):
    """A generated module, which pickles as a handle and has a readable representation."""

    def __repr__(self) -> str:
        sizes = f"nq {self.nq}, nv {self.nv}, {self.dtype}, {self.variant}"
        count = len(self.functions)
        return f"<{self.name}: rigid-body dynamics, {sizes}, {count} functions, from {_folder()}>"

    def __dir__(self) -> list[str]:
        """Return the module's functions and constants, without internals, and the frameworks that it supports
        and that are installed.
        """
        own = (name for name, x in vars(self).items() if not isinstance(x, ModuleType))
        built = (name for name in _LIBRARIES if _library(name).is_file())
        frameworks = (name for name in (*built, "torch") if find_spec(name) is not None)
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

    @property
    def casadi(self) -> Any:
        """The functions for CasADi, with derivatives: `m.casadi("rnea")`, with the target `casadi`."""
        return self._framework("casadi")

    @property
    def jax(self) -> Any:
        """The functions for JAX, with derivatives: `m.jax.rnea(q, v, a)`, with the target `jax`."""
        return self._framework("jax")

    @property
    def torch(self) -> Any:
        """The functions for PyTorch, with derivatives: `m.torch.rnea(q, v, a)`."""
        return self._framework("torch")

    def _framework(self, name: str) -> Any:
        """Return the functions for a framework; they are created once.

        Raises:
            AttributeError: the module was built without the framework's target.
            ImportError: the framework is not installed.
        """
        made = vars(self).get(f"_{name}_functions")
        if made is None:
            if name in _LIBRARIES and not _library(name).is_file():
                refuse(name)
            try:
                import_module(name)
            except ImportError as error:
                extra = "" if name == "casadi" else f", or rbdc's extra: pip install 'rbdc[{name}]'"
                remedy = f"pip install {name}{extra}"
                raise ImportError(f"{self.name}.{name} needs {name}: {remedy}", name=name) from error
            support = import_module(f"{__name__.rpartition('.')[0]}._{name}")
            functions = getattr(support, f"{name.capitalize()}Functions")(self)
            made = vars(self).setdefault(f"_{name}_functions", functions)
        return made

    def __reduce__(self) -> tuple[Restore, tuple[Any, ...]]:
        return handle(None)

    def __copy__(self) -> Module:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Module:
        return self


class Named:
    """Implementation of a function of the module: the method whose name is `_` and the function's name.

    The function is a method because pickle stores a plain function by name only. A worker that cannot import
    the module would then wait for its task for ever.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self.__module__ = __name__.rpartition(".")[0]

    def function(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Bind a function to this object; a decorator."""
        # `help` then shows "rnea(q, v, a) method of kuka_iiwa.Function instance".
        type(self).__module__, type(self).__name__ = _module().name, "Function"
        method: Callable[..., Any] = function.__get__(self)
        vars(function)["_repr_html_"] = lambda: _page(method)
        setattr(self, self._name, method)  # pickle and copy look for it here
        return method

    def arrays(self) -> tuple[str, str]:
        """Return the arguments and the results of the function, in words."""
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
    """Return the data that pickle stores of the module, or of one of its functions: how to find the package,
    and its identity.

    Raises TypeError if no other process could find the package.
    """
    folder, module = _folder(), _module()
    if loader is not None:
        return loader, (str(folder), module.name, identity(), function)
    if __name__.split(".")[-2:-1] == [folder.name]:
        return restore, (identity(), function)
    what = f"module {module.name!r}" if function is None else function
    raise TypeError(
        f"{what} cannot be pickled: load the module with rbdc.load({str(folder)!r}), so that workers find it"
    )


def restore(expected: str, function: str | None) -> Any:
    """Return this module, or the object behind one of its functions.

    Raises:
        ImportError: the robot is not the one that was pickled.
        AttributeError: the function was not built.
    """
    module = _module()
    if identity() != expected:
        raise ImportError(
            f"{_folder()}: this {module.name} is not the one that was pickled: the description, the "
            "precision or options of the model differ; use the same package in all processes",
            name=module.name,
        )
    if function is None:
        return module
    getattr(module, function)  # raises, and says how to build the function
    return vars(module)[f"_{function}"]


def refuse_rebuilt(native: Any) -> None:
    """Raise ImportError if the package was built again after this process loaded its extension. Python and
    the dynamic linker keep the old extension, so a reload would run old code.
    """
    folder, loaded = _folder(), native.ffi.string(native.lib.rbdc_package()).decode()
    manifest = folder / "manifest.json"
    text = manifest.read_text(encoding="utf-8") if manifest.is_file() else ""
    found = re.search(r'"package": "(\w+)"', text)
    if found is not None and found[1] != loaded:
        name = _module().__name__
        raise ImportError(
            f"{name}: {folder} was built again since this process loaded its extension, and Python cannot "
            f"load it again; start a new process, or use rbdc.load({str(folder)!r})",
            name=name,
        )


def identity() -> str:
    """Return a hash of everything that determines the module's numbers."""
    m = _module()
    return hashlib.sha256(repr((m.name, m.model_hash, m.dtype.name)).encode()).hexdigest()


def _module() -> Any:
    return sys.modules[__name__.rpartition(".")[0]]


def _folder() -> Path:
    return Path(__file__).absolute().parent


def _cells(named: Named) -> str:
    summary = (getdoc(getattr(named, named._name)) or "").splitlines()[0]
    return "".join(f"<td>{escape(text)}</td>" for text in (*named.arrays(), summary))


def _page(method: Callable[..., Any]) -> str:
    return f"<pre>{escape(f'{method.__name__}{signature(method)}')}\n\n{escape(getdoc(method) or '')}</pre>"
