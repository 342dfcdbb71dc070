#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# The cost of a trap and of a lane in a virtual machine: prints the guest's table.
# usage: run.sh BUILD CACHE ARCH
set -u
build=$1 cache=$2 arch=$3
work=$(mktemp -d) || exit 1
trap 'kill $server 2>/dev/null; rm -rf "$work"' EXIT
"$build/bench/bench-instant" "$work/instant.sock" &
server=$!
for _ in $(seq 100); do
	[ ! -S "$work/instant.sock" ] || break
	sleep 0.05
done
"$build/bin/mimic" vm --cache "$cache" --arch "$arch" --timeout 600 --device maple0,rings --device virgo0 --device virgo1,split \
	--function "$work/instant.sock" --include tests/machines --compile bench/machines/guest.c /guest || exit 1
"$(dirname "$0")/spmv.sh" "$build" "$cache" "$arch"
