#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# A program that uses all devices, under a daemon that is killed at one place of its work
# (daemon/journal/places.c): it prints the same as without that, for each place. TAP on stdout.
#
#   test-walk.sh [BUILD]   BUILD: the build directory; else $O, else build
#   WALK_STRIDE=N          each Nth place; 1: all, which takes some 100 minutes of CPU time; else some
#   WALK_FROM=N            the first place; else 2
#   WALK_TO=N              the last place; else the last one that a daemon has, and then those of successors
#   WALK_THREADS=N         the daemon's: a further one serves the program; else 1 and 2 in turn, and 1 without a kill
#   WALK_AT=N, WALK_SUCCESSOR_AT=N   one case alone, whose log and output go to ./walk-case
set -u
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/tap.sh" "$@"
if [ ! -x "$build/bin/mimicd-recoverable" ]; then
	skip "a program prints the same wherever the daemon is killed" "this build has no mimicd that can be recovered"
	plan
	exit
fi
rm -rf "$work"
[ -z "${WALK_AT:-}" ] || rm -rf walk-case
exec "$build/tests/recovery/kill_places" "$build/bin/mimicd" "$build/tests/recovery/walk"
