#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR MIT
# In the guest, when a program does not end: what every thread of every process is
# at, twice, so that one that runs can be told from one that waits.

# threads: "pid/tid name state time-in-ticks system-call, where in the kernel"
threads() {
	for task in /proc/[0-9]*/task/[0-9]*; do
		[ -n "$(tr -d '\0' 2>/dev/null <"$task/cmdline")" ] || continue	# of the kernel
		read -r stat 2>/dev/null <"$task/stat" || continue
		name=${stat#*\(}
		name=${name%)*}
		# shellcheck disable=SC2086 # they are words
		set -- ${stat##*) }
		echo "# thread: ${task#/proc/} $name $1 ticks ${12}+${13} in $(cat "$task/wchan" 2>/dev/null) call $(
			cut -d ' ' -f 1-4 "$task/syscall" 2>/dev/null)"
		sed 's/^/# thread:     /' "$task/stack" 2>/dev/null
	done
}

threads
sleep 1
echo "# thread: one second later"
threads | grep -v '^# thread:     '
