#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR MIT
# Looks for reports of kernel bugs in a log: warnings, oopses, lockdep, KASAN,
# stalls, hung tasks, leaks. Prints what it finds and exits with 1 then.
#
#   check-dmesg.sh FILE
set -eu

here=$(dirname "$(realpath "$0")")
[ -r "$1" ] || {
	echo "check-dmesg.sh: cannot read $1" >&2
	exit 2
}
found=$(grep -a -n -E -f "$here/kernel-reports.txt" "$1" | grep -v -F -f "$here/kernel-harmless.txt" || true)
[ -n "$found" ] || exit 0
echo "$1: the kernel reports a bug:"
printf '%s\n' "$found" | head -n 20
exit 1
