#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# The --help, --version and usage errors of each command of mimic. TAP on stdout.
#
#   test-commands.sh [BUILD]   BUILD: the build directory; else $O, else build
set -u
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/tap.sh" "$@"

mimic=$build/bin/mimic
version=$(sed -n 's/^VERSION := //p' Makefile)
: >"$work/errors"
"$mimic" --help >"$work/help"
sed -n 's/^  \([a-z]\{2,\}\) .*/\1/p' "$work/help" >"$work/commands"

# says STATUS PATTERN WORD...: mimic ends so, and its first line is so
says()
{
	local status=$1 pattern=$2 got
	shift 2
	"$mimic" "$@" >"$work/output" 2>&1
	got=$?
	[ $got = "$status" ] && head -n 1 "$work/output" | grep -qE -- "$pattern"
}

[ "$(wc -l <"$work/commands")" -ge 21 ] && says 0 "^mimic $version$" --version && says 0 "^mimic $version$" -V
result $? "mimic_says_its_version"

while read -r command; do
	says 0 "^mimic $version$" "$command" --version && says 0 "^mimic $version$" "$command" -V || echo "$command"
done <"$work/commands" >"$work/errors"
[ ! -s "$work/errors" ]
result $? "each_command_says_its_version"

while read -r command; do
	"$mimic" "$command" --help >"$work/expected"
	says 0 "^Usage: mimic $command" help "$command" && cmp -s "$work/expected" "$work/output" || echo "$command"
done <"$work/commands" >"$work/errors"
[ ! -s "$work/errors" ]
result $? "help_prints_the_help_of_a_command"

says 0 '^Usage: mimic COMMAND' help && cmp -s "$work/help" "$work/output"
result $? "help_alone_prints_the_commands"

says 2 "^mimic: there is no command 'none'; see mimic --help$" help none &&
	says 2 "^mimic: help: what is 'sim'\? See mimic --help$" help run sim
result $? "help_refuses_what_is_no_command"

"$build/bin/mimicd" -V >"$work/output" && [ "$(cat "$work/output")" = "mimicd $version" ]
result $? "mimicd_says_its_version"
[ "$(sed -n 's/.*MIMIC_DRIVER_VERSION "\(.*\)"/\1/p' driver/version.h)" = "$version" ]
result $? "the_modules_have_the_same_version"
plan
