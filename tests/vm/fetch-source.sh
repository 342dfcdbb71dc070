#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR MIT
# Fetches files out of Debian's kernel source package, without installing it.
#
#   fetch-source.sh VERSION DIRECTORY PATH...   only these files, all in one directory
#   fetch-source.sh VERSION DIRECTORY           the whole tree
#
# VERSION is 6.1 or 6.12, or "6.1 6.12": the first of them that this release of Debian has.
# DIRECTORY appears whole or not at all; what is there already stays.
set -eu

me=fetch-source.sh
here=$(dirname "$(realpath "$0")")
. "$here/../../tools/vm/apt.sh"

[ $# -ge 2 ] || complain "usage: fetch-source.sh VERSION DIRECTORY [PATH...]"
versions=$1
directory=$2
shift 2
[ -d "$directory" ] && exit
lock "$directory"
[ -d "$directory" ] && exit

part=$directory.part
rm -rf "$part"
mkdir -p "$part/packages" "$part/tree"

download_source() {
	for version in $versions; do
		has_package "linux-source-$version" || continue
		echo "$me: downloading linux-source-$version"
		download "$part/packages" "linux-source-$version"
		return
	done
	echo "apt knows no source of the kernel $versions" >"$part/packages/apt.log"
	return 1
}

with_fresh_lists "$part/packages" download_source
top=linux-source-$version
extract "$part/packages" "$top" "$part" "./usr/src/$top.tar.xz"
if [ $# = 0 ]; then
	echo "$me: unpacking the source of $version"
	tar -x -J -C "$part/tree" --strip-components=1 -f "$part/usr/src/$top.tar.xz"
else
	echo "$me: looking for $* in the source of $version"
	depth=$#
	for path in "$@"; do
		set -- "$@" "$top/$path"
	done
	shift "$depth"
	# The first occurrence is enough: tar need not read on for others.
	tar -x -J -C "$part/tree" --occurrence --transform='s|.*/||' -f "$part/usr/src/$top.tar.xz" "$@"
fi
mv "$part/tree" "$directory"
rm -rf "$part"
