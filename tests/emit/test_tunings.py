"""Generated C under every tuning of gcc for x86: constants come out as they are written, and code for one
sample has no register of 64 bytes. Batches have, by clang too.
"""

from __future__ import annotations

import ctypes
import itertools
import platform
import re
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from rbdc.emit.batch import batch_header
from rbdc.emit.c.csource import windows_source
from rbdc.emit.c.polynomials import elementary_header
from rbdc.emit.generation import GenerationOptions, generate
from rbdc.emit.library import render_library
from rbdc.functions.catalogue import functions_of
from rbdc.functions.declarations import FunctionDeclaration, Parameter
from rbdc.functions.scalar_types import DOUBLE, SCALARS, ScalarType
from rbdc.ir.builder import Builder
from rbdc.ir.nodes import ArgumentArray, Section
from rbdc.model import Problem
from rbdc.native.toolchain import OPTIMISATION_FLAGS, STANDARD_FLAGS
from rbdc.options import BuildOptions
from rbdc.pipeline import build_package
from rbdc.resources import resolve
from tests.support import COMPILERS, OUT, slow_but
from tests.support_programs import finish
from tests.support_windows import EVERY_KIND, kernel_alone, path_tree, widths

AVX2 = ("-mavx2", "-mfma")
AVX512 = ("-march=x86-64-v4",)
CMAKE = ("-O2", "-ffp-contract=fast", "-fno-math-errno", "-fno-trapping-math")
"""What CMakeLists.txt asks for, with vectorisers."""
FLAG_SETS = {"generated": OPTIMISATION_FLAGS, "cmake": CMAKE}

pytestmark = pytest.mark.skipif(
    platform.machine() != "x86_64" or "gcc" not in COMPILERS, reason="tunings of gcc for x86-64"
)
has_avx2 = pytest.mark.skipif("avx2" not in widths(), reason="this processor has no AVX2")


@cache
def tunings() -> tuple[str, ...]:
    """Return those that gcc knows, in the note on one that it does not know."""
    command = ["gcc", "-mtune=unknown", "-E", "-x", "c", "/dev/null"]
    said = subprocess.run(
        command, capture_output=True, text=True, env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"}
    )
    (names,) = re.findall(r"valid arguments to '-mtune=' switch are: (.*?)(?:;|$)", said.stderr, re.MULTILINE)
    return tuple(names.split())


TUNINGS = tunings() if "gcc" in COMPILERS else ()
SERVERS = ("haswell", "sapphirerapids", "skylake-avx512", "znver3")
"""Tunings of the slow tier; the exhaustive tier has all others."""


def compiled(source: Path, flags: Sequence[str], compiler: str = "gcc") -> str:
    """Return the compiler's output for a source: with -S the assembly."""
    command = [compiler, *STANDARD_FLAGS, *flags, "-S", source.name, "-o", "-"]
    return subprocess.run(command, cwd=source.parent, check=True, capture_output=True, text=True).stdout


def wide_constants(source: Path, flags: Sequence[str]) -> list[str]:
    """Return integers longer than 8 bytes that gcc makes of the constants of a source: those that it can take
    for a repetition of their first 8 bytes.
    """
    dump = source.with_suffix(".rtl")
    subprocess.run(
        ["gcc", *STANDARD_FLAGS, *flags, f"-fdump-rtl-dse1={dump}", "-S", source.name, "-o", "/dev/null"],
        cwd=source.parent,
        check=True,
    )
    return re.findall(r"const_wide_int 0x[0-9a-f]{33,}", dump.read_text())


