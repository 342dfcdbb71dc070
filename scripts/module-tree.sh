#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR MIT
# Makes a tree of links in which kbuild builds the modules, because it writes beside the sources
# and wants all of them below one directory: driver/ with the driver of each device as
# driver/NAME, and folders that these may include from.
#
#   module-tree.sh DIRECTORY
set -eu

directory=$(realpath -m "$1")
case $directory in
*[[:space:]:]*)
	echo "$directory: kbuild refuses paths with spaces or colons. A folder elsewhere will do: make -C driver TREE=FOLDER," >&2
	echo "make O=FOLDER check-kernel" >&2
	exit 1
	;;
esac
mkdir -p "$directory"
cd "$(dirname "$0")/.."

# The links of files that are gone would still be built; links into another tree are of an earlier use of DIRECTORY.
find "$directory" \( -xtype l -o -type l ! -lname "$PWD/*" \) -delete
find driver include libmimic devices -type f \( -name '*.[chS]' -o -name Makefile -o -name Kbuild \) |
while read -r file; do
	link=$directory/$(echo "$file" | sed 's|^devices/\([^/]*\)/driver/|driver/\1/|')
	[ -L "$link" ] && continue
	mkdir -p "$(dirname "$link")"
	ln -s "$PWD/$file" "$link"
done
