#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# Errors that a user may meet: an option that is wrong, a home that is read-only, a disk that is full. Each is
# one line on standard error and the exit status of the manual page. TAP.
#
#   test-trouble.sh [BUILD]   BUILD: the build directory; else $O, else build
set -u
# Mounts of ours go with the namespace.
if [ "$(id -u)" = 0 ] && [ -z "${UNSHARED:-}" ] && unshare -m true 2>/dev/null; then
	UNSHARED=1 exec unshare -m "$0" "$@"
fi
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/tap.sh" "$@"
mimic=$build/bin/mimic
program=$build/tests/unmodified/pointers

# one_line STATUS COMMAND...: it ends so, with one line on standard error
one_line()
{
	local status=$1 got
	shift
	"$@" >"$work/output" 2>"$work/errors" </dev/null
	got=$?
	[ $got = "$status" ] && [ "$(grep -c '' "$work/errors")" = 1 ] && return
	echo "$*: exit status $got" >>"$work/errors"
	return 1
}

# --- options -----------------------------------------------------------------

a_wrong_option_is_one_line_and_status_2()
{
	local command
	for command in $("$mimic" --help | sed -n 's/^  \([a-z]\{2,\}\) .*/\1/p'); do
		one_line 2 "$mimic" "$command" --no-such-option && grep -qF -- --no-such-option "$work/errors" || return 1
	done
	for command in bin/mimic bin/mimicd bin/mimic-demo bin/mimic-template; do
		one_line 2 "$build/$command" --no-such-option || return 1
	done
}

one_of_an_example_too()
{
	local example
	for example in "$build"/examples/*/*; do
		[ ! -f "$example" ] || one_line 2 "$example" --no-such-option || return 1
	done
}

an_option_without_its_value_is_one_line()
{
	one_line 2 "$build/bin/mimicd" --socket && grep -q "^mimicd: .*--socket" "$work/errors" &&
		one_line 2 "$mimic" run --transport && grep -q '^mimic: run: .*--transport' "$work/errors" &&
		one_line 2 "$build/examples/maple/spmv" --uniform
}

an_empty_value_is_one_line_that_names_the_option()
{
	local name
	for name in devices config socket bus record plugin; do
		one_line 2 timeout 5 "$build/bin/mimicd" --$name= && grep -q "^mimicd: --$name: the value is empty" "$work/errors" || return 1
	done
	one_line 2 timeout 5 "$mimic" record --devices= true && grep -q "^mimic: record: --devices: " "$work/errors"
}

a_short_one_and_a_word_too_many_are_one_line()
{
	one_line 2 "$build/bin/mimicd" -Q && one_line 2 "$build/bin/mimicd" word && one_line 2 "$mimic" list word
}

# --- a disk that is full ---------------------------------------------------------

a_failed_write_to_standard_output_is_one_line_and_status_1()
{
	local command
	for command in "$mimic --help" "$mimic list --help" "$mimic sim --parameters" "$build/bin/mimicd --help" "$build/bin/mimicd --version" \
		"$build/examples/maple/spmv --transport embedded --uniform 64x4"; do
		# shellcheck disable=SC2086
		one_line 1 sh -c 'exec "$@" >/dev/full' sh $command || return 1
	done
}

a_file_that_cannot_be_written_is_named()
{
	one_line 1 "$mimic" trace -o /dev/full "$program" && grep -q '^mimic: /dev/full: No space left on device' "$work/errors"
}

# Of a tmpfs: 1 MB, less than the installed files.
an_install_on_a_full_disk_fails_and_says_where()
{
	mkdir "$work/small" && mount -t tmpfs -o size=1m tmpfs "$work/small" &&
		! env -u MAKEFLAGS -u MAKELEVEL make -s O="$build" PACKAGES=: PREFIX=/opt/mimic DESTDIR="$work/small" install >"$work/output" 2>"$work/errors" &&
		grep -q "$work/small/.*No space left on device" "$work/errors"
}

# With room again it is whole.
and_works_when_there_is_room()
{
	mount -o remount,size=100m "$work/small" &&
		env -u MAKEFLAGS -u MAKELEVEL make -s O="$build" PACKAGES=: PREFIX=/opt/mimic DESTDIR="$work/small" install >"$work/output" 2>"$work/errors" &&
		"$work/small/opt/mimic/bin/mimic" run "$program"
}

# --- a home that is read-only ------------------------------------------------------

# As a user whose files all lie where nothing can be written.
read_only()
{
	setpriv --reuid=65534 --regid=65534 --clear-groups env HOME="$work/home" TMPDIR="$work/home" XDG_RUNTIME_DIR="$work/home" "$@"
}

programs_run_in_a_read_only_home()
{
	read_only "$mimic" run "$program" >"$work/output" 2>"$work/errors" && [ ! -s "$work/errors" ] &&
		read_only "$build/examples/maple/spmv" --transport embedded --uniform 64x4 >"$work/output" 2>"$work/errors" && [ ! -s "$work/errors" ]
}

a_file_that_cannot_be_made_is_one_line()
{
	one_line 2 read_only "$mimic" run --state "$program" && one_line 2 read_only "$mimic" trace -o "$work/home/trace" "$program" &&
		one_line 2 read_only "$mimic" record -o "$work/home/recording" "$program" && one_line 1 read_only "$build/bin/mimicd" &&
		one_line 1 read_only "$build/bin/mimic-demo" && grep -q 'Read-only file system' "$work/errors"
}

# The link for LD_PRELOAD has no place.
so_is_mimic_run_from_a_folder_with_a_space()
{
	mkdir "$work/a folder" && cp -r "$work/small/opt/mimic/." "$work/a folder" && chmod 755 "$work" &&
		one_line 2 read_only "$work/a folder/bin/mimic" run "$program" && grep -q "LD_PRELOAD cannot name '$work/a folder/lib'.*Read-only" "$work/errors"
}

names="an_empty_value_is_one_line_that_names_the_option a_wrong_option_is_one_line_and_status_2 one_of_an_example_too an_option_without_its_value_is_one_line
	a_short_one_and_a_word_too_many_are_one_line a_failed_write_to_standard_output_is_one_line_and_status_1
	a_file_that_cannot_be_written_is_named"
for name in $names; do
	$name
	result $? $name
done
names="an_install_on_a_full_disk_fails_and_says_where and_works_when_there_is_room programs_run_in_a_read_only_home
	a_file_that_cannot_be_made_is_one_line so_is_mimic_run_from_a_folder_with_a_space"
if mkdir "$work/home" && [ -n "${UNSHARED:-}" ] && mount -t tmpfs -o ro,uid=65534 tmpfs "$work/home"; then
	chmod 755 "$work"
	for name in $names; do
		$name
		result $? $name
	done
	umount "$work/home" "$work/small"
else
	for name in $names; do
		skip $name "only root can mount file systems"
	done
fi
plan
