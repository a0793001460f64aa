"""Compiling a package."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import rbdc
from rbdc.errors import ToolchainError
from rbdc.native import cache
from rbdc.native.build import compile_package, extension_source
from rbdc.native.install import EXTENSION
from rbdc.native.toolchain import Compiled, Compiler, Toolchain, compile_object, find_compiler
from rbdc.native.variants import LibraryVariant
from tests.support_handmade import DECLARATIONS, FLAGS, ROBOT, build_tiny, c_files, load_tiny


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RBDC_CACHE", str(tmp_path / "store"))
    return tmp_path / "store"


def test_figures_for_every_c_file() -> None:
    native = compile_package(c_files(), ROBOT, DECLARATIONS, Toolchain(find_compiler(), FLAGS))
    assert native.extension.is_file()
    assert sorted(name for name, _ in native.figures) == sorted(n for n in c_files() if n.endswith(".c"))
    assert all(figures.code_bytes >= 0 and figures.stack_bytes >= 0 for figures in native.figures.values())


def test_only_the_changed_function_is_compiled_again(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []

    def recorded(
        compiler: Compiler, source: Path, flags: Sequence[str], seconds: float | None = None
    ) -> Compiled:
        compiled.append(source.name)
        return compile_object(compiler, source, flags, seconds)

    monkeypatch.setattr("rbdc.native.build.compile_object", recorded)
    first = compile_package(c_files(), ROBOT, DECLARATIONS, Toolchain(find_compiler(), FLAGS))
    assert len(compiled) == len(DECLARATIONS) + 2
    compiled.clear()
    assert compile_package(c_files(), ROBOT, DECLARATIONS, Toolchain(find_compiler(), FLAGS)) == first
    assert compiled == []
    changed = compile_package(
        c_files(comment="changed"), ROBOT, DECLARATIONS, Toolchain(find_compiler(), FLAGS)
    )
    assert sorted(compiled) == ["_package.c", f"{ROBOT}_mix.c"] and changed.extension != first.extension
    compiled.clear()
    compile_package(c_files(), ROBOT, DECLARATIONS, Toolchain(find_compiler(), (*FLAGS, "-g")))
    assert len(compiled) == len(DECLARATIONS), "flags are part of the key; of these the glue has the level"
    compiled.clear()
    compile_package(c_files(), ROBOT, DECLARATIONS, Toolchain(find_compiler(), ("-O3",)))
    assert len(compiled) == len(DECLARATIONS) + 2


def test_a_source_that_does_not_compile_leaves_no_artefact(store: Path) -> None:
    files = c_files()
    files[f"{ROBOT}_mix.c"] += "nonsense nonsense;\n"
    with pytest.raises(ToolchainError, match=f"{ROBOT}_mix.c"):
        compile_package(files, ROBOT, DECLARATIONS, Toolchain(find_compiler(), FLAGS))
    assert not list(store.rglob(EXTENSION))


def test_a_compiler_that_makes_nothing_is_named(tmp_path: Path) -> None:
    """It exits with 0 and writes no object: that is no fault of the cache."""
    wrapper = tmp_path / "silent"
    wrapper.write_text('#!/bin/sh\ntest "$1" = --version && echo silent 1.0\nexit 0\n')
    wrapper.chmod(0o755)
    with pytest.raises(
        ToolchainError,
        match=r"the compiler .*/silent ended with exit status 0 but made no .*\.o; name another",
    ):
        compile_package(c_files(), ROBOT, DECLARATIONS, Toolchain(find_compiler(str(wrapper)), FLAGS))


def test_warnings_stop_a_build_only_where_asked() -> None:
    """A warning that a newer compiler invents must not break a user's build; our own tests of the generated C
    ask for -Werror.
    """
    files = c_files()
    files[f"{ROBOT}_mix.c"] += "static int unused(void)\n{ return 1; }\n"
    with pytest.raises(ToolchainError, match="unused"):
        compile_package(files, ROBOT, DECLARATIONS, Toolchain(find_compiler(), (*FLAGS, "-Werror")))
    assert compile_package(files, ROBOT, DECLARATIONS, Toolchain(find_compiler(), FLAGS)).extension.is_file()


def test_the_glue_is_deterministic() -> None:
    variants = (LibraryVariant("native", ROBOT, (), ("AVX",)),)
    text = extension_source(ROBOT, DECLARATIONS, variants)
    assert text == extension_source(ROBOT, DECLARATIONS, variants)
    assert "#line" not in text


@pytest.mark.parametrize("size", [0, 1, 3, 8, 17, 70])
def test_entries_that_are_not_finite_are_found(tmp_path: Path, size: int) -> None:
    native = load_tiny(tmp_path)._native
    values, spec = np.linspace(-1e307, 1e307, size), native.ffi.new("size_t[]", [1, 0])

    def refused() -> bool:
        return bool(native.lib.rbdc_refused_lanes(spec, size, 1, native.ffi.from_buffer("double[]", values)))

    assert not refused()
    for index in range(size):
        for bad in (np.nan, np.inf, -np.inf):
            finite, values[index] = values[index], bad
            assert refused()
            values[index] = finite
    assert not refused()


def test_awkward_names_reach_python_unchanged(tmp_path: Path) -> None:
    text = "'''\"\"\"\\ \n\r\t\u2028\x00 {% raw %} */"
    folder = build_tiny(tmp_path / ROBOT, python={"extra.py": f"value = {text!r}\n"})
    assert rbdc.load(folder).joint_names[0].startswith("a\"b'c\\d\n{{")


def test_headers_of_python_are_asked_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("sysconfig.get_paths", lambda: {"include": str(tmp_path)})
    with pytest.raises(ToolchainError, match=r"Python\.h is not in .*; install the development files"):
        compile_package(c_files(), ROBOT, DECLARATIONS, Toolchain(find_compiler(), FLAGS))


def test_the_cache_is_where_the_objects_are(store: Path) -> None:
    native = compile_package(c_files(), ROBOT, DECLARATIONS, Toolchain(find_compiler(), FLAGS))
    assert native.extension.is_relative_to(store)
    assert cache.clear() == (len(DECLARATIONS) + 3, [])
