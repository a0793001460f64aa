"""A library in several variants: each agrees with the others, from Python and from C, and the processor's own
is taken.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import rbdc
from rbdc.emit.generation import GenerationOptions, generate
from rbdc.emit.library import VARIANTS, renaming_flags, variant_flags
from rbdc.emit.registry import Generated
from rbdc.errors import LoadError
from rbdc.functions.catalogue import functions_of
from rbdc.model import Problem
from rbdc.native.build import compile_package
from rbdc.native.toolchain import STANDARD_FLAGS, WARNING_FLAGS, Toolchain, find_compiler
from rbdc.native.variants import variants_of
from rbdc.options import BuildOptions
from rbdc.pipeline import build_package
from rbdc.resources import resolve
from tests.support import COMPILERS, OUT, Array, assert_close, slow_but

X86_64 = platform.machine() == "x86_64"
FLAGS = ("-O1", "-ffp-contract=fast", "-fno-math-errno", "-fno-trapping-math")
TOLERANCE = 1e-13
# Lanes, functions in parts, and what the functions of frames share; a solve in columns; the tables of rolled
# functions, with a joint that follows another.
FORMS: dict[str, tuple[dict[str, Any], tuple[str, ...], str]] = {
    "solo12": ({"root_joint": "free-flyer"}, ("rnea", "aba", "frame_velocity"), "unrolled"),
    "kuka_iiwa": ({}, ("gravity_torque", "aba_derivatives"), "unrolled"),
    "panda": ({"mimic": "coupled"}, ("crba", "minverse", "rnea_derivatives"), "rolled"),
}
NAMED: dict[str, tuple[dict[str, Any], str]] = {
    "double_pendulum": ({"root_joint": "free-flyer"}, "unrolled"),
    **{robot: (options, style) for robot, (options, _, style) in FORMS.items()},
}
"""Those whose every function is looked at."""
FROM_C = slow_but(
    [(r, c) for r in ("panda", "solo12") for c in COMPILERS], (), [("panda", c) for c in COMPILERS]
)
only_x86_64 = pytest.mark.skipif(not X86_64, reason="elsewhere there is one variant")


@cache
def portable_package(robot: str) -> Path:
    """Return the folder of the portable package."""
    options, functions, style = FORMS[robot]
    out = OUT / "portable"
    return build_package(
        robot,
        BuildOptions(
            functions=functions, style=style, march="portable", out=out, cflags=FLAGS, jobs=1, **options
        ),
    ).directory


@cache
def generated(robot: str) -> Generated:
    """Return its text."""
    options, functions, style = FORMS[robot]
    chosen = GenerationOptions(style, targets=("c", "batch"), portable=True)
    return generate(Problem.from_urdf(resolve(robot), **options), robot, functions, lambda _: None, chosen)


def several(results: Array | tuple[Array, ...]) -> tuple[Array, ...]:
    return results if isinstance(results, tuple) else (results,)


def results(module: ModuleType) -> dict[str, Array]:
    """Return the results of all functions for some random arguments, by function and result: of one sample,
    of a block and some more, which threads do not change, and of lanes.
    """
    rng = np.random.default_rng(0)
    n = 11
    q = np.array([module.random_configuration(rng) for _ in range(n)])
    v, a = rng.standard_normal((2, n, module.nv))
    by_name: dict[str, Array] = {}
    for name in module.functions:
        arguments = {"crba": (q,), "gravity_torque": (q,), "minverse": (q,), "frame_velocity": (q, v)}.get(
            name, (q, v, a)
        )
        frame = (module.frame_names[-1],) if name == "frame_velocity" else ()
        for inputs in (arguments, [x[0] for x in arguments]):
            by_name |= {
                f"{name} {k} {len(inputs[0])}": x
                for k, x in enumerate(several(getattr(module, name)(*inputs, *frame)))
            }
        for k, x in enumerate(several(getattr(module, name)(*arguments, *frame, num_threads=2))):
            np.testing.assert_array_equal(x, by_name[f"{name} {k} {n}"])
        if getattr(module, f"_{name}")._lanes is not None:
            blocks = getattr(module, name)(
                *(np.ascontiguousarray(x[:8].T[None]) for x in arguments), *frame, layout="lanes"
            )
            by_name |= {f"{name} {k} lanes": x for k, x in enumerate(several(blocks))}
    return by_name


@pytest.fixture(autouse=True)
def nothing_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RBDC_VARIANT", raising=False)


@only_x86_64
@pytest.mark.parametrize("robot", slow_but(FORMS, [], ["kuka_iiwa"]))
def test_every_variant_from_python(robot: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = portable_package(robot)
    loaded = rbdc.load(folder)
    expected, seen = results(loaded), {}
    manifest = json.loads((folder / "manifest.json").read_text())
    extensions = {variant["name"]: variant["extensions"] for variant in manifest["variants"]}
    assert list(extensions) == list(VARIANTS) and extensions["baseline"] == []
    for name in VARIANTS:
        monkeypatch.setenv("RBDC_VARIANT", name)
        copy = shutil.copytree(folder, tmp_path / name)
        if not all(loaded._native.lib.rbdc_has(e.encode()) for e in extensions[name]):
            with pytest.raises(LoadError, match=f"variant {name}: compiled for"):
                rbdc.load(copy)
            continue
        module = rbdc.load(copy)
        assert module.variant == name
        seen[name] = results(module)
        for what, value in seen[name].items():
            assert_close(value, expected[what], TOLERANCE, what=f"{name}, {what}")
    assert loaded.variant == list(seen)[-1], "the last that the processor can run is taken"
    if len(seen) > 1:
        assert any((seen["baseline"][what] != seen["avx2"][what]).any() for what in expected), (
            "it is other code: it rounds otherwise"
        )


@pytest.mark.slow
@only_x86_64
@pytest.mark.skipif(shutil.which("qemu-x86_64") is None, reason="qemu-x86_64 is not installed")
@pytest.mark.parametrize(("processor", "variant"), [("Nehalem", "baseline"), ("Haswell", "avx2")])
def test_on_an_older_processor(processor: str, variant: str) -> None:
    """The emulator stops with an illegal instruction where the variant is not for the processor."""
    folder = portable_package("panda")
    code = (
        f"import sys; sys.path.insert(0, {str(folder.parent)!r})\n"
        "import panda as m; print(m.variant, m.crba(m.q_neutral)[-1, -1] > 0)"
    )
    command = ["qemu-x86_64", "-cpu", processor, sys.executable, "-c", code]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert done.stdout == f"{variant} True\n"


@pytest.mark.parametrize("robot", slow_but(FORMS, [], ["kuka_iiwa"]))
def test_sizes_by_variant(robot: str) -> None:
    if shutil.which("size") is None:
        pytest.skip("size is not installed")
    folder = portable_package(robot)
    manifest = json.loads((folder / "manifest.json").read_text())
    sizes = [variant["code_bytes"] for variant in manifest["variants"]]
    assert all(size > 1000 for size in sizes)
    assert len(sizes) == (len(VARIANTS) if X86_64 else 1)
    assert max(
        entry["code_bytes"] + entry["batch_code_bytes"] for entry in manifest["functions"].values()
    ) <= sum(sizes)


@pytest.mark.parametrize("robot", slow_but(NAMED, [], ["double_pendulum"]))
def test_every_function_has_a_name_in_each_variant(robot: str, tmp_path: Path) -> None:
    """Every definition that other files use is renamed; the functions that choose between variants pass on
    all arguments.
    """
    options, style = NAMED[robot]
    model = Problem.from_urdf(resolve(robot), **options)
    chosen = GenerationOptions(style, targets=("c", "batch"), portable=True)
    files = generate(model, robot, list(functions_of(model)), lambda _: None, chosen).files
    renamed = set(re.findall(r"^#define (\w+) RBDC_NAME", files[f"{robot}_rename.h"], re.MULTILINE))
    external = re.compile(rf"^(?!static|typedef|return)(?:\w+ )+\**({robot}_\w+)[\[(]", re.MULTILINE)
    sources = [
        text for name, text in files.items() if name.endswith(".c") and not name.endswith("_dispatch.c")
    ]
    defined = {name for text in sources for name in external.findall(text)}
    assert len(defined) >= 2 * len(functions_of(model)) and defined <= renamed
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    flags = [*STANDARD_FLAGS, *WARNING_FLAGS, "-Werror", f"-D{robot.upper()}_DISPATCH", "-fsyntax-only"]
    subprocess.run(["cc", *flags, f"{robot}_dispatch.c"], cwd=tmp_path, check=True)


def compiled(robot: str, compiler: str, folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the objects of every variant, with the variant's name, and that of the dispatcher."""
    for name, text in generated(robot).files.items():
        (folder / name).write_text(text)
    sources = sorted(path for path in folder.glob("*.c") if not path.name.endswith("_dispatch.c"))
    strict = [*STANDARD_FLAGS, *WARNING_FLAGS, "-Werror", "-Wshadow", *FLAGS]
    for variant in VARIANTS:
        objects = folder / variant
        objects.mkdir()
        for source in sources:
            target = objects / f"{source.stem}.o"
            flags = [*strict, *renaming_flags(robot, variant), *variant_flags(variant)]
            subprocess.run([compiler, *flags, "-c", source.name, "-o", str(target)], cwd=folder, check=True)
            yield variant, target
    target = folder / "dispatch.o"
    flags = [*strict, f"-D{robot.upper()}_DISPATCH", "-c", f"{robot}_dispatch.c", "-o", str(target)]
    subprocess.run([compiler, *flags], cwd=folder, check=True)
    yield "", target


