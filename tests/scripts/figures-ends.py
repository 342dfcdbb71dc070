#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR MIT
"""figures-ends.py TABLES: bench/figures/ends.csv as docs/timing-maple.md shows it: how much an end of a range moves MAPLE's rows.

Ends that move no row by FAR percent are left out. With an argument --check it is held against ranges.csv and error_bars.csv first. Prints the lines of the table.
"""
import csv
import sys

MOST = 6	# rows that are named at an end
LEAST = 0.5	# percent, of a row that is named
FAR = 5		# percent, of an end's farthest row


def read(name):
    with open(name, encoding="utf-8") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def commit(name):
    with open(name, encoding="utf-8") as file:
        return [line.split("commit ")[1].split(".")[0] for line in file if line.startswith("#") and "commit " in line]


def check(tables, ends, rows):
    ranges = read(f"{tables}/ranges.csv")
    wanted = [(row[end], row["systems"]) for row in ranges for end in ("low", "high") if row[end]]
    there = [(end["settings"], end["systems"]) for end in ends[1:]]
    assert ends[0]["settings"] == "as it is" and wanted == there, "ends.csv has not the ends of ranges.csv"
    assert commit(f"{tables}/ends.csv") == commit(f"{tables}/error_bars.csv") != [], "ends.csv and error_bars.csv are of two runs"
    for bar in read(f"{tables}/error_bars.csv"):
        values = [float(end[bar["id"]]) for end in ends]
        found = [values[0], min(values), max(values)]
        assert found == [float(bar[key]) for key in ("mimic", "lowest", "highest")], f"{bar['id']} of error_bars.csv: {found}"
    assert rows == [bar["id"] for bar in read(f"{tables}/error_bars.csv")]


def line(end, base, rows):
    """The end's line of the table; None if it moves no row far."""
    moved = []
    for row in rows:
        change = 100 * (float(end[row]) / float(base[row]) - 1)
        if abs(change) >= LEAST:
            moved.append((-abs(change), rows.index(row), f"{row} {change:+.1f}"))
    moved.sort()
    if not moved or -moved[0][0] < FAR:
        return None
    systems = f" on {end['systems']}" if end["systems"] else ""
    text = ", ".join(text for _, _, text in moved[:MOST])
    more = f" and {len(moved) - MOST} more" if len(moved) > MOST else ""
    return f"| `{end['settings']}`{systems} | {text}{more} |"


def main():
    tables = sys.argv[1]
    ends = read(f"{tables}/ends.csv")
    rows = [key for key in ends[0] if key not in ("settings", "systems")]
    if "--check" in sys.argv[2:]:
        check(tables, ends, rows)
    for end in ends[1:]:
        text = line(end, ends[0], rows)
        if text:
            print(text)


main()
