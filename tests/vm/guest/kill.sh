#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR MIT
# In the guest: mimicd is killed, and then upgraded, under load of programs that have all devices through the kernel.
# KTAP. It takes longer where the host does other things: TEST_SECONDS=400
#
#   kill.sh [TOP]      TOP: where bin, lib and tests lie; default /mimic. KILLS=N: so many (40); THREADED_KILLS=N (20); UPGRADES=N (20)
#
# The modules are loaded; no mimicd runs.
top=${1:-/mimic}
soak=$top/tests/soak/soak_kill
# shellcheck source=tests/vm/guest/ktap.sh
. "$(dirname "$0")/ktap.sh"

# Milliseconds beyond the restart. Emulated processors are slower, and wait for turns of the host's: docs/recovery.md
limit=1500
if dmesg | grep -q "Hypervisor detected: KVM"; then
	limit=100
fi

# show: what the soak says, also if it is well
show() {
	grep -v "^mimicd: " "$dir/out" | sed 's/^/# /'
}

echo "KTAP version 1"
passes "programs_of_the_kernel_go_on_when_mimicd_is_killed" \
	"$soak" "$top/bin/mimicd" --kernel --kills "${KILLS:-40}" --calm 40 --limit $limit
show
passes "programs_of_the_kernel_go_on_when_mimicd_with_two_threads_is_killed" \
	"$soak" "$top/bin/mimicd" --kernel --kills "${THREADED_KILLS:-20}" --threads 2 --limit $limit
show
passes "programs_of_the_kernel_go_on_when_mimicd_is_upgraded" \
	"$soak" "$top/bin/mimicd" --kernel --upgrade --kills "${UPGRADES:-20}" --limit $limit
show
plan
