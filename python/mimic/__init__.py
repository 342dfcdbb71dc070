# SPDX-License-Identifier: GPL-2.0 OR MIT
"""mimic: emulated accelerators (MAPLE, DARE, Virgo) from Python.

    import mimic, numpy as np

    with mimic.Virgo() as virgo:
        c = virgo.gemm(a, b)                        # float32, float16 or int8 arrays
    with mimic.Dare() as dare:
        c = dare.spmm(matrix, d)                    # matrix: CSR, such as scipy's
    with mimic.Maple() as maple, maple.producer(0) as out, maple.consumer(0) as into:
        out.fetch(x, index)                         # x[index], fetched by the device
        y = into.consume(len(index), x.dtype)
    report = mimic.simulate("./program", soc="maple-sim")   # virtual time

The libraries that `make install` has put there do the work, by ctypes, on the arrays themselves: nothing is copied, and what a device
cannot take as it lies is refused. docs/python.md is the tutorial, the libraries' headers are the manual.
"""
from ._library import MimicError, library_folder, patience
from ._version import __version__
from .daemon import Daemon
from .dare import Dare
from .maple import Maple
from .simulation import SimulationError, simulate
from .virgo import Virgo

__all__ = ["Daemon", "Dare", "Maple", "MimicError", "SimulationError", "Virgo", "library_folder", "patience", "simulate"]
