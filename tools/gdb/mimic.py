# SPDX-License-Identifier: GPL-2.0 OR MIT
"""gdb commands for programs with embedded devices of mimic, live or from a core file.

    (gdb) source PREFIX/share/mimic/gdb/mimic.py
    (gdb) mimic            devices, their queues, and the threads that wait for them
    (gdb) mimic queues     queues alone
    (gdb) mimic waiters    threads alone

They read libmimic's structures by its debug information, and call nothing in the program. The queues of a device are told
by the file of its name in the folder of this one, or in the device's folder of the source tree.
"""
import glob
import importlib.util
import os

import gdb

# enum embedded_wait
ANSWER, ROOM, ORDER = 1, 2, 3
# enum embedded_state
SETTLED = 2


def block_of(function):
    """The block of the file that has a function: its types and variables."""
    symbol = gdb.lookup_global_symbol(function)
    if symbol is None or symbol.symtab is None:
        raise gdb.GdbError("mimic: no debug information of libmimic: is it loaded, and compiled with -g?")
    return symbol.symtab.static_block()


def pointer(address, structure, function):
    """The address as a pointer to a structure, of which other files may have one of that name."""
    return gdb.Value(int(address)).cast(gdb.lookup_type("struct " + structure, block_of(function)).pointer())


def instances():
    """Devices of the process that are open."""
    block = block_of("mimic_embedded_instance_at")
    slots = gdb.lookup_symbol("instances", block)[0].value()
    size = gdb.lookup_type("long").sizeof
    count = slots.type.sizeof // size
    words = gdb.selected_inferior().read_memory(int(slots.address), count * size)
    for slot in range(count):
        address = int.from_bytes(bytes(words[slot * size:(slot + 1) * size]), "little")
        if address == 0:
            continue
        instance = pointer(address, "embedded_instance", "mimic_embedded_instance_at")
        if instance["open"]:
            yield instance


def name_of(instance):
    handles = instance["handles"]
    for i in range(handles.type.range()[1] + 1):
        if int(handles[i]):
            return handles[i]["device"]["name"].string()
    return instance["kind"]["name"].string()


def lanes(instance):
    lane = instance["lanes"]
    while int(lane):
        if lane["in_use"]:
            yield lane
        lane = lane["next"]


def rows(block):
    for i in range(int(block["count"])):
        row = block["rows"][i]
        if int(row["name"]):
            yield row


def find_row(block, offset):
    for row in rows(block):
        for index in range(max(1, int(row["count"]))):
            if offset == int(row["offset"]) + index * int(row["stride"]):
                return row, index
    return None, 0


def register(kind, access):
    """As mimic_explain_access()."""
    direction = 2 if access["is_write"] else 1
    page, offset = int(access["page"]), int(access["offset"])
    name = "page %u 0x%03x" % (page, offset)
    for i in range(int(kind["block_count"])):
        block = kind["blocks"][i]
        first, size = int(block["page"]), int(block["size"])
        if not int(block["access"]) & direction or not first <= page < first + int(block["pages"]):
            continue
        row, index = find_row(block, offset % size & ~int(block["ignored"]))
        if row is None:
            continue
        name = block["name"].string() + " "
        if block["is_numbered"]:
            name += "%u " % ((page - first) * int(block["units"]) + offset // size)
        name += row["name"].string()
        if int(row["count"]) > 1 or block["has_indices"]:
            name += " [%u]" % index
        break
    return ("store of " if access["is_write"] else "load of ") + name


def wait_of(instance, lane):
    """The reason why the lane's thread waits; None: it does not wait."""
    waiting = int(lane["waiting"])
    if waiting == 0 or int(lane["state"]) == SETTLED:
        return None
    if waiting == ANSWER:
        return "a " + register(instance["kind"], lane["access"])
    poster = lane["behind"] if waiting == ORDER else lane
    whose = "another thread's " if waiting == ORDER else "its earlier "
    if not int(poster["left"]):
        return whose + "stores"
    return whose + register(instance["kind"], poster["pattern"])


def describers():
    """By kind: the function that gives lines about the queues of a model."""
    folder = os.path.dirname(os.path.abspath(__file__))
    files = glob.glob(os.path.join(folder, "*.py")) + \
        glob.glob(os.path.join(folder, "..", "..", "devices", "*", "gdb", "*.py"))
    found = {}
    for path in files:
        name = os.path.splitext(os.path.basename(path))[0]
        if os.path.samefile(path, __file__):
            continue
        spec = importlib.util.spec_from_file_location("mimic_gdb_" + name, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        found[name] = module.queues
    return found


DESCRIBERS = describers()


def threads(instance):
    """The thread of the system, by which a kind's file names an owner."""
    return {int(lane["holder"]): int(lane["tid"]) for lane in lanes(instance)}


def show_queues(instance):
    describe = DESCRIBERS.get(instance["kind"]["name"].string())
    name = name_of(instance)
    if describe is None:
        print("%s: its queues are not known here" % name)
        return
    # A recorder has operations of its own.
    operations = gdb.execute("info symbol %d" % int(instance["model"]["ops"]), to_string=True)
    if not operations.startswith(instance["kind"]["name"].string() + "_"):
        print("%s: it is recorded, and its model is inside of the recorder" % name)
        return
    for line in describe(instance["model"], pointer, threads(instance)):
        print("%s: %s" % (name, line))


def show_waiters(instance):
    for lane in lanes(instance):
        wait = wait_of(instance, lane)
        if wait is not None:
            print("%s: thread %u waits for %s" % (name_of(instance), int(lane["tid"]), wait))


class Mimic(gdb.Command):
    """Shows devices of mimic in this process: mimic [queues | waiters]."""

    def __init__(self):
        super().__init__("mimic", gdb.COMMAND_DATA)

    def complete(self, text, word):
        return [part for part in ("queues", "waiters") if part.startswith(word)]

    def invoke(self, argument, _):
        if argument not in ("", "queues", "waiters"):
            raise gdb.GdbError("mimic: what is '%s'? mimic, mimic queues, or mimic waiters" % argument)
        found = list(instances())
        if not found:
            print("no embedded device is open")
        for instance in found:
            if argument in ("", "queues"):
                show_queues(instance)
            if argument in ("", "waiters"):
                show_waiters(instance)


Mimic()
