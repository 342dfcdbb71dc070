#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR MIT
# Finds the terms of scripts/words.txt, which mimic does not use any more: in code, comments, messages and pages.
#
#   check-words.sh [--count] [FILE...]   from the root of the tree; without files, all that git knows
#
# Says where a term is, a line each, and ends with 1. --count: the lines of each row that is left, for those that rewrite.
set -u
words=${WORDS:-scripts/words.txt}
count=
[ "${1:-}" != --count ] || { count=1; shift; }
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
is_all=
if [ $# = 0 ]; then
	is_all=1
	git ls-files '*.c' '*.h' '*.S' '*.cc' '*.md' '*.scd' '*.sh' '*.py' '*.awk' '*.mk' '*.in' Makefile |
		grep -v -e '^CHANGELOG.md$' -e '^scripts/check-words.sh$' -e '^tests/scripts/test-words.sh$' >"$work/files"
else
	printf '%s\n' "$@" >"$work/files"
fi
[ -s "$work/files" ] || { echo "no files"; exit 2; }

tab=$(printf '\t')
while IFS="$tab" read -r kind name expression instead; do
	[ "$kind" = term ] || continue
	xargs grep -nHE -e "$expression" <"$work/files" |
		awk -v name="$name" -v instead="$instead" '
			{ match($0, /^[^:]*:[0-9]+:/); place = substr($0, 1, RLENGTH - 1)
			  text = substr($0, RLENGTH + 1); gsub(/[ \t]+/, " ", text) }
			# "What is where" is the heading of a section.
			place ~ /\.md:/ && text ~ /^#/ { next }
			{ print name "\t" place "\t" instead "\t" text }'
done <"$words" >"$work/found"

awk -F'\t' -v is_all="$is_all" -v count="$count" -v words="$words" '
	FNR == NR && $1 == "left" { split($0, part, /[\t ]+/); name[++rows] = part[2]; path[rows] = part[3]; next }
	FNR == NR { next }
	{
		for (i = 1; i <= rows; i++)
			if (name[i] == $1 && index($2, path[i]) == 1) { used[i]++; next }
		print $2 ": \"" $1 "\" is retired (" $3 "): " $4
		bad = 1
	}
	END {
		for (i = 1; i <= rows; i++) {
			if (count) print used[i] + 0 "\t" name[i] "\t" path[i]
			if (is_all && !used[i]) { print words ": no file needs the row: left " name[i] " " path[i]; bad = 1 }
		}
		exit bad
	}' "$words" "$work/found"
