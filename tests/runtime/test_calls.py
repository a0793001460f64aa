"""Calling a generated module: values, batches, out=, layouts, threads."""

from __future__ import annotations

import threading
from types import ModuleType

import numpy as np
import pytest

from tests.support import Array
from tests.support_handmade import AWKWARD, load_tiny


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    return load_tiny(tmp_path_factory.mktemp("calls"))


Q, V = np.array([1.0, 2.0]), np.array([0.5, -0.25])
FEXT = np.arange(12.0).reshape(2, 6)


def test_one_sample_gives_new_arrays(tiny: ModuleType) -> None:
    np.testing.assert_array_equal(tiny.mix(Q, V), 2 * Q + V)
    np.testing.assert_array_equal(tiny.mix(Q, V, FEXT), 2 * Q + V + FEXT[:, 0])
    first, second = tiny.mix(Q, V), tiny.mix(Q, V)
    assert not np.may_share_memory(first, second)


def test_several_outputs_come_as_a_tuple(tiny: ModuleType) -> None:
    total, product = tiny.pair(Q, V)
    np.testing.assert_array_equal(total, Q + V)
    np.testing.assert_array_equal(product, np.outer(Q, V))
    totals, products = tiny.pair(np.array([Q, V]), V)
    np.testing.assert_array_equal(totals, [Q + V, V + V])
    np.testing.assert_array_equal(products, [np.outer(Q, V), np.outer(V, V)])


def test_a_scalar_output_is_a_float(tiny: ModuleType) -> None:
    assert tiny.energy(Q, V) == 0.0
    assert isinstance(tiny.energy(Q, 2 * V), np.float64)
    assert isinstance(tiny.energy([1, 2], [3, 4]), np.float64)
    assert tiny.energy([1, 2], [3, 4]) == 11.0
    np.testing.assert_array_equal(tiny.energy(np.array([Q, V, Q]), Q), [5.0, 0.0, 5.0])


@pytest.mark.parametrize("leading", [(1,), (5,), (3, 4), (0,), (2, 0, 3)])
def test_batches_of_any_shape(tiny: ModuleType, leading: tuple[int, ...]) -> None:
    rng = np.random.default_rng(3)
    q, v, fext = (rng.standard_normal((*leading, *shape)) for shape in ((2,), (2,), (2, 6)))
    result = tiny.mix(q, v, fext)
    assert result.shape == (*leading, 2)
    np.testing.assert_array_equal(result, 2 * q + v + fext[..., 0])


def test_leading_dimensions_broadcast(tiny: ModuleType) -> None:
    rng = np.random.default_rng(4)
    q, v, fext = rng.standard_normal((3, 1, 2)), rng.standard_normal((4, 2)), rng.standard_normal((2, 6))
    np.testing.assert_array_equal(tiny.mix(q, v, fext), 2 * q + v + fext[:, 0])
    np.testing.assert_array_equal(tiny.mix(Q, v), 2 * Q + v)


@pytest.mark.parametrize(
    "make",
    [
        lambda x: x.tolist(),
        lambda x: tuple(x),
        lambda x: np.repeat(x, 2)[::2],  # strided
        lambda x: x[::-1].copy()[::-1],  # negative stride
        lambda x: x.astype(np.float32),
        lambda x: x.astype(">f8"),
        # Unaligned and read-only.
        lambda x: np.frombuffer(b"\0" + x.tobytes(), np.uint8)[1:].view(np.float64),
        lambda x: np.asfortranarray(x),
        lambda x: x.view(type("Subclass", (np.ndarray,), {})),
    ],
    ids=["list", "tuple", "strided", "reversed", "float32", "big-endian", "unaligned", "fortran", "subclass"],
)
def test_what_converts_without_loss_is_taken(tiny: ModuleType, make: object) -> None:
    assert callable(make)
    np.testing.assert_array_equal(tiny.mix(make(Q), make(V)), 2 * Q + V)


