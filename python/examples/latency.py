#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR MIT
"""How much memory latency MAPLE hides: a plot of a program in virtual time.

    latency.py [--latencies 100,200,...] [--output latency.svg] build/sim/examples/maple/loops [ARGUMENT...]

Runs the loop without the device (doall) and with it (decoupled) for each latency of DRAM, and draws the cycles of both. ARGUMENTs
are the program's; without any it multiplies a sparse matrix of 2,048 rows.
"""
import argparse

import matplotlib
import mimic

matplotlib.use("svg")  # no display is needed
import matplotlib.pyplot as plt  # noqa: E402

FORMS = {"doall": "two cores", "decoupled": "two cores and MAPLE"}
DEFAULT = ["--kernel", "spmv", "--threads", "2", "--uniform", "2048x65536x16"]


def cycles(program, arguments, form, latency):
    report = mimic.simulate(program, *arguments, "--form", form, parameters={"dram.latency": latency})
    return sum(phase["cycles"] for phase in report["phases"] if phase["name"] == form)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--latencies", default="100,200,300,400,600")
    parser.add_argument("--output", default="latency.svg")
    parser.add_argument("program")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    latencies = [int(word) for word in options.latencies.split(",")]

    figure, axes = plt.subplots(figsize=(6, 4))
    for form, label in FORMS.items():
        measured = [cycles(options.program, options.arguments or DEFAULT, form, latency) for latency in latencies]
        print("%-9s" % form, *measured)
        axes.plot(latencies, measured, marker="o", label=label)
    axes.set_xlabel("latency of DRAM, cycles")
    axes.set_ylabel("cycles")
    axes.set_ylim(bottom=0)
    axes.legend()
    figure.tight_layout()
    figure.savefig(options.output)


if __name__ == "__main__":
    main()
