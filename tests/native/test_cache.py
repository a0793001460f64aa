"""The store of compiled artefacts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from rbdc.errors import OptionError
from rbdc.native import cache

NAME = cache.key("a test")


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "store"
    monkeypatch.setenv("RBDC_CACHE", str(folder))
    return folder


def write(text: str) -> object:
    return lambda folder: (folder / "file").write_text(text)


def test_parts_of_a_key_cannot_run_into_each_other() -> None:
    keys = {
        cache.key("ab", "c"),
        cache.key("a", "bc"),
        cache.key("abc"),
        cache.key("", "abc"),
        cache.key("1:a"),
    }
    assert len(keys) == 5
    assert cache.key("a", b"b") == cache.key("a", "b")


def test_where_the_cache_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert cache.cache_folder() == tmp_path / "store"
    monkeypatch.delenv("RBDC_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache.cache_folder() == tmp_path / "xdg" / "rbdc"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache.cache_folder() == tmp_path / ".cache" / "rbdc"


def test_without_a_home_there_is_no_place_for_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody(_: int) -> object:
        raise KeyError("no such user")

    for name in ("RBDC_CACHE", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pwd.getpwuid", nobody)
    with pytest.raises(
        OptionError, match="no place for the cache: you have no home folder; set RBDC_CACHE to a folder"
    ):
        cache.cache_folder()


def test_a_thing_is_made_once(store: Path) -> None:
    folders = []

    def make(folder: Path) -> None:
        folders.append(folder)
        (folder / "file").write_text("x")

    first = cache.obtain(NAME, make)
    assert cache.obtain(NAME, make) == first and len(folders) == 1
    assert (first / "file").read_text() == "x"
    cache.obtain(NAME, make, anew=True)
    assert len(folders) == 2
    assert list((store / "scratch").iterdir()) == []


def test_a_failed_maker_leaves_nothing(store: Path) -> None:
    def fail(folder: Path) -> None:
        (folder / "half").write_text("")
        raise KeyError("broken")

    with pytest.raises(KeyError):
        cache.obtain(NAME, fail)
    assert not list(store.rglob("half"))
    assert (cache.obtain(NAME, lambda folder: None)).is_dir()


def test_a_killed_maker_leaves_nothing_under_the_name_and_no_lock(store: Path) -> None:
    code = (
        "import sys, time; from rbdc.native import cache\n"
        "def make(folder):\n"
        "    (folder / 'half').write_text(''); print('making', flush=True); time.sleep(60)\n"
        f"cache.obtain({NAME!r}, make)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    with process.stdout:
        assert process.stdout.readline() == "making\n"
        process.send_signal(signal.SIGKILL)
        process.wait()
    started = time.monotonic()
    folder = cache.obtain(NAME, lambda folder: None)
    assert time.monotonic() - started < 10.0
    assert not (folder / "half").exists()
    assert list((store / "scratch").iterdir()) == [], "what the killed maker left is swept"


def test_others_wait_for_the_maker() -> None:
    runs = []

    def make(folder: Path) -> None:
        time.sleep(0.05)
        runs.append(1)

    threads = [threading.Thread(target=cache.obtain, args=(NAME, make)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert runs == [1]


def test_clearing_counts_and_spares_what_is_not_its_own(store: Path) -> None:
    assert cache.clear() == (0, [])
    for text in "abc":
        cache.obtain(cache.key(text), lambda folder: None)
    (store / "notes.txt").write_text("mine")
    (store / "v2").mkdir()
    (store / "v2" / "thesis.tex").write_text("mine")
    (store / "ab").mkdir(exist_ok=True)
    (store / "ab" / "chapter").write_text("mine")
    assert cache.clear() == (3, [])
    assert sorted(str(p.relative_to(store)) for p in store.rglob("*") if p.is_file()) == [
        "ab/chapter",
        "notes.txt",
        "v2/thesis.tex",
    ]
    assert cache.clear() == (0, [])


def test_clearing_tells_what_it_could_not_remove(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.obtain(NAME, lambda folder: None)

    def read_only(path: Path) -> None:
        raise OSError(30, "Read-only file system", str(path))

    monkeypatch.setattr("shutil.rmtree", read_only)
    count, problems = cache.clear()
    assert count == 0
    assert problems == [f"{store / NAME[:2] / NAME}: Read-only file system"]


@pytest.mark.parametrize("damage", ["lost", "emptied", "changed", "unlisted", "listing"])
def test_an_artefact_that_is_not_whole_is_made_again(damage: str) -> None:
    def make(folder: Path) -> None:
        (folder / "one").write_text("1")
        (folder / "two").write_text("2")

    folder = cache.obtain(NAME, make)
    match damage:
        case "lost":
            (folder / "one").unlink()
        case "unlisted":
            (folder / "contents.json").unlink()
        case "listing":
            (folder / "contents.json").write_text("[]")
        case _:
            (folder / "one").write_text("" if damage == "emptied" else "8")
    assert cache.obtain(NAME, make) == folder
    assert sorted(p.name for p in folder.iterdir()) == ["contents.json", "one", "two"]
    assert (folder / "one").read_text() == "1"


def test_what_cannot_be_made_anew_stays(store: Path) -> None:
    folder = cache.obtain(NAME, lambda folder: None)

    def fail(_: Path) -> None:
        raise KeyError("broken")

    with pytest.raises(KeyError):
        cache.obtain(NAME, fail, anew=True)
    assert folder.is_dir()


def test_a_cache_that_is_named_from_the_current_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RBDC_CACHE", "here")
    assert cache.cache_folder() == tmp_path / "here"


def test_a_cache_that_cannot_be_written_is_a_clear_error(store: Path) -> None:
    store.write_text("a file where the folder should be")
    with pytest.raises(
        OptionError, match="cannot write the cache .*; set RBDC_CACHE to a folder that can be written"
    ):
        cache.obtain(NAME, lambda folder: None)


@pytest.mark.skipif(os.name != "posix", reason="the tag is about POSIX platforms")
def test_the_interpreter_is_in_the_tag() -> None:
    assert f"cpython-{sys.version_info.major}{sys.version_info.minor}" in cache.interpreter_tag()
