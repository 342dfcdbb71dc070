# SPDX-License-Identifier: GPL-2.0 OR MIT
"""The fixture of pytest: a daemon for each test."""
import os
import subprocess

import numpy as np
import pytest

import mimic

seen = []


def test_devices_are_the_daemons(mimic_daemon):
    with mimic.Virgo() as virgo:
        assert virgo.transport == "daemon"
        a = np.ones((8, 8), np.float32)
        assert np.array_equal(virgo.gemm(a, a), a @ a)
    listed = subprocess.run(["mimic", "list"], check=True, capture_output=True, text=True).stdout
    assert "pid %d," % mimic_daemon.process.pid in listed
    seen.append((mimic_daemon.socket, mimic_daemon.process))


@pytest.mark.mimic(devices="maple:1")
def test_the_mark_says_what_it_has_and_each_test_has_its_own(mimic_daemon):
    assert mimic_daemon.socket != seen[0][0]
    assert seen[0][1].poll() == 0 and not os.path.exists(seen[0][0])
    with mimic.Maple():
        with pytest.raises(mimic.MimicError, match="in use"):
            mimic.Maple()
    with pytest.raises(mimic.MimicError):
        mimic.Dare()


def test_a_test_without_it_has_no_daemon():
    assert "MIMIC_SOCKET" not in os.environ


def test_a_daemon_that_cannot_begin_says_why():
    with pytest.raises(RuntimeError, match="mimicd ended with .*devices"):
        mimic.Daemon(devices="toaster:1")


def test_programs_use_it_too(mimic_daemon):
    program = os.path.join(os.environ["MIMIC_TEST_BUILD"], "examples", "maple", "spmv")
    ran = subprocess.run([program, "--kronecker", "6"], check=True, capture_output=True, text=True)
    assert "daemon" in ran.stdout and "embedded" not in ran.stdout