def test_layouts_of_two_dimensional_arguments(tiny: ModuleType) -> None:
    expected = 2 * Q + V + FEXT[:, 0]
    np.testing.assert_array_equal(tiny.mix(Q, V, np.asfortranarray(FEXT)), expected)
    np.testing.assert_array_equal(tiny.mix(Q, V, np.repeat(FEXT, 2, axis=1)[:, ::2]), expected)
    batch = np.asfortranarray(np.stack([FEXT, 2 * FEXT]))
    np.testing.assert_array_equal(tiny.mix(Q, V, batch), [expected, expected + FEXT[:, 0]])


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64, np.uint64, np.bool_, np.float16])
def test_small_integers_convert(tiny: ModuleType, dtype: type) -> None:
    np.testing.assert_array_equal(tiny.mix(np.array([1, 0], dtype), np.array([0, 1], dtype)), [2.0, 1.0])


def test_read_only_inputs(tiny: ModuleType) -> None:
    q = Q.copy()
    q.flags.writeable = False
    np.testing.assert_array_equal(tiny.mix(q, q), 3 * Q)
    np.testing.assert_array_equal(tiny.mix(np.broadcast_to(q, (5, 2)), q), np.broadcast_to(3 * Q, (5, 2)))


def test_out_is_filled_and_returned(tiny: ModuleType) -> None:
    out = np.empty(2)
    assert tiny.mix(Q, V, out=out) is out
    np.testing.assert_array_equal(out, 2 * Q + V)
    batch = np.empty((3, 2))
    assert tiny.mix(np.array([Q, V, Q]), V, out=batch) is batch
    np.testing.assert_array_equal(batch, [2 * Q + V, 3 * V, 2 * Q + V])
    pair = (np.empty(2), np.empty((2, 2)))
    total, product = tiny.pair(Q, V, out=pair)
    assert total is pair[0] and product is pair[1]
    np.testing.assert_array_equal(product, np.outer(Q, V))
    energy = np.empty(())
    assert tiny.energy(Q, Q, out=energy) is energy
    assert energy == 5.0


def test_out_may_be_an_input(tiny: ModuleType) -> None:
    q = Q.copy()
    assert tiny.mix(q, V, out=q) is q
    np.testing.assert_array_equal(q, 2 * Q + V)


def test_one_of_several_outputs_may_overlap_an_input(tiny: ModuleType) -> None:
    # Each sample's sum is written where the next sample's v is read.
    buffer: Array = np.arange(8.0)
    v, total = buffer[:6].reshape(3, 2), buffer[2:].reshape(3, 2)
    expected_total, expected_product = Q + v, Q[:, None] * v[:, None, :]
    _, product = tiny.pair(Q, v, out=(total, np.empty((3, 2, 2))))
    np.testing.assert_array_equal(total, expected_total)
    np.testing.assert_array_equal(product, expected_product)


def test_out_may_overlap_an_input_in_a_batch(tiny: ModuleType) -> None:
    buffer: Array = np.arange(12.0)
    q, out = buffer[:8].reshape(4, 2), buffer[2:10].reshape(4, 2)
    expected = 2 * q + V
    np.testing.assert_array_equal(tiny.mix(q, V, out=out), expected)


def test_frames_by_name_and_index(tiny: ModuleType) -> None:
    assert tiny.frame_names == ("base", AWKWARD, "tip")
    np.testing.assert_array_equal(tiny.where(Q, "tip"), [1.0, 2.0, 0.0])
    np.testing.assert_array_equal(tiny.where(Q, np.int64(1), "WORLD"), [1.0, 1.0, 1.0])
    np.testing.assert_array_equal(tiny.where(Q, AWKWARD, reference="LOCAL_WORLD_ALIGNED"), [1.0, 1.0, 2.0])
    np.testing.assert_array_equal(tiny.where(np.array([Q, V]), "tip"), [[1.0, 2.0, 0.0], [0.5, 2.0, 0.0]])


def test_many_threads(tiny: ModuleType) -> None:
    rng = np.random.default_rng(5)
    inputs = rng.standard_normal((8, 1000, 2))
    wrong = []

    def work(q: Array) -> None:
        for row in q:
            if not np.array_equal(tiny.mix(row, V), 2 * row + V):
                wrong.append(row)
        if not np.array_equal(tiny.mix(q, V), 2 * q + V):
            wrong.append(q)

    threads = [threading.Thread(target=work, args=(q,)) for q in inputs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
