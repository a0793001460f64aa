"""Show a robot in a browser with viser, moved by sliders: `rbdc.show`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rbdc.algorithms.kinematics import homogeneous
from rbdc.analysis.figures.scene import body_placements, configuration, reach, scene
from rbdc.errors import OptionError, ToolchainError
from rbdc.model import Model, Problem
from rbdc.model.joints import JOINT_TYPES
from rbdc.model.text import is_text
from rbdc.model.xml import shown
from rbdc.resources import resolve

if TYPE_CHECKING:
    from viser import ViserServer

Array = NDArray[np.float64]
_BONE, _MASS, _INERTIA = (86, 97, 111), (180, 80, 15), (47, 111, 179)


@dataclass(frozen=True)
class Solid:
    """Parts of a drawing that move with a node (a body), in the node's frame.

    segments: end points of lines from the node's origin (n, 3; m).
    centre: centre of mass (3; m).
    axes: half axes of the inertia ellipsoid (3; m), and the rotation to the node's axes (3, 3).
    size: radius of the ball at the centre of mass (m).
    """

    segments: Array
    centre: Array
    axes: tuple[Array, Array] | None = None
    size: float = 0.0


@dataclass(frozen=True)
class Drawing:
    """A robot that moves.

    nodes: names of the bodies, or of the frames of a module.
    coordinates: as `rbdc.analysis.figures.scene.scene` has them.
    placements: function that maps the coordinates to the placements of the nodes in the world (n, 4, 4).
    solids: parts that move with each node; empty for frames.
    triad: length of the axes of a frame (m).
    """

    nodes: Sequence[str]
    coordinates: Sequence[dict[str, Any]]
    placements: Callable[[Sequence[float]], Array]
    solids: Sequence[Solid] = ()
    triad: float = 0.1


def show(
    robot: str | PathLike[str] | Model | ModuleType,
    *,
    host: str = "localhost",
    port: int = 8080,
    **options: Any,
) -> ViserServer:
    """Show a robot in a browser, with a slider for each direction of v. Return the server; `stop()` ends it.

    Args:
        robot: a generated module, whose frames are shown as its compiled functions place them; or a
            description or a `rbdc.Model`, whose links, centres of mass and inertia ellipsoids are shown.
        host, port: where the page is served; the server prints its address.
        options: if `robot` is a description, options of the model, as `rbdc.Model.from_file` takes them.

    Raises:
        ToolchainError: viser is not installed.
        OptionError: options beside a module or a model; a module without the functions that the figure needs.
    """
    try:
        import viser
    except ModuleNotFoundError as error:
        raise ToolchainError("rbdc.show needs viser: pip install 'rbdc[show]'") from error
    drawing = drawing_of(robot, **options)
    server = viser.ViserServer(host=host, port=port, label=f"rbdc: {_title(robot)}")
    draw(server, drawing)
    return server


def _title(robot: str | PathLike[str] | Model | ModuleType) -> str:
    if isinstance(robot, Model):
        return shown(robot.name)
    return str(vars(robot)["name"]) if isinstance(robot, ModuleType) else Path(resolve(robot)).stem


def drawing_of(robot: str | PathLike[str] | Model | ModuleType, **options: Any) -> Drawing:
    """Return the drawing of a robot; arguments and errors are those of `show`."""
    if isinstance(robot, (Model, ModuleType)):
        if options:
            problem = f"`{next(iter(options))}`: options apply to descriptions only"
            raise OptionError(f"{problem}; pass them when you build the module or read the model")
        return _of_module(robot) if isinstance(robot, ModuleType) else _of_model(Problem.of(robot))
    if is_text(robot):
        return _of_model(Problem.from_text(str(robot), **options))
    return _of_model(Problem.from_file(resolve(robot), **options))


def _of_model(model: Problem) -> Drawing:
    data = scene(model)
    heaviest = max((body["mass"] for body in data["bodies"]), default=0.0)
    ends = [[s["to"] for s in data["segments"] if s["body"] == k] for k in range(model.njoints)]
    length = max((float(np.linalg.norm(end)) for of_body in ends for end in of_body), default=1.0)

    def solid(index: int, body: dict[str, Any]) -> Solid:
        segments, centre = (
            np.reshape(ends[index], (-1, 3)).astype(float),
            np.array(body["centre"], dtype=float),
        )
        if body["ellipsoid"] is None:
            return Solid(segments, centre)
        xx, xy, yy, xz, yz, zz = body["ellipsoid"]
        squares, axes = np.linalg.eigh(np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))
        axes[:, 0] *= np.sign(np.linalg.det(axes))
        size = 0.06 * length * float(np.cbrt(body["mass"] / heaviest))
        return Solid(segments, centre, (np.sqrt(np.maximum(squares, 0.0)), axes), size)

    def placements(x: Sequence[float]) -> Array:
        placed = body_placements(model, configuration(model, x))
        return np.array([homogeneous(one) for one in placed], dtype=float).reshape(-1, 4, 4)

    names = [body["name"] for body in data["bodies"]]
    solids = [solid(k, body) for k, body in enumerate(data["bodies"])]
    return Drawing(names, data["coordinates"], placements, solids)


def _of_module(module: Any) -> Drawing:
    try:
        place = module.forward_kinematics
        step = module.integrate if module.nq != module.nv else np.add
    except AttributeError as error:
        raise OptionError(f"rbdc.show: {error}") from None
    coordinates = _coordinates(module)

    def placements(x: Sequence[float]) -> Array:
        q = module.q_neutral
        for k, value in enumerate(x):
            dv = np.zeros(module.nv, module.dtype)
            dv[k] = value
            q = step(q, dv)
        return np.array(place(q), dtype=float)

    spread = np.ptp(placements([c["start"] for c in coordinates])[:, :3, 3], axis=0)
    return Drawing(module.frame_names, coordinates, placements, triad=max(0.05 * float(spread.max()), 0.01))


def _coordinates(module: Any) -> list[dict[str, Any]]:
    lower, upper = module.lower_position_limit, module.upper_position_limit
    ways = {first: way for way, first in vars(module)["_JOINTS"]}
    lengths = {joint_type.kind: joint_type.lengths for joint_type in JOINT_TYPES}
    coordinates = []
    for name, kind, _, nv, q, v, *follows in vars(module)["_EVERY_JOINT"]:
        sliding = sum(ways.get(q + k) == "prismatic" for k in range(nv))
        slides = sliding if kind in ("scalar", "continuous") else lengths.get(kind, 0)
        limits = (lower[q], upper[q]) if nv == 1 else ()
        for k in range(0 if follows else nv):
            direction = "" if nv == 1 else f"v[{v + k}]"
            coordinates.append({"joint": shown(name), "direction": direction, **reach(k >= slides, *limits)})
    return coordinates


def draw(server: Any, drawing: Drawing) -> tuple[list[Any], list[Any]]:
    """Draw a robot on a server of viser; return the handles of its nodes and of its sliders."""
    _look_at(server, drawing)
    nodes = [_node(server, k, drawing) for k in range(len(drawing.nodes))]
    sliders: list[Any] = []

    def update(_: object = None) -> None:
        import viser.transforms

        with server.atomic():
            for node, placed in zip(nodes, drawing.placements([s.value for s in sliders]), strict=True):
                node.position = placed[:3, 3]
                node.wxyz = viser.transforms.SO3.from_matrix(placed[:3, :3]).wxyz

    for c in drawing.coordinates:
        label = ", ".join(filter(None, (c["joint"], c["direction"])))
        slider = server.gui.add_slider(f"{label} ({c['unit']})", c["lower"], c["upper"], 1e-3, c["start"])
        slider.on_update(update)
        sliders.append(slider)
    update()
    return nodes, sliders


def _look_at(server: Any, drawing: Drawing) -> None:
    placed = drawing.placements([c["start"] for c in drawing.coordinates])
    ends = [placed[k, :3, :3] @ s.segments.T + placed[k, :3, 3:] for k, s in enumerate(drawing.solids)]
    points = np.concatenate([placed[:, :3, 3], *(end.T for end in ends), np.zeros((1, 3))])
    low, high = points.min(axis=0), points.max(axis=0)
    middle = 0.5 * (low + high)
    server.scene.set_up_direction("+z")
    server.scene.add_grid("/ground", position=(0.0, 0.0, float(low[2])))
    server.initial_camera.look_at = middle
    server.initial_camera.position = middle + float(np.linalg.norm(high - low) + 0.1) * np.array(
        [0.9, -0.9, 0.5]
    )


def _node(server: Any, index: int, drawing: Drawing) -> Any:
    """Return a node named by its number, since viser reads slashes in a name as a path."""
    path, solid = f"/robot/{index}", drawing.solids[index] if drawing.solids else None
    length = drawing.triad
    node = server.scene.add_frame(
        path, show_axes=solid is None, axes_length=length, axes_radius=0.05 * length
    )
    server.scene.add_label(f"{path}/name", drawing.nodes[index], visible=solid is None)
    if solid is None:
        return node
    if len(solid.segments):
        lines = np.stack([np.zeros_like(solid.segments), solid.segments], axis=1)
        server.scene.add_line_segments(f"{path}/links", lines, _BONE, thickness=0.01)
    if solid.axes is not None:
        import viser.transforms

        half, axes = solid.axes
        how = {"position": solid.centre, "wxyz": viser.transforms.SO3.from_matrix(axes).wxyz}
        scale = tuple(np.maximum(half, 1e-4).tolist())
        server.scene.add_icosphere(f"{path}/inertia", 1.0, _INERTIA, scale=scale, opacity=0.25, **how)
        server.scene.add_icosphere(f"{path}/mass", solid.size, _MASS, position=solid.centre)
    return node
