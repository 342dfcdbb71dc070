# SPDX-License-Identifier: GPL-2.0 OR MIT
"""Tests of a project that uses mimic: each has a daemon of its own (the fixture comes with the wheel)."""
import subprocess

import mimic
import numpy as np
import pytest


@pytest.mark.mimic(devices="virgo:1")
def test_a_product_is_right(mimic_daemon):
    a = np.random.default_rng(1).integers(-4, 5, (100, 70)).astype(np.float32)
    b = np.random.default_rng(2).integers(-4, 5, (70, 30)).astype(np.float32)
    with mimic.Virgo() as virgo:
        assert np.array_equal(virgo.gemm(a, b), a @ b)


def test_a_program_of_ours_is_right(mimic_daemon):
    # Yours in its place; --timeout ends one that hangs, and says in the log what it waits for.
    program = ["sh", "-c", "test -n \"$MIMIC_SOCKET\""]
    subprocess.run(["mimic", "run", "--timeout", "60", *program], check=True)
