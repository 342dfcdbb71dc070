# SPDX-License-Identifier: GPL-2.0 OR MIT
"""DARE: products of dense and sparse matrices (libdare, dare.h)."""
import ctypes

import numpy

from . import _counters
from ._arrays import Csr, matrix, result, row_major
from ._library import Device, Library, Options, counters, device_signatures, encode

P, U, N, I = ctypes.c_void_p, ctypes.c_uint, ctypes.c_size_t, ctypes.c_int
GEMM = (I, [P, U, N, N, N, P, N, P, N, P, N])
SPMM = (I, [P, I, P, P, N, P, N, P, N])
TRANSPOSE_A, TRANSPOSE_B, ADD = 1, 2, 4
FORMS = {"auto": 0, "baseline": 1, "gsa": 2}
# Elements, elements of the result, and the functions' ending.
KINDS = {numpy.dtype(numpy.float32): (numpy.float32, ""), numpy.dtype(numpy.int8): (numpy.int32, "_i8")}

LIBRARY = Library("dare", {
    **device_signatures("open", "close"),
    "gemm": GEMM, "gemm_i8": GEMM, "spmm": SPMM, "spmm_i8": SPMM,
    "blockify": (I, [P, P, U]), "blocks_free": (None, [P]), "counters": (I, [P, P]),
})


class _Sparse(ctypes.Structure):
    _fields_ = [("layout", I), ("rows", N), ("columns", N), ("start", P), ("index", P)]


class Blocks:
    """A sparse matrix that is cut into blocks of B x B elements: for any number of products."""

    def __init__(self, matrix_, block=1):
        self.csr = Csr(matrix_, tuple(KINDS))
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
        """a @ b, of float32, or of int8 with sums of int32. A transposed view of an array is taken as it lies."""
        if a.dtype not in KINDS:
            raise TypeError("a: elements of float32 or int8, not %s" % a.dtype)
        sums, ending = KINDS[a.dtype]
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

    def spmm(self, sparse, d, out=None, form="auto", block=1):
        """A sparse matrix (CSR, or Blocks of it) times a dense one; form: auto, baseline or gsa."""
        blocks = sparse if isinstance(sparse, Blocks) else Blocks(sparse, block)
        csr = blocks.csr
        if form not in FORMS:
            raise ValueError("form: %s, not %r" % (" or ".join(FORMS), form))
        sums, ending = KINDS[csr.value.dtype]
        d_at, ldd = row_major(d, (csr.value.dtype,), "d")
        if d.shape[0] != csr.columns:
            raise ValueError("d has %d rows, and the sparse matrix %d columns" % (d.shape[0], csr.columns))
        out = result(out, (csr.rows, d.shape[1]), sums)
        out_at, ldc = row_major(out, (numpy.dtype(sums),), "out", True)
        LIBRARY.call("spmm" + ending, self.handle, FORMS[form], blocks._blocks, csr.value_at, d.shape[1], d_at, ldd, out_at, ldc)
        return out

    def counters(self):
        return counters(LIBRARY, _counters.DARE, self.handle)
