"""Packages come into folders and go again; what the user has there stays."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

import pytest

import rbdc
from rbdc.errors import LoadError, OptionError
from rbdc.native.install import install, refuse_foreign, remove_packages
from tests.support_handmade import ROBOT, build_tiny, fill

NUMBERS = count()


def package(folder: Path, **files: str) -> Path:
    """Return a package of a few files; `_` stands for a dot in their names."""
    folder.mkdir()
    return fill(folder, {name.replace("_", "."): text.encode() for name, text in files.items()})


def put(destination: Path, **files: str) -> list[str]:
    """Return a package installed; the warnings."""
    new = destination.parent.parent / f"new{next(NUMBERS)}"
    new.parent.mkdir(exist_ok=True)
    return install(package(new, **files), destination)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"


def names(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir())


def test_into_new_folders(out: Path) -> None:
    assert put(out / "robot", a_c="1") == []
    assert (out / "robot" / "a.c").read_text() == "1"
    assert names(out) == ["robot"], "nothing is left aside"


def test_an_older_package_is_replaced(out: Path) -> None:
    put(out / "robot", a_c="old", stale_c="old")
    assert put(out / "robot", a_c="new") == []
    assert names(out / "robot") == ["a.c", "manifest.json"]
    assert (out / "robot" / "a.c").read_text() == "new"
    assert names(out) == ["robot"]


def test_what_the_user_added_stays_and_is_named(out: Path) -> None:
    robot = out / "robot"
    put(robot, a_c="old", stale_c="old")
    (robot / "thesis.tex").write_text("years of work")
    (robot / "data").mkdir()
    (robot / "data" / "run.csv").write_text("1,2,3")
    (warning,) = put(robot, a_c="new")
    assert warning == f"{robot}: rbdc leaves files that it did not write: data/, thesis.tex"
    assert (robot / "thesis.tex").read_text() == "years of work"
    assert (robot / "data" / "run.csv").read_text() == "1,2,3"
    assert names(robot) == ["a.c", "data", "manifest.json", "thesis.tex"]
    assert put(robot, a_c="new") == [], "nothing is done, nothing is said"


def test_an_edited_file_is_kept_beside_the_new_one(out: Path) -> None:
    robot = out / "robot"
    put(robot, a_c="old", gone_c="old")
    for text in ("mine", "mine again"):
        (robot / "a.c").write_text(text)
        (robot / "gone.c").write_text(text)
        warnings = put(robot, a_c="new")
        assert f"{robot / 'a.c'} was edited, or not written by rbdc: kept as a.c.orig" in warnings[0]
        assert "gone.c" in warnings[1]
        assert (robot / "a.c").read_text() == "new"
        assert (robot / "gone.c").read_text() == text, "it is not generated any more, and stays where it is"
    assert (robot / "a.c.orig").read_text() == "mine"
    assert (robot / "a.c.orig2").read_text() == "mine again"


@pytest.mark.parametrize("edit", ["noted", "without its hash", "empty hash", "other lines"])
def test_an_edited_manifest_is_kept(edit: str, out: Path) -> None:
    robot, manifest = out / "robot", out / "robot" / "manifest.json"
    put(robot, a_c="old")
    text, (seal,) = manifest.read_text(), re.findall(r', "manifest_sha256": "(.*?)"', manifest.read_text())
    edited = {
        "noted": text.replace("{", '{"note": "measured on Monday", ', 1),
        "without its hash": text.replace(f', "manifest_sha256": "{seal}"', ""),
        "empty hash": text.replace(seal, ""),
        "other lines": text.replace(", ", ",\r\n"),
    }[edit].encode()
    manifest.write_bytes(edited)
    (warning,) = put(robot, a_c="new")
    assert warning == f"{manifest} was edited, or not written by rbdc: kept as manifest.json.orig"
    assert (robot / "manifest.json.orig").read_bytes() == edited
    assert names(robot) == ["a.c", "manifest.json", "manifest.json.orig"]
    (robot / "manifest.json.orig").unlink()
    assert put(robot, a_c="newer") == [], "the new one is rbdc's"
    manifest.write_bytes(edited)
    done = remove_packages(out)
    assert (done.removed, done.kept, done.problems) == ([], {robot: ["a.c", "manifest.json"]}, [])
    (robot / "a.c").write_text("old")
    done = remove_packages(out)
    assert (done.removed, done.kept) == ([robot], {robot: ["manifest.json"]})
    assert manifest.read_bytes() == edited


@pytest.mark.parametrize("kind", ["file", "folder", "link", "broken_link"])
def test_what_is_in_the_way_of_a_new_file_is_kept(kind: str, out: Path, tmp_path: Path) -> None:
    robot = out / "robot"
    put(robot, a_c="old")
    (tmp_path / "elsewhere").write_text("mine")
    target = robot / "b.c"
    match kind:
        case "file":
            target.write_text("mine")
        case "folder":
            target.mkdir()
        case "link":
            target.symlink_to(tmp_path / "elsewhere")
        case _:
            target.symlink_to(tmp_path / "nowhere")
    (warning,) = put(robot, a_c="old", b_c="new")
    assert "b.c.orig" in warning
    assert (target.read_text(), target.is_symlink()) == ("new", False)
    original = robot / "b.c.orig"
    assert (original.is_symlink(), original.is_dir()) == ("link" in kind, kind == "folder")
    assert (tmp_path / "elsewhere").read_text() == "mine"


@pytest.mark.parametrize("damage", ["lost", "emptied", "changed"])
def test_a_package_that_lost_a_file_is_put_right(damage: str, out: Path) -> None:
    robot = out / "robot"
    put(robot, a_c="1", b_c="2")
    if damage == "lost":
        (robot / "a.c").unlink()
    else:
        (robot / "a.c").write_text("" if damage == "emptied" else "8")
    put(robot, a_c="1", b_c="2")
    assert (robot / "a.c").read_text() == "1"


def test_an_empty_folder_may_be_filled(out: Path) -> None:
    (out / "robot").mkdir(parents=True)
    assert put(out / "robot", a_c="1") == []
    assert names(out / "robot") == ["a.c", "manifest.json"]


@pytest.mark.parametrize(
    "manifest",
    [None, "{}", "[]", '{"generator": "other"}', "not json", '{"generator": "other", "files": {}}'],
)
def test_a_folder_of_others_is_refused_and_untouched(out: Path, manifest: str | None) -> None:
    robot = out / "robot"
    robot.mkdir(parents=True)
    (robot / "thesis.tex").write_text("years of work")
    if manifest is not None:
        (robot / "manifest.json").write_text(manifest)
    before = names(robot)
    listed = "thesis.tex" if manifest is None else "manifest.json, thesis.tex"
    message = (
        f"{robot} has files that rbdc did not write: {listed}; move them elsewhere, "
        "or give another `out` or `name`"
    )
    with pytest.raises(OptionError, match=f"^{re.escape(message)}$"):
        put(robot, a_c="1")
    assert (robot / "thesis.tex").read_text() == "years of work"
    assert (names(robot), names(out)) == (before, ["robot"])


def test_a_package_without_a_record_is_refused_and_untouched(out: Path) -> None:
    robot = out / "robot"
    robot.mkdir(parents=True)
    (robot / "manifest.json").write_text('{"generator": "rbdc"}')
    (robot / "a.c").write_text("perhaps mine")
    message = f"{robot} has no manifest.json by which .*: nothing is changed; remove the folder if nothing"
    with pytest.raises(OptionError, match=message):
        put(robot, a_c="1")
    done = remove_packages(out)
    assert done.removed == []
    assert len(done.problems) == 1 and "has no manifest.json" in done.problems[0]
    assert names(robot) == ["a.c", "manifest.json"]


@pytest.mark.parametrize("manifest", [None, "", "{}"])
def test_a_package_that_lost_its_manifest_is_refused_and_untouched(manifest: str | None, out: Path) -> None:
    robot = out / "robot"
    put(robot, a_c="1")
    (robot / "_native.abi3.so").write_text("")
    (robot / "manifest.json").unlink()
    if manifest is not None:
        (robot / "manifest.json").write_text(manifest)
    before = names(robot)
    message = f"{robot} has no manifest.json by which .*: nothing is changed; remove the folder if nothing"
    with pytest.raises(OptionError, match=message):
        put(robot, a_c="2")
    assert (names(robot), (robot / "a.c").read_text()) == (before, "1")


def test_what_stays_after_clean_is_refused_by_name(out: Path) -> None:
    put(out / "robot", a_c="1")
    (out / "robot" / "thesis.tex").write_text("years of work")
    remove_packages(out)
    with pytest.raises(
        OptionError,
        match="has files that rbdc did not write: thesis.tex; move them elsewhere, or give another `out`",
    ):
        put(out / "robot", a_c="1")
    assert names(out / "robot") == ["thesis.tex"]


def test_files_and_links_are_refused(tmp_path: Path, out: Path) -> None:
    put(out / "real", a_c="old")
    (out / "file").write_text("mine")
    (out / "link").symlink_to(out / "real")
    (out / "broken").symlink_to(out / "nowhere")
    for name in ("file", "link", "broken"):
        with pytest.raises(
            OptionError, match="is not a folder of rbdc's; move it elsewhere, or give another `out` or `name`"
        ):
            put(out / name, a_c="1")
    with pytest.raises(OptionError, match="cannot write"):
        put(out / "file" / "robot", a_c="1")
    assert (out / "real" / "a.c").read_text() == "old"


def test_a_full_device_leaves_the_older_package(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(out / "robot", a_c="old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("shutil.copyfile", full)
    with pytest.raises(OptionError, match="No space left on device; check `out`"):
        put(out / "robot", a_c="new")
    assert (out / "robot" / "a.c").read_text() == "old"
    assert names(out) == ["robot"]


KILLED = """
import os, signal, sys
from pathlib import Path
from rbdc.native.install import install
left = int(sys.argv[3])
def counted(call):
    def step(*arguments, **named):
        global left
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        left -= 1
        return call(*arguments, **named)
    return step
