# SPDX-License-Identifier: GPL-2.0 OR MIT
"""The queues of a MAPLE, for tools/gdb/mimic.py."""


def role(owner, threads):
    owner = int(owner)
    if owner == 0:
        return "nobody"
    return "thread %u" % threads[owner] if owner in threads else "owner %u" % owner


def queues(model, pointer, threads):
    maple = pointer(model, "maple", "maple_model_create")
    lines = []
    for i in range(int(maple["config"]["queues"])):
        q = maple["state"]["queue"][i]
        if not q["allocated"]:
            continue
        line = "queue %u: %u of %u words" % (i, int(q["level"]), int(q["size"]))
        if int(q["pending"]):
            line += ", %u of them on their way" % int(q["pending"])
        line += "; producer: %s, consumer: %s" % (role(q["producer"], threads), role(q["consumer"], threads))
        for side in ("store", "load"):
            if q[side]["valid"]:
                line += "; a %s of %s waits" % (side, role(q[side]["access"]["owner"], threads))
        if int(q["loops_count"]) or q["loop_active"]:
            line += "; %u loops" % (int(q["loops_count"]) + int(q["loop_active"]))
        lines.append(line)
    return lines or ["no queues"]
