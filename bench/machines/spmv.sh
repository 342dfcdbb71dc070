#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# SpMV by LIMA in a virtual machine: by lanes of a function of PCI, which mimicd outside serves, and by the kernel
# transport, whose mimicd runs in the machine. One machine has both devices, and they take turns.
# usage: spmv.sh BUILD CACHE ARCH
set -u
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/../../tests/scripts/tap.sh"
cache=$2 arch=$3
mkdir -p "$cache"
cache=$(realpath "$cache")
# shellcheck source=tests/machines/machine.sh
. tests/machines/machine.sh

if [ "$arch" != "$(uname -m)" ]; then
	echo "SpMV: not on $arch, for which no mimicd is compiled here"
	exit 0
fi
modules_for "$arch" 6.12 || { cat "$work/output" "$work/errors"; exit 1; }
gcc -static -pthread -o "$work/maple_spmv" "$build/obj/examples/maple/spmv.o" \
	"$build"/lib/lib{common,maple,mimic}.a -linih -ljson-c -lm 2>"$work/errors" || { cat "$work/errors"; exit 1; }
# shellcheck disable=SC2046,SC2207
files=($(libraries_of "$build/bin/mimicd") --file "$work/maple_spmv" --file "$build/bin/mimicd" --file bench/machines/guest-spmv.sh)
if ! machine "$arch-6.12-4" --device maple0,rings "${modules[@]}" "${files[@]}" 'sh /guest-spmv.sh'; then
	tail -n 20 "$work/output" "$work/errors"
	exit 1
fi
python3 - "$work/output" <<'PYTHON'
import json, statistics, sys

rates = {}
for line in open(sys.argv[1]):
    way, separator, report = line.partition(": {")
    if not separator:
        continue
    for form in json.loads("{" + report)["forms"]:
        if not form["verified"]:
            sys.exit(f"{way}: {form['form']} is not right")
        rates.setdefault((way, form["form"]), []).append(form["seconds"] * 1e9 / form["elements"])
print(f"{'nanoseconds of a non-zero':62} {'least':>8} {'median':>8}")
for (way, form), all in rates.items():
    print(f"{'SpMV, ' + form + ', ' + way:62} {min(all):8.1f} {statistics.median(all):8.1f}")
lanes, kernel = (statistics.median(rates[way, "lima"]) for way in ("lanes", "kernel transport"))
print(f"{'SpMV by LIMA, by lanes to the kernel transport, medians of ' + str(len(rates['lanes', 'lima'])):62} "
      f"{lanes / kernel:8.2f}   at most 1.5")
PYTHON
