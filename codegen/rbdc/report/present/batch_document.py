"""Batches as data of a report."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rbdc.report.accuracy.metrics import WRONG
from rbdc.report.measure.roofline import Bandwidth, Peak
from rbdc.report.methods.records import Batches, BatchMethod


def bandwidth_data(bandwidth: Bandwidth | None) -> dict[str, Any] | None:
    """The measured bandwidth; None where batches were not measured."""
    if bandwidth is None:
        return None
    return {**asdict(bandwidth), "bytes_per_second": round(bandwidth.bytes_per_second)}


def batch_data(batches: Batches | None, peak: Peak, bandwidth: Bandwidth | None) -> dict[str, Any] | None:
    """One function in batches; None where they were not measured."""
    if batches is None or bandwidth is None:
        return None
    return {
        "samples": batches.samples,
        "left_out": batches.left_out,
        "lanes": batches.lanes,
        "flops": batches.flops,
        "methods": [_method(batches, method, peak, bandwidth) for method in batches.methods],
        "absent": [{"method": method, "reason": reason} for method, reason in batches.absent.items()],
    }


def _method(batches: Batches, method: BatchMethod, peak: Peak, bandwidth: Bandwidth) -> dict[str, Any]:
    errors = batches.errors.get(method.method)
    # Neither the peak of double precision nor the bound of its errors applies to single precision.
    single = method.dtype != "float64"
    points = []
    for samples, times in zip(batches.samples, batches.times[method.method], strict=True):
        ns = times["minimum"]
        points.append(
            {
                "samples": samples,
                "nanoseconds": round(ns, 3),
                "median": round(times["median"], 3),
                "rounds": times["rounds"],
                "peak_percent": peak.percent(None if single else batches.flops, ns),
                "bandwidth_percent": bandwidth.percent(method.moved, ns),
            }
        )
    return {
        "method": method.method,
        "of": method.of,
        "family": method.family,
        "algorithm": method.how,
        "bytes": method.moved,
        "points": points,
        "errors": None if errors is None else errors.data(),
        "right": None if errors is None or single else errors.scaled <= WRONG,
    }
