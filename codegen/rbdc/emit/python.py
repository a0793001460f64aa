"""The Python side of a generated package: __init__.py, stubs and run-time support. It also writes
`rbdc/runtime/module.pyi`, the type of generated modules with all functions, for editors and type checkers:
``python -m rbdc.emit.python``. A test compares it with the catalogue.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatch
from importlib.resources import files
from pathlib import Path
from typing import Any

from rbdc.algorithms.tools.parameters import columns_of_rows, linear_parameters
from rbdc.emit.backend import Package
from rbdc.emit.library import limits_of
from rbdc.emit.names import docstring
from rbdc.emit.render import render
from rbdc.functions.catalogue import functions_of
from rbdc.functions.declarations import FunctionDeclaration, Kind, Parameter
from rbdc.functions.inputs import units_of
from rbdc.model import Problem
from rbdc.model.contacts import row_slices
from rbdc.model.joints import Helical
from rbdc.reduction.parameters import nominal


def render_python(package: Package, declarations: Sequence[FunctionDeclaration]) -> dict[str, str]:
    """Return the Python files of the package, by name."""
    constants, arrays = _constants(package, declarations), _arrays(package.model, declarations)
    number = f"np.{package.scalar.dtype}"
    context = {
        "robot": package.robot,
        "model": package.model,
        "scalar": package.scalar,
        "constants": [(name, ascii(value)) for name, value in constants.items()],
        "arrays": [(name, repr(numbers)) for name, numbers in arrays.items()],
        "attributes": _attributes(constants, arrays, number),
        "number": number,
        "conversions": _CONVERSIONS,
        "functions": [function_view(d) for d in declarations],
    }
    return {
        "__init__.py": render("package_init.py.jinja", **context),
        "__init__.pyi": render("package_init.pyi.jinja", **context),
        "__main__.py": render("package_main.py.jinja", robot=package.robot),
        **_support(),
        "py.typed": "",
    }


def _support() -> dict[str, str]:
    private = (file for file in files("rbdc.runtime").iterdir() if fnmatch(file.name, "_[a-z]*.py"))
    return {file.name: file.read_text("utf-8") for file in sorted(private, key=lambda file: file.name)}


def _constants(package: Package, declarations: Sequence[FunctionDeclaration]) -> dict[str, Any]:
    model, names = package.model, [d.name for d in declarations]
    rows, contacts = row_slices(model), model.contacts
    constants: dict[str, Any] = {
        "name": package.robot,
        "model_hash": content_hash(model),
        "nq": model.nq,
        "nv": model.nv,
        "njoints": model.njoints,
        "joint_names": tuple(body.joint_name for body in model.bodies),
        "frame_names": tuple(frame.name for frame in model.frames),
        "parents": tuple(body.parent for body in model.bodies),
        "functions": tuple(names),
        "warnings": package.warnings,
        "fext_frame": "world" if model.world_forces else "local",
    }
    if model.actuators:
        constants["actuator_names"] = tuple(actuator.name for actuator in model.actuators)
    if contacts:
        constants["contact_names"] = tuple(contact.name for contact in contacts)
        constants["contact_kinds"] = tuple(contact.kind.value for contact in contacts)
        constants["contact_rows"] = tuple(rows[contact.name] for contact in contacts)
    if model.parameters:
        constants["parameter_names"] = tuple(row.name for row in model.parameters)
        constants["_PARAMETER_COLUMNS"] = tuple(columns_of_rows(model))
    if _by_parameters(declarations):
        linear = linear_parameters(model)
        constants["regressor_names"] = tuple(p.name for p in linear)
        constants["regressor_units"] = tuple(p.unit for p in linear)
    constants["_JOINTS"], constants["_EVERY_JOINT"] = tuple(model.draws()), tuple(every_joint(model))
    constants["_UNITS"] = units_of(model)
    constants["_CHART"], constants["_DIFFERENTIALS"] = _chart(model), _differentials(model, names)
    constants["_DEFAULTS"] = {p.name: list(p.default) for d in declarations for p in d.inputs if p.default}
    constants["_FUSED"] = tuple(name for name in names if name not in package.known)
    constants["_ABSENT"] = tuple(name for name in package.known if name not in names)
    return constants


def _by_parameters(declarations: Iterable[FunctionDeclaration]) -> bool:
    return any(p.by_parameters for d in declarations for p in d.outputs)


def _arrays(model: Problem, declarations: Sequence[FunctionDeclaration]) -> dict[str, Any]:
    arrays: dict[str, Any] = {"q_neutral": model.neutral(), **limits_of(model), "armature": model.armature}
    arrays |= {"damping": model.damping, "stiffness": model.stiffness}
    arrays["friction"] = [sum(float(law.force) for law in laws) for laws in model.friction]
    arrays["masses"] = [body.inertia.mass for body in model.bodies]
    arrays["gravity"] = model.gravity.scalars()
    if model.actuators:
        arrays["actuation"] = model.actuation  # tau = actuation @ (forces of the motors)
    if model.parameters:
        arrays["nominal_parameters"] = nominal(model)
    if _by_parameters(declarations):
        arrays["regressor_parameters"] = [p.nominal for p in linear_parameters(model)]
    return arrays


_TYPES = {str: "str", int: "int", tuple: "tuple[str, ...]"}
_OTHER_TYPES = {
    "parents": "tuple[int, ...]",
    "contact_rows": "tuple[slice[int, int, None], ...]",
    "fext_frame": 'Literal["local", "world"]',
}


def _attributes(constants: Mapping[str, Any], arrays: Iterable[str], number: str) -> list[tuple[str, str]]:
    """Return names and types of the attributes of a module that are not functions. number: type of the
    module's real numbers.
    """
    public = {name: value for name, value in constants.items() if not name.startswith("_")}
    return [
        *((name, _OTHER_TYPES.get(name, _TYPES[type(value)])) for name, value in public.items()),
        *(("variant", "str"), ("dtype", f"np.dtype[{number}]"), ("block", "int")),
        *((name, f"NDArray[{number}]") for name in ("v_zero", *arrays)),
        *(("jax", "Any"), ("torch", "Any")),
    ]


def _chart(model: Problem) -> tuple[tuple[str, int, int, int, int], ...]:
    """Return the entries of q by kind, as `rbdc.runtime._differential.Part` takes them; consecutive vector
    entries are joined.
    """
    parts: list[tuple[str, int, int, int, int]] = []
    for body in model.bodies:
        if body.coupling is not None:
            continue
        kind = "vector" if body.joint.euclidean else body.joint.kind
        part = (kind, body.index_q, body.joint.nq, body.index_v, body.joint.nv)
        if parts and kind == parts[-1][0] == "vector":
            _, q, nq, v, nv = parts.pop()
            part = (kind, q, nq + body.joint.nq, v, nv + body.joint.nv)
        parts.append(part)
    return tuple(parts)


def _differentials(model: Problem, names: Sequence[str]) -> dict[str, tuple[Any, ...]]:
    """Return the names of the functions' derivatives, as `rbdc.runtime._differential.Differential` takes
    them.
    """
    catalogue = functions_of(model)
    known = {name: catalogue[name].differential for name in names if name in catalogue}
    # the last entries, for run-time parameters and for Hessians in CasADi's C, are omitted
    end = -1 if columns_of_rows(model) else -2
    return {name: tuple(d)[:end] for name, d in known.items() if d is not None}


def content_hash(model: Problem) -> str:
    """Return the identity of a robot: a hash of the model after all options."""
    content = [model.bodies, model.frames, model.base_inertia, model.gravity, model.description_hash]
    content += ["forces in the world"] if model.world_forces else []
    content += [model.contacts] if model.contacts else []
    content += [model.drive_terms, model.friction_width] if model.drive_terms else []
    content += [model.actuators] if model.actuators else []
    return hashlib.sha256(repr(tuple(content)).encode()).hexdigest()


_CONVERSIONS = [
    (
        "to_mujoco",
        "q",
        "v",
        "a",
        "Convert this module's q, v, a and tau to MuJoCo's qpos, qvel, qacc and forces.",
    ),
    (
        "from_mujoco",
        "qpos",
        "qvel",
        "qacc",
        "Convert MuJoCo's qpos, qvel, qacc and forces to this module's q, v, a and tau.",
    ),
    ("to_pinocchio", "q", "v", "a", "Convert this module's q, v, a and tau to Pinocchio's."),
    ("from_pinocchio", "q", "v", "a", "Convert Pinocchio's q, v, a and tau to this module's."),
]
"""Conversions of states: name, arguments, and summary."""


def every_joint(model: Problem) -> list[tuple[Any, ...]]:
    """Return all joints, including joints that follow others, as `rbdc.runtime._conversions.Joint` takes
    them.
    """
    in_loops = {index for cluster in model.clusters for index in cluster.followers}
    rows: list[tuple[Any, ...]] = []
    for index, body in enumerate(model.bodies):
        entries = body.joint.euclidean and not isinstance(body.joint, Helical)  # MuJoCo has the same entries
        kind = "scalar" if entries else body.joint.kind
        kind = "continuous" if body.described == "continuous" else kind
        row = (body.joint_name, kind, body.joint.nq, body.joint.nv, body.index_q, body.index_v)
        if (follow := body.coupling) is None:
            rows.append(row)
        else:
            curve = None if index in in_loops else follow.higher
            rows.append((*row, True, follow.multiplier, follow.offset, curve))
    return rows


def _shape(shape: tuple[int, ...], sizes: Mapping[int, str]) -> str:
    return "(" + ", ".join(sizes.get(n, str(n)) for n in shape) + ("," if len(shape) == 1 else "") + ")"


Argument = tuple[str, str, str]
"""An argument of a function of the package: its name, type and default ("" for none)."""

_EVERYWHERE: list[Argument] = [
    ("*", "", ""),
    ("out", "Any", "None"),
    ("layout", 'Literal["samples", "lanes"]', '"samples"'),
    ("num_threads", "int", "1"),
]
_REFERENCE: Argument = ("reference", 'Literal["LOCAL", "WORLD", "LOCAL_WORLD_ALIGNED"]', '"LOCAL"')


def function_view(d: FunctionDeclaration, sizes: Mapping[int, str] | None = None) -> dict[str, Any]:
    """Return the Python view of a function of the package: its declaration with the inputs and outputs of
    `_runtime.Entry`, its signatures without and with types, and the arguments that it passes on: arrays,
    frames, reference. sizes: names of sizes, for a stub without a model.
    """
    arguments = [(p.name, "ArrayLike", "") for p in d.required]
    arguments += [(name, "str | int", "") for name in d.place[:-1]] + [_REFERENCE] * d.framed
    arguments += [(p.name, "ArrayLike | None", "None") for p in d.optional]
    arguments += _EVERYWHERE + [("zeroed", "bool", "False")] * d.zeroed
    number = f"np.{d.scalar.dtype}"
    results = [f"NDArray[{number}]" if p.shape else f"{number} | NDArray[{number}]" for p in d.outputs]
    inputs = [p.name for p in d.inputs]
    return vars(d) | {
        "summary": docstring(d.summary),
        "inputs": tuple((p.name, p.shape, p.optional, p.configuration, p.range, p.units) for p in d.inputs),
        "outputs": tuple((p.name, p.shape) for p in d.outputs),
        "signature": ", ".join(f"{name}={default}" if default else name for name, _, default in arguments),
        "typed_signature": ", ".join(
            name + (f": {kind}" if kind else "") + (f" = {default}" if default else "")
            for name, kind, default in arguments
        ),
        "given": f"({', '.join(inputs)}{',' if len(inputs) == 1 else ''})",
        "place": "frame, reference, other" if d.pair else "frame, reference",
        "result_type": results[0] if len(results) == 1 else f"tuple[{', '.join(results)}]",
        "doc": _documentation(d, sizes or {}),
    }


def _documentation(d: FunctionDeclaration, sizes: Mapping[int, str]) -> list[str]:
    def line(p: Parameter) -> str:
        optional = "; may be None" if p.optional else ""
        more = "; or one number for all contacts" if p.kind is Kind.PART else optional
        return f"    {p.name} {_shape(p.shape, sizes)}: {p.meaning}{more}"

    frame = [
        "    frame: a name in frame_names, or its index",
        *(["    other: the frame that `frame` is relative to, by name or index"] if d.pair else []),
        "    reference: LOCAL, WORLD or LOCAL_WORLD_ALIGNED",
    ]
    return [
        "Args:",
        *map(line, d.required),
        *(frame if d.framed else []),
        *map(line, d.optional),
        f"    out: array to fill, {d.scalar.dtype} and C-contiguous"
        if len(d.outputs) == 1
        else "    out: tuple of arrays to fill",
        f'    layout: "lanes" for arrays in blocks of {d.scalar.block} samples, '
        f"(blocks, ..., {d.scalar.lanes})",
        "    num_threads: threads over which the samples of a batch are spread",
        *(["    zeroed: out holds zeros, or earlier results of this function"] if d.zeroed else []),
        "",
        "Returns:",
        *(line(p) for p in d.outputs),
    ]


_SIZES = {10007: "nq", 10009: "nv", 100090: "10 nv", 60054: "6 nv"}
"""Sizes of a model without bodies, each with the name that the stub prints for it."""


def module_type() -> str:
    """Return the text of the stub for any module."""
    nq, nv = (size for size, name in _SIZES.items() if len(name) == 2)
    model = Problem("any", (), (), nq, nv)
    catalogue = functions_of(model)
    views = [function_view(function.declaration, _SIZES) for function in catalogue.values()]
    attributes = _attributes(_constants(Package(model, ""), ()), _arrays(model, ()), "Any")
    lines = render("module_type.pyi.jinja", functions=views, attributes=attributes).splitlines()
    return "".join(f"{line.rstrip()}\n" for line in lines)


if __name__ == "__main__":
    Path(str(files("rbdc.runtime").joinpath("module.pyi"))).write_text(module_type(), encoding="utf-8")
