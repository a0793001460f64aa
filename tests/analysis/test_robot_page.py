"""The page of a robot: its figure moves as the compiled module does, names do no harm, patterns and
operations are those of the functions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdc import Inertia, Joint, Limits, Link, Placement, Symmetric3, Vector3
from rbdc.analysis.figures.page import audit, masses_table, robot_page, sections, tree_rows
from rbdc.analysis.figures.patterns import moved_links, patterns
from rbdc.analysis.figures.scene import body_placements, configuration, scene
from rbdc.analysis.figures.treemap import Box, squarified
from rbdc.functions.catalogue import functions_of
from rbdc.model import Problem
from rbdc.options import BuildOptions
from rbdc.pipeline import read
from rbdc.planning.forms import Subject, chosen_plan
from rbdc.resources import resolve
from tests.laws.test_curved_mimic import curved_tree
from tests.laws.test_parallel_robots import written
from tests.laws.test_reduced_loops import FOUR_BAR
from tests.model.test_cylindrical_joint import arm
from tests.support import UNOPTIMISED, Array, assert_close, build_module
from tests.support_pages import Page
from tests.support_trees import mimic_tree, random_tree


def four_bar() -> Problem:
    return read(written("four_bar"), BuildOptions(contacts=FOUR_BAR, loops="reduce:j_crank"))


ROBOTS: dict[str, tuple[Callable[[], Problem], float]] = {
    "every joint type": (lambda: random_tree(0), 1e-12),
    "every joint type on a free root": (lambda: random_tree(3), 1e-12),
    "a joint of two coordinates": (lambda: arm(split=False), 1e-12),
    "followers along lines": (lambda: mimic_tree("coupled"), 1e-12),
    "followers along curves": (lambda: curved_tree("coupled"), 1e-12),
    "a closed loop, by interpolation": (four_bar, 1e-6),
}


def drawn(model: Problem, count: int) -> list[list[float]]:
    """Coordinates of a figure within their ranges."""
    ranges, rng = scene(model)["coordinates"], np.random.default_rng(1)
    return [[float(rng.uniform(c["lower"], c["upper"])) for c in ranges] for _ in range(count)]


def page_of(model: Problem, names: tuple[str, ...] = ()) -> str:
    return robot_page(model, names, None)


def homogeneous(placement: list[float]) -> Array:
    return np.vstack(
        [np.column_stack([np.reshape(placement[:9], (3, 3)), placement[9:]]), [0.0, 0.0, 0.0, 1.0]]
    )


PLACED = "scene.frames.map((f) => compose(placementOf(world, f.body), f.placement))"
MOVED = f"""states.map((x) => {{
    const world = placements(scene, x);
    return {{ centre: centreOfMass(scene, world), frames: {PLACED} }};
}})"""


@pytest.mark.parametrize("name", ROBOTS)
def test_the_figure_moves_as_the_compiled_module(name: str) -> None:
    """Links in Python by the model's joints, in the page by its script."""
    model, tolerance = ROBOTS[name][0](), ROBOTS[name][1]
    module = build_module(model, functions=("frame_placement", "com"), cflags=UNOPTIMISED, verify=False)
    states = drawn(model, 5)
    configurations = [configuration(model, x) for x in states]
    for q in configurations:
        for body, placed in zip(model.bodies, body_placements(model, q), strict=True):
            expected = module.frame_placement(np.array(q), body.name)
            assert_close(homogeneous(placed.scalars()), expected, 1e-12)
    figures = Page(page_of(model)).run(MOVED, states=states)
    for q, figure in zip(configurations, figures, strict=True):
        assert_close(np.array(figure["centre"]), module.com(np.array(q)), tolerance)
        for frame, placement in zip(module.frame_names, figure["frames"], strict=True):
            assert_close(homogeneous(placement), module.frame_placement(np.array(q), frame), tolerance)


def test_an_ellipsoid_has_the_mass_and_the_inertia_of_its_body() -> None:
    rng = np.random.default_rng(5)
    axes = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    half, mass, com = np.array([0.1, 0.2, 0.4]), 3.0, [0.3, -0.2, 0.5]
    about = axes @ np.diag(mass / 5.0 * (np.sum(half**2) - half**2)) @ axes.T
    matrix = Symmetric3(*(float(about[i, j]) for i, j in ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))))
    solid = Link("solid", Inertia.about_com(mass, Vector3(*com), matrix))
    joint = Joint("hinge", "revolute", "base", "solid", Placement.identity(), Vector3(0.0, 0.0, 1.0))
    model = Problem.assemble("one", [Link("base"), solid], [joint])
    (body,) = scene(model)["bodies"]
    xx, xy, yy, xz, yz, zz = body["ellipsoid"]
    moments = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    assert_close(moments, axes @ np.diag(half**2) @ axes.T, 1e-10)
    assert_close(np.array(body["centre"]), np.array(com), 1e-12)
    right, up = axes[:, 2].tolist(), axes[:, 0].tolist()
    seen = Page(page_of(model)).run(
        "silhouette(scene.bodies[0].ellipsoid, IDENTITY, right, up)", right=right, up=up
    )
    assert_close(np.array([*seen["axes"], np.sin(seen["angle"])]), np.array([0.4, 0.1, 0.0]), 1e-9)


HARM = '</script><script>alert(1)</script><img src=x onerror=alert()>"{{ 7 * 7 }}&gt;'


def harmful() -> Problem:
    links = [
        Link(HARM + "base"),
        Link(HARM, Inertia.about_com(1.0, Vector3(0.1, 0.0, 0.0), Symmetric3.zero())),
    ]
    joint = Joint(HARM + "joint", "revolute", HARM + "base", HARM, limits=Limits(-1.0, 2.0))
    return Problem.assemble(HARM + "robot", links, [joint])


