"""The functions of a module for CasADi, with derivatives from the module's own functions. It is copied into
each generated package and needs CasADi, and the library of the target `casadi`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ._named import advice

casadi: Any = import_module("casadi")  # without types: checking this needs no CasADi


class CasadiFunctions:
    """The functions of a module: `m.casadi("rnea")`, or `m.casadi.rnea`."""

    def __init__(self, module: Any) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._module.functions:
            getattr(self._module, name)  # raises, and says how to build the function
            raise AttributeError(f"{self._module.name}.casadi has no function {name!r}")
        try:
            return self(name)
        except ValueError as error:  # a function of a frame: the name alone does not say which
            raise AttributeError(str(error)) from None

    def __reduce__(self) -> tuple[Any, ...]:
        return getattr, (self._module, "casadi")

    def __dir__(self) -> list[str]:
        return sorted(self._module.functions)

    def __repr__(self) -> str:
        return f"<{self._module.name}.casadi: {', '.join(self._module.functions)}>"

    def __call__(self, function: str, *, fext: bool = False, **options: Any) -> Any:
        """Return the `casadi.Function` of a function, with the Jacobians and Hessians that were built. Name
        the frame after an @: "frame_velocity@tool0" or "frame_velocity@tool0@WORLD".

        Nothing is differentiated numerically: CasADi raises an error where a derivative is missing. Matrices
        are stored by columns; the matrices of a tensor stand one below the other. Derivatives by q are those
        of f(q / |q|) with respect to the entries of q.

        Args:
            function: name of the function, with its frame.
            fext: whether external forces (njoints, 6) become a further, last input. The function of their
                effect must have been built.
            options: options of CasADi for an external function.

        Raises:
            AttributeError: the module has no such function, or was built without the target or without the
                function of external forces; or the function takes none.
            ValueError: a frame is missing, unknown or not expected.
        """
        module = self._module
        name, *at = function.split("@")
        if name not in module.functions:
            return getattr(self, name)  # raises, and says what to do
        entry = vars(module)[f"_{name}"]
        entry.refuse_pair(f"{module.name}.casadi")
        if entry.framed != bool(at):
            remedy = f"name one, as in {name}@{module.frame_names[-1]}" if entry.framed else "it takes none"
            raise ValueError(f"{module.name}.casadi: {function!r}: frame: {remedy}")
        # The linker takes a known path for the same library, so the path is spelled as for the extension.
        folder = module._native.__file__.rpartition("/")[0]
        given = {"jac_penalty": 0.5, **options}
        external = casadi.external(
            f"{module.name}_casadi_{name}", f"{folder}/lib{module.name}_casadi.so", given
        )
        made = _as_described(external, entry, at)
        if not fext:
            return made
        forces, through = (*module._DIFFERENTIALS.get(name, ()), "", "")[5:7]
        if forces not in module.functions:
            remedy = f"build it with {advice(forces)}" if forces else "it takes no external forces"
            raise AttributeError(f"{module.name}.casadi: {name!r} with fext: {remedy}")
        return _under_forces(made, self(forces, **options), through)


def _as_described(external: Any, entry: Any, at: list[str]) -> Any:
    """Wrap an external function: its inputs become matrices, which C stores by rows, and the frame and the
    reference become constants.
    """
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
    """Return a function with external forces as its last input. Their effect is added to the input `through`,
    or subtracted from the only output.
    """
    names, last = f.name_in(), torque.name_in(1)
    inputs = [casadi.MX.sym(name, f.sparsity_in(name)) for name in names]
    fext = casadi.MX.sym(last, torque.sparsity_in(last))
    acting = torque(inputs[0], fext)
    outputs = f.call([x + acting if name == through else x for name, x in zip(names, inputs, strict=True)])
    if through not in names:
        outputs = [outputs[0] - acting]
    title, every = f"{f.name()}_{last}", [*names, last]
    return casadi.Function(title, [*inputs, fext], outputs, every, f.name_out(), {"always_inline": True})