for name in ("rename", "replace", "unlink", "mkdir"):
    setattr(Path, name, counted(getattr(Path, name)))
install(Path(sys.argv[1]), Path(sys.argv[2]))
print("whole")
"""


def test_a_kill_at_any_moment_leaves_the_old_or_the_new_or_nothing_that_loads(tmp_path: Path) -> None:
    """The next build mends what is left, and the user's files stay at every moment."""
    built = {}
    for version in ("old", "new"):
        (tmp_path / version).mkdir()
        marks = {
            "mark.py": f"value = {version!r}\n",
            "__init__.py": "from .mark import value\nfrom .more import more\n",
        }
        more = {"more.py": f"more = {version!r}\n", f"only_{version}.py": ""}
        built[version] = build_tiny(tmp_path / version / ROBOT, python={**marks, **more})
    for step in count():
        robot = tmp_path / str(step) / ROBOT
        robot.parent.mkdir()
        shutil.copytree(built["old"], robot)
        (robot / "notes").write_text("mine")
        (robot / "only_old.py").write_text("edited")
        (robot / f"{ROBOT}.h").write_text("edited too")
        with (robot / "manifest.json").open("a") as manifest:
            manifest.write("\n\n")
        command = [sys.executable, "-c", KILLED, str(built["new"]), str(robot), str(step)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (robot / "notes").read_text() == "mine"
        assert (robot / "only_old.py").read_text() == "edited"
        try:
            module = rbdc.load(robot)
        except LoadError as error:
            assert "no generated package here" in str(error)
        else:
            assert (module.value, module.more) in {("old", "old"), ("new", "new")}
        assert "edited too" in {path.read_text() for path in robot.glob(f"{ROBOT}.h*")}
        assert any(path.read_text().endswith("\n\n") for path in robot.glob("manifest.json*"))
        refuse_foreign(robot)
        install(built["new"], robot)
        assert rbdc.load(robot).more == "new"
        assert (robot / f"{ROBOT}.h.orig").read_text() == "edited too"
        hidden = [name for name in [*names(robot.parent), *names(robot)] if name.startswith(".")]
        assert hidden == [], "the next build sweeps"
        if done.returncode == 0:
            break
        assert done.returncode == -signal.SIGKILL, done.stderr
    assert step > 8


def test_builds_at_once_take_turns(out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RBDC_CACHE", str(tmp_path / "cache"))
    three = [package(tmp_path / f"made{k}", a_c=f"{k}", b_c=f"{k}", **{f"only{k}_c": ""}) for k in range(3)]
    with ThreadPoolExecutor(3) as threads:
        warnings = threads.map(lambda k: install(three[k % 3], out / "robot"), range(60))
        assert list(warnings) == [[]] * 60
    files = {path.name: path.read_bytes() for path in (out / "robot").iterdir()}
    assert files in [{path.name: path.read_bytes() for path in folder.iterdir()} for folder in three]
    assert names(out) == ["robot"]


def test_a_killed_build_can_be_cleaned(tmp_path: Path, out: Path) -> None:
    for step in (1, 4, 5, 6, 8):
        put(out / "robot", a_c="old", b_c="old", c_c="old")
        (out / "robot" / "notes").write_text("mine")
        new = package(tmp_path / f"killed{step}", a_c="new", b_c="new", d_c="new")
        command = [sys.executable, "-c", KILLED, str(new), str(out / "robot"), str(step)]
        assert subprocess.run(command, capture_output=True).returncode == -signal.SIGKILL
        done = remove_packages(out)
        assert done.problems == []
        assert [p for p in out.rglob("*") if p.is_file()] == [out / "robot" / "notes"]
        shutil.rmtree(out)


def test_removing_takes_what_rbdc_wrote_and_names_the_rest(out: Path) -> None:
    for name in ("one", "two"):
        put(out / name, a_c="1", b_c="2")
    (out / "one" / "__pycache__").mkdir()
    (out / "one" / "__pycache__" / "a.cpython-311.pyc").write_bytes(b"")
    (out / "two" / "notes").write_text("mine")
    (out / "two" / "b.c").write_text("edited")
    done = remove_packages(out)
    assert (done.removed, done.problems) == ([out / "one", out / "two"], [])
    assert done.kept == {out / "two": ["b.c", "notes"]}
    assert (names(out), names(out / "two")) == (["two"], ["b.c", "notes"])
    again = remove_packages(out)
    assert (again.removed, again.kept) == ([], {})


@pytest.mark.parametrize(
    "name", ["../precious", "/precious", "sub/precious", "..", "", "\ud800", "x" * 300, "a\0b"]
)
def test_a_manifest_cannot_reach_out_of_its_folder(name: str, out: Path, tmp_path: Path) -> None:
    robot = out / "robot"
    put(robot, a_c="1")
    manifest = json.loads((robot / "manifest.json").read_text())
    (digest,) = manifest["files"].values()
    precious = out / "precious", robot / "sub" / "precious"
    (robot / "sub").mkdir()
    for path in precious:
        path.write_text("1")
    manifest["files"][str(out / name[1:]) if name.startswith("/") else name] = digest
    (robot / "manifest.json").write_text(json.dumps(manifest))
    remove_packages(out)
    assert [path.read_text() for path in precious] == ["1", "1"]


def test_a_read_only_folder_is_told(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(out / "robot", a_c="1")

    def read_only(path: Path, *_: object, **__: object) -> None:
        raise OSError(30, "Read-only file system", str(path))

    for change in ("unlink", "replace"):
        monkeypatch.setattr(Path, change, read_only)
    done = remove_packages(out)
    assert done.removed == []
    assert done.problems == [f"cannot remove {out / 'robot'}: Read-only file system; check its permissions"]
    with pytest.raises(OptionError, match="cannot write .*: Read-only file system; check `out`"):
        put(out / "robot", a_c="2")
