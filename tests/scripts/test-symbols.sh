#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# Each function and variable that other files can see begins with the name of its part, so that a
# backtrace can be read, and parts that are linked together (plugins also) do not collide. TAP.
# usage: test-symbols.sh BUILD
set -u
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/tap.sh"

# A folder, and how its symbols begin; those below it that have no line of their own included.
parts()
{
	cat <<-'TABLE'
	libmaple        maple_
	libdare         dare_
	libvirgo        virgo_
	libmimic/base   mimic_
	libmimic/device mimic_
	daemon          mimicd_
	devices         mimic_
	devices/soc     mimic_
	sim             soc_|sim_
	sim/runtime     sim(_|$)|mimic_sim_
	tools           tool_
	options         mimic_options_
	tools/plot      plot_
	tools/report    report_|tool_report$
	tools/trace     trace_|tool_trace$
	TABLE
}

# Devices and parts of libmimic, new ones also, have the name of their folder.
parts_by_name()
{
	local folder
	for folder in libmimic/*/ devices/*/; do
		folder=${folder%/}
		grep -q "^$folder " "$work/table" && continue
		case $folder in
		libmimic/*) echo "$folder mimic_${folder#*/}_" ;;
		devices/*) echo "$folder ${folder#*/}_|mimic_kind_${folder#*/}$" ;;
		esac
	done
}

# Names that we cannot choose: the entry of a program, the anchor of sys/sdt.h, and wrappers
# of functions of other libraries. In FOLDER only, where one is given.
names_of_others()
{
	echo main
	echo _.stapsdt.base
	case $1 in
	libmimic/preload | sim/runtime)
		nm -D --defined-only "$(${CC:-gcc} -print-file-name=libc.so.6)" | awk '{ sub(/@.*/, "", $3); print $3 }' ;;
	esac
}

# sources FOLDER: its C files, without those of parts below it
sources()
{
	local others=() folder
	while read -r folder _; do
		case $folder in
		"$1"/*) others+=(-not -path "$folder/*") ;;
		esac
	done <"$work/parts"
	find "$1" -name '*.c' "${others[@]}"
}

# strangers BUILD FOLDER BEGINNING: files and their symbols that begin in another way; 1: nothing was built
strangers()
{
	local objects beginning=$3
	# The compiler's calls, those of OpenMP too, and ld's --wrap have names of their own.
	[ "$2" != daemon ] || beginning+='|__asan_'
	[ "$2" != sim/runtime ] || beginning+='|__(tsan|wrap)_|GOMP_|omp_'
	mapfile -t objects < <(sources "$2" | sed "s|^|$1/obj/|; s|c\$|o|" | xargs ls 2>/dev/null)
	[ ${#objects[@]} != 0 ] || return 1
	names_of_others "$2" >"$work/others"
	nm -A -g --defined-only "${objects[@]}" | sed "s|^$1/obj/\([^:]*\)\.o:.* \(.*\)|\1.c \2|" |
		awk -v beginning="^($beginning)" 'FILENAME != "-" { is_other[$1] = 1; next }
			$2 !~ beginning && !($2 in is_other)' "$work/others" -
}

export LC_ALL=C
parts >"$work/table"
{ cat "$work/table"; parts_by_name; } >"$work/parts"

while read -r folder beginning; do
	strangers "$build" "$folder" "$beginning" >"$work/output" && [ ! -s "$work/output" ]
	result $? "symbols of $folder begin with $beginning"
done <"$work/parts"

# A build directory with one object of each.
made=$work/made
mkdir -p "$made/obj/devices/maple" "$made/obj/libmimic/preload"
echo 'int maple_queue, mimic_kind_maple, mimic_kind_dare, queue_add; static int hidden; int *maple_hidden = &hidden;' |
	${CC:-gcc} -x c -c -o "$made/obj/devices/maple/queue.o" - 2>"$work/errors" &&
	[ "$(strangers "$made" devices/maple 'maple_|mimic_kind_maple$' | sort | xargs)" = \
		"devices/maple/queue.c mimic_kind_dare devices/maple/queue.c queue_add" ]
result $? "names that any device could have, and another device's, are found"

echo 'int open(void); int close_all(void); int open(void) { return 0; } int close_all(void) { return 0; }' |
	${CC:-gcc} -x c -fno-builtin -c -o "$made/obj/libmimic/preload/open.o" - 2>"$work/errors" &&
	[ "$(strangers "$made" libmimic/preload mimic_preload_)" = "libmimic/preload/open.c close_all" ]
result $? "of those that stand in front of the C library, only the names of its functions pass"

! strangers "$made" libdare dare_
result $? "a part that was not built is not taken for a good one"
plan
