"""Extensions that code was compiled for, and those that the processor has."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import pytest

import rbdc
from rbdc.errors import LoadError
from rbdc.native.toolchain import Compiled, Compiler, compile_object, default_flags, find_compiler
from rbdc.native.variants import EXTENSIONS, least_flags, macros, required
from tests.support_handmade import FLAGS, ROBOT, build_tiny, load_tiny

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="only x86 is asked for its extensions")

SYSTEM_NAMES = {"SSE3": "pni", "BMI": "bmi1", "LZCNT": "abm", "APX_F": "apx"}
UNKNOWN_TO_OLD_SYSTEMS = {"AVXIFMA", "APX_F"}


def has(module: ModuleType, name: str) -> bool:
    return bool(module._native.lib.rbdc_has(name.encode()))


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RBDC_CACHE", str(tmp_path / "store"))


def test_the_processor_has_what_the_system_says(tmp_path: Path) -> None:
    cpuinfo = Path("/proc/cpuinfo")
    if not cpuinfo.is_file():
        pytest.skip("the system does not say")
    line = next(line for line in cpuinfo.read_text().splitlines() if line.startswith("flags"))
    told = {word.replace("_", "") for word in line.split()}
    module = load_tiny(tmp_path)
    for name in EXTENSIONS.keys() - UNKNOWN_TO_OLD_SYSTEMS:
        assert has(module, name) == (SYSTEM_NAMES.get(name, name).lower().replace("_", "") in told), name
    assert any(has(module, name) for name in EXTENSIONS)
    assert not has(module, "AVX9000")


def test_flags_bring_extensions(tmp_path: Path) -> None:
    compiler = find_compiler()
    assert "__x86_64__" in macros(compiler)
    assert required([compiler], ("-march=x86-64",)) == ()
    assert set(required([compiler], ("-march=x86-64", "-mfma"))) >= {"FMA", "AVX", "SSE4_2"}
    assert "AVX2" not in required([compiler], ("-march=x86-64", "-mfma"))
    assert "FMA" not in required([compiler], ("-march=haswell", "-mno-fma"))
    module = load_tiny(tmp_path)
    assert all(has(module, name) for name in required([compiler], default_flags())), (
        "what native means is here"
    )
    assert not any("march" in flag for flag in default_flags("portable"))


def test_a_module_for_another_processor_refuses_to_load(tmp_path: Path) -> None:
    """FMA4 has been in no processor since 2017."""
    if has(load_tiny(tmp_path / "plain"), "FMA4"):
        pytest.skip("this processor has FMA4")
    folder = build_tiny(tmp_path / ROBOT, flags=(*FLAGS, "-mfma4"))
    with pytest.raises(
        LoadError, match=f"{ROBOT}: compiled for processors with .*FMA4, which this processor lacks"
    ) as caught:
        rbdc.load(folder)
    assert str(caught.value).endswith("build it on this processor, or for all with `march='portable'`")
    assert isinstance(caught.value.__cause__, ImportError)
    assert not [name for name in sys.modules if name.endswith(f"{ROBOT}._native")]
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        f"try: import {ROBOT}\nexcept ImportError as error: print(error.name, error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith(f"{ROBOT} {ROBOT}: compiled for processors with ") and "FMA4" in done.stdout


def test_what_asks_the_processor_is_compiled_for_every_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flags_of: dict[str, Sequence[str]] = {}

    def recorded(
        compiler: Compiler, source: Path, flags: Sequence[str], seconds: float | None = None
    ) -> Compiled:
        flags_of[source.name] = flags
        return compile_object(compiler, source, flags, seconds)

    monkeypatch.setattr("rbdc.native.build.compile_object", recorded)
    monkeypatch.setenv("CC", f"{find_compiler().path} -march=native")
    build_tiny(tmp_path / ROBOT, flags=("-O1", "-march=native"))
    units = ("_native.c", "_package.c")  # these run before the test of the processor
    compiler = find_compiler()
    for unit in units:
        assert [flag for flag in flags_of[unit] if flag.startswith("-m")] == list(least_flags(compiler))
    assert all("-march=native" in flags for name, flags in flags_of.items() if name not in units)
    assert required([compiler], ("-march=x86-64",)) == (), "a later flag wins over those of $CC"
    asking = Compiler(
        compiler.path,
        compiler.version,
        ("-march=native", "-mavx2", "-mfma", "-mbmi", "-mgfni", "-mtbm", "-mfma4"),
    )
    assert required([asking], ()) and required([asking], least_flags(asking)) == (), (
        "also where extensions are asked for one by one"
    )


@pytest.mark.skipif(shutil.which("qemu-x86_64") is None, reason="qemu-x86_64 is not installed")
def test_on_an_old_processor(tmp_path: Path) -> None:
    """The emulator stops with an illegal instruction where the check comes too late."""
    build_tiny(tmp_path / ROBOT, flags=(*FLAGS, "-mavx2", "-mfma"))
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        f"try: import {ROBOT}\nexcept ImportError as error: print(error)"
    )
    command = ["qemu-x86_64", "-cpu", "Nehalem", sys.executable, "-c", code]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert "AVX2, FMA, which this processor lacks" in done.stdout
