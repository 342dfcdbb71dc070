#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# Machines on which libraries are missing, broken or old. TAP. The compiler and pkg-config are stand-ins that hide them.
# usage: test-libraries.sh BUILD-DIRECTORY
set -u
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/tap.sh"
mkdir "$work/pc" "$work/include" "$work/include/fuse3"
export PKG_CONFIG_PATH=$work/pc
# shellcheck source=tests/builds/hide.sh
. tests/builds/hide.sh

# find_libraries HEADER...: without these
find_libraries()
{
	hide "$@"
	CALLS="$work/calls" CC=tests/builds/hiding-cc sh scripts/find-libraries.sh "$work/libraries.mk" >"$work/output" 2>"$work/errors"
}

# lines COUNT: there are so many on standard error
lines() { [ "$(grep -c . "$work/errors")" = "$1" ]; }

all_are_found_here_and_nothing_is_said()
{
	find_libraries && lines 0 && grep -qx 'FUSE_LIBS := .*-lfuse3.*' "$work/libraries.mk" && ! grep -qx 'HAS_[A-Z]* :=' "$work/libraries.mk"
}

# make would begin anew if the file were.
the_file_stays_and_nothing_is_compiled_the_second_time()
{
	touch -d @1 "$work/libraries.mk" && rm -f "$work/calls" && find_libraries &&
		[ "$(stat -c %Y "$work/libraries.mk")" = 1 ] && [ "$(grep -c '' "$work/calls")" = 1 ]
}

optional_ones_are_left_out_with_a_line_each()
{
	rm "$work/libraries.mk"
	# shellcheck disable=SC2086
	find_libraries $OPTIONAL_HEADERS && lines 7 &&
		grep -qx 'mimic: without fuse3 (Debian: libfuse3-dev).*: no mimicd --state' "$work/errors" &&
		grep -qx 'mimic: without cmocka (Debian: libcmocka-dev).*: no unit, contract and transport tests' "$work/errors" &&
		grep -qx 'HAS_FUSE :=' "$work/libraries.mk" && grep -qx 'HAS_JSON := 1' "$work/libraries.mk"
}

a_library_that_appears_is_found_the_next_time()
{
	find_libraries && grep -qx 'HAS_FUSE := 1' "$work/libraries.mk"
}

without_a_needed_one_there_is_one_line_and_no_file()
{
	rm -f "$work/libraries.mk"
	! find_libraries ini.h && lines 1 && grep -q '^mimic: inih is needed (Debian: libinih-dev)' "$work/errors" && [ ! -e "$work/libraries.mk" ]
}

# package NAME VERSION FLAGS LIBRARIES: makes pkg-config's file of it
package()
{
	printf 'Name: %s\nDescription: %s\nVersion: %s\nCflags: %s\nLibs: %s\n' "$1" "$1" "$2" "$3" "$4" >"$work/pc/$1.pc"
}

an_inih_that_cannot_be_linked_is_named_with_the_linkers_word()
{
	local status
	package inih 99 '' '-L/nowhere -linih-of-nobody'
	! find_libraries && lines 1 && grep -q '^mimic: inih is needed (Debian: libinih-dev); 99 is of no use: .*inih-of-nobody' "$work/errors"
	status=$?
	rm "$work/pc/inih.pc"
	return $status
}

# ini_parse_stream() is of release 35.
an_inih_that_is_too_old_is_named_with_what_it_lacks()
{
	local status
	echo 'typedef int ini_handler;' >"$work/include/ini.h"
	package inih 10 "-I$work/include" -lc
	! find_libraries && lines 1 && grep -q '; 10 is of no use: .*ini_parse_stream' "$work/errors"
	status=$?
	rm "$work/pc/inih.pc" "$work/include/ini.h"
	return $status
}

a_fuse_that_is_too_old_is_left_out_with_the_compilers_word()
{
	echo '#error only FUSE 3.0 here' >"$work/include/fuse3/fuse_lowlevel.h"
	package fuse3 3.0 "-I$work/include" -lfuse3
	find_libraries && lines 1 && grep -q '^mimic: without fuse3 .*; 3.0 is of no use: .*only FUSE 3.0 here.*: no mimicd --state' "$work/errors"
}

they_are_found_without_pkg_config()
{
	PKG_CONFIG=no-such-command find_libraries && lines 0 && grep -qx 'FUSE_LIBS := -lfuse3' "$work/libraries.mk"
}

a_compiler_that_is_not_there_is_named()
{
	! CC=no-such-cc sh scripts/find-libraries.sh "$work/none.mk" >"$work/output" 2>"$work/errors" && lines 1 &&
		grep -q "^mimic: there is no compiler 'no-such-cc'" "$work/errors"
}

# make itself says where it stopped.
make_stops_with_that_line()
{
	! env -u MAKEFLAGS make -s O="$work/build" PACKAGES=: CC=no-such-cc all >"$work/output" 2>"$work/errors" && lines 3 &&
		grep -q "^mimic: there is no compiler 'no-such-cc'" "$work/errors" && [ ! -e "$work/build/obj" ]
}

# As root make installs packages: on a fresh machine cmocka comes by this same command.
packages_of_the_tests_come_before_their_libraries_are_looked_for()
{
	printf '#!/bin/sh\necho packages "$@" >>"%s/order"\n' "$work" >"$work/packages"
	printf '#!/bin/sh\ncase $* in *-ldl) echo probe >>"%s/order" ;; esac\nexit 1\n' "$work" >"$work/compiler"
	chmod +x "$work/compiler"
	! env -u MAKEFLAGS make -s O="$work/build" PACKAGES="sh $work/packages" CC="$work/compiler" check-quick >"$work/output" 2>"$work/errors" &&
		cp "$work/order" "$work/output" && sed '/^probe/,$d' "$work/order" | grep -qx 'packages build tests'
}

# The files define the same functions as those that they replace.
files_for_builds_without_define_what_the_others_define()
{
	local file with
	for file in daemon/*/without/*.c tools/*/without/*.c; do
		gcc -std=gnu11 -D_GNU_SOURCE -I. -Iinclude -c -o "$work/without.o" "$file" >"$work/output" 2>"$work/errors" || return 1
		with=$build/obj/$file
		with=${with/\/without/}
		nm --defined-only -g -f posix "$work/without.o" | cut -d' ' -f1 | sort >"$work/less"
		nm --defined-only -g -f posix "${with%.c}.o" | cut -d' ' -f1 | sort >"$work/more"
		diff "$work/more" "$work/less" >"$work/output" || return 1
	done
}

for name in all_are_found_here_and_nothing_is_said the_file_stays_and_nothing_is_compiled_the_second_time \
	optional_ones_are_left_out_with_a_line_each a_library_that_appears_is_found_the_next_time without_a_needed_one_there_is_one_line_and_no_file \
	an_inih_that_cannot_be_linked_is_named_with_the_linkers_word an_inih_that_is_too_old_is_named_with_what_it_lacks \
	a_fuse_that_is_too_old_is_left_out_with_the_compilers_word they_are_found_without_pkg_config a_compiler_that_is_not_there_is_named \
	make_stops_with_that_line packages_of_the_tests_come_before_their_libraries_are_looked_for files_for_builds_without_define_what_the_others_define; do
	$name
	result $? $name
done
plan
