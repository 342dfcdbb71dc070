#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR MIT
"""count.py STREAMS CLANG: bench/figures/virgo_counts.csv, a line for each design, part and kind of instruction.

compiled: our kernels (*.c beside this file) as CLANG compiles them, run here for one thread of a warp, and counted. CLANG
is "none": the column is empty; it has no target riscv32: a line says so, and the status is 77. published: published.csv.
model: STREAMS, the program that prints the model's own streams.

A part is a difference of whole products: a step is half of the instructions that 2 steps more have, a tile is those that one tile more
has besides its steps. So a tile has the instructions of its begin, less those that its last step lacks. A poll is counted as one iteration.
"""
import collections
import csv
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
DESIGNS = ("tc", "tc-dma", "virgo", "virgo-dma")
WARPS = {"leader": (0, 0), "each": (1, 1)}	# core, warp
PRODUCTS = ((1, 2), (1, 4), (2, 2))	# tiles, steps
FLAGS = ("--target=riscv32", "-march=rv32imaf", "-mabi=ilp32f", "-O3", "-ffreestanding", "-Wall", "-Werror", "-S", "-o", "-")
KINDS = ("shared load", "memory load", "reload", "unit load", "shared store", "memory store", "spill", "unit store",
         "ALU", "FPU", "branch", "CSR", "wmma", "fence", "barrier")
SHARED, UNIT, MATRICES, STACK = 0x20000000, 0x20100000, 0x40000000, 0xff000000	# as in machine.h
MASK = 0xffffffff


def signed(value):
    return value - (1 << 32) if value & 1 << 31 else value


OPERATIONS = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "and": lambda a, b: a & b,
    "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b, "sll": lambda a, b: a << (b & 31), "srl": lambda a, b: a >> (b & 31),
    "sra": lambda a, b: signed(a) >> (b & 31), "sltu": lambda a, b: a < b, "slt": lambda a, b: signed(a) < signed(b),
    "li": lambda a: a, "mv": lambda a: a, "lui": lambda a: a << 12, "neg": lambda a: -a, "not": lambda a: ~a,
    "seqz": lambda a: a == 0, "snez": lambda a: a != 0, "nop": lambda: 0,
}
for name in ("add", "and", "or", "xor", "sll", "srl", "sra", "slt"):
    OPERATIONS[name + "i"] = OPERATIONS[name]
OPERATIONS["sltiu"] = OPERATIONS["sltu"]
BRANCHES = {"eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "ltu": lambda a, b: a < b, "geu": lambda a, b: a >= b,
            "lt": lambda a, b: signed(a) < signed(b), "ge": lambda a, b: signed(a) >= signed(b),
            "gtu": lambda a, b: a > b, "leu": lambda a, b: a <= b}


def assemble(clang, design):
    source = f"{HERE}/{design.replace('-', '_')}.c"
    text = subprocess.run([clang, *FLAGS, source], check=True, stdout=subprocess.PIPE, text=True).stdout
    lines, labels = [], {}
    for line in text.splitlines():
        line = line.split("#")[0].strip()
        if line.endswith(":"):
            labels[line[:-1]] = len(lines)
        elif line and (line[0] != "." or line.startswith(".insn")):
            name, _, rest = line.partition("\t" if "\t" in line else " ")
            lines.append((name, [part.strip() for part in rest.split(",")] if rest.strip() else []))
    return lines, labels


class Thread:
    """The first thread of a warp. Memory has the words that were stored; all else, BUSY too, is 0."""

    def __init__(self, program, core, warp, tiles, steps):
        self.lines, self.labels = program
        self.csrs = {"0xcc0": 0, "0xcc1": warp, "0xcc2": core, "3264": 0, "3265": warp, "3266": core}
        arguments = (64, 64 * tiles, 64 * steps, MATRICES, MATRICES + 0x1000000, MATRICES + 0x2000000)
        self.registers = {f"a{i}": value for i, value in enumerate(arguments)}
        self.registers.update(zero=0, x0=0, sp=STACK)
        self.memory, self.counts = {}, collections.Counter()

    def value(self, text):
        return int(text, 0) & MASK if re.match(r"-?\d", text) else self.registers.get(text, 0)

    def access(self, name, operands):
        offset, base = re.fullmatch(r"(-?\d+)\((\w+)\)", operands[1]).groups()
        address, is_store = (int(offset) + self.registers[base]) & MASK, name in ("sw", "fsw")
        if address >= STACK - 0x10000:
            kind = "spill" if is_store else "reload"
        else:
            where = "memory" if address >= MATRICES else "unit" if address >= UNIT else "shared"
            kind = f"{where} {'store' if is_store else 'load'}"
        if is_store:
            self.memory[address] = self.registers.get(operands[0], 0)
        elif name == "lw":
            self.registers[operands[0]] = self.memory.get(address, 0) if kind == "reload" else 0
        return kind

    def branch(self, name, operands):
        values = [self.value(operand) for operand in operands[:-1]]
        if name.endswith("z"):
            name, values = name[:-1], values + [0]
        return self.labels[operands[-1]] if BRANCHES[name[1:]](*values) else None

    def step(self, at):
        """Counts the instruction; the place of the next one, None behind the last."""
        name, operands = self.lines[at]
        after, kind = at + 1, "ALU"
        if name in ("lw", "sw", "flw", "fsw"):
            kind = self.access(name, operands)
        elif name == ".insn":
            kind = "wmma" if operands[1] == "0" else "barrier"
        elif name in ("csrr", "csrw", "csrwi"):
            kind = "CSR"
            if name == "csrr":
                self.registers[operands[0]] = self.csrs[operands[1]]
        elif name == "fence":
            kind = "fence"
        elif name[0] == "f":
            kind = "FPU"
        elif name in ("j", "ret"):
            kind, after = "branch", self.labels[operands[0]] if operands else None
        elif name[0] == "b":
            kind, target = "branch", self.branch(name, operands)
            after = after if target is None else target
        else:
            result = int(OPERATIONS[name](*map(self.value, operands[1:]))) & MASK
            if operands:
                self.registers[operands[0]] = result
        self.counts[kind] += 1
        return after

    def run(self):
        at = self.labels["kernel"]
        while at is not None:
            try:
                at = self.step(at)
            except KeyError as error:
                sys.exit(f"count.py: '{' '.join(map(str, self.lines[at]))}' is not among the instructions that it knows: {error}")
        return self.counts