def written(folder: Path, files: dict[str, str]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


def runs() -> list[float]:
    """Return runs of a number and of zeros of every length up to ten, and of other numbers."""
    numbers = [x for n in range(1, 11) for zeros in (1, 2, 3) for x in [0.7] * n + [0.0] * zeros]
    return [*numbers, 1.0, -0.7, -0.7, 0.0, 0.0, 2.5, 0.7, 0.7, *[0.0] * 20, *[0.7] * 20]


def constants(folder: Path, scalar: ScalarType) -> Path:
    """Return the C of a function whose results are the numbers of `runs`; the file includes what it needs."""
    builder = Builder()
    entries = [builder.constant(x) for x in runs()]
    output = ArgumentArray("y", len(entries))
    section = [Section("", "")]
    program = finish("f", [ArgumentArray("x", 1)], [output], builder, [entries], section, {})
    arrays = (Parameter("x", (1,), "none"),), (Parameter("y", (len(entries),), "numbers"),)
    declaration = FunctionDeclaration("constants", "Numbers.", *arrays, scalar=scalar)
    source = windows_source("robot", declaration, program)
    text = source.files["robot_constants.c"].replace('#include "robot.h"', "")
    prototype = f"void robot_constants(const {scalar.name} *restrict x, {scalar.name} *restrict y);"
    return written(
        folder,
        source.files
        | {"robot_constants.c": text.replace("#include <stddef.h>", f"#include <stddef.h>\n{prototype}")},
    )


@has_avx2
@pytest.mark.parametrize(
    ("flags", "dtype"),
    slow_but(itertools.product(FLAG_SETS, SCALARS), [], [("cmake", "float64"), ("generated", "float32")]),
)
def test_constants_come_out_as_written_under_every_tuning(flags: str, dtype: str, tmp_path: Path) -> None:
    """gcc 12 tuned for Intel's servers copied six equal numbers and two zeros as eight equal ones."""
    scalar = SCALARS[dtype]
    constants(tmp_path, scalar)
    names = {tuning: f"f{number}" for number, tuning in enumerate(tunings())}
    assert "icelake-server" in names
    for tuning, name in names.items():
        args = [*STANDARD_FLAGS, *FLAG_SETS[flags], *AVX2, f"-mtune={tuning}", f"-Drobot_constants={name}"]
        subprocess.run(["gcc", *args, "-c", "robot_constants.c", "-o", f"{name}.o"], cwd=tmp_path, check=True)
    objects = [f"{name}.o" for name in names.values()]
    subprocess.run(["gcc", "-shared", *objects, "-o", "all.so"], cwd=tmp_path, check=True)
    library, x = ctypes.CDLL(str(tmp_path / "all.so")), np.zeros(1, scalar.dtype)
    for tuning, name in names.items():
        y = np.full(len(runs()), np.nan, scalar.dtype)
        getattr(library, name)(ctypes.c_void_p(x.ctypes.data), ctypes.c_void_p(y.ctypes.data))
        assert y.tolist() == np.array(runs(), scalar.dtype).tolist(), tuning


@pytest.mark.parametrize("tuning", slow_but(TUNINGS, ("icelake-server",), SERVERS))
def test_constants_are_made_of_numbers_no_longer_than_registers(tuning: str, tmp_path: Path) -> None:
    """The C compiles with AVX-512 on processors without it, too."""
    source = constants(tmp_path, DOUBLE) / "robot_constants.c"
    for flags in FLAG_SETS.values():
        assert wide_constants(source, (*flags, *AVX512, f"-mtune={tuning}")) == []


@has_avx2
@pytest.mark.parametrize(
    ("robot", "tuning"),
    slow_but(
        [
            ("double_pendulum", "icelake-server"),
            *(("hyq", name) for name in ("icelake-server", "sapphirerapids")),
        ],
        [("double_pendulum", "icelake-server")],
        [],
    ),
)
def test_second_derivatives_agree_with_the_description_tuned_for_intel(robot: str, tuning: str) -> None:
    """The build compares them; the masses of a free root are six equal numbers, followed by zeros."""
    flags = (*OPTIMISATION_FLAGS, *AVX2, f"-mtune={tuning}")
    options = BuildOptions(
        root_joint="free-flyer",
        functions=("rnea_second_derivatives",),
        compiler="gcc",
        cflags=flags,
        targets=("c",),
        out=OUT / f"tuned-{tuning}",
    )
    assert (build_package(robot, options).directory / "manifest.json").is_file()


@cache
def second_derivatives() -> dict[str, str]:
    """Return the C of second derivatives of a pendulum with a free root."""
    model = Problem.from_urdf(resolve("double_pendulum"), root_joint="free-flyer")
    return generate(model, "robot", ["rnea_second_derivatives"], lambda _: None).files


@pytest.mark.parametrize("tuning", ["icelake-server"])
def test_no_constant_of_second_derivatives_is_longer_than_a_register(tuning: str, tmp_path: Path) -> None:
    folder = written(tmp_path, second_derivatives())
    for source in sorted(folder.glob("*.c")):
        assert wide_constants(source, (*CMAKE, *AVX512, f"-mtune={tuning}")) == [], source.name


def test_windows_copy_no_table_of_constants(tmp_path: Path) -> None:
    """Frames of joints with several degrees of freedom are filled into a copy of the table."""
    model = path_tree(3, 3, kinds=EVERY_KIND[5:])
    record = functions_of(model)["minverse"]
    source = kernel_alone(model, record)
    folder = written(tmp_path, render_library(model, "robot", [source]))
    text = (folder / "robot_minverse.c").read_text()
    assert "posed[" in text and not re.search(r"memcpy\([^;]*constants", text)
    assert wide_constants(folder / "robot_minverse.c", (*CMAKE, *AVX512, "-mtune=sapphirerapids")) == []


@cache
def package(robot: str, root: str) -> dict[str, str]:
    """Return the C of inverse dynamics and of M, with batches."""
    model = Problem.from_urdf(resolve(robot), root_joint=root)
    options = GenerationOptions(targets=("c", "batch"))
    return generate(model, robot, ["rnea", "crba"], lambda _: None, options).files


ROBOTS = [("kuka_iiwa", "fixed"), ("ur5", "fixed"), ("hyq", "free-flyer")]


@pytest.mark.parametrize("tuning", slow_but(TUNINGS, ("icelake-server", "generic"), SERVERS))
@pytest.mark.parametrize(("robot", "root"), slow_but(ROBOTS, ROBOTS))
def test_single_calls_have_no_register_of_64_bytes(
    robot: str, root: str, tuning: str, tmp_path: Path
) -> None:
    folder = written(tmp_path, package(robot, root))
    for name in ("rnea", "crba"):
        flags = (*OPTIMISATION_FLAGS, *AVX512, f"-mtune={tuning}")
        text = compiled(folder / f"{robot}_{name}.c", flags)
        assert "%ymm" in text and "%zmm" not in text, name


def kernels(assembly: str) -> str:
    """Return the text of the functions that compute eight samples side by side."""
    return "".join(re.findall(r"^\w+_kernel8\w*:.*?^\.Lfunc_end", assembly, re.MULTILINE | re.DOTALL))


def is_known(tuning: str) -> bool:
    """Return whether this clang has heard of a processor: those before 16 have not of all."""
    command = ["clang", f"-mtune={tuning}", "-E", "-x", "c", "/dev/null"]
    return subprocess.run(command, capture_output=True).returncode == 0


@pytest.mark.skipif("clang" not in COMPILERS, reason="gcc splits no vectors that a register can hold")
@pytest.mark.parametrize("tuning", ["generic", "icelake-server", "sapphirerapids", "znver4"])
def test_batches_have_registers_of_64_bytes_by_clang(tuning: str, tmp_path: Path) -> None:
    """clang tuned for Intel's processors uses shorter registers unless a flag asks for 64 bytes. Vectors on
    the stack span two cache lines unless the function aligns its stack.
    """
    if not is_known(tuning):
        pytest.skip(f"this clang knows no {tuning}")
    folder = written(tmp_path, package("kuka_iiwa", "fixed"))
    flags = (*OPTIMISATION_FLAGS, *AVX512, f"-mtune={tuning}")
    for name in ("rnea", "crba"):
        asm = kernels(compiled(folder / f"kuka_iiwa_{name}_batch.c", flags, "clang"))
        assert asm.count("%zmm") > 300 and "%ymm" not in asm
        assert re.search(r"vmovap[sd]\t%zmm.*Spill", asm) and not re.search(r"vmov(up|dqu).*%zmm.*Spill", asm)
    assert "%zmm" in compiled(folder / "kuka_iiwa_rnea_batch.c", (*OPTIMISATION_FLAGS, *AVX512), "gcc")


@pytest.mark.parametrize("scalar", SCALARS.values(), ids=SCALARS)
def test_the_test_for_large_angles_takes_no_lane_through_memory(scalar: ScalarType, tmp_path: Path) -> None:
    """gcc without AVX-512 has vectors longer than registers in memory and compares their lanes one by one."""
    lanes = scalar.lanes
    prototype = f"int moderate(const t_lanes{lanes} *x)"
    call = f"{prototype};\n{prototype}\n{{\n    return t_moderate{lanes}(x, 19);\n}}\n"
    folder = written(
        tmp_path,
        {
            **elementary_header("t", scalar),
            **batch_header("t", scalar),
            "t.c": f'#include "t_batch.h"\n{call}',
        },
    )
    text = compiled(folder / "t.c", (*OPTIMISATION_FLAGS, *AVX2))
    assert len(re.findall(r"^\t[a-z]", text, re.MULTILINE)) < 60
    assert not re.search(r"^\tvp.*\(%r[sb]p\)", text, re.MULTILINE)
