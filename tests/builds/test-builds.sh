#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# Builds that are not this machine's usual one, of what is committed: with other options in a path with spaces, by clang,
# and by a user who has none of the optional libraries. TAP; some fifteen minutes.
# usage: test-builds.sh BUILD [spaces|clang|less]		one of the three
set -u
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/../scripts/tap.sh"
# shellcheck source=tests/builds/hide.sh
. tests/builds/hide.sh
chmod 755 "$work"
jobs=$(nproc)

# source FOLDER: what is committed, there
source_in() { mkdir -p "$1" && git archive "${REVISION:-HEAD}" | tar -x -C "$1"; }

# make_in FOLDER ARGUMENTS...: as a user without CI's switches
make_in()
{
	local folder=$1
	shift
	env -u MAKEFLAGS -u MAKELEVEL -u CI make -s -j"$jobs" -C "$folder" PACKAGES=: "$@" >"$work/output" 2>"$work/errors"
}

with_spaces()
{
	local there="$work/a clone"
	source_in "$there" && make_in "$there" CFLAGS=-O3 WERROR=1 all
	result $? "a clone in a path with spaces is built, with -O3 and no warning"
	make_in "$there" CFLAGS=-O3 demo
	result $? "and its demo's results are right"
	make_in "$there" CFLAGS=-O3 WERROR=1 tests
	result $? "its tests are built"
	(cd "$there" && tests/scripts/run-tests.sh --results "$work/results" --jobs "$jobs" build/tests/unit/test_* \
		tests/scripts/test-run.sh tests/scripts/test-sim.sh tests/scripts/test-plugin.sh) >"$work/output" 2>"$work/errors"
	result $? "and pass: those of units, and scripts of mimic run, mimic sim and plugins"
	rm -rf "$there"
}

by_clang()
{
	local there=$work/clang programs
	if ! command -v clang >/dev/null; then
		skip "clang builds it" "no clang"
		return
	fi
	source_in "$there" && make_in "$there" CC=clang WERROR=1 all
	result $? "clang builds it without a warning"
	readelf -p .comment "$there/build/bin/mimicd" 2>/dev/null | grep -q clang
	result $? "and it was clang"
	make_in "$there" CC=clang demo
	result $? "its demo's results are right"
	# clang 14 has no _Float16 for x86-64, by which tests of Virgo compute what is right.
	mapfile -t programs < <(cd "$there" && env -u MAKEFLAGS -u MAKELEVEL make -s PACKAGES=: --eval \
		'names: ; @printf "%s\n" $(filter $(O)/tests/unit/%,$(TESTS))' names | while read -r program; do
			grep -qE '_Float16|virgo_both' "${program#build/}.c" || echo "$program"
		done)
	programs+=(build/tests/contract/test_contract_embedded_library build/tests/contract/test_contract_daemon_trap)
	make_in "$there" CC=clang "${programs[@]}"
	result $? "${#programs[@]} of its tests are built"
	(cd "$there" && tests/scripts/run-tests.sh --results "$work/results" --jobs "$jobs" "${programs[@]}" \
		tests/scripts/test-plugin.sh) >"$work/output" 2>"$work/errors"
	result $? "and pass, and so do plugins"
	rm -rf "$there"
}

make_less()
{
	"${user[@]}" env -u MAKEFLAGS -u MAKELEVEL -u CI PATH="$work/bin" HOME=/nonexistent make -s -j"$jobs" -C "$there" \
		CC="$there/tests/builds/hiding-cc" "$@" >"$work/output" 2>"$work/errors"
}

# As a user who is nobody, if we are root.
without_optional_libraries()
{
	there=$work/less
	user=()
	[ "$(id -u)" != 0 ] || user=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	# shellcheck disable=SC2086
	hide $OPTIONAL_HEADERS
	source_in "$there" && mkdir "$work/bin" && { [ "$(id -u)" != 0 ] || chown -R 65534 "$there"; }
	for tool in $(compgen -c | sort -u); do
		case $tool in
		scdoc | apt-get | dpkg-query) ;;
		*) path=$(type -P "$tool") && ln -sf "$path" "$work/bin/$tool" ;;
		esac
	done
	make_less all && [ "$(grep -c '^mimic: without ' "$work/errors")" = 8 ] && [ "$(grep -c . "$work/errors")" = 8 ]
	result $? "a user without the optional libraries and without Debian's commands builds it, and has a line for each"
	make_less demo
	result $? "the demo's results are right there, too"
	make_less all && [ ! -s "$work/errors" ]
	result $? "make does not say it again"
	make_less PREFIX=/opt/mimic DESTDIR="$there/stage" install && [ -x "$there/stage/opt/mimic/bin/mimic" ] && [ ! -e "$there/stage/opt/mimic/share/man/man1" ]
	result $? "it is installed, without manual pages"
	"$there/build/bin/mimicd" --socket "$work/socket" --devices maple:1 --state "$work" >"$work/output" 2>&1 &
	daemon=$!
	for _ in $(seq 100); do
		grep -q serving "$work/output" && break
		sleep 0.1
	done
	"$there/build/bin/mimic" list --socket "$work/socket" >"$work/errors" 2>&1 && grep -q '^maple0' "$work/errors" &&
		grep -q 'no state filesystem: this mimicd was built without FUSE' "$work/output"
	result $? "mimicd serves, and says that it has no state filesystem"
	stop_daemon
	! "$there/build/bin/mimic" sim "$there/build/sim/examples/maple/loops" >"$work/output" 2>"$work/errors" &&
		grep -q 'built without libdw' "$work/errors" && [ "$(grep -c . "$work/errors")" = 1 ]
	result $? "mimic sim says what it was built without"
	! make_less check-quick && grep -q 'mimic: there are no tests without cmocka' "$work/errors"
	result $? "make check-quick says why it has nothing to do"
}

[ "${2:-spaces}" != spaces ] || with_spaces
[ "${2:-clang}" != clang ] || by_clang
[ "${2:-less}" != less ] || without_optional_libraries
plan