def compiled(clang):
    counts = {}
    for design in DESIGNS:
        program = assemble(clang, design)
        for warp, place in WARPS.items():
            for product in PRODUCTS:
                counts[design, warp, product] = Thread(program, *place, *product).run()
    return counts


def modelled(streams):
    counts = collections.defaultdict(collections.Counter)
    for line in subprocess.run([streams], check=True, stdout=subprocess.PIPE, text=True).stdout.split("\n")[:-1]:
        design, warp, tiles, steps, kind = line.split(",")
        counts[design, warp, (int(tiles), int(steps))][kind] += 1
    return counts


def parts(counts):
    """By design, part, warps and kind: the leader's are those that it has more than the others."""
    found = {}
    for design in DESIGNS:
        for kind in KINDS:
            step, tile = {}, {}
            for warp in WARPS:
                least, deeper, wider = (counts[design, warp, product][kind] for product in PRODUCTS)
                step[warp] = (deeper - least) / (PRODUCTS[0][0] * (PRODUCTS[1][1] - PRODUCTS[0][1]))
                tile[warp] = (wider - least) / (PRODUCTS[2][0] - PRODUCTS[0][0]) - PRODUCTS[0][1] * step[warp]
            for part, count in (("k step", step), ("C tile", tile)):
                found[design, part, "each", kind] = count["each"]
                found[design, part, "leader", kind] = count["leader"] - count["each"]
    for design, part, warp, _ in list(found):
        found[design, part, warp, "all"] = sum(found[design, part, warp, kind] for kind in KINDS)
    return found


def version_of(clang):
    """Its major version; None: it is not there, or has no target riscv32."""
    try:
        targets, version = (subprocess.run([clang, option], check=True, stdout=subprocess.PIPE, text=True).stdout
                            for option in ("--print-targets", "--version"))
    except (OSError, subprocess.CalledProcessError):
        return None
    return re.search(r"version (\d+)", version).group(1) if "riscv32" in targets else None


def main():
    streams, clang = sys.argv[1:]
    version, ours = "none", {}
    if clang != "none":
        version = version_of(clang)
        if not version:
            print(f"count.py: skipped: {clang} has no target riscv32", file=sys.stderr)
            sys.exit(77)
        ours = parts(compiled(clang))
    with open(f"{HERE}/published.csv", encoding="utf-8") as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        published = {(row["design"], row["part"], row["warps"], row["kind"]): row["count"] for row in rows}
    model = parts(modelled(streams))
    assert set(published) <= set(model), "published.csv has a row of no design, part or kind"
    print("# Instructions of a warp, for each step of k and each tile of C (docs/timing-virgo.md). Made by make figures-virgo-counts; do not edit it.")
    print(f"# compiled: our kernels, bench/figures/virgo/counts, by clang {version}: clang {' '.join(FLAGS[:4])}. model: the instructions that its warps fetch.")
    print("# published: the published kernels, compiled; empty: not told. each: a warp that does not lead; leader: the instructions that the leading one has more.")
    print("design,part,warps,kind,compiled,published,model")
    for key in ((design, part, warp, kind) for design in DESIGNS for part in ("k step", "C tile") for warp in ("each", "leader")
                for kind in (*KINDS, "all")):
        if ours.get(key) or published.get(key) or model[key]:
            print(",".join((*key, f"{ours[key]:g}" if ours else "", published.get(key, ""), f"{model[key]:g}")))


main()
