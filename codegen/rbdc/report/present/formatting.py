"""Text of figures, shared by page, plots and terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rbdc.report.options import CASADI, CPPADCODEGEN, NATIVE, PINOCCHIO, PINOCCHIOS

DASH = "\u2013"
"""Stands for a figure that does not exist."""


PEER_WORDS = {
    PINOCCHIO: "Pinocchio (pip)",
    NATIVE: "Pinocchio (native)",
    CPPADCODEGEN: "CppADCodeGen",
    CASADI: "CasADi C",
}
"""Headings of the peers: of Pinocchio the library of its pip package, and native builds from its headers."""


def best_pinocchio(entries: Mapping[str, Any]) -> Any:
    """The entry of Pinocchio in a summary: of native builds where there is one; None without either."""
    return next((entries[peer] for peer in PINOCCHIOS if peer in entries), None)


def shown_methods(function: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The methods of the plots, fastest first; of the builds and algorithms of a peer only the fastest."""
    methods = sorted(function["methods"], key=lambda m: m["nanoseconds"]["minimum"])
    kept: list[dict[str, Any]] = []
    for method in methods:
        if method["family"] != "peer" or all(m["family"] != "peer" for m in kept):
            kept.append(method)
    return kept


def nanoseconds(ns: float) -> str:
    """A time with three significant digits in a suitable unit."""
    return (
        f"{ns:.3g} ns" if ns < 1000.0 else f"{ns / 1000.0:.3g} \u00b5s" if ns < 1e6 else f"{ns / 1e6:.3g} ms"
    )


def decimal_nanoseconds(ns: float | None) -> str:
    """A time in nanoseconds with one decimal, without the unit."""
    return DASH if ns is None else f"{ns:.1f}"


def count(value: float | None) -> str:
    """A number with its thousands set apart."""
    return DASH if value is None else f"{value:,}".replace(",", "\u202f")


def compile_seconds(entry: Mapping[str, Any] | None) -> str:
    """The compile time of a method or an entry of a summary, in seconds."""
    return DASH if entry is None or entry["compile_seconds"] is None else f"{entry['compile_seconds']:.2f}"


def ratio_words(ratio: float) -> str:
    """A ratio of times with three significant digits."""
    return f"{ratio:.3g}\u00d7"


def percent(share: Mapping[str, float] | None, of: str) -> str:
    """A share of one of the peaks with three significant digits."""
    return DASH if share is None else f"{share[of]:.3g} %"


def peak_shares(figures: Mapping[str, Any]) -> tuple[str, str]:
    """The shares of the vector and of the scalar peak, of a method, a point or an entry of a summary."""
    share = figures["peak_percent"]
    return percent(share, "vector"), percent(share, "scalar")


def peak_words(peak: Mapping[str, Any]) -> str:
    """A sentence about the peaks of one core and the least time of a call."""
    rates = [f"{1e-9 * peak[name]:.3g}" for name in ("vector_flops_per_second", "scalar_flops_per_second")]
    how = "fused multiply-adds" if peak["fused"] else "multiplications and additions, for the flags fuse none"
    call = peak.get("empty_call_nanoseconds")  # older reports are without
    calling = "" if call is None else f"; an empty call, which every time includes, takes {nanoseconds(call)}"
    vectors = f"one core reaches {rates[0]} Gflop/s in vectors of {peak['lanes']}"
    return f"{vectors}, {rates[1]} in single numbers, by {how}{calling}"


def bandwidth_words(bandwidth: Mapping[str, Any]) -> str:
    """A sentence about the memory bandwidth of one core."""
    rate, size = 1e-9 * bandwidth["bytes_per_second"], bandwidth["buffer_bytes"] // 2**20
    return f"one core moves {rate:.3g} GB/s, reading and writing a buffer of {size} MiB"


def batch_methods(function: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The methods of a function's batches; none in reports without batches."""
    batch = function.get("batch")
    return [] if batch is None else list(batch["methods"])


def batch_notes(batch: Mapping[str, Any]) -> list[str]:
    """Remarks on a function's batches: how they are computed, absent methods, and sizes left out."""
    lanes = batch["lanes"]
    work = "is a loop over samples" if lanes is None else f"computes {lanes} samples at a time"
    notes = [f"the generated batch {work}"]
    notes += [f"{one['method']}: not measured. {one['reason']}" for one in batch["absent"]]
    left_out = ", ".join(str(n) for n in batch["left_out"])
    if left_out:
        notes.append(f"batches of {left_out} are left out: their data would take more than 1 GiB")
    return notes


def label_words(label: str) -> str:
    """The heading of an entry of a summary: generated, the name of another compiler, or a peer."""
    return PEER_WORDS.get(label, label.removeprefix("generated-"))


def error_words(method: Mapping[str, Any] | None, metric: str) -> str:
    """An error of a method; a dash for one that was not measured or not checked."""
    if method is None or method["errors"] is None:
        return DASH
    value = method["errors"][metric]
    return "\u221e" if value is None else f"{value:.1e}"
