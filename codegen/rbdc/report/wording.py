"""What page, plots and terminal share."""

from __future__ import annotations

from typing import Any


def shown_methods(function: dict[str, Any]) -> list[dict[str, Any]]:
    """The methods of the plots, fastest first: of the builds and variants of a peer the fastest alone."""
    methods = sorted(function["methods"], key=lambda m: m["nanoseconds"]["minimum"])
    kept: list[dict[str, Any]] = []
    for method in methods:
        if method["family"] != "peer" or all(m["family"] != "peer" for m in kept):
            kept.append(method)
    return kept


def nanoseconds(ns: float) -> str:
    """A time with three significant digits in a unit that suits it."""
    return f"{ns:.3g} ns" if ns < 1000.0 else f"{ns / 1000.0:.3g} \u00b5s" if ns < 1e6 else f"{ns / 1e6:.3g} ms"


NO_SUCH_METHOD = "not asked for, or there is no such method for this function"
"""Why a peer is absent where it gave no reason."""


def percent(share: dict[str, float] | None, of: str) -> str:
    """A share of one of the peaks with three significant digits."""
    return "\u2013" if share is None else f"{share[of]:.3g} %"


def peak_words(peak: dict[str, Any]) -> str:
    """What one core can do at most, and what a call takes at least."""
    rates = [f"{1e-9 * peak[name]:.3g}" for name in ("vector_flops_per_second", "scalar_flops_per_second")]
    how = "fused multiply-adds" if peak["fused"] else "multiplications and additions, for the flags fuse none"
    call = peak.get("empty_call_nanoseconds")  # older reports are without
    calling = "" if call is None else f"; an empty call, which every time includes, takes {nanoseconds(call)}"
    return f"one core reaches {rates[0]} Gflop/s in vectors of {peak['lanes']}, {rates[1]} in single numbers, by {how}{calling}"


def bandwidth_words(bandwidth: dict[str, Any]) -> str:
    """What one core can read and write at most."""
    rate, size = 1e-9 * bandwidth["bytes_per_second"], bandwidth["buffer_bytes"] // 2**20
    return f"one core moves {rate:.3g} GB/s, reading and writing a buffer of {size} MiB"


def batch_methods(function: dict[str, Any]) -> list[dict[str, Any]]:
    """The methods of a function's batches; none in reports without batches."""
    batch = function.get("batch")
    return [] if batch is None else list(batch["methods"])


def batch_notes(batch: dict[str, Any]) -> list[str]:
    """What has to be said of a function's batches: what they are, who is absent, and which sizes were left out."""
    lanes = batch["lanes"]
    notes = ["the generated batch is a loop over samples" if lanes is None else f"the generated batch computes {lanes} samples at a time"]
    notes += [f"{one['method']}: not measured. {one['reason']}" for one in batch["absent"]]
    left_out = ", ".join(str(n) for n in batch["left_out"])
    return notes + ([f"batches of {left_out} are left out: their data would take more than 1 GiB"] if left_out else [])


def label_words(label: str) -> str:
    """What an entry of a summary is called: generated, the name of another compiler, or a peer."""
    return {"pinocchio": "Pinocchio", "casadi": "CasADi C"}.get(label, label.removeprefix("generated-"))


def error_words(method: dict[str, Any] | None, metric: str) -> str:
    """An error of a method, of one that was not measured or checked a dash."""
    if method is None or method["errors"] is None:
        return "\u2013"
    value = method["errors"][metric]
    return "\u221e" if value is None else f"{value:.1e}"
