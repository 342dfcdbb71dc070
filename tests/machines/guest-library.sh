#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR MIT
# In a machine: programs of libmaple, libdare and libvirgo that verify their results, the contracts
# by the library where they are there, and the tests of try_stale.c, with $1 accesses, and try_library.c. TAP.
number=0
# shellcheck source=tests/machines/guest-contract.sh
. /guest-contract.sh
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

# The machine's cluster has four cores, the contract's has three.
cores="a_barrier_opens_when|a_barrier_answers|a_register_says_how|stores_before_a_barrier|the_cluster_says_what"

holds "SpMV on MAPLE, in all forms" /maple_spmv --uniform 400x8
holds "and with threads" /maple_spmv --uniform 400x8 --form decoupled --threads 2+2
holds "BFS on MAPLE, in all forms" /maple_bfs --kronecker 8 --roots 4
holds "SpMM on DARE, in all forms" /dare_spmm --uniform 64x8 --columns 16
holds "matrix products on a Virgo, in all forms" /virgo_gemm --size 64x64x64
for device in maple dare virgo; do
	[ ! -x /contract_$device ] || contract $device kernel_library "$cores|$counters"
done
/try_stale "$1" | sed '/^1\.\./d'
# Its end takes the device away, and brings it back.
/try_library mimic_pci | sed '/^1\.\./d'
holds "SpMV on MAPLE afterwards" /maple_spmv --uniform 400x8 --form lima
echo "1..$number"
