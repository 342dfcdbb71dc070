#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR MIT
# In the guest: loads our modules and starts the daemon, if they are there.
#
#   start.sh MIMICD-OPTION...
modules=/mimic/modules
if [ -s $modules/order ]; then
	while read -r module; do
		insmod $modules/"$module".ko || exit 1
	done <$modules/order
fi
[ -x /mimic/bin/mimicd ] && [ -s $modules/order ] || exit 0

/mimic/bin/mimicd "$@" &
daemon=$!
for _ in $(seq 100); do
	[ ! -e /dev/maple0 ] || exit 0
	kill -0 $daemon 2>/dev/null || break
	sleep 0.1
done
echo "start.sh: /dev/maple0 did not appear" >&2
exit 1
