"""Generated C compiled as C++ with a double that counts what it does."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from rbdc.ir.cost import Cost

COUNTING = """
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
extern long n[7];
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
template <int N> struct bits;
template <int N> struct lanes {
    counted x[N];
    counted &operator[](int k) { return x[k]; }
    const counted &operator[](int k) const { return x[k]; }
    operator bits<N>() const { bits<N> y; memcpy(&y, x, sizeof y); return y; }
};
template <int N> struct bits {
    long long x[N];
    operator lanes<N>() const { lanes<N> y; memcpy(&y, x, sizeof y); return y; }
};
#define LANES template <int N>
#define ALL for (int k = 0; k < N; ++k)
LANES bits<N> operator&(bits<N> a, bits<N> b) { ALL a.x[k] &= b.x[k]; ++n[5]; return a; }
LANES bits<N> operator|(bits<N> a, bits<N> b) { ALL a.x[k] |= b.x[k]; return a; }
LANES bits<N> operator~(bits<N> a) { ALL a.x[k] = ~a.x[k]; return a; }
LANES lanes<N> same(counted a) { lanes<N> b; ALL b.x[k] = a; return b; }
#define EACH(op) \
    LANES lanes<N> operator op(lanes<N> a, lanes<N> b) { \
        ALL a.x[k].x = a.x[k].x op b.x[k].x; \
        ++n[5]; n[6] += N * (*#op != '/'); return a; } \
    LANES lanes<N> operator op(counted a, lanes<N> b) { return same<N>(a) op b; } \
    LANES lanes<N> operator op(lanes<N> a, counted b) { return a op same<N>(b); }
EACH(+) EACH(-) EACH(*) EACH(/)
LANES lanes<N> operator-(lanes<N> a) { ALL a.x[k].x = -a.x[k].x; ++n[3]; return a; }
LANES lanes<N> &operator+=(lanes<N> &a, lanes<N> b) { return a = a + b; }
template <int N, class... T> lanes<N> shuffled(lanes<N> a, lanes<N> b, T... from) {
    const int place[] = {from...};
    lanes<N> c;
    ALL c.x[k] = place[k] < N ? a.x[place[k]] : b.x[place[k] - N];
    return c;
}
LANES const lanes<N> *address(const lanes<N> &a) { return &a; }
#undef LANES
#undef ALL
#define __builtin_shufflevector shuffled
#undef __GNUC__ /* no vectors of what is no number, and sines and cosines by the library, one by one */
#define double counted
#define restrict __restrict
"""
"""In front of each C file."""


def counted_operations(
    files: Mapping[str, str],
    header: str,
    calls: Sequence[str],
    size: int,
    folder: Path,
    *,
    longest: bool = False,
) -> list[Cost]:
    """Return the operations that each call executes. Calls may name `in` and `out[0]` .. `out[5]`, arrays of
    `size` numbers.

    files: headers and C files by name, which are written into `folder`.
    longest: whether the longest registers count, if the C has several widths.
    """
    for name, text in {**files, "counting.h": COUNTING}.items():
        (folder / name).write_text(_of_structures(text))
    report = 'printf("%ld %ld %ld %ld %ld %ld %ld\\n", n[0], n[1], n[2], n[3], n[4], n[5], n[6]);'
    body = "\n".join(f"for (int k = 0; k < 7; ++k) n[k] = 0;\n{call};\n{report}" for call in calls)
    (folder / "main.cpp").write_text(
        f'#include "{header}"\nlong n[7];\nint main() {{\nstatic counted in[{size}], out[6][{size}];\n'
        f"for (int k = 0; k < {size}; ++k) in[k] = 0.1 + 0.01 * k;\n{body}\n}}\n"
    )
    sources = sorted(name for name in files if name.endswith(".c"))
    command = [
        "g++",
        "-w",
        "-fpermissive",
        "-O0",
        "-x",
        "c++",
        "-include",
        "counting.h",
        *sources,
        "main.cpp",
        "-o",
        "main",
    ]
    subprocess.run([*command, *["-D__AVX512F__"] * longest], cwd=folder, check=True)
    printed = subprocess.run([str(folder / "main")], check=True, capture_output=True, text=True).stdout
    counts = [[int(x) for x in line.split()] for line in printed.splitlines()]
    return [replace(Cost(*scalar), vectors=vectors, lane_flops=each) for *scalar, vectors, each in counts]


def _of_structures(text: str) -> str:
    """Return the C with its types of vectors as structures; the same number in all lanes is no operation."""
    text = re.sub(
        r"typedef (\w+(?: \w+)?) (vec|any|bits|any_bits)(\d+) __attribute__.*;",
        lambda match: (
            f"typedef {'bits' if 'bits' in match[2] else 'lanes'}<{match[3]}> {match[2]}{match[3]};"
        ),
        text,
    )
    text = text.replace("volatile ", "")
    text = re.sub(r"\(const vec\d+\[\]\)\{(.*)\}, ", r"address(\1), ", text)
    return re.sub(r"\(vec(\d+)\)\{0\} \+ (.*?)(?=[;,]|\}\[)", r"same<\1>(\2)", text)
