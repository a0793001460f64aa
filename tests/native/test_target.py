"""Compilers that make code for another machine, and compilers that warn of this processor by themselves."""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import rbdc
from rbdc.cli.commands import commands
from rbdc.errors import ToolchainError
from rbdc.native.toolchain import WARNING_FLAGS, _architecture, compile_object, default_flags, find_compiler
from tests.support import COMPILERS

QUICK = ("--functions", "nle", "--cflags", "-O0")
CROSS = "aarch64-linux-gnu"
CROSS_COMPILER = shutil.which(f"{CROSS}-gcc") if platform.machine() == "x86_64" else None
AVX10 = ("-march=sapphirerapids", "-mavx10.1-256")
"""What -march=native stands for by clang 19 on processors with AVX10.1."""


def script(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RBDC_CACHE", str(tmp_path / "store"))


@pytest.fixture(
    params=[
        "stand-in",
        pytest.param("real", marks=pytest.mark.skipif(not CROSS_COMPILER, reason="no cross compiler")),
    ]
)
def cross(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A compiler for another machine: one that only says so, and the real one where it is installed."""
    if request.param == "real":
        return str(CROSS_COMPILER)
    triple = f'test "$1" = -dumpmachine && echo {CROSS} && exit'
    triple = triple if platform.machine() == "x86_64" else triple.replace(CROSS, "x86_64-linux-gnu")
    return str(script(tmp_path / "cross", f'{triple}\nexec {find_compiler().path} "$@"'))


@pytest.mark.parametrize("options", [(), ("--march", "portable"), ("--no-verify",), ("--json",)])
def test_code_for_another_machine_is_refused(options: tuple[str, ...], cross: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    refused(["build", "double_pendulum", *QUICK, "--out", str(out), "--cc", cross, *options], cross)
    assert not out.exists()


def test_no_wheel_of_code_for_another_machine(cross: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    refused(["wheel", "double_pendulum", "--functions", "nle", "--out", str(out), "--cc", cross], cross)
    assert not out.exists()


def test_no_module_of_code_for_another_machine(
    cross: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", cross)
    with pytest.raises(ToolchainError, match="makes code for .*, but this machine is "):
        rbdc.build("double_pendulum", functions=["nle"], out=tmp_path / "out", verify=False)
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif("clang" not in COMPILERS, reason="no clang")
def test_flags_for_another_machine_are_refused(tmp_path: Path) -> None:
    triple = "riscv64-linux-gnu"
    flags = ("--cc", "clang", "--cflags", f"--target={triple}", "--no-verify")
    refused(
        ["build", "double_pendulum", "--functions", "nle", "--out", str(tmp_path / "out"), *flags], "--cflags"
    )
    assert not (tmp_path / "out").exists()


def refused(command: list[str], named: str) -> None:
    """The command ends with status 2 and one line, which names the compiler, its machine, and what to do."""
    result = CliRunner().invoke(commands, command)
    assert result.exit_code == 2, result.output
    (line,) = result.stderr.splitlines()
    assert named in line and "makes code for " in line and "--cc" in line and "CMakeLists.txt" in line


@pytest.mark.parametrize(
    ("told", "architecture"),
    [
        ("x86_64-pc-linux-gnu", "x86_64"),
        ("amd64-portbld-freebsd14.0", "x86_64"),
        ("i686-linux-gnu", "i386"),
        ("arm64-apple-darwin23.0.0", "aarch64"),
        ("aarch64-unknown-linux-gnu", "aarch64"),
        ("arm-linux-gnueabihf", "arm"),
        ("armv7l-unknown-linux-gnueabihf", "arm"),
        ("s390x-linux-gnu", "s390x"),
    ],
)
def test_spellings_of_an_architecture(told: str, architecture: str) -> None:
    assert _architecture(told) == architecture


def test_code_for_another_system_is_refused(tmp_path: Path) -> None:
    other = f"{platform.machine()}-w64-mingw32"
    path = script(tmp_path / "cross", f'test "$1" = -dumpmachine && echo {other} && exit\necho 1')
    with pytest.raises(ToolchainError, match="w64-mingw32"):
        find_compiler(str(path))


@pytest.mark.parametrize("answer", ["exit 1", "exit 0", "echo error: what machine", "echo unknown"])
def test_a_compiler_that_does_not_tell_its_machine_is_believed(answer: str, tmp_path: Path) -> None:
    text = f'case "$1" in -dumpmachine) {answer}; exit;; esac\nexec {find_compiler().path} "$@"'
    assert find_compiler(str(script(tmp_path / "quiet", text))).path == str(tmp_path / "quiet")


def test_a_warning_of_the_compiler_itself_is_taken_away(tmp_path: Path) -> None:
    """The flag that silences it also works with flags of the user, and belongs to the identity of the
    compiler.
    """
    text = (
        'native= mended= words=\nfor word; do case "$word" in -march=native) native=1; continue;; '
        '-mno-avx10.1-256) mended=1; continue;; esac; words="$words $word"; done\n'
        'test "$native" && test -z "$mended" && echo "warning: invalid feature combination" >&2\n'
        f"exec {find_compiler().path} $words"
    )
    compiler = find_compiler(str(script(tmp_path / "warns", text)))
    assert compiler.arguments == ("-mno-avx10.1-256",)
    assert compiler.version.endswith(" -mno-avx10.1-256")
    assert find_compiler(f"{tmp_path / 'warns'} -mno-avx10.1-256").arguments == ("-mno-avx10.1-256",)


def test_a_warning_without_a_remedy_stays(tmp_path: Path) -> None:
    text = f'echo "warning: it is late" >&2\nexec {find_compiler().path} "$@"'
    assert find_compiler(str(script(tmp_path / "warns", text))).arguments == ()


@pytest.fixture
def avx10(tmp_path: Path) -> Path:
    """clang as it is on a processor with AVX10.1: it warns whatever it compiles for that."""
    if "clang" not in COMPILERS or platform.machine() != "x86_64":
        pytest.skip("no clang for x86")
    probe = ["clang", *AVX10, "-fsyntax-only", "-x", "c", "/dev/null"]
    if (
        "invalid feature combination"
        not in subprocess.run(probe, capture_output=True, text=True, check=False).stderr
    ):
        pytest.skip("a clang that does not warn of AVX10.1")
    text = (
        "words= native=\n"
        'for word; do case "$word" in -march=native) native=1;; *) words="$words $word";; esac; done\n'
        f'test "$native" && set -- {" ".join(AVX10)}\ntest "$native" || set --\nexec clang "$@" $words'
    )
    return script(tmp_path / "clang-of-avx10", text)


@pytest.mark.parametrize("further", [(), ("-mno-avx512f",)])
def test_clang_on_processors_with_avx10(further: tuple[str, ...], avx10: Path, tmp_path: Path) -> None:
    """The tests of generated C compile like this, and so does Pinocchio without AVX-512."""
    source = tmp_path / "a.c"
    unless = "ndef" if not further else "def"
    source.write_text(f"int f(void);\nint f(void) {{ return 1; }}\n#if{unless} __AVX512F__\n#error\n#endif\n")
    plain = subprocess.run(
        [avx10, "-march=native", *further, "-Werror", "-S", source, "-o", "/dev/null"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert plain.returncode != 0, "what is mended"
    compiler = find_compiler(str(avx10))
    flags = (*default_flags(), *further, *WARNING_FLAGS, "-Werror")
    compile_object(compiler, source, flags)
    assert source.with_suffix(".o").is_file()
    status = subprocess.run(
        [*compiler.command, *flags, "-S", source, "-o", "/dev/null"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert not status.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="the triple is Linux's")
def test_the_compilers_at_hand_are_for_this_machine() -> None:
    for name in COMPILERS:
        assert find_compiler(name).path


@pytest.mark.skipif(not CROSS_COMPILER or not shutil.which("cmake"), reason="no cross compiler or no cmake")
def test_cmake_compiles_a_portable_package_for_another_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is no toolchain file, the only way to tell CMake that the processor is another one."""
    build = ["build", "double_pendulum", *QUICK, "--march", "portable", "--out", str(tmp_path)]
    assert CliRunner().invoke(commands, build).exit_code == 0
    monkeypatch.setenv("CC", str(CROSS_COMPILER))
    path = tmp_path / "made"
    subprocess.run(["cmake", "-S", tmp_path / "double_pendulum", "-B", path], check=True, capture_output=True)
    subprocess.run(["cmake", "--build", path], check=True, capture_output=True)
    told = subprocess.run(
        [f"{CROSS}-objdump", "-f", path / "libdouble_pendulum.a"], check=True, capture_output=True, text=True
    ).stdout
    assert "aarch64" in told and "x86" not in told and "avx2" not in told
