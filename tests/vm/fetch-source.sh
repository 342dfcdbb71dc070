#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR MIT
# Fetches files out of Debian's kernel source package, without installing it.
#
#   fetch-source.sh 6.1|6.12 DIRECTORY PATH...   only these files, all in one directory
#   fetch-source.sh 6.1|6.12 DIRECTORY           the whole tree
#
# DIRECTORY appears whole or not at all; what is there already stays.
set -eu

me=fetch-source.sh
here=$(dirname "$(realpath "$0")")
. "$here/apt.sh"

[ $# -ge 2 ] || complain "usage: fetch-source.sh 6.1|6.12 DIRECTORY [PATH...]"
version=$1
directory=$2
shift 2
[ -d "$directory" ] && exit
lock "$directory"
[ -d "$directory" ] && exit

part=$directory.part
rm -rf "$part"
mkdir -p "$part/packages" "$part/tree"

download_source() {
	echo "$me: downloading linux-source-$version"
	download "$part/packages" "linux-source-$version"
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
