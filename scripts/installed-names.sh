#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR MIT
# In place of install(1) and ln(1), for make uninstall: prints what these would make, and makes nothing.
#
#   installed-names.sh -d FOLDER...
#   installed-names.sh [-m MODE] FILE... FOLDER-OR-NAME
case $1 in
-d)
	shift
	printf 'folder %s\n' "$@"
	exit ;;
-m) shift 2 ;;
esac
for last; do :; done
while [ $# -gt 1 ]; do
	printf 'file %s\t%s\n' "${1##*/}" "$last"
	shift
done
