# SPDX-License-Identifier: GPL-2.0 OR MIT
"""The contexts of a DARE that are in use, for tools/gdb/mimic.py."""


def queues(model, pointer, threads):
    dare = pointer(model, "dare", "dare_model_create")
    lines = []
    for i in range(int(dare["config"]["contexts"])):
        c = dare["context"][i]
        if not int(c["address_space"]):
            continue
        line = "context %u: %u of %u instructions in its queue" % (i, int(c["queue_level"]),
                                                                  int(dare["config"]["queue_entries"]))
        if int(c["stalled"]):
            line += "; the oldest waits for the page at 0x%x" % (int(c["stall_page"]) << 12)
        if int(c["parked_stores"]) or int(c["parked_fences"]):
            line += "; %u stores and %u fences wait" % (int(c["parked_stores"]), int(c["parked_fences"]))
        lines.append(line)
    return lines or ["no context is in use"]
