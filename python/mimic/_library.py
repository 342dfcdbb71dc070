# SPDX-License-Identifier: GPL-2.0 OR MIT
"""mimic's shared libraries: where they are, and how their functions are called."""
import ctypes
import os
import shutil
import sys

FOLDERS = ("lib", "lib/x86_64-linux-gnu", "lib/aarch64-linux-gnu", "lib/riscv64-linux-gnu", "lib64")


class MimicError(OSError):
    """A call that a library of mimic refused: errno, and its own line about it."""


def library_folder():
    """The folder of the libraries: MIMIC_LIBRARY_PATH, or beside the `mimic` in PATH; None: where the system's loader looks."""
    given = os.environ.get("MIMIC_LIBRARY_PATH")
    if given:
        return given
    command = shutil.which("mimic")
    if command:
        root = os.path.dirname(os.path.dirname(os.path.realpath(command)))
        for folder in FOLDERS:
            if os.path.exists(os.path.join(root, folder, "libmimic.so.0")):
                return os.path.join(root, folder)
    return None


def load(name):
    folder = library_folder()
    path = os.path.join(folder, name) if folder else name
    try:
        return ctypes.CDLL(path)
    except OSError as error:
        raise ImportError("mimic: %s: %s; install mimic (make install), put its command into PATH, or set "
                          "MIMIC_LIBRARY_PATH" % (name, error)) from None


class Options(ctypes.Structure):
    """What the options of all devices begin with."""
    _fields_ = [("device", ctypes.c_char_p), ("transport", ctypes.c_char_p), ("socket_path", ctypes.c_char_p),
                ("config_path", ctypes.c_char_p)]


def encode(text):
    return None if text is None else os.fsencode(text)


class Library:
    """A device's library. Its functions return a negative errno value, and say more by NAME_error_text()."""

    def __init__(self, name, signatures):
        self.name = name
        self.signatures = signatures
        self.loaded = None

    def functions(self):
        if self.loaded is not None:
            return self.loaded
        library = load("lib%s.so.0" % self.name)
        for function, (result, arguments) in self.signatures.items():
            entry = getattr(library, "%s_%s" % (self.name, function))
            entry.restype = result
            entry.argtypes = arguments
        text = getattr(library, self.name + "_error_text")
        text.restype = ctypes.c_char_p
        text.argtypes = []
        self.loaded = library
        return library

    def get(self, function):
        return getattr(self.functions(), "%s_%s" % (self.name, function))

    def call(self, function, *arguments):
        """The result, unless it is an error. Other threads of Python run meanwhile."""
        result = self.get(function)(*arguments)
        if result >= 0:
            return result
        text = self.get("error_text")()
        raise MimicError(-result, text.decode() if text else os.strerror(-result))


class Device:
    """A handle, and the memory that it has given out."""
    library = None
    opens, closes = "open", "close"

    def __init__(self, options):
        self._handle = ctypes.c_void_p()
        self.library.call(self.opens, ctypes.byref(self._handle), ctypes.byref(options))

    @property
    def handle(self):
        if not self._handle:
            raise ValueError("the %s is closed" % self.library.name)
        return self._handle

    @property
    def name(self):
        """Which device it is, such as maple0."""
        return self.library.get("device_name")(self.handle).decode()

    @property
    def transport(self):
        """How it is reached: embedded, daemon or kernel."""
        return self.library.get("transport")(self.handle).decode()

    def alloc(self, shape, dtype):
        """An array of zeros in memory that the device reaches directly: faster with mimicd. It lives as long as the device is open."""
        from ._arrays import array_at
        import numpy

        size = int(numpy.prod(shape, dtype=numpy.int64)) * numpy.dtype(dtype).itemsize
        address = self.library.get("alloc")(self.handle, max(size, 1))
        if not address:
            raise MemoryError("%s: no %d bytes" % (self.library.name, size))
        return array_at(address, size, shape, dtype)

    def close(self):
        """Gives the device back. Arrays of alloc() are gone then."""
        handle, self._handle = self._handle, ctypes.c_void_p()
        if handle:
            self.library.get(self.closes)(handle)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def device_signatures(opens, closes):
    pointer = ctypes.c_void_p
    return {
        opens: (ctypes.c_int, [pointer, pointer]),
        closes: (None, [pointer]),
        "device_name": (ctypes.c_char_p, [pointer]),
        "transport": (ctypes.c_char_p, [pointer]),
        "alloc": (pointer, [pointer, ctypes.c_size_t]),
    }


def counters(library, names, *arguments):
    """A structure of uint64 as a dictionary."""
    values = (ctypes.c_uint64 * len(names))()
    library.call("counters", *arguments, ctypes.byref(values))
    return dict(zip(names, (int(value) for value in values)))


_TELL = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p)
_tells = []  # none may go while the library has it


def patience(seconds, tell=None):
    """A thread that has waited so long for a device tells what it waits for, once: a line to `tell`, or to standard error.

    0: never. Python cannot interrupt a call that waits for a device; so a program that hangs shows why.
    """
    library = load("libmimic.so.0")
    library.mimic_patience.restype = None
    library.mimic_patience.argtypes = [ctypes.c_uint, _TELL, ctypes.c_void_p]

    def called(_, text):
        line = text.decode(errors="replace")
        if tell is not None:
            tell(line)
        else:
            print("mimic: " + line, file=sys.stderr, flush=True)

    callback = _TELL(called)
    _tells.append(callback)
    library.mimic_patience(int(seconds * 1000), callback, None)
