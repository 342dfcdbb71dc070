# SPDX-License-Identifier: GPL-2.0 OR MIT
"""Virgo: products on the matrix units of a cluster (libvirgo, virgo.h)."""
import ctypes

import numpy

from . import _counters
from ._arrays import array_at, matrix, result, row_major, vector
from ._library import Device, Library, Options, counters, device_signatures, encode

P, U, N, I = ctypes.c_void_p, ctypes.c_uint, ctypes.c_size_t, ctypes.c_int
TRANSPOSE_A, TRANSPOSE_B, ADD = 1, 2, 4
EPILOGUES = {None: 0, "relu": 1, "swish": 2}
ALL_UNITS = 0xffffffff
# Elements: enum virgo_type, and the elements of sums.
KINDS = {numpy.dtype(numpy.int8): (0, numpy.int32), numpy.dtype(numpy.float16): (1, numpy.float32),
         numpy.dtype(numpy.float32): (2, numpy.float32)}


class _Product(ctypes.Structure):
    _fields_ = [("type", I), ("flags", U), ("m", N), ("n", N), ("k", N), ("a", P), ("lda", N), ("b", P), ("ldb", N),
                ("c", P), ("ldc", N), ("bias", P), ("epilogue", I), ("scale", ctypes.c_float), ("beta", ctypes.c_float)]


LIBRARY = Library("virgo", {
    **device_signatures("open", "close"),
    "unit_count": (U, [P]), "find_unit": (I, [P, I, U]), "shared": (P, [P, P]),
    "gemm": (I, [P, U, P]), "counters": (I, [P, U, P]),
})


class Virgo(Device):
    """A cluster that this process holds."""
    library = LIBRARY

    def __init__(self, device=None, transport=None, socket=None, config=None):
        super().__init__(Options(encode(device), encode(transport), encode(socket), encode(config)))

    @property
    def unit_count(self):
        return LIBRARY.get("unit_count")(self.handle)

    def find_unit(self, dtype, dim=0):
        """The lowest number of a unit for such elements, with DIM rows and columns; 0: any."""
        return LIBRARY.call("find_unit", self.handle, KINDS[numpy.dtype(dtype)][0], dim)

    def gemm(self, a, b, out=None, add=False, bias=None, epilogue=None, unit=None):
        """a @ b, of float32, float16 (sums of float32) or int8 (of int32); epilogue: relu or swish."""
        if a.dtype not in KINDS:
            raise TypeError("a: elements of float32, float16 or int8, not %s" % a.dtype)
        if epilogue not in EPILOGUES:
            raise ValueError("epilogue: relu or swish, not %r" % epilogue)
        kind, sums = KINDS[a.dtype]
        a_at, lda, a_transposed = matrix(a, (a.dtype,), "a")
        b_at, ldb, b_transposed = matrix(b, (a.dtype,), "b")
        if a.shape[1] != b.shape[0]:
            raise ValueError("a has %d columns, and b %d rows" % (a.shape[1], b.shape[0]))
        if add and out is None:
            raise ValueError("add: there is no out to add to")
        if bias is not None and bias.shape != (b.shape[1],):
            raise ValueError("bias: its shape is %s, not (%d,)" % (bias.shape, b.shape[1]))
        out = result(out, (a.shape[0], b.shape[1]), sums)
        out_at, ldc = row_major(out, (numpy.dtype(sums),), "out", True)
        product = _Product(
            kind, TRANSPOSE_A * a_transposed | TRANSPOSE_B * b_transposed | ADD * bool(add), a.shape[0], b.shape[1], a.shape[1],
            a_at, lda, b_at, ldb, out_at, ldc, None if bias is None else vector(bias, (numpy.dtype(sums),), "bias"),
            EPILOGUES[epilogue])
        LIBRARY.call("gemm", self.handle, self.find_unit(a.dtype) if unit is None else unit, ctypes.byref(product))
        return out

    def shared(self):
        """The cluster's shared memory, as an array of bytes. It is gone when the cluster is closed."""
        size = N()
        address = LIBRARY.get("shared")(self.handle, ctypes.byref(size))
        return array_at(address, size.value, (size.value,), numpy.uint8)

    def counters(self, unit=ALL_UNITS):
        return counters(LIBRARY, _counters.VIRGO, self.handle, unit)
