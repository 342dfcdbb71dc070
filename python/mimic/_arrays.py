# SPDX-License-Identifier: GPL-2.0 OR MIT
"""Arrays of numpy as devices take them: where they lie, or not at all."""
import ctypes

import numpy


def array_at(address, size, shape, dtype):
    memory = (ctypes.c_char * max(size, 1)).from_address(address)
    return numpy.frombuffer(memory, dtype=dtype, count=size // numpy.dtype(dtype).itemsize).reshape(shape)


def _check(array, dtypes, name, is_written):
    if not isinstance(array, numpy.ndarray):
        raise TypeError("%s: an array of numpy, not %s" % (name, type(array).__name__))
    if dtypes is not None and array.dtype not in dtypes:
        raise TypeError("%s: elements of %s, not %s" % (name, " or ".join(str(numpy.dtype(d)) for d in dtypes), array.dtype))
    if is_written and not array.flags.writeable:
        raise ValueError("%s: it cannot be written" % name)


def vector(array, dtypes, name, is_written=False):
    """The address of an array whose elements lie one behind the other. dtypes None: any."""
    _check(array, dtypes, name, is_written)
    if not array.flags.c_contiguous:
        raise ValueError("%s: its elements do not lie one behind the other; numpy.ascontiguousarray() copies them" % name)
    return array.ctypes.data


def matrix(array, dtypes, name, is_written=False):
    """Address, elements from a line to the next, and whether the lines are columns: a transposed view is no copy."""
    _check(array, dtypes, name, is_written)
    if array.ndim != 2:
        raise ValueError("%s: two dimensions, not %d" % (name, array.ndim))
    item = array.itemsize
    rows, columns = array.shape
    # Of a single row or column, numpy may give any stride.
    for is_transposed, lines, length, along, across in ((False, rows, columns, 1, 0), (True, columns, rows, 0, 1)):
        step = array.strides[across] if lines > 1 else length * item
        if (length <= 1 or array.strides[along] == item) and step % item == 0 and step >= length * item:
            return array.ctypes.data, max(step // item, 1), is_transposed
    raise ValueError("%s: neither its rows nor its columns lie in one piece; numpy.ascontiguousarray() copies it" % name)


def row_major(array, dtypes, name, is_written=False):
    address, step, is_transposed = matrix(array, dtypes, name, is_written)
    if is_transposed:
        raise ValueError("%s: its rows must lie in one piece" % name)
    return address, step


def result(given, shape, dtype, name="out"):
    """The array that a call fills: the given one, or a new one."""
    if given is None:
        return numpy.empty(shape, dtype)
    if given.shape != tuple(shape):
        raise ValueError("%s: its shape is %s, not %s" % (name, given.shape, tuple(shape)))
    return given


class Csr:
    """A sparse matrix in compressed rows: indptr, indices, data and shape, as scipy's csr_matrix has them, or (data, indices, indptr), shape.

    indices of int32 and indptr of int64 are taken as they lie; an indptr of int32 (rows + 1 numbers) is widened.
    """

    def __init__(self, matrix_, value_dtypes):
        if isinstance(matrix_, tuple):
            (data, indices, indptr), shape = matrix_
        else:
            data, indices, indptr, shape = matrix_.data, matrix_.indices, matrix_.indptr, matrix_.shape
        self.rows, self.columns = (int(n) for n in shape)
        self.start = indptr.astype(numpy.uint64) if indptr.dtype == numpy.int32 else indptr
        self.index, self.value = indices, data
        if len(self.start) != self.rows + 1:
            raise ValueError("matrix: indptr has %d numbers, and it has %d rows" % (len(self.start), self.rows))
        self.start_at = vector(self.start, (numpy.uint64, numpy.int64), "indptr")
        self.index_at = vector(self.index, (numpy.uint32, numpy.int32), "indices")
        self.value_at = vector(self.value, value_dtypes, "data")
        last = int(self.start[-1])
        if len(self.index) < last or len(self.value) < last:
            raise ValueError("matrix: indptr names %d elements, and there are %d" % (last, min(len(self.index), len(self.value))))
        # The device's libraries do not look: they would read beyond the vector.
        if last and (int(self.index[:last].min()) < 0 or int(self.index[:last].max()) >= self.columns):
            raise ValueError("matrix: an index is not below the %d columns" % self.columns)
