#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# A machine on which packages are missing. TAP. Nothing is installed: dpkg-query, apt-get and id are stand-ins.
# usage: test-packages.sh BUILD-DIRECTORY
set -u
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/tap.sh"

# Everything that make builds, where no package can be had: a rule that makes something all the same
# does not wait for the package that it needs. Files that are only copied or rewritten need none.
no_rule_runs_before_its_packages_are_there()
{
	env -u MAKEFLAGS make -k -j 4 -C "$PWD" O="$work/build" PACKAGES=false all tests fuzzers docs-check \
		kselftests vm-programs "$work/build/bench/bench" "$work/build/bench/bench-kernel" >"$work/output" 2>"$work/errors" && return 1
	grep -q 'packages-build\] Error' "$work/errors" || return 1
	find "$work/build" -type f ! -path '*/share/*' ! -path '*/include/*' ! -path '*/gen/*' >"$work/output"
	: >"$work/errors"
	[ ! -s "$work/output" ]
}

# Where the packages of the build are there and others are not.
tests_and_fuzzers_wait_for_packages_of_their_own()
{
	stand_in only-build <<<'[ "$*" = build ]'
	env -u MAKEFLAGS make -k -C "$PWD" O="$work/build" PACKAGES="$work/bin/only-build" "$work/build/obj/tests/lib/gemm_check.o" \
		"$work/build/obj/fuzz/tests/fuzz/fuzz_maple.o" >"$work/output" 2>"$work/errors" && return 1
	grep -q 'packages-tests\] Error' "$work/errors" && grep -q 'packages-check\] Error' "$work/errors" && [ ! -e "$work/build/obj" ]
}

# stand_in NAME: a command of that name, whose script comes from standard input
stand_in()
{
	mkdir -p "$work/bin"
	{ echo '#!/bin/sh'; cat; } >"$work/bin/$1"
	chmod +x "$work/bin/$1"
}

# packages GROUP...: scripts/packages.sh with the stand-ins
packages()
{
	env -u CI -u MAKELEVEL "PATH=$work/bin:$PATH" sh scripts/packages.sh "$@" >"$work/output" 2>"$work/errors"
}

a_user_gets_the_line_that_root_has_to_run_and_make_goes_on()
{
	stand_in id <<<'echo 1000'
	stand_in apt-get <<<"touch '$work/was-called'"
	stand_in dpkg-query <<'SCRIPT'
for name in "$@"; do
	case $name in
	scdoc | -* | \$*) ;;
	gcc) printf 'not-installed gcc ' ;;
	*) printf 'installed %s ' "$name" ;;
	esac
done
exit 1
SCRIPT
	packages build && grep -qx 'mimic: packages are missing. As root, run: apt-get install -y gcc scdoc' "$work/errors" &&
		[ ! -e "$work/was-called" ]
}

# With the stand-ins of the test before.
in_ci_that_is_an_error()
{
	! env -u MAKELEVEL CI=true "PATH=$work/bin:$PATH" sh scripts/packages.sh build >"$work/output" 2>"$work/errors" &&
		grep -q 'packages are missing' "$work/errors"
}

a_make_that_another_make_calls_does_not_say_it_again()
{
	MAKELEVEL=2 CI='' PATH=$work/bin:$PATH sh scripts/packages.sh build >"$work/output" 2>"$work/errors" && [ ! -s "$work/errors" ]
}

root_without_a_network_is_told_and_make_goes_on()
{
	stand_in id <<<'echo 0'
	stand_in apt-get <<<'echo "E: no network"; exit 100'
	packages build && grep -q 'E: no network' "$work/errors" && grep -qx 'mimic: apt-get could not install: gcc scdoc' "$work/errors"
}

on_another_distribution_nothing_is_asked()
{
	mkdir -p "$work/other" && ln -s "$(command -v sh)" "$(command -v dirname)" "$work/other" || return 1
	PATH=$work/other sh scripts/packages.sh build >"$work/output" 2>"$work/errors" && [ ! -s "$work/errors" ]
}

# apt-get refuses to run beside itself.
two_groups_at_a_time_are_installed_one_after_the_other()
{
	local first
	stand_in id <<<'echo 0'
	stand_in dpkg-query <<<"cat '$work/installed' 2>/dev/null"
	stand_in apt-get <<SCRIPT
mkdir '$work/apt-runs' || exit 100
sleep 0.2
for name in "\$@"; do printf 'installed %s ' "\$name"; done >>'$work/installed'
rmdir '$work/apt-runs'
SCRIPT
	env -u CI "PATH=$work/bin:$PATH" sh scripts/packages.sh build >"$work/first" 2>&1 &
	first=$!
	packages build tests && wait $first && packages build tests && [ ! -s "$work/output" ]
}

for name in no_rule_runs_before_its_packages_are_there tests_and_fuzzers_wait_for_packages_of_their_own \
	a_user_gets_the_line_that_root_has_to_run_and_make_goes_on in_ci_that_is_an_error \
	a_make_that_another_make_calls_does_not_say_it_again root_without_a_network_is_told_and_make_goes_on \
	on_another_distribution_nothing_is_asked two_groups_at_a_time_are_installed_one_after_the_other; do
	$name
	result $? $name
done
plan
