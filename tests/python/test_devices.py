# SPDX-License-Identifier: GPL-2.0 OR MIT
"""Devices from Python, embedded: results, and what is refused."""
import ctypes
import importlib.metadata
import re
import threading

import numpy as np
import pytest

import mimic
from mimic import _counters


@pytest.fixture(autouse=True)
def embedded(monkeypatch):
    monkeypatch.setenv("MIMIC_TRANSPORT", "embedded")


class Csr:
    """As scipy's csr_matrix, of which only these are used."""

    def __init__(self, dense, dtype, index=np.int32, start=np.int32):
        rows = [np.flatnonzero(row) for row in dense]
        self.shape = dense.shape
        self.indptr = np.concatenate(([0], np.cumsum([len(row) for row in rows]))).astype(start)
        self.indices = np.concatenate(rows).astype(index)
        self.data = np.concatenate([line[row] for line, row in zip(dense, rows)]).astype(dtype)


def small(shape, seed, low=-4, high=5):
    return np.random.default_rng(seed).integers(low, high, shape)


def sparse(shape, seed):
    values = small(shape, seed)
    return values * (np.random.default_rng(seed + 1).random(shape) < 0.3)


# --- MAPLE ------------------------------------------------------------------------------------------


def test_a_queue_fetches_what_indices_name():
    x = np.arange(1000, dtype=np.float64) * 1.5
    index = np.array([7, 3, 999, 0], dtype=np.uint32)
    with mimic.Maple() as maple, maple.producer(2) as out, maple.consumer(2) as into:
        out.fetch(x, index)
        assert np.array_equal(into.consume(4, np.float64), x[index])
        assert maple.transport == "embedded"
        assert maple.counters()["fetched"] > 0


def test_another_thread_may_produce_meanwhile():
    x = np.arange(5000, dtype=np.uint32)
    with mimic.Maple(queue_words=32) as maple:
        def produce():
            with maple.producer(0) as out:
                out.produce(x)
        thread = threading.Thread(target=produce)
        thread.start()
        with maple.consumer(0) as into:
            assert np.array_equal(into.consume(5000), x)
        thread.join()


def test_consumed_words_go_where_the_caller_says():
    out_array = np.zeros(3, dtype=np.uint64)
    with mimic.Maple() as maple, maple.producer(0) as out, maple.consumer(0) as into:
        out.produce(np.array([1, 2, 3], dtype=np.uint64))
        assert into.consume(3, np.uint64, out=out_array) is out_array
    assert list(out_array) == [1, 2, 3]


@pytest.mark.parametrize("form", ["plain", "decoupled", "lima", "prefetch"])
def test_spmv(form):
    dense = sparse((20, 30), 5)
    x = small(30, 6).astype(np.float64)
    with mimic.Maple() as maple:
        assert np.array_equal(maple.spmv(Csr(dense, np.float64), x, form=form), dense @ x)


def test_an_index_beyond_the_array_is_refused():
    with mimic.Maple() as maple, maple.producer(0) as out:
        with pytest.raises(IndexError, match="index"):
            out.fetch(np.zeros(4), np.array([4], dtype=np.uint32))
        with pytest.raises(IndexError, match="index"):
            out.fetch(np.zeros(4), np.array([-1], dtype=np.int32))


def test_the_library_says_what_is_wrong():
    with pytest.raises(mimic.MimicError, match="queue_words 33") as raised:
        mimic.Maple(queue_words=33)
    assert raised.value.errno == 22
    with mimic.Maple() as maple, maple.producer(0):
        with pytest.raises(mimic.MimicError):
            maple.producer(99)


def test_a_closed_device_is_refused():
    maple = mimic.Maple()
    maple.close()
    maple.close()
    with pytest.raises(ValueError, match="closed"):
        maple.counters()


@pytest.mark.parametrize("dtype", [object, np.uint16])
def test_words_of_a_queue_are_numbers(dtype):
    with mimic.Maple() as maple, maple.producer(0) as out, maple.consumer(0) as into:
        out.produce(np.array([5, 123456789], np.uint64))
        with pytest.raises(TypeError, match="a queue has"):
            into.consume(2, dtype)
        with pytest.raises(TypeError, match="a queue has"):
            out.produce(np.empty(2, dtype))
        assert list(into.consume(2, np.uint64)) == [5, 123456789]


def test_a_closed_end_is_refused():
    with mimic.Maple() as maple:
        out, into = maple.producer(3), maple.consumer(3)
        out.close()
        into.close()
        with pytest.raises(ValueError, match="the producer of queue 3 is closed"):
            out.produce(np.zeros(1, np.uint32))
        with pytest.raises(ValueError, match="the producer of queue 3 is closed"):
            out.fetch(np.zeros(1, np.uint32), np.zeros(1, np.uint32))
        with pytest.raises(ValueError, match="the consumer of queue 3 is closed"):
            into.consume(1)


