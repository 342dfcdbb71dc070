#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# The two commands of README in a fresh tree of a suite, in which there is make and nothing else that they need. As root. TAP.
# usage: test-suite.sh BUILD SUITE
set -u
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/../scripts/tap.sh"
# shellcheck source=scripts/debian-tree.sh
. scripts/debian-tree.sh
suite=$2
tree=$build/suite-$suite

if [ "$(id -u)" != 0 ]; then
	skip "$suite: make demo, make check-quick" "only root can make a Debian tree"
	plan
	exit
fi
make_tree "$suite" make
result $? "$suite: there is a tree"
copy_source && inside sh -c 'cd /src && make demo'
result $? "$suite: make demo builds everything, and its kernels are right"
inside sh -c 'cd /src && make check-quick'
result $? "$suite: make check-quick passes"
grep -E '^not ok|^# not ok|[0-9]+ passed' "$work/output" | tail -n 20 | sed 's/^/# /'
plan
