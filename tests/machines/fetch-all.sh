#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# Downloads files that machines of these tests need and that are not in the cache yet.
# usage: fetch-all.sh BUILD CACHE ARCH-KERNEL-LEVELS...
set -u
build=$1 cache=$2
shift 2

fetch() # fetch COMMAND...
{
	"$@" && return
	cat >&2 <<TEXT
check-vm: QEMU, a kernel or a compiler of Debian 13 is not in $cache, and cannot be downloaded.
check-vm: It needs a network once, or another machine's $cache (MACHINES_CACHE=DIRECTORY).
TEXT
	exit 1
}

for name in "$@"; do
	IFS=- read -r arch kernel _ <<<"$name"
	fetch "$build/bin/mimic" vm --cache "$cache" --arch "$arch" --kernel "$kernel" --fetch
	[ "$arch" = "$(uname -m)" ] || fetch tools/vm/fetch.sh libraries "$arch" "$cache/libraries-$arch"
done
