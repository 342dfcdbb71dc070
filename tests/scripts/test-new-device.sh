#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# A new device is a copy of the template and one line: scripts/new-device.sh makes one in a copy of
# this tree, which is built, and the device runs on every way and under every command.
#
#   test-new-device.sh [BUILD]     BUILD: the build directory, whose objects are used again
set -u
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/tap.sh"
tree=$work/tree
copy=$tree/build

run() # run COMMAND...: with its output in $work/output and $work/errors
{
	timeout -k 2 100 "$@" >"$work/output" 2>"$work/errors" </dev/null
}

# Copies the files that git knows, or, outside of a checkout, all but those that were built.
if git ls-files -coz --exclude-standard >"$work/files" 2>/dev/null && [ -s "$work/files" ]; then
	mkdir "$tree" && tar -cf - --null -T "$work/files" | tar -xpf - -C "$tree"
else
	mkdir "$tree" && tar -cf - --exclude=./build --exclude=./.git . | tar -xpf - -C "$tree"
fi
cp -a "$tree" "$work/before"
run "$tree/scripts/new-device.sh" gadget
result $? "the_template_is_copied"

diff -rq "$work/before" "$tree" >"$work/errors"
[ "$(grep -vc '^Only in .*: gadget$\|^Only in .*: test_gadget_model.c$' "$work/errors")" = 1 ] &&
	[ "$(diff "$work/before/devices/kinds.def" "$tree/devices/kinds.def" | grep -c '^[<>]')" = 1 ]
result $? "one_line_elsewhere_is_all_that_it_needs"

