"""Generated C compiled as C++ with a double that counts what it does."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from rbdc.ir.cost import Cost

COUNTING = """
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
extern long n[5];
struct counted {
    double x;
    counted() = default;
    constexpr counted(double y) : x(y) {}
};
inline counted operator+(counted a, counted b) { ++n[0]; return a.x + b.x; }
inline counted operator-(counted a, counted b) { ++n[0]; return a.x - b.x; }
inline counted operator*(counted a, counted b) { ++n[1]; return a.x * b.x; }
inline counted operator/(counted a, counted b) { ++n[2]; return a.x / b.x; }
inline counted operator-(counted a) { ++n[3]; return -a.x; }
inline counted &operator+=(counted &a, counted b) { return a = a + b; }
inline counted &operator-=(counted &a, counted b) { return a = a - b; }
inline counted &operator*=(counted &a, counted b) { return a = a * b; }
inline counted sin(counted a) { ++n[4]; return std::sin(a.x); }
inline bool operator<(counted a, counted b) { return a.x < b.x; }
inline counted sqrt(counted a) { ++n[4]; return std::sqrt(a.x); }
inline counted &operator/=(counted &a, counted b) { return a = a / b; }
inline counted cos(counted a) { ++n[4]; return std::cos(a.x); }
inline counted atan2(counted a, counted b) { ++n[4]; return std::atan2(a.x, b.x); }
#undef __GNUC__ /* no vectors of what is no number, and sines and cosines by the library, one by one */
#define double counted
#define restrict __restrict
"""
"""In front of each C file."""


def counted_operations(
    files: Mapping[str, str], header: str, calls: Sequence[str], size: int, folder: Path
) -> list[Cost]:
    """What each of the calls executes. They may name `in` and `out[0]` .. `out[2]`, arrays of `size` numbers.

    files: the text of the headers and C files by name; all are written into `folder`.
    """
    for name, text in {**files, "counting.h": COUNTING}.items():
        (folder / name).write_text(text)
    report = 'printf("%ld %ld %ld %ld %ld\\n", n[0], n[1], n[2], n[3], n[4]);'
    body = "\n".join(f"for (int k = 0; k < 5; ++k) n[k] = 0;\n{call};\n{report}" for call in calls)
    (folder / "main.cpp").write_text(
        f'#include "{header}"\nlong n[5];\nint main() {{\nstatic counted in[{size}], out[3][{size}];\n'
        f"for (int k = 0; k < {size}; ++k) in[k] = 0.1 + 0.01 * k;\n{body}\n}}\n"
    )
    sources = sorted(name for name in files if name.endswith(".c"))
    command = ["g++", "-w", "-O0", "-x", "c++", "-include", "counting.h", *sources, "main.cpp", "-o", "main"]
    subprocess.run(command, cwd=folder, check=True)
    printed = subprocess.run([str(folder / "main")], check=True, capture_output=True, text=True).stdout
    return [Cost(*(int(x) for x in line.split())) for line in printed.splitlines()]
