# SPDX-License-Identifier: GPL-2.0 OR MIT
"""A mimicd of a test's own."""
import os
import shutil
import subprocess
import tempfile
import time


def _find(name, variable):
    found = os.environ.get(variable) or shutil.which(name)
    if not found:
        raise FileNotFoundError("mimic: %s is not in PATH, and %s names none" % (name, variable))
    return found


class Daemon:
    """mimicd at a socket in a new folder, until close(). devices: such as "maple:1,virgo:1"; config: an INI file or a profile."""

    def __init__(self, devices=None, config=None, arguments=()):
        self.folder = tempfile.mkdtemp(prefix="mimic-")
        self.socket = os.path.join(self.folder, "mimicd.sock")
        self.log = os.path.join(self.folder, "log")
        words = [_find("mimicd", "MIMIC_DAEMON"), "--foreground", "--socket", self.socket]
        if devices:
            words += ["--devices", devices]
        if config:
            words += ["--config", config]
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(words + list(arguments), stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            self._wait()
        except BaseException:
            self.close()
            raise

    def _wait(self):
        end = time.monotonic() + 20
        while not os.path.exists(self.socket):
            if self.process.poll() is not None:
                raise RuntimeError("mimicd ended with %d: %s" % (self.process.returncode, self.text()))
            if time.monotonic() > end:
                raise RuntimeError("mimicd does not serve: %s" % self.text())
            time.sleep(0.01)

    def text(self):
        """What it has logged."""
        with open(self.log, encoding="utf-8", errors="replace") as file:
            return file.read().strip()

    @property
    def environment(self):
        """For a program that is to use this daemon."""
        return {"MIMIC_TRANSPORT": "daemon", "MIMIC_SOCKET": self.socket}

    def close(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
