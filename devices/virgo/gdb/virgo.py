# SPDX-License-Identifier: GPL-2.0 OR MIT
"""The units and barriers of a Virgo cluster, for tools/gdb/mimic.py."""

# enum job_state
STATES = ("idle", "ready", "at work", "waits for a page")


def queues(model, pointer, threads):
    virgo = pointer(model, "virgo", "virgo_model_create")
    lines = []
    for i in range(int(virgo["config"]["units"])):
        unit = virgo["unit"][i]
        front = unit["front"]
        level = int(front["queue"]["level"]) + int(front["taken"]) + int(unit["held"]["level"])
        line = "unit %u: %u of %u commands in its queue, %u of %u completed; %s" % (
            i, level, int(virgo["config"]["queue_entries"]), int(front["completed"]), int(front["dispatched"]),
            STATES[int(front["job_state"])])
        if int(front["parked_stores"]):
            line += "; %u stores wait" % int(front["parked_stores"])
        lines.append(line)
    for i in range(virgo["cluster"]["barrier"].type.range()[1] + 1):
        barrier = virgo["cluster"]["barrier"][i]
        if int(barrier["arrived"]):
            lines.append("barrier %u: %u of %u threads have arrived" % (
                i, int(barrier["arrived"]), int(barrier["participants"]) or int(virgo["config"]["cores"])))
    return lines
