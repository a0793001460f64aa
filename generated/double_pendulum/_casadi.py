"""The functions of a module for CasADi, with derivatives from the module's own functions. This file is copied
into each generated package and needs CasADi, and the library of the target `casadi`.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from ._named import advice

casadi: Any = import_module("casadi")  # untyped, so that mypy needs no CasADi


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

    def __call__(self, function: str, *, fext: bool = False, offset: bool = False, **options: Any) -> Any:
        """Return the `casadi.Function` of a function, with the Jacobians and Hessians that were built. Name
        the frame after an @: "frame_velocity@tool0" or "frame_velocity@tool0@WORLD".

        Nothing is differentiated numerically: CasADi raises an error where a derivative is missing. Matrices
        are stored by columns; the matrices of a tensor stand one below the other. Derivatives by q are those
        of f(q / |q|) with respect to the entries of q.

        Args:
            function: name of the function, with its frame.
            fext: whether external forces (njoints, 6) become a further, last input. The function of their
                effect, such as `external_torque`, must have been built.
            offset: whether an offset of the frame, x y z qx qy qz qw in its axes, becomes a further, last
                input. Its quaternion is normalised. Some functions need `frame_placement` or
                `frame_velocity` of the module for this.
            options: options of CasADi for an external function.

        Raises:
            AttributeError: the module has no such function, or was built without the target or without a
                function that external forces or an offset need; or the function takes no forces or offset.
            ValueError: a frame is missing, unknown or not expected.
        """
        module = self._module
        name, *at = function.split("@")
        if name not in module.functions:
            return getattr(self, name)  # raises, and says what to do
        entry = vars(module)[f"_{name}"]
        entry.refuse_pair(f"{module.name}.casadi")
        if entry.framed != bool(at):
            remedy = (
                f"name one, as in {name}@{module.frame_names[-1]}"
                if entry.framed
                else "this function takes none"
            )
            raise ValueError(f"{module.name}.casadi: {function!r}: frame: {remedy}")
        # The linker takes a known path for the same library, so the path is spelled as for the extension.
        folder = module._native.__file__.rpartition("/")[0]
        given = {"jac_penalty": 0.5, **options}
        external = casadi.external(
            f"{module.name}_casadi_{name}", f"{folder}/lib{module.name}_casadi.so", given
        )
        place = _place(at)
        made = _as_described(external, entry, place)
        if offset:
            if name not in MOVED:
                remedy = f"these take an offset: {', '.join(MOVED)}"
                raise AttributeError(f"{module.name}.casadi: {name!r} with offset: {remedy}")
            return _moved(made, name, place[-1], lambda other: self("@".join([other, *place]), **options))
        if not fext:
            return made
        forces, through = (*module._DIFFERENTIALS.get(name, ()), "", "")[5:7]
        if forces not in module.functions:
            remedy = f"build it with {advice(forces)}" if forces else "it takes no external forces"
            raise AttributeError(f"{module.name}.casadi: {name!r} with fext: {remedy}")
        return _under_forces(made, self(forces, **options), through)


def _place(at: list[str]) -> tuple[str, ...]:
    """Return the names of a frame and of a reference, if any, from the parts of a name after the
    function's.
    """
    if not at:
        return ()
    known = len(at) > 1 and at[-1] in ("LOCAL", "WORLD", "LOCAL_WORLD_ALIGNED")
    return ("@".join(at[:-1]), at[-1]) if known else ("@".join(at), "LOCAL")


def _as_described(external: Any, entry: Any, at: tuple[str, ...]) -> Any:
    """Wrap an external function: its inputs become matrices, which C stores by rows, and the frame and the
    reference become constants.
    """
    place: tuple[int, ...] = entry.place(*at) if at else ()
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
    """Return a function with external forces as its last input. The effect of the forces is added to the
    input `through`, or subtracted from the only output.
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


MOVED = (
    "frame_placement",
    "frame_position",
    "frame_error",
    "frame_jacobian",
    "frame_velocity",
    "frame_acceleration",
    "frame_classical_acceleration",
)
"""Functions of a frame with `offset`."""


def _moved(f: Any, name: str, reference: str, other: Callable[[str], Any]) -> Any:
    """Return a function of a frame that is moved by its last input.

    other: returns another function of the same frame and reference.
    """
    names = f.name_in()
    inputs = [casadi.MX.sym(own, f.sparsity_in(own)) for own in names]
    offset = casadi.MX.sym("offset", 7)
    turn = offset[3:] / casadi.norm_2(offset[3:])
    R, p, q = _rotation(turn), offset[:3], inputs[0]
    if name == "frame_error":
        (x, y, z, w), back = casadi.vertsplit(inputs[1][3:]), casadi.vertcat(-turn[:3], turn[3])
        left = casadi.blockcat([[w, -z, y, x], [z, w, -x, y], [-y, x, w, z], [-x, -y, -z, w]])
        origin = inputs[1][:3] - _rotation(inputs[1][3:] / casadi.norm_2(inputs[1][3:])) @ R.T @ p
        made = _seen(f(q, casadi.vertcat(origin, left @ back)), p, R)
    elif name in ("frame_placement", "frame_position"):
        X = other("frame_placement")(q)
        whole = casadi.blockcat([[R, p], [casadi.DM.zeros(1, 3), 1]])
        made = X @ whole if name == "frame_placement" else X[:3, :3] @ p + X[:3, 3]
    elif reference == "WORLD":
        made = f.call(inputs)[0]
    else:
        local = reference == "LOCAL"
        arm = p if local else other("frame_placement")(q)[:3, :3] @ p
        made, turned = f.call(inputs)[0], R if local else casadi.DM.eye(3)
        if name == "frame_classical_acceleration":
            spin = other("frame_velocity")(*inputs[:2])[3:]
            made += casadi.vertcat(casadi.cross(spin, casadi.cross(spin, arm)), casadi.DM.zeros(3))
        made = _seen(made, arm, turned)
    title, every = f"{f.name()}_offset", [*names, "offset"]
    return casadi.Function(title, [*inputs, offset], [made], every, f.name_out(), {"always_inline": True})


def _rotation(unit: Any) -> Any:
    """Return the rotation matrix of a unit quaternion x y z w."""
    x = casadi.skew(unit[:3])
    return casadi.DM.eye(3) + 2 * (unit[3] * x + x @ x)


def _seen(motions: Any, arm: Any, R: Any) -> Any:
    """Return motions (6, n) at the point `arm` instead of the origin, in the axes R."""
    return casadi.vertcat(R.T @ (motions[:3, :] - casadi.skew(arm) @ motions[3:, :]), R.T @ motions[3:, :])
