"""The choice of the variant of a module."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from rbdc.runtime._processor import ProcessorError, choose

PORTABLE = "baseline r_baseline\navx2 r_avx2 AVX2 FMA\navx512 r_avx512 AVX2 FMA AVX512F\n"


def native(variants: str, has: str) -> Any:
    """Return an extension with these variants on a processor with these extensions."""
    lib = SimpleNamespace(
        rbdc_variants=lambda: variants.encode(), rbdc_has=lambda name: int(name.decode() in has.split())
    )
    return SimpleNamespace(lib=lib, ffi=SimpleNamespace(string=lambda text: text))


@pytest.fixture(autouse=True)
def nothing_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RBDC_VARIANT", raising=False)


@pytest.mark.parametrize(
    ("has", "variant"),
    [
        ("", "baseline"),
        ("AVX2", "baseline"),
        ("AVX2 FMA", "avx2"),
        ("AVX512F", "baseline"),
        ("AVX2 FMA AVX512F SSE3", "avx512"),
    ],
)
def test_the_last_that_the_processor_can_run(has: str, variant: str) -> None:
    assert choose(native(PORTABLE, has), "r") == (variant, f"r_{variant}")


def test_the_one_that_the_environment_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RBDC_VARIANT", "avx2")
    assert choose(native(PORTABLE, "AVX2 FMA AVX512F"), "r") == ("avx2", "r_avx2")
    message = "r, variant avx2: compiled for processors with FMA, which this processor lacks"
    with pytest.raises(ProcessorError, match=f"^{message}; unset RBDC_VARIANT, or set it to baseline$"):
        choose(native(PORTABLE, "AVX2"), "r")
    monkeypatch.setenv("RBDC_VARIANT", "neon")
    with pytest.raises(
        ProcessorError, match="r: RBDC_VARIANT names no variant: 'neon'; there are baseline, avx2, avx512"
    ):
        choose(native(PORTABLE, "AVX2"), "r")
    monkeypatch.setenv("RBDC_VARIANT", "")
    assert choose(native(PORTABLE, ""), "r") == ("baseline", "r_baseline")


def test_a_module_for_one_processor_has_no_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RBDC_VARIANT", "avx2")
    assert choose(native("native r\n", ""), "r") == ("native", "r")
    assert choose(native("native r AVX FMA\n", "AVX FMA"), "r") == ("native", "r")
    with pytest.raises(
        ImportError, match="r: compiled for processors with FMA, GFNI, which this processor lacks"
    ) as caught:
        choose(native("native r AVX FMA GFNI\n", "AVX"), "r")
    assert caught.value.name == "r"
