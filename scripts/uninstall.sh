#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR MIT
# Removes the files that lines of scripts/installed-names.sh name, and folders that are then empty.
#
#   uninstall.sh DESTDIR PREFIX [standard] < LINES
#
# standard: PREFIX is the system's, and its folders stay, but for those in a folder "mimic".
destdir=$1
prefix=$2
is_standard=${3:-}
# Files first, then folders, the deepest first. A file's last word is a folder where one of that name is made.
names=$(destdir=$destdir awk -F '\t' '
	BEGIN { base = length(ENVIRON["destdir"]) }
	/^folder / {
		for (path = substr($0, 8); length(path) > base; sub(/\/[^\/]*$/, "", path))
			folders[path] = 1
	}
	/^file / { name[++count] = substr($1, 6); place[count] = $2 }
	END {
		for (i = 1; i <= count; i++)
			print "file " place[i] (place[i] in folders ? "/" name[i] : "")
		for (path in folders)
			print "folder " path | "LC_ALL=C sort -r"
	}') || exit
found=
while read -r kind path; do
	case $kind:${path#"$destdir"} in
	file:*)
		[ -e "$path" ] || [ -L "$path" ] || continue
		found=1
		rm -f "$path" || exit ;;
	folder:*/mimic | folder:*/mimic/*) rmdir "$path" 2>/dev/null ;;
	folder:"$prefix" | folder:"$prefix"/*) [ -n "$is_standard" ] || rmdir "$path" 2>/dev/null ;;
	esac
done <<NAMES
$names
NAMES
[ -n "$found" ] || echo "uninstall: nothing of mimic is in $destdir$prefix" >&2