def defined(path: Path) -> list[str]:
    """Return the names that an object or a program defines for others."""
    lines = subprocess.run(
        ["nm", "--defined-only", "-g", str(path)], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    return [line.split()[-1] for line in lines]


def caller(robot: str) -> str:
    """Return a program that prints the number of the processor's variant, and what a function gives, and each
    variant of it that can be run.
    """
    declaration = generated(robot).sources[0].declaration
    sizes = [p.size for p in declaration.inputs]
    inputs = "\n".join(f"    double x{k}[{size}] = {{0.3, 0.2, 0.1}};" for k, size in enumerate(sizes))
    arguments = ", ".join([*(f"x{k}" for k in range(len(sizes))), "y"])
    calls = "\n".join(
        f"    if ({robot}_variant() >= {index}) {{ "
        f"{robot}_{name}_{declaration.name}({arguments}); show(y); }}"
        for index, name in enumerate(VARIANTS)
    )
    return f"""#include "{robot}.h"
#include "{robot}_variants.h"
#include <stdio.h>
static void show(const double *y)
{{
    for (int k = 0; k < {declaration.outputs[0].size}; ++k) printf("%.17g ", y[k]);
    puts("");
}}
int main(void)
{{
{inputs}
    double y[{declaration.outputs[0].size}];
    printf("%d\\n", {robot}_variant());
    {robot}_{declaration.name}({arguments}); show(y);
{calls}
    return 0;
}}
"""


@only_x86_64
@pytest.mark.parametrize(("robot", "compiler"), FROM_C)
def test_every_variant_from_c(robot: str, compiler: str, tmp_path: Path) -> None:
    """Strictly compiled; no name is in two variants; the same call goes to the variant that Python takes, and
    all agree.
    """
    objects = list(compiled(robot, compiler, tmp_path))
    for variant, path in objects:
        names = defined(path)
        assert names and all(name.startswith(f"{robot}_{variant}") for name in names), path
    (tmp_path / "main.c").write_text(caller(robot))
    paths = [str(path) for _, path in objects]
    subprocess.run(
        [compiler, "-std=c99", "-Werror", "main.c", *paths, "-lm", "-o", "main"], cwd=tmp_path, check=True
    )
    chosen, *rows = subprocess.run(
        [str(tmp_path / "main")], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert list(VARIANTS)[int(chosen)] == rbdc.load(portable_package(robot)).variant
    values = [np.array([float(word) for word in row.split()]) for row in rows]
    assert len(values) == 2 + int(chosen)
    np.testing.assert_array_equal(values[0], values[-1])
    for value in values[1:]:
        assert_close(value, values[0], TOLERANCE)


@pytest.mark.slow
def test_the_c_files_alone_are_one_library(tmp_path: Path) -> None:
    """Without CMake, or on other processors, every C file compiles without variants."""
    for name, text in generated("solo12").files.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "main.c").write_text(
        '#include "solo12.h"\nint main(void) { double q[SOLO12_NQ] = {0}, v[SOLO12_NV] = {0}, t[SOLO12_NV];\n'
        "solo12_rnea(q, v, v, NULL, t); return t[0] != t[0]; }\n"
    )
    sources = [path.name for path in sorted(tmp_path.glob("*.c"))]
    command = ["cc", *STANDARD_FLAGS, *WARNING_FLAGS, "-Werror", "-O0", *sources, "-lm", "-o", "main"]
    subprocess.run(command, cwd=tmp_path, check=True)
    subprocess.run([str(tmp_path / "main")], check=True)
    assert not [
        name
        for name in defined(tmp_path / "main")
        if "baseline" in name or "avx2" in name or "variant" in name
    ]


@pytest.mark.slow
def test_cmake_builds_the_variants(tmp_path: Path) -> None:
    """The folder's name has a blank, and the user's C++ names do not clash with the package."""
    if shutil.which("cmake") is None:
        pytest.skip("cmake is not installed")
    robot = tmp_path / "with blanks" / "panda"
    robot.mkdir(parents=True)
    for name, text in generated("panda").files.items():
        (robot / name).write_text(text)
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.10)\nproject(user C CXX)\nset(objects nonsense)\n"
        'add_subdirectory("with blanks/panda")\nadd_executable(user main.cpp)\n'
        "target_link_libraries(user PRIVATE panda)\n"
    )
    variants = '#include "panda_variants.h"\n' if X86_64 else ""
    (tmp_path / "main.cpp").write_text(
        f'#include "panda.h"\n{variants}int main() {{ double q[PANDA_NQ] = {{0}}, M[PANDA_NV * PANDA_NV];\n'
        f"panda_crba(q, M); return M[0] != M[0]{' || panda_variant() < 0' if X86_64 else ''}; }}\n"
    )
    subprocess.run(["cmake", "-S", ".", "-B", "made"], cwd=tmp_path, check=True, capture_output=True)
    subprocess.run(["cmake", "--build", "made"], cwd=tmp_path, check=True, capture_output=True)
    subprocess.run([str(tmp_path / "made" / "user")], check=True)
    names = defined(tmp_path / "made" / "user")
    assert {f"panda_{name}_crba" for name in VARIANTS} <= set(names) or not X86_64