def test_names_are_data() -> None:
    html = page_of(harmful(), ("rnea", "crba"))
    page = Page(html)
    assert not [element for element in page.elements if element[0] == "img" or "onerror" in element[1]]
    assert len(page.scripts) == 4 and not any("alert" in program for program in page.programs)
    assert page.data["bodies"][0]["name"].startswith("</script><script>alert(1)</script>")
    assert f"{HARM} " in page.text, "as it is written, in the tree"
    assert html.count("</script>") == len(page.scripts)


def test_a_page_is_one_file_that_asks_no_network() -> None:
    model = Problem.from_file(resolve("cartpole"))
    html = page_of(model, ("rnea",))
    assert html == page_of(model, ("rnea",)), "the same bytes"
    page = Page(html)
    attributes = [name for _, names in page.elements for name in names]
    assert not {"src", "href", "srcset", "action"} & set(attributes)
    (policy,) = [names["content"] for tag, names in page.elements if tag == "meta" and "http-equiv" in names]
    assert policy is not None and policy.startswith("default-src 'none'")
    assert "url(" not in html and "@import" not in html and "fetch(" not in html


def test_limits_and_followers_of_the_sliders() -> None:
    model = Problem.from_file(resolve("hyq"))
    by_joint = {c["joint"]: c for c in scene(model)["coordinates"]}
    knee = by_joint["lf_kfe_joint"]
    assert (knee["lower"], knee["upper"], knee["limited"]) == (-2.44346095279, -0.349065850399, [True, True])
    assert knee["start"] == knee["upper"], "0 is beyond the limits"
    free = scene(Problem.from_file(resolve("hyq"), root_joint="free-flyer"))["coordinates"][:6]
    expected = [*(f"along {axis}" for axis in "xyz"), *(f"about {axis}" for axis in "xyz")]
    assert [c["direction"] for c in free] == expected and free[0]["limited"] == [False, False]
    assert (free[3]["lower"], free[3]["upper"], free[3]["unit"]) == (-np.pi, np.pi, "rad")
    coupled = scene(mimic_tree("coupled"))
    assert len(coupled["coordinates"]) == 3
    curves = {b["joint"]: b["follows"]["curve"] for b in coupled["bodies"] if b["follows"]}
    assert curves == {"joint0": [0.3 + 0.05, -1.0], "joint3": [-0.1, 2.0], "joint4": [0.0, 0.7]}


def test_patterns_are_those_of_the_matrices() -> None:
    model = Problem.from_file(resolve("hyq"), root_joint="free-flyer")
    entries = {name: one.entries for one in patterns(model) for name in one.names}
    legs = np.zeros((18, 18), dtype=bool)
    legs[:6] = legs[:, :6] = True
    for k in range(6, 18, 3):
        legs[k : k + 3, k : k + 3] = True
    assert not np.any(entries["crba: M"] & ~legs)
    assert np.array_equal(entries["crba: M"], entries["rnea_derivatives: dtau_da"])
    assert not entries["rnea_derivatives: dtau_dq"][:, :3].any(), "no force depends on where the robot is"
    assert moved_links(model).sum() == 6 + 4 * (7 + 8 + 9)


def test_sections_have_all_operations() -> None:
    model = Problem.from_file(resolve("hyq"), root_joint="free-flyer")
    for name in ("rnea", "crba", "aba"):
        plan = chosen_plan(Subject(model, functions_of(model)[name]))
        assert sum(sections(plan).values()) == plan.cost.operations > 0
    plan = chosen_plan(Subject(model, functions_of(model)["frame_jacobian"]))
    assert not sections(plan), "loops have no sections"


def test_treemaps_fill_their_box() -> None:
    sizes = sorted(np.random.default_rng(0).uniform(1.0, 30.0, 40).tolist(), reverse=True)
    box = Box(10.0, 20.0, 300.0, 100.0)
    boxes = squarified(sizes, box)
    scale = 300.0 * 100.0 / sum(sizes)
    assert_close(np.array([b.width * b.height for b in boxes]), scale * np.array(sizes), 1e-10)
    for k, one in enumerate(boxes):
        assert one.x >= 10.0 and one.x + one.width <= 310.0 + 1e-9 and one.y + one.height <= 120.0 + 1e-9
        for other in boxes[:k]:
            across = min(one.x + one.width, other.x + other.width) - max(one.x, other.x)
            along = min(one.y + one.height, other.y + other.height) - max(one.y, other.y)
            assert min(across, along) < 1e-9, "two overlap"


def test_the_tree_and_the_masses() -> None:
    model = Problem.from_file(resolve("hyq"))
    rows = {row["link"]: row for row in tree_rows(model)}
    assert rows["world"]["guides"] == [] and "base_link" in rows["world"]["with"]
    assert (
        rows["lf_lowerleg"]["guides"] == ["through", "", "corner"]
        and rows["lf_lowerleg"]["with"] == "lf_foot"
    )
    assert rows["rh_hipassembly"]["guides"] == ["corner"] and rows["lf_hipassembly"]["guides"] == ["branch"]
    table: Any = {row[0]: row[1] for row in masses_table(model).rows}
    assert table["lf_upperleg"] == "2.638" and table["fixed to the world"] == "60.978"


def test_warnings_have_their_place_and_effect(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # longer paths are shortened
    path = Path("odd.urdf")
    text = resolve("double_pendulum").read_text()
    path.write_text(text.replace("<link ", "<colour/>\n<link ", 1))
    page = Page(page_of(Problem.from_file(path)))
    line = 1 + text[: text.index("<link ")].count("\n")
    assert f"{path}:{line}" in page.text and "functions with the forces of joints' drives" in page.text
    assert audit(replace(arm(split=False), notes=())).words == ["None."]
