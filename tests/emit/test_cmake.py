"""Projects elsewhere that find, link and run two installed robots: C, C++17 with and without Eigen, and
pkg-config.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from rbdc.options import BuildOptions
from rbdc.pipeline import build_package
from tests.support import COMPILERS, OUT, UNOPTIMISED, build_module

pytestmark = pytest.mark.slow

FUNCTIONS = (
    "rnea",
    "aba",
    "crba",
    "frame_jacobian",
    "kinetic_energy",
    "rnea_derivatives",
    "forward_kinematics",
)
ROBOTS = ("cartpole", "double_pendulum")
EIGEN = Path("/usr/include/eigen3")

PROJECT = """
cmake_minimum_required(VERSION 3.10)
project(elsewhere C CXX)
set(CMAKE_CXX_STANDARD 17)
find_package(cartpole REQUIRED)
find_package(double_pendulum 0.1 REQUIRED)
foreach(program in_c.c in_cpp.cpp)
    add_executable(${program}.out ${program})
    target_compile_options(${program}.out PRIVATE -Wall -Wextra -Werror -pedantic)
    target_link_libraries(${program}.out PRIVATE cartpole::cartpole double_pendulum::double_pendulum)
endforeach()
if(EIGEN)
    add_executable(in_eigen.out in_eigen.cpp)
    target_compile_options(in_eigen.out PRIVATE -Wall -Wextra -Werror)
    target_include_directories(in_eigen.out SYSTEM PRIVATE ${EIGEN})
    target_link_libraries(in_eigen.out PRIVATE cartpole::cartpole double_pendulum::double_pendulum)
endif()
"""
IN_C = """
#include <stdio.h>
#include "cartpole.h"
#include "double_pendulum.h"
int main(void)
{
    const double q[2] = {0.1, 0.2}, v[2] = {0.3, 0.4}, a[2] = {0.5, 0.6};
    double one[2], two[2];
    cartpole_rnea(q, v, a, NULL, one);
    double_pendulum_rnea(q, v, a, NULL, two);
    printf("%.17g %.17g %.17g %.17g\\n", one[0], one[1], two[0], two[1]);
    return 0;
}
"""
IN_CPP = """
#define RBDC_NO_EIGEN
#include <cstdio>
#include "cartpole.hpp"
#include "double_pendulum.hpp"
int main()
{
    const double q[cartpole::nq] = {0.1, 0.2}, v[cartpole::nv] = {0.3, 0.4}, a[2] = {0.5, 0.6};
    double one[cartpole::nv], two[double_pendulum::nv];
    cartpole::rnea(q, v, a, nullptr, one);
    double_pendulum::rnea(q, v, a, nullptr, two);
    std::printf("%.17g %.17g %.17g %.17g\\n", one[0], one[1], two[0], two[1]);
}
"""
IN_EIGEN = """
#include <cstdio>
#include "cartpole.hpp"
#include "double_pendulum.hpp"
int main()
{
    namespace dp = double_pendulum;
    const Eigen::Vector2d q(0.1, 0.2), v(0.3, 0.4), a(0.5, 0.6);
    Eigen::VectorXd all(4);
    cartpole::rnea(q, v, a, all.head(2));   // into a part of a vector
    all.tail(2) = dp::rnea(q, v, 2 * a - a);  // an expression, and a result by value
    std::printf("%.17g %.17g %.17g %.17g", all[0], all[1], all[2], all[3]);
    dp::Matrix<2, 6> fext = dp::Matrix<2, 6>::Zero();
    fext(1, 2) = 7.0;
    Eigen::Vector2d tau, ddq;
    dp::rnea(q, v, a, fext, tau);
    dp::aba(q, v, tau, fext, ddq);
    std::printf(" %.17g %.17g", ddq[0], ddq[1]);
    const Eigen::MatrixXd J = dp::frame_jacobian(q, 2, dp::WORLD);  // by columns: copied as a matrix
    dp::Matrix<2, 2> M, dq, dv;
    dp::rnea_derivatives(q, v, a, dq, dv, M);
    double energy;
    dp::kinetic_energy(q, v, energy);
    const dp::Matrix<12, 4> places = dp::forward_kinematics(q);
    std::printf(" %.17g %.17g %.17g %.17g\\n", J(2, 1), (M - dp::crba(q)).norm(), energy, places(8, 3));
}
"""


def run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder to which both robots were installed and then moved: a library of one variant and one
    of several.
    """
    if shutil.which("cmake") is None or shutil.which("c++") is None:
        pytest.skip("no cmake or no C++ compiler")
    folder = tmp_path_factory.mktemp("installed")
    for robot, march, flags in zip(ROBOTS, ("native", "portable"), (UNOPTIMISED, ("-O0",)), strict=True):
        options = BuildOptions(
            functions=FUNCTIONS, out=OUT / "cmake", targets=("c",), cflags=flags, march=march, jobs=1
        )
        package = build_package(robot, options).directory
        build, first = str(folder / robot), f"-DCMAKE_INSTALL_PREFIX={folder / 'first'}"
        run("cmake", "-S", str(package), "-B", build, first, "-DCMAKE_C_FLAGS=-O0")
        run("cmake", "--build", build, "-j", "2", "--target", "install")
    return (folder / "first").rename(folder / "moved")


