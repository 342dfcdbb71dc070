#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# Folders use only what scripts/layers.txt lets them use; and the check sees it where they do not. TAP.
# usage: test-layers.sh [BUILD-DIRECTORY]
set -u
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/tap.sh"

[ -s "$build/obj/daemon/server.o" ] && scripts/check-layers.sh "$build" >"$work/output" 2>"$work/errors"
result $? "includes, calls and circles are as the table says"

# A tree of its own, with a build directory of one object.
mkdir -p "$work/tree/build/obj/daemon/loop" "$work/tree/build/obj/daemon/engine" "$work/tree/scripts"
cp -r daemon devices include libdare libmaple libmimic libvirgo "$work/tree/" && cp scripts/*layers* "$work/tree/scripts/"
check() { (cd "$work/tree" && scripts/check-layers.sh build >"$work/output" 2>"$work/errors"); }

object() # object FILE CODE: what the compiler makes of CODE stands for FILE's object
{
	echo "$2" | ${CC:-gcc} -x c -c -o "$work/tree/build/obj/${1%.c}.o" - 2>"$work/errors"
}

check
result $? "the copy of the tree that follows is as good"

echo '#include "daemon/engine/engine.h"' >> "$work/tree/daemon/loop/timer.h"
! check && grep -q '^daemon/loop/timer.h: includes daemon/engine/engine.h' "$work/output"
result $? "an include upward is found"
cp daemon/loop/timer.h "$work/tree/daemon/loop/"

object daemon/loop/timer.c 'void mimicd_bad(void); void mimicd_timer_arm(void) { mimicd_bad(); }' &&
	object daemon/engine/trap.c 'void mimicd_bad(void) { }' && ! check &&
	grep -q '^daemon/loop/timer.c: takes mimicd_bad from daemon/engine/trap.c' "$work/output" &&
	grep -q 'a circle:' "$work/output"
result $? "a call upward is found, and that it makes a circle"

object daemon/loop/timer.c 'void mimicd_a(void); void mimicd_b(void) { mimicd_a(); }' &&
	object daemon/loop/loop.c 'void mimicd_b(void); void mimicd_a(void) { mimicd_b(); }' && ! check &&
	grep -q 'a circle:' "$work/output" && grep -q 'daemon/loop/timer.c' "$work/output"
result $? "two files of a folder that call each other are found"

rm -r "$work/tree/daemon"
! check && grep -q 'no file of scripts/layers.txt' "$work/output"
result $? "a tree without the folders is not taken for a good one"
plan
