#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# Compares the results of two runs of the tests: prints the tests that the old one has and the new
# one does not, and says how many each has. Exits with 1 if a test was lost.
#
#   lost-tests.sh OLD NEW     two files of run-tests.sh, as build/check/results
#
# A test is its label, its program and its name. Its result (passed, skipped and why, how many inputs
# a fuzz target tried) is no part of it.
set -eu
if [ $# != 2 ]; then
	echo "usage: lost-tests.sh OLD NEW" >&2
	exit 2
fi

names() # names FILE
{
	cut -f 2- "$1" | sed -E 's/: # SKIP /: /; s/ # SKIP.*//; s/: [0-9]+ inputs in [0-9]+ s$//' | LC_ALL=C sort -u
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
names "$1" >"$work/old"
names "$2" >"$work/new"
LC_ALL=C comm -23 "$work/old" "$work/new" >"$work/lost"
cat "$work/lost"
echo "# $(wc -l <"$work/old") tests before, $(wc -l <"$work/new") now, $(wc -l <"$work/lost") lost"
[ ! -s "$work/lost" ]
