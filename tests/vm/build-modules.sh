#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR MIT
# Builds our modules for one kernel, outside of the source tree.
#
#   build-modules.sh KERNEL DIRECTORY [MAKE-ARGUMENT...]
#
# KERNEL is a directory that fetch-kernel.sh made; if it has a compiler in it, that one is used.
# DIRECTORY becomes a tree of links (scripts/module-tree.sh), and the modules are
# DIRECTORY/driver/*/*.ko. The output of the compiler and make is in DIRECTORY/log; warnings are printed.
set -eu

kernel=$(realpath "$1")
directory=$2
shift 2
cd "$(dirname "$0")/../.."
mkdir -p "$directory"
directory=$(realpath "$directory")
scripts/module-tree.sh "$directory"
# A module that only the tests have: kbuild finds its folder among ours.
mkdir -p "$directory/driver/testdisk"
ln -sf "$PWD"/tests/vm/testdisk/* "$directory/driver/testdisk/"

# Our own make's variables (O, V) mean something else to kbuild.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES O V CFLAGS
status=0
# Coverage, where the kernel can collect it (the debug kernel).
! grep -q '^CONFIG_KCOV=y' "$kernel/config" || set -- KCOV_INSTRUMENT=y "$@"
in_tree=
kdir=$kernel/kdir
if [ -x "$kernel/tree/usr/bin/make" ]; then
	in_tree="tools/vm/in-tree.sh $kernel/tree"
	kdir=/usr/src/linux-headers-$(cat "$kernel/release")
fi
$in_tree make -C "$kdir" M="$directory/driver" -j 2 "$@" modules >"$directory/log" 2>&1 || status=$?
if [ $status != 0 ]; then
	echo "build-modules.sh: modules for $(cat "$kernel/release") do not build:" >&2
	grep -E -v '^(make|  [A-Z]+ )' "$directory/log" | head -n 60 >&2
	exit 1
fi
grep -E 'warning:|error:|^WARNING' "$directory/log" | grep -v 'Skipping BTF' >&2 || true
