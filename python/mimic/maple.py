# SPDX-License-Identifier: GPL-2.0 OR MIT
"""MAPLE: hardware queues that fetch irregular memory (libmaple, maple.h)."""
import ctypes

import numpy

from . import _counters
from ._arrays import Csr, result, vector
from ._library import Device, Library, Options, counters, device_signatures, encode

P, U, N = ctypes.c_void_p, ctypes.c_uint, ctypes.c_size_t
I, S = ctypes.c_int, ctypes.c_ssize_t
BATCH = (S, [P, U, P, N])
PRODUCER, CONSUMER = 1, 2
PATHS = {"dram": 0, "llc": 1}
FORMS = {"plain": 0, "decoupled": 1, "lima": 2, "prefetch": 3}

LIBRARY = Library("maple", {
    **device_signatures("init", "fini"),
    "queue_count": (U, [P]), "queue_words": (U, [P]),
    "open": (I, [P, U, I]), "close": (I, [P, U, I]),
    "produce32_batch": BATCH, "produce64_batch": BATCH, "consume32_batch": BATCH, "consume64_batch": BATCH,
    "produce_ptr32_batch": (S, [P, U, P, P, N, I]), "produce_ptr64_batch": (S, [P, U, P, P, N, I]),
    "counters": (I, [P, P]), "fault": (I, [P, P, P]),
    "spmv_csr": (I, [P, I, N, P, P, P, P, P]),
})


class MapleOptions(Options):
    _fields_ = [("queue_words", U)]


def _bits(dtype):
    dtype = numpy.dtype(dtype)
    # Words of a queue would be taken for addresses of objects.
    if dtype.hasobject:
        raise TypeError("a queue has numbers, not Python's objects (%s)" % dtype)
    if dtype.itemsize not in (4, 8):
        raise TypeError("a queue has elements of 4 or 8 bytes, not %s" % dtype)
    return 8 * dtype.itemsize


def _choice(names, name, what):
    if name not in names:
        raise ValueError("%s: %s, not %r" % (what, " or ".join(names), name))
    return names[name]


class _End:
    """One end of a queue: it belongs to the thread that has opened it."""

    def __init__(self, maple, queue, role):
        self.maple, self.queue, self.role = maple, queue, role
        LIBRARY.call("open", maple.handle, queue, role)

    @property
    def handle(self):
        if self.maple is None:
            raise ValueError("the %s of queue %d is closed" % ("producer" if self.role == PRODUCER else "consumer", self.queue))
        return self.maple.handle

    def close(self):
        if self.maple is not None:
            maple, self.maple = self.maple, None
            LIBRARY.call("close", maple.handle, self.queue, self.role)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Producer(_End):
    def produce(self, values):
        """Pushes all values of an array; waits while the queue is full."""
        address = vector(values, None, "values")
        LIBRARY.call("produce%d_batch" % _bits(values.dtype), self.handle, self.queue, address, values.size)

    def fetch(self, array, index, path="dram"):
        """Pushes pointers to array[index]: the device fetches them, past the caches ("dram") or through the last one ("llc")."""
        base = vector(array, None, "array")
        indices = vector(index, (numpy.uint32, numpy.int32), "index")
        if index.size and (int(index.min()) < 0 or int(index.max()) >= array.size):
            raise IndexError("index: an element is not below the %d of the array" % array.size)
        LIBRARY.call("produce_ptr%d_batch" % _bits(array.dtype), self.handle, self.queue, base, indices, index.size,
                     _choice(PATHS, path, "path"))


class Consumer(_End):
    def consume(self, count, dtype=numpy.uint32, out=None):
        """Pops `count` values; waits until they are there."""
        bits = _bits(dtype)
        out = result(out, (count,), dtype)
        address = vector(out, (numpy.dtype(dtype),), "out", True)
        LIBRARY.call("consume%d_batch" % bits, self.handle, self.queue, address, count)
        return out


class Maple(Device):
    """A MAPLE that this process holds. queue_words: of each queue, 8 to 128."""
    library = LIBRARY
    opens, closes = "init", "fini"

    def __init__(self, device=None, transport=None, socket=None, config=None, queue_words=0):
        super().__init__(MapleOptions(encode(device), encode(transport), encode(socket), encode(config), queue_words))

    @property
    def queue_count(self):
        return LIBRARY.get("queue_count")(self.handle)

    @property
    def queue_words(self):
        return LIBRARY.get("queue_words")(self.handle)

    def producer(self, queue):
        """The queue's producing end, for this thread."""
        return Producer(self, queue, PRODUCER)

    def consumer(self, queue):
        """Its consuming end. A thread that has both waits for itself if it pushes more than the queue holds."""
        return Consumer(self, queue, CONSUMER)

    def spmv(self, matrix, x, out=None, form="decoupled"):
        """Multiplies a sparse matrix of float64 by a vector; form: plain, decoupled, lima or prefetch."""
        csr = Csr(matrix, (numpy.float64,))
        x_at = vector(x, (numpy.float64,), "x")
        if x.size < csr.columns:
            raise ValueError("x: %d elements, and the matrix has %d columns" % (x.size, csr.columns))
        out = result(out, (csr.rows,), numpy.float64)
        LIBRARY.call("spmv_csr", self.handle, _choice(FORMS, form, "form"), csr.rows, csr.start_at, csr.index_at, csr.value_at, x_at,
                     vector(out, (numpy.float64,), "out", True))
        return out

    def counters(self):
        return counters(LIBRARY, _counters.MAPLE, self.handle)

    def fault(self):
        """The last address that the device could not read, and how many there were."""
        address, count = ctypes.c_uint64(), ctypes.c_uint64()
        LIBRARY.call("fault", self.handle, ctypes.byref(address), ctypes.byref(count))
        return address.value, count.value
