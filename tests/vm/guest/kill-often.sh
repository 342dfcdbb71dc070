#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR MIT
# In the guest: kill.sh with 200 kills, or $KILLS, of each kind of daemon (make soak-kill-kernel). TEST_SECONDS=900
export KILLS="${KILLS:-200}"
export THREADED_KILLS="${THREADED_KILLS:-$KILLS}"
exec "$(dirname "$0")/kill.sh" "$@"
