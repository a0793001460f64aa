"""Batches in the report as data."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rbdc.report.bandwidth import Bandwidth
from rbdc.report.batches import Batches, BatchMethod
from rbdc.report.peak import Peak


def bandwidth_data(bandwidth: Bandwidth | None) -> dict[str, Any] | None:
    """The measured bandwidth, None where batches were not measured."""
    return None if bandwidth is None else {**asdict(bandwidth), "bytes_per_second": round(bandwidth.bytes_per_second)}


def batch_data(batches: Batches | None, peak: Peak, bandwidth: Bandwidth | None, tolerance: float) -> dict[str, Any] | None:
    """One function in batches, None where they were not measured; a scaled error beyond the tolerance is wrong."""
    if batches is None or bandwidth is None:
        return None
    return {
        "samples": batches.samples,
        "left_out": batches.left_out,
        "lanes": batches.lanes,
        "flops": batches.flops,
        "methods": [_method(batches, method, peak, bandwidth, tolerance) for method in batches.methods],
        "absent": [{"method": method, "reason": reason} for method, reason in batches.absent.items()],
    }


def _method(batches: Batches, method: BatchMethod, peak: Peak, bandwidth: Bandwidth, tolerance: float) -> dict[str, Any]:
    errors = batches.errors.get(method.method)
    single = method.dtype != "float64"  # what is known of double precision, peak and errors, says nothing of it
    points = zip(batches.samples, batches.times[method.method], strict=True)
    return {
        "method": method.method,
        "of": method.of,
        "family": method.family,
        "algorithm": method.how,
        "bytes": method.moved,
        "points": [_point(n, times, None if single else batches.flops, method.moved, peak, bandwidth) for n, times in points],
        "errors": None if errors is None else errors.data(),
        "right": None if errors is None or single else errors.scaled <= tolerance,
    }


def _point(n: int, times: dict[str, Any], flops: int | None, moved: int, peak: Peak, bandwidth: Bandwidth) -> dict[str, Any]:
    ns = times["minimum"]
    return {
        "samples": n,
        "nanoseconds": round(ns, 3),
        "median": round(times["median"], 3),
        "rounds": times["rounds"],
        "peak_percent": peak.percent(flops, ns),
        "bandwidth_percent": bandwidth.percent(moved, ns),
    }
