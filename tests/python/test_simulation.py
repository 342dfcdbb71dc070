# SPDX-License-Identifier: GPL-2.0 OR MIT
"""Virtual time from Python."""
import os

import pytest

import mimic

LOOPS = os.path.join(os.environ["MIMIC_TEST_BUILD"], "sim", "examples", "maple", "loops")
ARGUMENTS = ("--kernel", "spmv", "--threads", "2", "--uniform", "64x4096x8")


def cycles(report, phase):
    return [p["cycles"] for p in report["phases"] if p["name"] == phase][0]


def test_a_program_is_measured_and_two_runs_are_the_same():
    first = mimic.simulate(LOOPS, *ARGUMENTS, "--form", "decoupled", soc="maple-sim")
    again = mimic.simulate(LOOPS, *ARGUMENTS, "--form", "decoupled", soc="maple-sim")
    assert first["end"] == "ended" and cycles(first, "decoupled") > 0
    assert first == again and "decoupled" in first["output"]


def test_parameters_change_the_machine():
    slow, fast = (mimic.simulate(LOOPS, *ARGUMENTS, "--form", "doall", parameters={"dram.latency": latency}) for latency in (300, 100))
    assert cycles(slow, "doall") > cycles(fast, "doall")


def test_a_failure_says_why():
    with pytest.raises(mimic.SimulationError, match="no key 'bogus'") as raised:
        mimic.simulate(LOOPS, *ARGUMENTS, parameters={"l2.bogus": 1})
    assert raised.value.status == 2