@pytest.mark.slow
@only_x86_64
def test_flags_of_the_user_win() -> None:
    compiler = find_compiler()
    plain = {v.name: v for v in variants_of("portable", "r", Toolchain(compiler, ("-O2",)))}
    assert {"AVX2", "FMA"} <= set(plain["avx2"].extensions) and "AVX512F" not in plain["avx2"].extensions
    assert "AVX512VL" in plain["avx512"].extensions
    by_name = {v.name: v for v in variants_of("portable", "r", Toolchain(compiler, ("-O2", "-mno-fma")))}
    assert by_name["avx2"].flags[-2:] == ("-O2", "-mno-fma")
    assert "FMA" not in by_name["avx2"].extensions and "AVX2" in by_name["avx2"].extensions
    assert "AVX" in variants_of("portable", "r", Toolchain(compiler, ("-mavx",)))[0].extensions, (
        "a baseline that no longer is one says so"
    )


@pytest.mark.slow
def test_other_processors_have_one_variant(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    here = results(rbdc.load(portable_package("panda")))
    monkeypatch.setattr("rbdc.native.variants.macros", lambda compiler, flags=(): frozenset())
    package, robot = generated("panda"), "panda"
    declarations = [source.declaration for source in package.sources]
    native = compile_package(
        package.files, robot, declarations, Toolchain(find_compiler(), ("-O0",)), 1, "portable"
    )
    assert [(variant.name, variant.prefix) for variant in native.variants] == [("baseline", robot)]
    for name, text in {**package.files, "manifest.json": "{}"}.items():
        (tmp_path / name).write_text(text)
    shutil.copy(native.extension, tmp_path)
    module = rbdc.load(tmp_path)
    assert module.variant == "baseline"
    for what, value in results(module).items():
        assert_close(value, here[what], TOLERANCE, what=what)
    monkeypatch.setenv("RBDC_VARIANT", "avx2")
    with pytest.raises(LoadError, match="there are baseline$"):
        rbdc.load(shutil.copytree(tmp_path, tmp_path.with_name("again")))
