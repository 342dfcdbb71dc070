# SPDX-License-Identifier: GPL-2.0 OR MIT
"""DARE: products of dense and sparse matrices (libdare, dare.h)."""
import ctypes

import numpy

from . import _counters
from ._arrays import Csr, matrix, result, row_major, vector
from ._library import Device, Library, Options, counters, device_signatures, encode

P, U, N, I = ctypes.c_void_p, ctypes.c_uint, ctypes.c_size_t, ctypes.c_int
GEMM = (I, [P, U, N, N, N, P, N, P, N, P, N])
SPMM = (I, [P, I, P, P, N, P, N, P, N])
SDDMM = (I, [P, I, P, P, N, P, N, P, N, P])
TRANSPOSE_A, TRANSPOSE_B, ADD = 1, 2, 4
FORMS = {"auto": 0, "baseline": 1, "gsa": 2}
# Elements, elements of the result, and the functions' ending. numpy has no bf16: its bits are uint16, as in C.
KINDS = {numpy.dtype(numpy.float32): (numpy.float32, ""), numpy.dtype(numpy.int8): (numpy.int32, "_i8"),
         numpy.dtype(numpy.uint16): (numpy.float32, "_bf16")}

LIBRARY = Library("dare", {
    **device_signatures("open", "close"),
    **{name + ending: signature for name, signature in (("gemm", GEMM), ("spmm", SPMM), ("sddmm", SDDMM)) for _, ending in KINDS.values()},
    "blockify": (I, [P, P, U]), "blocks_free": (None, [P]), "counters": (I, [P, P]),
})


def _kind(dtype, name):
    # That of the package ml_dtypes.
    known = KINDS.get(numpy.dtype(numpy.uint16) if dtype.name == "bfloat16" else dtype)
    if not known:
        raise TypeError("%s: elements of float32, int8, or bf16 (uint16), not %s" % (name, dtype))
    return known


def bf16(array):
    """Numbers as bf16, in uint16: the nearest, of two the even one."""
    bits = numpy.asarray(array, numpy.float32).view(numpy.uint32)
    rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16
    return numpy.where((bits & 0x7fffffff) > 0x7f800000, bits >> 16 | 0x40, rounded).astype(numpy.uint16)


def from_bf16(bits):
    """The same numbers as float32."""
    return (numpy.asarray(bits).view(numpy.uint16).astype(numpy.uint32) << 16).view(numpy.float32)


class _Sparse(ctypes.Structure):
    _fields_ = [("layout", I), ("rows", N), ("columns", N), ("start", P), ("index", P)]


class Blocks:
    """A sparse matrix that is cut into blocks of B x B elements: for any number of products."""

    def __init__(self, matrix_, block=1):
        self.csr = Csr(matrix_, None)
        self._blocks = P()
        sparse = _Sparse(0, self.csr.rows, self.csr.columns, self.csr.start_at, self.csr.index_at)
        LIBRARY.call("blockify", ctypes.byref(self._blocks), ctypes.byref(sparse), block)

    def __del__(self):
        if getattr(self, "_blocks", None):
            LIBRARY.get("blocks_free")(self._blocks)


class Dare(Device):
    """A context of a DARE."""
    library = LIBRARY

    def __init__(self, device=None, transport=None, socket=None, config=None):
        super().__init__(Options(encode(device), encode(transport), encode(socket), encode(config)))

    def gemm(self, a, b, out=None, add=False):
        """a @ b, of float32, of bf16 with sums of float32, or of int8 with sums of int32. A transposed view is taken as it lies."""
        sums, ending = _kind(a.dtype, "a")
        a_at, lda, a_transposed = matrix(a, (a.dtype,), "a")
        b_at, ldb, b_transposed = matrix(b, (a.dtype,), "b")
        if a.shape[1] != b.shape[0]:
            raise ValueError("a has %d columns, and b %d rows" % (a.shape[1], b.shape[0]))
        if add and out is None:
            raise ValueError("add: there is no out to add to")
        out = result(out, (a.shape[0], b.shape[1]), sums)
        out_at, ldc = row_major(out, (numpy.dtype(sums),), "out", True)
        flags = TRANSPOSE_A * a_transposed | TRANSPOSE_B * b_transposed | ADD * bool(add)
        LIBRARY.call("gemm" + ending, self.handle, flags, a.shape[0], b.shape[1], a.shape[1], a_at, lda, b_at, ldb, out_at, ldc)
        return out

    @staticmethod
    def _sparse(sparse, form, block):
        if form not in FORMS:
            raise ValueError("form: %s, not %r" % (" or ".join(FORMS), form))
        blocks = sparse if isinstance(sparse, Blocks) else Blocks(sparse, block)
        return blocks, blocks.csr

    def spmm(self, sparse, d, out=None, form="auto", block=1):
        """A sparse matrix (CSR, or Blocks of it) times a dense one; form: auto, baseline or gsa."""
        blocks, csr = self._sparse(sparse, form, block)
        sums, ending = _kind(csr.value.dtype, "data")
        d_at, ldd = row_major(d, (csr.value.dtype,), "d")
        if d.shape[0] != csr.columns:
            raise ValueError("d has %d rows, and the sparse matrix %d columns" % (d.shape[0], csr.columns))
        out = result(out, (csr.rows, d.shape[1]), sums)
        out_at, ldc = row_major(out, (numpy.dtype(sums),), "out", True)
        LIBRARY.call("spmm" + ending, self.handle, FORMS[form], blocks._blocks, csr.value_at, d.shape[1], d_at, ldd, out_at, ldc)
        return out

    def sddmm(self, sparse, a, b, out=None, form="auto", block=1):
        """Elements of sparse * (a @ b.T), in the order of its indices: only those that the sparse matrix has.

        a and b are float32, bf16 or int8, and the sparse matrix's elements float32, of int8 int32."""
        blocks, csr = self._sparse(sparse, form, block)
        sums, ending = _kind(a.dtype, "a")
        if csr.value.dtype != sums:
            raise TypeError("data: elements of %s, not %s" % (numpy.dtype(sums), csr.value.dtype))
        a_at, lda = row_major(a, (a.dtype,), "a")
        b_at, ldb = row_major(b, (a.dtype,), "b")
        if a.shape != (csr.rows, b.shape[1]) or b.shape[0] != csr.columns:
            raise ValueError("a is %s and b %s, and the sparse matrix %s: a @ b.T has its shape" % (a.shape, b.shape, (csr.rows, csr.columns)))
        out = result(out, (int(csr.start[-1]),), sums)
        out_at = vector(out, (numpy.dtype(sums),), "out", True)
        LIBRARY.call("sddmm" + ending, self.handle, FORMS[form], blocks._blocks, csr.value_at, a.shape[1], a_at, lda, b_at, ldb, out_at)
        return out

    def counters(self):
        return counters(LIBRARY, _counters.DARE, self.handle)