def numbers() -> list[float]:
    """Return the numbers that the programs must print."""
    q, v, a = np.array([0.1, 0.2]), np.array([0.3, 0.4]), np.array([0.5, 0.6])
    modules = [build_module(r, functions=FUNCTIONS, snap=1e-11, cflags=UNOPTIMISED) for r in ROBOTS]
    m = modules[1]
    taus = [x for module in modules for x in module.rnea(q, v, a)]
    J, places = m.frame_jacobian(q, 2, "WORLD"), m.forward_kinematics(q)
    return [*taus, *a, J[2, 1], 0.0, m.kinetic_energy(q, v), places[2, 0, 3]]


@pytest.mark.slow
def test_a_project_elsewhere(prefix: Path, tmp_path: Path) -> None:
    texts = {"CMakeLists.txt": PROJECT, "in_c.c": IN_C, "in_cpp.cpp": IN_CPP, "in_eigen.cpp": IN_EIGEN}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    build = tmp_path / "made"
    eigen = [f"-DEIGEN={EIGEN}"] if EIGEN.is_dir() else []
    run("cmake", "-S", str(tmp_path), "-B", str(build), f"-DCMAKE_PREFIX_PATH={prefix}", *eigen)
    run("cmake", "--build", str(build))
    expected = numbers()
    for program, count in {
        "in_c.c.out": 4,
        "in_cpp.cpp.out": 4,
        **({"in_eigen.out": 10} if eigen else {}),
    }.items():
        printed = [float(word) for word in run(str(build / program)).split()]
        np.testing.assert_allclose(printed, expected[:count], rtol=1e-12, atol=1e-12)


def test_pkg_config(prefix: Path, tmp_path: Path) -> None:
    if shutil.which("pkg-config") is None:
        pytest.skip("no pkg-config")
    (folder,) = prefix.glob("lib*/**/pkgconfig")
    command = ["env", f"PKG_CONFIG_PATH={folder}", "pkg-config", "--cflags", "--libs", *ROBOTS]
    flags = run(*command).split()
    (tmp_path / "main.c").write_text(IN_C)
    program = str(tmp_path / "program")
    run(COMPILERS[0], str(tmp_path / "main.c"), "-o", program, *flags)
    np.testing.assert_allclose(
        [float(x) for x in run(program).split()], numbers()[:4], rtol=1e-12, atol=1e-12
    )


REFUSED = {
    "by columns": "Eigen::Matrix2d M; cartpole::crba(q, M);",
    "a part of a larger matrix": "cartpole::Matrix<4, 4> M; cartpole::crba(q, M.block<2, 2>(0, 0));",
    "of another size": "Eigen::Vector3d g; cartpole::rnea(q, q, q, g);",
}


@pytest.mark.slow
@pytest.mark.parametrize("what", sorted(REFUSED))
def test_what_would_be_filled_wrongly_does_not_compile(prefix: Path, tmp_path: Path, what: str) -> None:
    if not EIGEN.is_dir():
        pytest.skip("no Eigen")
    start = "#include <cartpole.hpp>\nint main() { const Eigen::Vector2d q(0.1, 0.2);\n"
    (tmp_path / "main.cpp").write_text(f"{start}{REFUSED[what]} }}\n")
    include = [f"-I{prefix}/include/cartpole", f"-I{EIGEN}", "-std=c++17", "-fsyntax-only"]
    command = ["c++", *include, str(tmp_path / "main.cpp")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "error" in done.stderr


def test_package_xml(prefix: Path) -> None:
    """REP 149 defines the package file for packages that plain CMake builds."""
    root = ElementTree.parse(prefix / "share" / "cartpole" / "package.xml").getroot()
    assert root.tag == "package" and root.attrib["format"] == "3"
    for tag in ("name", "version", "description", "maintainer", "license"):
        assert root.findtext(tag)
    assert root.findtext("name") == "cartpole"
    assert root.findtext("export/build_type") == "cmake"
