"""Finding and running the compiler."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from rbdc.errors import ToolchainError
from rbdc.native.toolchain import Compiler, check_flags, code_bytes, compile_object, find_compiler, link


def test_the_compiler_is_found_and_names_itself() -> None:
    compiler = find_compiler()
    assert Path(compiler.path).is_file() and compiler.version and "\n" not in compiler.version


def test_cc_may_have_arguments(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    plain = find_compiler()
    monkeypatch.setenv("CC", f"{plain.path} -DVALUE=42")
    compiler = find_compiler()
    assert compiler.arguments[0] == "-DVALUE=42"
    assert compiler.version != plain.version, "the cache would mix them up"
    source = tmp_path / "a.c"
    source.write_text("int f(void) { return VALUE; }\n")
    compile_object(compiler, source, ("-O1",))
    assert source.with_suffix(".o").is_file()


@pytest.mark.parametrize(
    "command", ["./wrapper", "tools/../wrapper", "env ./wrapper", "./folder/../wrapper -DVALUE=42"]
)
def test_a_relative_compiler_is_the_one_in_the_current_folder(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It runs in other folders."""
    for folder in ("tools", "folder", "other"):
        (tmp_path / folder).mkdir()
    (tmp_path / "wrapper").write_text(f'#!/bin/sh\nexec {find_compiler().path} "$@"\n')
    (tmp_path / "wrapper").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    compiler = find_compiler(command)
    source = tmp_path / "other" / "a.c"
    source.write_text("int f(void) { return 1; }\n")
    compile_object(compiler, source, ("-O1",))
    assert source.with_suffix(".o").is_file()


def test_a_bare_name_is_looked_for_on_the_path_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gcc").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "gcc").chmod(0o755)
    (tmp_path / "only-here").write_text("#!/bin/sh\necho 1\n")
    (tmp_path / "only-here").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    assert find_compiler("gcc").path != str(tmp_path / "gcc")
    with pytest.raises(ToolchainError, match="no C compiler"):
        find_compiler("only-here")


def test_temporary_files_of_the_compiler_are_beside_its_output(tmp_path: Path) -> None:
    """A later build then removes them with the other files of a killed build."""
    wrapper = tmp_path / "wrapper"
    wrapper.write_text(
        f'#!/bin/sh\ntest "$1" = --version || echo "$TMPDIR" > "{tmp_path}/told"\n'
        f'exec {find_compiler().path} "$@"\n'
    )
    wrapper.chmod(0o755)
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.c").write_text("int f(void) { return 1; }\n")
    compile_object(find_compiler(str(wrapper)), folder / "a.c", ())
    assert (tmp_path / "told").read_text().strip() == str(folder)


@pytest.mark.parametrize("command", ["no-such-compiler", "no-such -m64", "", "'unclosed"])
def test_no_compiler(monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    monkeypatch.setenv("CC", "none-here")
    with pytest.raises(ToolchainError, match="no C compiler: looked for|cannot be split"):
        find_compiler(command)


def test_no_compiler_at_all(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        ToolchainError, match="looked for clang, gcc, cc; install gcc or clang, or name one with `cc`"
    ):
        find_compiler()


@pytest.mark.parametrize("script", ["exit 3", "echo broken >&2; exit 1", "exit 0"])
def test_something_that_is_no_compiler(tmp_path: Path, script: str) -> None:
    path = tmp_path / "compiler"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    with pytest.raises(ToolchainError, match="exit status|not a C compiler"):
        find_compiler(str(path))


def test_a_failure_shows_command_and_output(tmp_path: Path) -> None:
    source = tmp_path / "a.c"
    source.write_text("int f(void) { return nothing; }\n")
    with pytest.raises(ToolchainError) as caught:
        compile_object(find_compiler(), source, ("-O1",))
    message = str(caught.value)
    assert "command: " in message and "-O1" in message and "a.c:1" in message and "nothing" in message


def test_code_and_stack_bytes(tmp_path: Path) -> None:
    source = tmp_path / "a.c"
    source.write_text("void g(double *); double f(void) { double a[100]; g(a); return a[7]; }\n")
    compiled = compile_object(find_compiler(), source, ("-O1",))
    assert 800 <= compiled.stack_bytes < 1200
    if shutil.which("size"):
        assert 0 < compiled.code_bytes < 400
        assert code_bytes(tmp_path / "missing.o") == 0


def test_sizes_are_optional(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "a.c"
    source.write_text("int f(void) { return 1; }\n")
    compiler = find_compiler()
    compile_object(compiler, source, ())
    monkeypatch.setenv("PATH", str(tmp_path))
    assert code_bytes(source.with_suffix(".o")) == 0


def test_a_linker_that_makes_nothing_is_named(tmp_path: Path) -> None:
    silent = Compiler(shutil.which("true") or "true", "silent")
    with pytest.raises(
        ToolchainError,
        match=r"true ended with exit status 0 but made no a\.so; name another compiler with `cc`",
    ):
        link(silent, [tmp_path / "a.o"], tmp_path / "a.so")


def test_linking_an_object_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "a.o").write_bytes(b"nothing")
    with pytest.raises(ToolchainError, match="exit status"):
        link(find_compiler(), [tmp_path / "a.o"], tmp_path / "a.so")
    assert not (tmp_path / "a.so").exists()


REFUSED = [
    "-o/tmp/x",
    "-oout",
    "--output=x",
    "-c",
    "-E",
    "-MF",
    "-MD",
    "-save-temps",
    "-xc++",
    "file.c",
    "@f",
    "",
]


@pytest.mark.parametrize("flag", REFUSED)
def test_flags_that_write_elsewhere_are_refused(flag: str) -> None:
    with pytest.raises(ToolchainError, match="`cflags`"):
        check_flags(("-O2", flag))


def test_ordinary_flags_pass() -> None:
    flags = ("-O3", "-march=native", "-mfma", "-g", "-fsanitize=address,undefined", "-DX=1", "-Wno-unused")
    assert check_flags(flags) == flags
