#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# Contracts by loads and stores that trap, of the devices in $CONTRACTS (of another architecture $FOREIGN_CONTRACTS), on functions of PCI that the project's
# drivers have: all cases, or those with $TRAPS in their names. TAP.
# usage: test-traps.sh BUILD CACHE ARCH-KERNEL-LEVELS...
set -u
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/../scripts/tap.sh"
cache=$2
shift 2
mkdir -p "$cache"
cache=$(realpath "$cache")
# shellcheck source=tests/machines/machine.sh
. "$(dirname "$0")/machine.sh"
# shellcheck source=tests/machines/programs.sh
. "$(dirname "$0")/programs.sh"

# The contract of Virgo is that of this cluster, and of no other.
cat >"$work/devices.ini" <<'INI'
[virgo]
profile = mixed
cores = 3
shared_kb = 256
queue_entries = 8
overflow_is_error = 1
cisc_generation = 1
INI
run_contract() # run_contract DEVICE [OPTIONS]: of the function
{
	MIMIC_CONFIG=$work/devices.ini machine "$name" --device "${1}0${2:-}" "${modules[@]}" \
		--file tests/machines/guest-contract.sh --file tests/machines/guest-traps.sh \
		--file "$work/programs/contract_$1" "sh /guest-traps.sh ${TRAPS:-}"
	pass_on "$name${2:-}" $?
	quiet_kernel
	result $? "$name, $1${2:-}: the kernel reports no defect"
}

for name in "$@"; do
	has_compiler "$name" || continue
	IFS=- read -r arch kernel levels <<<"$name"
	modules_for "$arch" "$kernel"
	result $? "$name: the drivers compile"
	rm -rf "$work/programs"
	mkdir "$work/programs"
	for device in $(contracts_of "$arch"); do
		link_contract "$arch" "$kernel" "$device"
		result $? "$name: the contract of $device can be linked"
		run_contract "$device"
		# Stores are posted where a device has no memory, or has it in another function.
		[ "$device" != virgo ] || run_contract "$device" ,split
	done
done
plan
