"""Compiling a package and putting it in place."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import cffi
import numpy as np
import pytest

import rbdc
from rbdc.errors import OptionError, ToolchainError
from rbdc.native import build, cache
from rbdc.native.build import compile_package, extension_source, is_generated, place
from rbdc.native.toolchain import Compiled, Compiler, compile_object, find_compiler
from rbdc.native.variants import Variant
from tests.support_handmade import DECLARATIONS, FLAGS, ROBOT, build_tiny, c_files, load_tiny


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RBDC_CACHE", str(tmp_path / "store"))
    return tmp_path / "store"


def package(folder: Path, content: str) -> Path:
    folder.mkdir()
    (folder / "manifest.json").write_text('{"generator": "rbdc"}')
    (folder / "content").write_text(content)
    return folder


def test_figures_for_every_c_file() -> None:
    native = compile_package(c_files(), ROBOT, DECLARATIONS, find_compiler(), FLAGS)
    assert native.extension.is_file()
    assert sorted(native.code_bytes) == sorted(native.stack_bytes) == sorted(n for n in c_files() if n.endswith(".c"))
    assert all(size >= 0 for size in (*native.code_bytes.values(), *native.stack_bytes.values()))


def test_only_the_changed_function_is_compiled_again(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []

    def recorded(compiler: Compiler, source: Path, flags: Sequence[str]) -> Compiled:
        compiled.append(source.name)
        return compile_object(compiler, source, flags)

    monkeypatch.setattr("rbdc.native.shared.compile_object", recorded)
    first = compile_package(c_files(), ROBOT, DECLARATIONS, find_compiler(), FLAGS)
    assert len(compiled) == len(DECLARATIONS) + 1
    compiled.clear()
    assert compile_package(c_files(), ROBOT, DECLARATIONS, find_compiler(), FLAGS) == first
    assert compiled == []
    changed = compile_package(c_files(comment="changed"), ROBOT, DECLARATIONS, find_compiler(), FLAGS)
    assert compiled == [f"{ROBOT}_mix.c"] and changed.extension != first.extension
    compiled.clear()
    compile_package(c_files(), ROBOT, DECLARATIONS, find_compiler(), ("-O2",))
    assert len(compiled) == len(DECLARATIONS), "flags are part of the key; the glue has flags of its own"


def test_a_source_that_does_not_compile_leaves_no_artefact(store: Path) -> None:
    files = c_files()
    files[f"{ROBOT}_mix.c"] += "nonsense nonsense;\n"
    with pytest.raises(ToolchainError, match=f"{ROBOT}_mix.c"):
        compile_package(files, ROBOT, DECLARATIONS, find_compiler(), FLAGS)
    assert not list(store.rglob(build.EXTENSION))


def test_warnings_stop_a_build_only_where_asked() -> None:
    """A warning that a newer compiler invents must not break a user's build; our own tests of the generated C ask for -Werror."""
    files = c_files()
    files[f"{ROBOT}_mix.c"] += "static int unused(void)\n{ return 1; }\n"
    with pytest.raises(ToolchainError, match="unused"):
        compile_package(files, ROBOT, DECLARATIONS, find_compiler(), (*FLAGS, "-Werror"))
    assert compile_package(files, ROBOT, DECLARATIONS, find_compiler(), FLAGS).extension.is_file()


def test_the_glue_is_deterministic() -> None:
    variants = (Variant("native", ROBOT, (), ("AVX",)),)
    text = extension_source(ROBOT, DECLARATIONS, variants)
    assert text == extension_source(ROBOT, DECLARATIONS, variants)
    assert "#line" not in text


@pytest.mark.parametrize("size", [0, 1, 3, 8, 17])
def test_all_finite(tmp_path: Path, size: int) -> None:
    native = load_tiny(tmp_path)._native
    ffi = cffi.FFI()
    values = np.linspace(-1e307, 1e307, size)

    def finite() -> bool:
        return bool(native.lib.rbdc_all_finite(size, native.ffi.cast("double *", int(ffi.cast("intptr_t", values.ctypes.data)))))

    assert finite()
    for index in range(size):
        for bad in (np.nan, np.inf, -np.inf):
            kept, values[index] = values[index], bad
            assert not finite()
            values[index] = kept
    assert finite()


