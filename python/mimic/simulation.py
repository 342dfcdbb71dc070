# SPDX-License-Identifier: GPL-2.0 OR MIT
"""Virtual time: `mimic sim` of a program, and its report as a dictionary (docs/sim-json.md)."""
import json
import os
import shutil
import subprocess
import tempfile


class SimulationError(RuntimeError):
    """The program, or mimic sim, has failed: `status`, and what was on standard error."""

    def __init__(self, status, errors):
        super().__init__("mimic sim ended with %d: %s" % (status, errors.strip()))
        self.status, self.errors = status, errors


def command():
    """The `mimic` command: MIMIC_COMMAND, or the one in PATH."""
    found = os.environ.get("MIMIC_COMMAND") or shutil.which("mimic")
    if not found:
        raise FileNotFoundError("mimic: its command is not in PATH, and MIMIC_COMMAND names none")
    return found


def simulate(program, *arguments, soc=None, cores=None, devices=None, mode=None, design=None, warm=None, parameters=None, timeout=None):
    """Runs a program, compiled with the flags of `mimic cflags`, in virtual time. Its own output is in report["output"].

    soc: maple-fpga, maple-sim, dare, virgo or an INI file; parameters: such as {"l2.size": "64K"}.
    """
    words = [command(), "sim"]
    for option, value in (("--soc", soc), ("--mode", mode), ("--design", design), ("--cores", cores), ("--devices", devices), ("--warm", warm)):
        if value is not None:
            words += [option, str(value)]
    for key, value in (parameters or {}).items():
        words += ["--set", "%s=%s" % (key, value)]
    with tempfile.TemporaryDirectory(prefix="mimic-") as folder:
        path = os.path.join(folder, "report.json")
        words += ["--json", "--output", path, "--", program, *(str(word) for word in arguments)]
        ended = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=timeout)
        if ended.returncode:
            raise SimulationError(ended.returncode, ended.stderr)
        with open(path, encoding="utf-8") as file:
            report = json.load(file)
    report["output"] = ended.stdout
    return report