# number FIELD DEVICE: the value of DEVICE_FIELD in devices/DEVICE/DEVICE_registers.h
number() { sed -n "s/^#define ${2^^}_$1 \\([0-9a-fx]*\\).*/\\1/p" "$tree/devices/$2/$2_registers.h"; }
cp -a "$tree" "$work/two"
(tree=$work/two && "$tree/scripts/new-device.sh" gadgetry && number MAGIC gadget && number MAGIC gadgetry &&
	number IOCTL gadget && number IOCTL gadgetry && sed -n 's/.*\.magic = //p' "$tree"/devices/gadget*/*_model.c) \
	>"$work/output" 2>"$work/errors" &&
	# "GADG" and, because that is taken, "GADA"; 0xba is the template's; "GADGIMGE" and "GADAIMGE" in memory.
	[ "$(grep -o '^0x[0-9a-f]*' "$work/output" | xargs)" = \
		"0x47414447 0x47414441 0xbb 0xbc 0x45474d4947444147 0x45474d4941444147" ]
result $? "two_new_devices_differ_in_magic_and_ioctls"
rm -rf "$work/two"
! grep -rn 'Template\|TPLT' "$tree/devices/gadget" "$tree/tests/contract/gadget" >"$work/output" &&
	grep -q 'title = "Gadget"' "$tree/tests/contract/gadget/contract.c"
result $? "its_title_is_its_own"

files=$(find "$tree/devices/gadget" -type f | wc -l)
echo "devices/gadget has $files files" >"$work/errors"
[ "$files" -le 10 ]
result $? "it_has_at_most_10_files_of_its_own"

# Objects are as good there as here: their names in make's rules begin with "build", as its own do.
mkdir "$copy"
cp -a "$build/obj" "$copy/obj" 2>/dev/null && rm -rf "$copy"/obj/{fuzz,kselftest,without-trace}
ways="model recorded embedded_library embedded_trap daemon_library daemon_trap kernel_library kernel_trap"
targets="build/bin/mimic build/bin/mimicd build/lib/libmimic-preload.so build/lib/libgadget.so.0"
for way in $ways; do
	targets="$targets build/tests/contract/test_contract_gadget_$way"
done
# shellcheck disable=SC2086
timeout -k 5 280 env -u MAKEFLAGS -u MAKELEVEL make -C "$tree" -s -j2 O=build packages-build= $targets \
	>"$work/output" 2>"$work/errors"
result $? "the_tree_builds_with_it"

(cd "$tree" && scripts/check-layers.sh build && tests/scripts/test-symbols.sh build) >"$work/output" 2>"$work/errors" &&
	grep -q '^ok .*symbols of devices/gadget begin with gadget_' "$work/output"
result $? "it_keeps_to_the_layers_and_the_names"

for way in $ways; do
	run "$copy/tests/contract/test_contract_gadget_$way"
	status=$?
	if [ $status = 0 ] && ! grep '^ok\|^not ok' "$work/output" | grep -qv '# SKIP' && grep -q '^ok' "$work/output"; then
		skip "its_contract_holds_by_$way" "$(sed -n 's/.*# SKIP //p' "$work/output" | head -n 1)"
		continue
	fi
	[ $status = 0 ] && ! grep -q '^not ok' "$work/output" && grep -q '^ok' "$work/output"
	result $? "its_contract_holds_by_$way"
done

cat >"$work/adds.c" <<'PROGRAM'
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>

int main(void)
{
	volatile uint64_t *gadget = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, open("/dev/gadget0", O_RDWR), 0);

	gadget[0] = 40;
	gadget[1] = 2;
	gadget[2] = 1;
	printf("%d\n", (int)gadget[3]);
	return 0;
}
PROGRAM
cat >"$work/library.c" <<'PROGRAM'
#include <stdio.h>
#include "devices/gadget/lib/gadget.h"

int main(void)
{
	struct gadget *gadget;
	uint64_t sum = 0, count = 0;
	int error = gadget_open(&gadget, NULL);

	if (!error)
		error = gadget_add(gadget, 40, 2, &sum);
	if (!error)
		error = gadget_count(gadget, &count);
	printf("%d %d %d\n", error, (int)sum, (int)count);
	gadget_close(gadget);
	return 0;
}
PROGRAM
gcc -o "$work/adds" "$work/adds.c" &&
	gcc -I"$tree" -o "$work/library" "$work/library.c" -L"$copy/lib" -lgadget -lmimic -Wl,-rpath,"$copy/lib"
result $? "programs_for_it_compile"

run env -u MAKEFLAGS -u MAKELEVEL make -C "$tree" -s O=build PREFIX=/opt/somewhere pkgconfig &&
	PKG_CONFIG_PATH=$copy/pkgconfig pkg-config --libs libgadget >"$work/output" 2>"$work/errors" &&
	grep -q -- '-L/opt/somewhere/lib .*-lgadget' "$work/output"
result $? "pkg_config_finds_its_library"

# Its commands only: not all that is installed was built.
run env -u MAKEFLAGS -u MAKELEVEL make -C "$tree" -n -o all O=build packages-build= PREFIX=/opt/somewhere install &&
	sed -e ':line' -e '/\\$/{N;s/\\\n//;b line' -e '}' "$work/output" |
	grep -q 'install -m 644 .*devices/gadget/gadget_registers\.h[[:space:]].*[[:space:]]"/opt/somewhere/include/mimic"$'
result $? "its_registers_are_installed"

mimic=$copy/bin/mimic
build=$copy
start_daemon gadget:1
export MIMIC_SOCKET=$work/socket
for transport in embedded daemon; do
	run "$mimic" run --transport $transport "$work/adds" && [ "$(cat "$work/output")" = 42 ]
	result $? "a_program_that_knows_nothing_of_mimic_uses_it_$transport"
	MIMIC_TRANSPORT=$transport run "$work/library" && [ "$(cat "$work/output")" = "0 42 1" ]
	result $? "its_library_uses_it_$transport"
done
run "$mimic" list && grep -q '^gadget0 ' "$work/output"
result $? "list_shows_it"
run "$mimic" dump gadget0 && grep -q 'SUM' "$work/output" && grep -q 'additions' "$work/output"
result $? "dump_shows_its_registers_and_counters"
run "$mimic" reset gadget0
result $? "reset_resets_it"
run "$mimic" inject gadget0 hang
[ $? = 1 ] && grep -q gadget0 "$work/errors"
result $? "inject_knows_it_and_says_that_no_driver_has_it"
run "$mimic" trace -o "$work/trace.json" "$work/adds" && grep -q 'user START' "$work/trace.json"
result $? "a_trace_names_its_registers"
run "$mimic" record -o "$work/run.mimic" "$work/adds" && [ "$(cat "$work/output")" = 42 ] &&
	run "$mimic" replay "$work/run.mimic" && grep -q 'identical' "$work/output"
result $? "a_recording_of_it_is_replayed"
printf '[gadget]\nlatency = 5000000000\n' >"$work/bad.ini"
MIMIC_CONFIG=$work/bad.ini run "$mimic" run "$work/adds"
grep -q 'latency must be' "$work/errors"
result $? "its_section_of_a_configuration_is_checked"
# refuses NAME WHY: with a line that says WHY, and the tree as before
rm -rf "$work/before" && mkdir "$work/before" && cp -a "$tree"/{devices,libmimic,scripts,tests} "$work/before/"
refuses()
{
	run "$tree/scripts/new-device.sh" "$1"
	[ $? = 2 ] && [ ! -s "$work/output" ] && [ "$(wc -l <"$work/errors")" = 1 ] && grep -q -- "$2" "$work/errors" &&
		for part in devices libmimic scripts tests; do
			diff -rq "$work/before/$part" "$tree/$part" >"$work/output" || return 1
		done
	result $? "the_name_${1//-/_}_is_refused"
}
refuses maple 'devices/maple is there already'
refuses Gadget 'small letters only'
refuses a-b 'small letters only'
refuses toolongofaname 'longer than 12'
refuses template 'the one that is copied'
refuses gadget 'devices/gadget is there already'
refuses mimic 'a part of this tree: .*mimic$'
refuses sim 'a part of this tree: .*sim$'
refuses daemon 'a part of this tree: .*daemon$'
refuses common 'a part of this tree: .*/common$'
refuses plugin 'a part of this tree: .*/plugin$'
refuses device 'a part of this tree: .*/device$'
refuses test 'a word of this tree'
refuses mem 'a word of this tree'
refuses timer 'a word of this tree'
refuses null 'a word of this tree'
refuses int 'a word of C'
refuses register 'a word of C'
refuses class 'a word of C'
refuses complex 'a header of the system'
refuses anl '[a-z]* of the system'
refuses tty 'a node of the system: /dev/tty'
plan
