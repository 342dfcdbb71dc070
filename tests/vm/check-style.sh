#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR MIT
# The kernel code's style: checkpatch --strict for each file, then a build with
# W=1 and sparse for each kernel. TAP.
#
#   check-style.sh BUILD KERNEL...        KERNEL: 6.1, 6.12
set -u
build=$1
shift
cd "$(dirname "$0")/../.." || exit 1
number=0
output=$(mktemp)
trap 'rm -f "$output"' EXIT

# check DESCRIPTION COMMAND...: fails too if the command says anything
check() {
	number=$((number + 1))
	description=$1
	shift
	if "$@" >"$output" 2>&1 && [ ! -s "$output" ]; then
		echo "ok $number - $description"
	else
		sed 's/^/# /' "$output"
		echo "not ok $number - $description"
	fi
}

# CONST_STRUCT: 6.12's names structures that 6.1's functions do not take as const.
checkpatch() {
	perl "$build/vm/linux-source/checkpatch.pl" --strict --no-tree --terse --no-summary --show-types --ignore CONST_STRUCT -f "$1"
}

# From scratch: what was compiled before would not be warned of again.
builds_without_a_word() {
	directory=$build/driver/style-$1
	rm -rf "$directory"
	tests/vm/build-modules.sh "$build/vm/$1" "$directory" W=1 C=2
}

for file in $(find driver devices/*/driver tests/vm/testdisk -name '*.[ch]' ! -name '*.mod.c' | sort); do
	check "checkpatch_is_content_with_$file" checkpatch "$file"
done
for kernel in "$@"; do
	check "w1_and_sparse_are_content_on_$kernel" builds_without_a_word "$kernel"
done
echo "1..$number"
