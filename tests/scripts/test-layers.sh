#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# Folders use only the folders that scripts/layers.txt allows them; the check sees it where they do not. TAP.
# usage: test-layers.sh [BUILD-DIRECTORY]
set -u
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/tap.sh"

[ -s "$build/obj/daemon/server.o" ] && scripts/check-layers.sh "$build" >"$work/output" 2>"$work/errors"
result $? "includes, calls and circles are as the table says"

# A tree of its own, with a build directory of one object.
mkdir -p "$work/tree/build/obj/daemon/loop" "$work/tree/build/obj/daemon/engine" "$work/tree/scripts" "$work/tree/tests/lib"
cp tests/lib/limit.h "$work/tree/tests/lib/"
cp -r daemon devices driver include libdare libmaple libmimic libvirgo options sim tools "$work/tree/" &&
	cp scripts/*layers* scripts/*.h "$work/tree/scripts/"
check() { (cd "$work/tree" && scripts/check-layers.sh build >"$work/output" 2>"$work/errors"); }

object() # object FILE CODE: CODE, compiled, takes the place of FILE's object
{
	echo "$2" | ${CC:-gcc} -x c -c -o "$work/tree/build/obj/${1%.c}.o" - 2>"$work/errors"
}

check
result $? "the copy of the tree that follows is as good"

echo '#include "daemon/engine/engine.h"' >> "$work/tree/daemon/loop/timer.h"
! check && grep -q '^daemon/loop/timer.h: includes daemon/engine/engine.h' "$work/output"
result $? "an include upward is found"
cp daemon/loop/timer.h "$work/tree/daemon/loop/"

for line in devices/dare/model.c:devices/maple/maple_model.h devices/model.h:libmimic/base/wait.h \
	libmimic/base/wait.h:libmimic/embedded/embedded.h libmimic/embedded/jobs.c:libmimic/daemon/session.h \
	libmaple/maple.c:libmimic/embedded/embedded.h sim/soc.h:sim/runtime/internal.h \
	devices/maple/driver/main.c:driver/accelerator/internal.h tools/common/tools.h:tools/trace/trace.h \
	tools/commands/list.c:daemon/engine/engine.h; do
	echo "#include \"${line#*:}\"" >> "$work/tree/${line%:*}"
	! check && grep -q "^${line%:*}: includes ${line#*:}, and" "$work/output"
	result $? "and that ${line%:*} includes ${line#*:}"
	cp "${line%:*}" "$work/tree/${line%:*}"
done

# found DESCRIPTION FILE LINE WHAT: with LINE at the end of FILE, the check says WHAT of FILE
found()
{
	cp "$work/tree/$2" "$work/kept"
	echo "$3" >>"$work/tree/$2"
	! check && grep -qF "$2: $4" "$work/output"
	result $? "$1"
	cp "$work/kept" "$work/tree/$2"
}
engine='includes daemon/engine/engine.h, and devices/maple may not use daemon/engine'
model=devices/maple/model.c
found "an include in angle brackets is found" $model '#include <daemon/engine/engine.h>' "$engine"
found "an include with spaces is found" $model ' #	 include  "daemon/engine/engine.h"' "$engine"
found "an include upward from the file's folder is found" $model '#include "../../daemon/engine/engine.h"' "$engine"
found "a path with detours is found" $model '#include "devices/.//dare/../../daemon/./loop/../engine/engine.h"' "$engine"
found "an include of a folder that has no rows is found" $model '#include "tests/lib/limit.h"' \
	'includes tests/lib/limit.h, and devices/maple may not use tests/lib'
found "an include that is nowhere is found" $model '#include "devices/maple/gone.h"' \
	'includes devices/maple/gone.h, and there is no such file'
for line in '#include <stdio.h>' '#include "../maple/maple_model.h"' '#include "./maple_model.h"'; do
	echo "$line" >>"$work/tree/$model"
done
check
result $? "headers of the system, and paths in the own folder, are no finding"
cp $model "$work/tree/$model"
found "a shape that is drawn elsewhere is found" tools/report/bars.c 'const char *x = "<rect width=\"1\"/>";' \
	'draws, which only tools/plot does'
found "a style of shapes that is elsewhere is found" tools/report/report.css '.x { stroke: red; }' \
	'draws, which only tools/plot does'

mkdir "$work/tree/engine" "$work/tree/build/obj/engine"
echo '#include "devices/maple/maple_model.h"' >"$work/tree/engine/engine.c"
! check && grep -q '^scripts/layers.txt: no row for engine$' "$work/output"
result $? "a new folder at the root needs a row"
echo 'engine: daemon/loop' >>"$work/tree/scripts/layers.txt"
! check && grep -q '^engine/engine.c: includes devices/maple/maple_model.h, and engine' "$work/output"
result $? "and is held to it"
rm -r "$work/tree/engine" "$work/tree/build/obj/engine"
cp scripts/layers.txt "$work/tree/scripts/"

mkdir -p "$work/tree/build/obj/libmimic/base" "$work/tree/build/obj/devices/dare"
object devices/dare/kind.c 'int mimic_kind_dare;' &&
	object libmimic/base/kinds.c 'extern int mimic_kind_dare; int *a = &mimic_kind_dare;' && check &&
	object libmimic/base/wait.c 'extern int mimic_kind_dare; int *a = &mimic_kind_dare;' && ! check &&
	grep -q '^libmimic/base/wait.c: takes mimic_kind_dare' "$work/output" && ! grep -q kinds.c "$work/output"
result $? "what a row allows a file, it allows no other file of the folder"
rm -r "$work/tree/build/obj/libmimic" "$work/tree/build/obj/devices"

object daemon/loop/timer.c 'void mimicd_bad(void); void mimicd_timer_arm(void) { mimicd_bad(); }' &&
	object daemon/engine/trap.c 'void mimicd_bad(void) { }' && ! check &&
	grep -q '^daemon/loop/timer.c: takes mimicd_bad from daemon/engine/trap.c' "$work/output" &&
	grep -q 'a circle:' "$work/output"
result $? "a call upward is found, and that it makes a circle"

object daemon/loop/timer.c 'void mimicd_a(void); void mimicd_b(void) { mimicd_a(); }' &&
	object daemon/loop/loop.c 'void mimicd_b(void); void mimicd_a(void) { mimicd_b(); }' && ! check &&
	grep -q 'a circle:' "$work/output" && grep -q 'daemon/loop/timer.c' "$work/output"
result $? "two files of a folder that call each other are found"

mv "$work/tree/daemon/loop" "$work/tree/daemon/events"
! check && grep -q '^scripts/layers.txt: no file lies in daemon/loop' "$work/output" &&
	grep -q '^scripts/layers.txt: no row for daemon/events' "$work/output"
result $? "a folder without a row, and a row without a folder, are found"

rm -r "$work/tree"/[!bs]* "$work/tree/sim"
! check && grep -q '^scripts/layers.txt: no file lies in libmimic/base' "$work/output"
result $? "a tree without the folders is not taken for a good one"
plan
