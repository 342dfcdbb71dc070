#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# The shared libraries are the same for programs as they were: their exported symbols are those
# of tests/abi/symbols, their functions and types those of tests/abi/*.abi (abigail-tools).
# Usage: test-abi.sh BUILD [--update]; with --update both are written anew, after a change that is meant.
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/tap.sh"

libraries="mimic maple dare virgo"

# A program cannot know a type that is in none of these headers: it may change.
public_headers() # public_headers LIBRARY
{
	mkdir -p "$work/$1"
	case $1 in
	mimic) cp libmimic/mimic.h include/mimic/access.h "$work/$1" ;;
	*) cp lib"$1"/"$1"*.h include/mimic/"$1"_*.h "$work/$1" ;;
	esac
}

exported_symbols()
{
	for name in $libraries mimic-sim mimic-preload; do
		local file=$build/lib/lib$name.so.0
		[ -f "$file" ] || file=$build/lib/lib$name.so
		# Absolute ones are the names of the versions.
		nm -D --defined-only --with-symbol-versions "$file" |
			awk -v library="lib$name" '$2 != "A" { print library, $3 }' | sort
	done
}

describe() # describe LIBRARY
{
	abidw --drop-private-types --exported-interfaces-only --headers-dir "$work/$1" --no-show-locs \
		--no-corpus-path --no-comp-dir-path --no-elf-needed --no-write-default-sizes \
		--type-id-style hash "$build/lib/lib$1.so.0"
}

has_types() # has_types LIBRARY
{
	readelf -S "$build/lib/lib$1.so.0" | grep -q '\.debug_info'
}

for library in $libraries; do
	public_headers $library
done
export LC_ALL=C

if [ "${2:-}" = --update ]; then
	command -v abidw >/dev/null || { echo "test-abi.sh: --update takes abidw (Debian's package abigail-tools)" >&2; exit 2; }
	exported_symbols >tests/abi/symbols
	for library in $libraries; do
		describe $library >tests/abi/lib$library.abi
	done
	exit
fi

exported_symbols >"$work/symbols"
diff tests/abi/symbols "$work/symbols" >"$work/output"
result $? "the libraries export the symbols that they did"

for library in $libraries; do
	what="functions and types of lib$library are what they were"
	if ! command -v abidiff >/dev/null; then
		skip "$what" "no abidiff"
	elif ! has_types $library; then
		skip "$what" "built without debugging information"
	else
		describe $library >"$work/$library.abi" 2>"$work/errors" &&
			abidiff --suppressions tests/abi/private.abignore tests/abi/lib$library.abi \
				"$work/$library.abi" >"$work/output" 2>>"$work/errors"
		result $? "$what"
	fi
done
plan
