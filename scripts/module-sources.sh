#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR MIT
# Copies the sources of the modules, as module-tree.sh links them: for DKMS, which compiles them elsewhere.
#
#   module-sources.sh DIRECTORY
set -eu

mkdir -p "$1"
directory=$(realpath "$1")
# Not in TMPDIR, which may have spaces in its path.
links=$(mktemp -d /tmp/mimic-sources-XXXXXX)
trap 'rm -rf "$links"' EXIT
"$(dirname "$0")/module-tree.sh" "$links"
# A device to copy is no device of the machine.
rm -rf "$links/driver/template"
cp -rL "$links/." "$directory"
# Outside driver/ the modules need headers, and the sources that they include.
(cd "$directory" && find . -name '*.c' ! -path './driver/*' -printf '%P\n') | while read -r file; do
	grep -rqF "\"$file\"" "$directory/driver" || rm "$directory/$file"
done
find "$directory" -type d -empty -delete
