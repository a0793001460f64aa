"""How notebooks and terminals show a module, a function and a build."""

from __future__ import annotations

import pydoc
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import rbdc
from rbdc.options import BuildOptions
from rbdc.pipeline import build_package
from rbdc.progress import Share, shown
from tests.support_handmade import AWKWARD, build_tiny, load_tiny


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    return load_tiny(tmp_path_factory.mktemp("shown"))


class _Page(HTMLParser):
    """The tags of a page, all of them closed, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.words = ""
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.open.append(tag)
        self.tags.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += data


PLAIN: Any = vars(pydoc)["plaintext"]
"""Of the renderers of pydoc the one without bold letters, which its stub lacks."""


def test_repr(tiny: ModuleType) -> None:
    folder = Path(str(tiny.__file__)).parent
    expected = f"<tiny: rigid-body dynamics, nq 2, nv 2, float64, {tiny.variant}, 4 functions, from {folder}>"
    assert repr(tiny) == expected
    assert "mix(q (2,), v (2,), fext (2, 6) or None) -> tau (2,)" in repr(tiny.mix)
    assert "where(q (2,), frame, reference) -> w (3,)" in repr(tiny.where)


def test_help(tiny: ModuleType) -> None:
    """Nothing private, nothing of NumPy's: the attributes with their shapes, and every function."""
    page = pydoc.render_doc(tiny, renderer=PLAIN)
    listed = page.split("FUNCTIONS\n")[1].split("DATA\n")[0]
    assert "_named." not in page and "_runtime." not in page and "ndarray" not in page
    assert (
        "mix(q, v, fext=None, *, out=None, layout='samples', num_threads=1) method of tiny.Function" in listed
    )
    assert all(f"    {name}(" in listed for name in (*tiny.functions, "random_configuration", "to_mujoco"))
    assert "q_neutral (2,), v_zero (2,): neutral configuration" in page
    assert "method of tiny.Function instance" in pydoc.render_doc(tiny.mix, renderer=PLAIN)
    public = {name for name in vars(tiny) if not name.startswith("_")} - {"np", "sys", "inf"}
    described = page.split("Attributes:")[1].split("PACKAGE CONTENTS")[0]
    assert all(re.search(rf"\b{name}\b", described) for name in public - set(tiny.__all__))


def test_html(tiny: ModuleType) -> None:
    """Names of joints and links are text there, whatever they hold."""
    page = _Page(tiny._repr_html_())
    assert page.tags == {"p", "b", "table", "tr", "th", "td", "code"}
    assert AWKWARD in page.words
    for name in tiny.functions:
        assert name in page.words
    assert "fext (2, 6) or None" in page.words
    function = _Page(tiny.mix._repr_html_())
    assert function.tags == {"pre"}
    assert "q (2,): configuration (rad)" in function.words


def test_markup_in_names_is_text(tmp_path: Path) -> None:
    folder = build_tiny(tmp_path / "tiny")
    initial = folder / "__init__.py"
    lines = initial.read_text().splitlines()
    initial.write_text(
        "\n".join('joint_names = ("<b>&",)' if x.startswith("joint_names") else x for x in lines)
    )
    assert "&lt;b&gt;&amp;" in rbdc.load(folder)._repr_html_()


class _Clock:
    """A clock that stands still until a test moves it."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


@pytest.mark.parametrize(("wanted", "lines"), [(None, "c"), (True, "abc"), (False, "")])
def test_progress_elsewhere_than_on_a_terminal(
    wanted: bool | None, lines: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Short builds are silent there: the first lines come after ten seconds."""
    clock = _Clock()
    with shown("building x", wanted, clock) as show:
        show("a")
        clock.seconds += 9.9
        show("b")
        clock.seconds += 0.1
        show("c")
    assert capsys.readouterr().err == "".join(f"building x: {line}\n" for line in lines)


def test_the_share_that_is_done_and_the_time_left() -> None:
    told, clock = list[str](), _Clock()
    share = Share(told.append, {("cut", "bread"): 1.0, ("cut", "ham"): 1.0, ("laid", "table"): 2.0}, clock)
    clock.seconds += 20.0
    share.done("cut", "bread")
    clock.seconds += 10.0
    share.done("laid", "table")
    share.done("cut", "ham")
    assert told == ["25 %, about 60 s left: bread cut", "75 %, about 10 s left: table laid", "100 %: ham cut"]


def test_a_build_tells_of_each_function(tmp_path: Path) -> None:
    """Functions of frames are generated together. The share grows to 100 %."""
    told = list[str]()
    names, fused, flags = ("rnea", "frame_jacobian", "frame_velocity"), ("rnea", "crba"), ("-O0",)
    options = BuildOptions(functions=names, fuse=(fused,), cflags=flags, out=tmp_path, force=True)
    build_package("double_pendulum", options, told.append)
    steps = [text.partition(" %") for text in told if " %" in text]
    assert {words.rpartition(": ")[2] for _, _, words in steps} == {
        "rnea generated",
        "frame_jacobian, frame_velocity generated",
        "rnea_and_crba generated",
        "all files compiled",
        "rnea verified",
        "frame_jacobian verified",
        "frame_velocity verified",
        "rnea_and_crba verified",
    }
    shares = [int(share) for share, _, _ in steps]
    assert shares == sorted(shares)
    assert shares[-1] == 100


class _Terminal:
    """A standard error that is a terminal."""

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> int:
        self.text += text
        return len(text)

    def flush(self) -> None:
        return

    def isatty(self) -> bool:
        return True


def test_progress_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for wanted in (None, False):
        terminal = _Terminal()
        monkeypatch.setattr(sys, "stderr", terminal)
        monkeypatch.setenv("TERM", "xterm")
        with shown("building x", wanted) as show:
            show("emitting [b]")
        assert ("building x" in terminal.text) == (wanted is None)


def test_progress_in_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cell's one output changes. The kernel is made up: IPython is no dependency of the tests."""
    cell: list[str] = []

    class Place:
        def update(self, data: dict[str, str], raw: bool) -> None:
            cell[0] = data["text/plain"]

    def display(data: dict[str, str], raw: bool, display_id: bool) -> Place:
        cell.append(data["text/plain"])
        return Place()

    kernel: Any = ModuleType("IPython")
    kernel.get_ipython = lambda: type("Shell", (), {"kernel": None})()
    page: Any = ModuleType("IPython.display")
    page.display = display
    monkeypatch.setitem(sys.modules, "IPython", kernel)
    monkeypatch.setitem(sys.modules, "IPython.display", page)
    with shown("building x") as show:
        show("emitting")
        show("verifying")
    assert cell == ["building x: verifying"]
