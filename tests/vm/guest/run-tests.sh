#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR MIT
# In the guest: loads the modules, runs each test program under supervise, and
# unloads the modules. The lines are for tests/vm/report.awk on the host.
#
#   run-tests.sh SECONDS-FOR-EACH PROGRAM...
#
# stage.sh wrote a file PROGRAM.seconds for a program that says that it needs longer.
# On a kernel that is slower by MIMIC_TIME_SCALE, each limit is longer by it.
seconds=$1
shift
supervise=/mimic/vm/supervise
export CMOCKA_MESSAGE_OUTPUT=TAP
export MIMIC_TIME_SCALE="${MIMIC_TIME_SCALE:-1}"

if [ -s /mimic/modules/order ]; then
	$supervise $((60 * MIMIC_TIME_SCALE)) /mimic/vm/modules.sh load
fi
for program in "$@"; do
	limit=$seconds
	if [ -r "$program.seconds" ] && read -r own <"$program.seconds" && [ "$own" -gt "$limit" ]; then
		limit=$own
	fi
	$supervise $((limit * MIMIC_TIME_SCALE)) "$program"
done
if [ -s /mimic/modules/order ]; then
	$supervise $((60 * MIMIC_TIME_SCALE)) /mimic/vm/modules.sh unload
fi
echo "# all programs ran"
