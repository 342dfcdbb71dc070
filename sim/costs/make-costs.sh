#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR MIT
# Counts the RISC-V instructions of the loops that `mimic sim` times: sim/costs/loops.csv.
# Usage, in the project's folder: sim/costs/make-costs.sh > sim/costs/loops.csv
# Debian package gcc-riscv64-linux-gnu; COMPILER names another compiler.
set -eu
cd "$(dirname "$0")/../.."
compiler=${COMPILER:-riscv64-linux-gnu-gcc}
flags="-std=gnu11 -O2 -g -fno-asynchronous-unwind-tables -march=rv64gc -mabi=lp64d"
files="spmv sdhp bfs spmm shared_queue round_trip"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat <<HEAD
# Instructions and accesses of the loops in examples/maple/loops, per iteration, without loops inside them.
# Made by sim/costs/make-costs.sh: $("$compiler" --version | sed -n 1p)
# Flags: $flags
# Loop 0 is a function without its loops, per call. A row is a source line with an access.
# taken: branches and jumps taken; missed: branches predicted wrongly, one for each loop inside it; multiplies: of integers.
file,function,loop,first_line,last_line,instructions,loads,stores,mmio,prefetches,taken,missed,multiplies
HEAD
for file in $files; do
	# shellcheck disable=SC2086 # words are meant
	"$compiler" $flags -S -Isim/costs/include -I. -Iinclude -include sim/costs/include/prefetch.h \
		-o "$work/$file.s" "examples/maple/loops/$file.c"
	awk -f sim/costs/count.awk "$work/$file.s"
done