def test_placing_into_new_folders(tmp_path: Path) -> None:
    target = tmp_path / "a" / "b" / "robot"
    place(package(tmp_path / "new", "1"), target)
    assert (target / "content").read_text() == "1"
    assert [p.name for p in target.parent.iterdir()] == ["robot"], "nothing is left aside"


def test_an_older_package_is_replaced_whole(tmp_path: Path) -> None:
    target = package(tmp_path / "robot", "old")
    (target / "stale").write_text("")
    place(package(tmp_path / "new", "new"), target)
    assert sorted(p.name for p in target.iterdir()) == ["content", "manifest.json"]
    assert (target / "content").read_text() == "new"


def test_replacing_without_an_exchange_by_the_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "_exchange", lambda one, other: False)
    target = package(tmp_path / "robot", "old")
    place(package(tmp_path / "new", "new"), target)
    assert (target / "content").read_text() == "new"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["new", "robot"]


def test_an_empty_folder_may_be_filled(tmp_path: Path) -> None:
    (tmp_path / "robot").mkdir()
    place(package(tmp_path / "new", "1"), tmp_path / "robot")
    assert is_generated(tmp_path / "robot")


@pytest.mark.parametrize("manifest", [None, "{}", "[]", '{"generator": "other"}', "not json"])
def test_a_folder_of_others_is_refused_and_untouched(tmp_path: Path, manifest: str | None) -> None:
    target = tmp_path / "robot"
    target.mkdir()
    (target / "thesis.tex").write_text("years of work")
    if manifest is not None:
        (target / "manifest.json").write_text(manifest)
    with pytest.raises(OptionError, match="was not generated by rbdc; give another --out or --name"):
        place(package(tmp_path / "new", "1"), target)
    assert (target / "thesis.tex").read_text() == "years of work"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["new", "robot"]


def test_files_and_links_are_refused(tmp_path: Path) -> None:
    new = package(tmp_path / "new", "1")
    (tmp_path / "file").write_text("mine")
    (tmp_path / "link").symlink_to(package(tmp_path / "real", "old"))
    (tmp_path / "broken").symlink_to(tmp_path / "nowhere")
    for name in ("file", "link", "broken"):
        with pytest.raises(OptionError, match="was not generated by rbdc"):
            place(new, tmp_path / name)
    with pytest.raises(OptionError, match="cannot write"):
        place(new, tmp_path / "file" / "robot")
    assert (tmp_path / "real" / "content").read_text() == "old"


def test_a_failure_while_copying_leaves_the_older_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target, new = package(tmp_path / "robot", "old"), package(tmp_path / "new", "new")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("shutil.copyfile", full)
    with pytest.raises(OptionError, match="No space left on device; check --out"):
        place(new, target)
    assert (target / "content").read_text() == "old"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["new", "robot"]


def test_awkward_names_reach_python_unchanged(tmp_path: Path) -> None:
    text = "'''\"\"\"\\ \n\r\t\u2028\x00 {% raw %} */"
    folder = build_tiny(tmp_path / ROBOT, python={"extra.py": f"value = {text!r}\n"})
    assert rbdc.load(folder).joint_names[0].startswith("a\"b'c\\d\n{{")


def test_headers_of_python_are_asked_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("sysconfig.get_paths", lambda: {"include": str(tmp_path)})
    with pytest.raises(ToolchainError, match=r"Python\.h is not in .*; install the development files"):
        compile_package(c_files(), ROBOT, DECLARATIONS, find_compiler(), FLAGS)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission(tmp_path: Path) -> None:
    (tmp_path / "locked").mkdir(mode=0o555)
    with pytest.raises(OptionError, match="Permission denied"):
        place(package(tmp_path / "new", "1"), tmp_path / "locked" / "robot")


def test_the_cache_is_where_the_objects_are(store: Path) -> None:
    native = compile_package(c_files(), ROBOT, DECLARATIONS, find_compiler(), FLAGS)
    assert native.extension.is_relative_to(store)
    assert cache.clear() == len(DECLARATIONS) + 2