def test_the_package_has_the_wheels_version():
    assert mimic.__version__ == importlib.metadata.version("mimic")


def test_memory_of_the_device_is_an_array():
    with mimic.Maple() as maple, maple.producer(0) as out, maple.consumer(0) as into:
        x = maple.alloc((4, 8), np.float32)
        assert x.shape == (4, 8) and not x.any()
        x[:] = np.arange(32).reshape(4, 8)
        out.fetch(x, np.array([31], dtype=np.uint32))
        assert into.consume(1, np.float32)[0] == 31


def test_a_thread_that_waits_long_tells_what_for():
    lines = []
    told = threading.Event()
    mimic.patience(0.2, lambda line: (lines.append(line), told.set()))
    try:
        with mimic.Maple() as maple:
            def consume():
                with maple.consumer(0) as into:
                    into.consume(1)
            thread = threading.Thread(target=consume)
            thread.start()
            assert told.wait(20)
            with maple.producer(0) as out:
                out.produce(np.zeros(1, np.uint32))
            thread.join()
    finally:
        mimic.patience(0)
    assert len(lines) == 1 and re.match(r"maple\d: thread \d+ has waited .* queue 0 is empty, and nobody produces$", lines[0])


# --- DARE ---------------------------------------------------------------------------------------------


# Elements, and how numbers become them. Small integers are exact in all.
ELEMENTS = {"float32": lambda numbers: numbers.astype(np.float32), "int8": lambda numbers: numbers.astype(np.int8),
            "bf16": mimic.dare.bf16}


def sparse_of(dense, elements):
    matrix = Csr(dense, np.float32)
    matrix.data = ELEMENTS[elements](matrix.data)
    return matrix


@pytest.mark.parametrize("elements", ELEMENTS)
def test_dare_multiplies(elements):
    a, b = small((17, 40), 1), small((40, 23), 2)
    with mimic.Dare() as dare:
        taken = ELEMENTS[elements](a), ELEMENTS[elements](b)
        c = dare.gemm(*taken)
        assert c.dtype == (np.int32 if elements == "int8" else np.float32)
        assert np.array_equal(c, a @ b)
        assert dare.gemm(*taken, out=c, add=True) is c
        assert np.array_equal(c, 2 * (a @ b))


@pytest.mark.parametrize("elements", ELEMENTS)
@pytest.mark.parametrize("form, block", [("auto", 1), ("baseline", 4), ("gsa", 1), ("gsa", 8)])
def test_spmm(elements, form, block):
    dense, d = sparse((33, 21), 3), small((21, 18), 4)
    with mimic.Dare() as dare:
        assert np.array_equal(dare.spmm(sparse_of(dense, elements), ELEMENTS[elements](d), form=form, block=block), dense @ d)


@pytest.mark.parametrize("elements", ELEMENTS)
@pytest.mark.parametrize("form, block", [("auto", 1), ("baseline", 4), ("gsa", 1), ("gsa", 8)])
def test_sddmm(elements, form, block):
    dense, a, b = sparse((33, 21), 3), small((33, 18), 4), small((21, 18), 5)
    with mimic.Dare() as dare:
        matrix = Csr(dense, np.int32 if elements == "int8" else np.float32)
        p = dare.sddmm(matrix, ELEMENTS[elements](a), ELEMENTS[elements](b), form=form, block=block)
        assert p.dtype == matrix.data.dtype
        assert np.array_equal(p, (dense * (a @ b.T))[dense != 0])
        with pytest.raises(ValueError, match="a @ b.T has its shape"):
            dare.sddmm(matrix, ELEMENTS[elements](a), ELEMENTS[elements](a))
        with pytest.raises(TypeError, match="data: elements of"):
            dare.sddmm(Csr(dense, np.float64), ELEMENTS[elements](a), ELEMENTS[elements](b))


# All that rounding meets: what lies half-way, infinities, NaN, denormals.
def test_bf16_is_rounded_as_the_library_does():
    lows = np.array([0, 1, 0x7fff, 0x8000, 0x8001, 0xffff], np.uint32)
    bits = (np.arange(0, 0x10000, 7, dtype=np.uint32)[:, None] << 16 | lows).ravel()
    bits = np.concatenate((bits, np.array([0x7f800000, 0xff800000, 0x7f800001, 0x7fffffff, 0x7f7fffff], np.uint32)))
    convert = mimic.Dare.library.get("bf16")
    convert.restype, convert.argtypes = ctypes.c_uint16, [ctypes.c_float]
    converted = mimic.dare.bf16(bits.view(np.float32))
    assert converted.tolist() == [convert(number) for number in bits.view(np.float32)]
    assert np.array_equal(mimic.dare.bf16(mimic.dare.from_bf16(converted)), converted)


