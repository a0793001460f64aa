"""MuJoCo's compiler: the compiled model, its warnings, and the lines of joints and bodies."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

from rbdc.errors import DescriptionError, UnsupportedError
from rbdc.model.description import Effect, Note
from rbdc.model.text import TEXT
from rbdc.model.xml import Document, on_one_line

_CORNERS = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
"""Vertices of the mesh that replaces a mesh whose file is missing."""
_OTHER_FILES = ("include", "attach", "model")
"""Elements that include other files. MuJoCo does not say to which file a line belongs."""

_LINE = re.compile(r"\bline ([0-9]+)\b")
_NO_FILE = "Error opening file"
"""MuJoCo's message for a missing file."""


class CompiledModel(NamedTuple):
    """A compiled model.

    model: MuJoCo's model.
    notes: warnings of MuJoCo.
    joint_lines, body_lines: lines by number of the joint or body; empty if the document includes other files.
    """

    model: Any
    notes: list[Note]
    joint_lines: dict[int, int]
    body_lines: dict[int, int]


def compiled(document: Document) -> CompiledModel:
    """Compile a document. Files of meshes, textures, height fields and skins may be missing if no inertia
    depends on them; a note says so.

    Raises DescriptionError if MuJoCo refuses the document, UnsupportedError if MuJoCo is not installed.
    """
    try:
        import mujoco
    except ImportError as error:
        raise UnsupportedError(
            f"{document.file}: reading MJCF needs the package mujoco, which is not installed: "
            "pip install 'rbdc[mjcf]'"
        ) from error
    mj: Any = mujoco
    said: list[str] = []
    known = not any(True for _ in document.root.iter(*_OTHER_FILES))
    mj.set_mju_user_warning(said.append)  # otherwise MuJoCo writes a file into the working directory
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            spec, model, missing = _read(mj, document)
    except (ValueError, OSError, RuntimeError) as error:
        said_of_it, line = _said(error), _LINE.search(str(error)) if known else None
        remedy = (
            "put the missing file there, or give its body an <inertial>"
            if _NO_FILE in said_of_it
            else "mend the MJCF"
        )
        problem, at = f"MuJoCo refuses the description: {said_of_it}", int(line[1]) if line else None
        raise DescriptionError(problem, remedy, document.file, at) from error
    finally:
        mj.set_mju_user_warning(None)
    texts = [*said, *(warning.message for warning in caught)]
    notes = [Note(f"MuJoCo: {on_one_line(str(text))}", effect=Effect.ALL) for text in texts]
    joints, bodies = (dict(_lines(items)) if known else {} for items in (spec.joints, spec.bodies))
    return CompiledModel(model, [*notes, *missing], joints, bodies)


def _read(mj: Any, document: Document) -> tuple[Any, Any, list[Note]]:
    """Return the specification, its compiled model and notes. If MuJoCo refuses the specification, stand-ins
    replace files on which no inertia depends.
    """
    spec = _specification(mj, document)
    try:
        return spec, spec.compile(), []
    except (ValueError, OSError, RuntimeError) as error:
        spec = _specification(mj, document)  # a refused specification cannot be traversed any more
        count, said = _stand_ins(mj, spec), _said(error)
        try:
            model = spec.compile()
        except (ValueError, OSError, RuntimeError):
            raise error from None
    what = f"meshes, textures, height fields and skins from files ({count}), on which no inertia depends"
    return spec, model, [Note(f"MuJoCo: {said}: read without {what}")]


def _specification(mj: Any, document: Document) -> Any:
    if document.file == TEXT:
        return mj.MjSpec.from_string(document.text.decode())
    # MuJoCo chooses the format by the ending of the name: use one that it takes for MJCF.
    name = document.file if document.file.endswith(".xml") else f"{document.file}.xml"
    return mj.MjSpec.from_file(name, include={name: document.text})


def _stand_ins(mj: Any, spec: Any) -> int:
    """Replace parts from files on which no inertia depends; return the number of replacements."""
    needed = {geom.meshname for body in spec.bodies for geom in body.geoms if _has_inertia(mj, body, geom)}
    meshes = [mesh for mesh in spec.meshes if mesh.file and mesh.name not in needed]
    for mesh in meshes:
        mesh.file, mesh.uservert = "", _CORNERS
    textures = [texture for texture in spec.textures if texture.file or any(texture.cubefiles)]
    for texture in textures:
        texture.file, texture.cubefiles, texture.gridlayout = "", [""] * 6, ""
        texture.builtin, texture.width, texture.height = mj.mjtBuiltin.mjBUILTIN_FLAT, 1, 1
        if texture.type != mj.mjtTexture.mjTEXTURE_2D:
            texture.height = 6
    fields = [field for field in spec.hfields if field.file]
    for field in fields:
        field.file, field.nrow, field.ncol, field.userdata = "", 2, 2, [0.0] * 4
    skins = [skin for skin in spec.skins if skin.file]
    for skin in skins:
        spec.delete(skin)
    return len(meshes) + len(textures) + len(fields) + len(skins)


def _has_inertia(mj: Any, body: Any, geom: Any) -> bool:
    rules, rule = mj.mjtInertiaFromGeom, geom.compiler.inertiafromgeom
    if body.name == "world" or rule == rules.mjINERTIAFROMGEOM_FALSE:
        return False
    if rule == rules.mjINERTIAFROMGEOM_AUTO and body.explicitinertial:
        return False
    least, most = geom.compiler.inertiagrouprange
    weightless = geom.mass == 0.0 or (geom.mass != geom.mass and geom.density == 0.0)  # NaN: no mass
    return bool(least <= geom.group <= most and not weightless)


def _said(error: Exception) -> str:
    return on_one_line(str(error)).removeprefix("Error: ")


def _lines(items: Any) -> Iterator[tuple[int, int]]:
    """Yield the number of each element with its line, which MuJoCo writes as "line 3"."""
    for item in items:
        word, _, line = item.info.partition(" ")
        if word == "line" and line.isdigit():
            yield int(item.id), int(line)
