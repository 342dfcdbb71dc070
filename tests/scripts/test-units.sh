#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# The units of systemd that are shipped. TAP on stdout.
#
#   test-units.sh [BUILD]   BUILD: the build directory; else $O, else build
set -u
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/tap.sh" "$@"
mkdir "$work/usr" && ln -s "$build/bin" "$work/usr/bin"
for unit in mimicd mimicd-state; do
	sed "s|@PREFIX@|$work/usr|" "config/$unit.service.in" >"$work/$unit.service"
done

is_understood() # is_understood UNIT
{
	systemd-analyze verify --man=no "$work/$1.service" >"$work/output" 2>"$work/errors" && [ ! -s "$work/errors" ]
}

# exposure UNIT: ten times the value that systemd-analyze finds
exposure() {
	systemd-analyze security --offline=true "$work/$1.service" 2>/dev/null | sed -n 's/.*exposure level.*: \([0-9]*\)\.\([0-9]\) .*/\1\2/p'
}

if command -v systemd-analyze >/dev/null && systemd-analyze security --offline=true "$work/mimicd.service" >/dev/null 2>&1; then
	for unit in mimicd mimicd-state; do
		is_understood $unit
		result $? "systemd understands each line of $unit.service"
	done
	found=$(exposure mimicd)
	[ "$((10#$found))" -lt 20 ]
	result $? "the exposure of mimicd.service is under 2.0 (ten times: $found)"
	found=$(exposure mimicd-state)
	[ "$((10#$found))" -lt 50 ]
	result $? "that of mimicd-state.service, which mounts, is under 5.0 (ten times: $found)"
else
	skip "the units" "there is no systemd-analyze that looks at files"
fi

# As the unit starts it: root with its capabilities only, the same options, another place for the socket.
capabilities=-all$(sed -n 's/^CapabilityBoundingSet=//p' "$work/mimicd.service" | tr A-Z a-z | tr ' ' '\n' | sed -n 's/^cap_/,+/p' | tr -d '\n')
options=$(sed -n 's|^ExecStart=[^ ]* ||p' "$work/mimicd.service" | sed "s|/run/mimic|$work|")
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	chmod 755 "$work"
	# shellcheck disable=SC2086 # they are words
	setpriv --bounding-set "$capabilities" --inh-caps -all --no-new-privs "$build/bin/mimicd" $options >"$work/errors" 2>&1 &
	daemon=$!
	for _ in $(seq 100); do
		[ -S "$work/mimicd.sock" ] && break
		sleep 0.05
	done
	timeout 60 setpriv --reuid 65534 --regid 65534 --clear-groups \
		"$build/examples/virgo/gemm" --transport daemon --socket "$work/mimicd.sock" --form library --size 64x64x64 \
		>"$work/output" 2>>"$work/errors"
	result $? "a program of another user is served by what the unit starts"
	kill $daemon && wait $daemon && [ ! -e "$work/mimicd.sock" ]
	result $? "and it ends well"
	daemon=
else
	skip "a program of another user is served by what the unit starts" "not root"
fi
plan