def test_other_elements_are_refused():
    with mimic.Dare() as dare:
        with pytest.raises(TypeError, match="a: elements of float32, int8, or bf16"):
            dare.gemm(np.zeros((2, 2)), np.zeros((2, 2)))
        with pytest.raises(TypeError, match="data: elements of float32, int8, or bf16"):
            dare.spmm(Csr(sparse((5, 6), 7), np.float64), np.zeros((6, 4)))


def test_a_sparse_matrix_of_64_bits_is_taken_as_it_lies():
    from mimic._arrays import Csr as Taken
    matrix = Csr(sparse((5, 6), 7), np.float32, np.uint32, np.int64)
    taken = Taken(matrix, (np.float32,))
    assert taken.start is matrix.indptr and taken.index is matrix.indices and taken.value is matrix.data


def test_an_index_beyond_the_columns_is_refused():
    matrix = Csr(sparse((5, 6), 7), np.float32)
    matrix.indices[0] = 6
    with mimic.Dare() as dare, pytest.raises(ValueError, match="not below the 6 columns"):
        dare.spmm(matrix, np.zeros((6, 4), np.float32))


# --- Virgo ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype, sums", [(np.float32, np.float32), (np.float16, np.float32), (np.int8, np.int32)])
def test_virgo_multiplies(dtype, sums):
    a, b = small((19, 33), 1).astype(dtype), small((33, 21), 2).astype(dtype)
    bias = small(21, 3).astype(sums)
    with mimic.Virgo() as virgo:
        c = virgo.gemm(a, b, bias=bias, epilogue="relu")
        assert c.dtype == sums
        assert np.array_equal(c, np.maximum(a.astype(np.int64) @ b.astype(np.int64) + bias, 0))
        assert sum(virgo.counters().values()) > 0


def test_a_transposed_view_is_no_copy():
    stored = small((33, 19), 1).astype(np.float32)
    b = small((21, 33), 2).astype(np.float32)
    with mimic.Virgo() as virgo:
        assert np.array_equal(virgo.gemm(stored.T, b.T), stored.T @ b.T)
        # Every second column lies in no piece: it is refused, and not copied.
        with pytest.raises(ValueError, match="a: neither its rows nor its columns"):
            virgo.gemm(stored[:, ::2], np.zeros((10, 4), np.float32))
        # Rows of a larger matrix do.
        assert np.array_equal(virgo.gemm(stored[::2, :7], b.T[:7]), stored[::2, :7] @ b.T[:7])


@pytest.mark.parametrize("change, error", [
    (lambda a, b: (a.astype(np.float64), b), TypeError), (lambda a, b: (a, b.astype(np.float16)), TypeError),
    (lambda a, b: (a[:, :3], b), ValueError), (lambda a, b: (a.ravel(), b), ValueError), (lambda a, b: (a, b.tolist()), TypeError)])
def test_values_that_do_not_fit_are_refused(change, error):
    a, b = change(np.zeros((4, 5), np.float32), np.zeros((5, 6), np.float32))
    with mimic.Virgo() as virgo, pytest.raises(error):
        virgo.gemm(a, b)


def test_a_result_that_cannot_be_written_is_refused():
    a = np.zeros((4, 4), np.float32)
    out = np.zeros((4, 4), np.float32)
    out.flags.writeable = False
    with mimic.Virgo() as virgo:
        with pytest.raises(ValueError, match="out: it cannot be written"):
            virgo.gemm(a, a, out=out)
        with pytest.raises(ValueError, match="out: its shape"):
            virgo.gemm(a, a, out=np.zeros((3, 4), np.float32))


def test_shared_memory_is_an_array():
    with mimic.Virgo() as virgo:
        shared = virgo.shared()
        assert shared.size >= 65536 and shared.dtype == np.uint8
        shared[:4] = [1, 2, 3, 4]
        assert list(virgo.shared()[:4]) == [1, 2, 3, 4]


# --- all of them -------------------------------------------------------------------------------------------


def test_counters_have_the_names_of_the_libraries(tmp_path):
    # As many as the library's structure has: what lies behind it would be written over.
    for opened, names in ((mimic.Maple, _counters.MAPLE), (mimic.Dare, _counters.DARE), (mimic.Virgo, _counters.VIRGO)):
        with opened() as device:
            values = (ctypes.c_uint64 * (len(names) + 4))(*[2**63] * (len(names) + 4))
            arguments = (device.handle, 0xffffffff) if opened is mimic.Virgo else (device.handle,)
            device.library.call("counters", *arguments, ctypes.byref(values))
            assert [value == 2**63 for value in values] == [False] * len(names) + [True] * 4
