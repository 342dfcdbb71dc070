#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# Programs by traps alone, with their text left as it is (MIMIC_PATCH=0): the contract and the
# programs that other tests run with instructions replaced. TAP.
# usage: test-unpatched.sh BUILD
set -u
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/tap.sh"
export MIMIC_PATCH=0

# contract WAY: one check for all of its cases
contract() {
	timeout -k 5 250 "$build/tests/contract/test_contract_$1" >"$work/output" 2>&1 && ! grep -q '^not ok' "$work/output"
	result $? "the_contract_by_traps_alone_$1"
}

contract embedded_trap
contract daemon_trap
contract dare_embedded_trap

start_daemon maple:4,dare:1,virgo:2
for way in embedded daemon; do
	run=(timeout -k 5 100 "$build/bin/mimic" run --transport "$way")
	[ $way = daemon ] && run+=(--socket "$work/socket")
	for program in spmv bfs tiles raw widths node dare updates virgo handlers masks waiting processes pointers threads \
		text vectors borders cancelled displaced row; do
		"${run[@]}" "$build/tests/unmodified/$program" >"$work/output" 2>&1
		result $? "by_traps_alone_${way}_$program"
	done
	"${run[@]}" "$build/tests/unmodified/stepping" trapped >"$work/output" 2>&1
	result $? "by_traps_alone_${way}_stepping"
	"${run[@]}" "$build/tests/unmodified/sites" 100 1 4 1 signals >"$work/output" 2>&1
	result $? "by_traps_alone_${way}_sites"
done
MIMIC_PATCH="" timeout 100 "$build/bin/mimic" run --transport embedded --no-patch --stat "$build/tests/unmodified/node" >"$work/output" 2>&1 &&
	grep -q 'no instruction is patched, as was asked for' "$work/output"
result $? "no_patch_leaves_the_text_alone_and_stat_says_so"
plan
