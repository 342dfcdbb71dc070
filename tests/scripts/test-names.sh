#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# A device is named in its own places and where scripts/names.txt says, and the check sees it elsewhere. TAP.
# usage: test-names.sh [BUILD-DIRECTORY]
set -u
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/tap.sh"

scripts/check-names.sh >"$work/output" 2>"$work/errors"
result $? "nothing outside of a device's own places names it"

mkdir "$work/tree"
cp -r Makefile completions config daemon devices driver include lib* mk packages.txt scripts sim tools "$work/tree/"
check() { (cd "$work/tree" && scripts/check-names.sh >"$work/output" 2>"$work/errors"); }

# found NAME FILE LINE: the check finds LINE at the end of FILE
found()
{
	rm -f "$work/kept"
	mkdir -p "$work/tree/${2%/*}"
	cp "$work/tree/$2" "$work/kept" 2>/dev/null
	printf '%s\n' "$3" >>"$work/tree/$2"
	! check && grep -qF "$2:" "$work/output"
	result $? "$1"
	mv "$work/kept" "$work/tree/$2" 2>/dev/null || rm "$work/tree/$2"
}

check
result $? "the copy of the tree that follows is as good"
found "a symbol of a device in the daemon is found" daemon/engine/engine.c 'int x = DARE_PAGE_COUNT;'
found "an include of a device's header is found" tools/mimic.c '#include "mimic/virgo_registers.h"'
found "a name in a text is found" libmimic/device/device.c 'const char *x = "maple0";'
found "what follows a comment is found" sim/soc.c '/* a */ int maple; /* b */'
found "the library of a device in a rule is found" mk/bench.mk '	$(CC) -ldare'
found "a device in the folder of another one is found" libdare/gemm.c 'int virgo_open(void);'
found "a file elsewhere that bears a device's name is none of its places" libmimic/preload/maple_special.c \
	'const char *node = "/dev/maple0";'
found "a folder elsewhere that bears a device's name is none of its places" tools/common/dare/dare.c 'int dare;'
found "a header beside the others is none of a device's places" libmimic/device/virgo.h 'int virgo_x;'
found "what begins a comment in a string begins none" daemon/engine/engine.c 'int x = f("a /* b") + maple0; /* c */'
found "and in a character" daemon/engine/engine.c "int x = f('\"', \"/*\", '\\'') + maple0;"
found "a quote in a comment begins no string" daemon/engine/engine.c 'int x; /* it"s */ int maple; /* "d */'
found "a row that allows what is not there is found" scripts/names.txt "daemon/gone.c: once"

printf '/* maple0,\n * dare0 */\n' >>"$work/tree/daemon/engine/engine.c"
echo '# maple' >>"$work/tree/mk/bench.mk"
check
result $? "examples in comments are not taken for it"

echo 'KIND(gadget)' >>"$work/tree/devices/kinds.def"
echo 'int gadget_x;' >>"$work/tree/daemon/engine/engine.c"
! check && grep -q '^daemon/engine/engine.c:.*gadget_x' "$work/output"
result $? "a device that is added is looked for, too"

# listed NAMES KINDS.DEF...: make and the checks read NAMES from a kinds.def of these lines
listed()
{
	local names=$1
	shift
	printf '%s\n' "$@" >"$work/tree/devices/kinds.def"
	[ "$(cd "$work/tree" && scripts/kinds.sh 2>"$work/errors" | xargs)" = "$names" ] &&
		env -u MAKEFLAGS -u MAKELEVEL make -s -C "$work/tree" --eval 'kinds: ; @echo $(KINDS)' kinds \
			>"$work/output" 2>>"$work/errors" && [ "$(cat "$work/output")" = "$names" ]
}
ln -s "$PWD"/{bench,docs,examples,tests} "$work/tree/"
listed "maple dare gadget virgo" '/* KIND(old)' ' * KIND(older) */ KIND(maple)' 'KIND( dare ) /* the second */' \
	'	KIND (gadget)  ' '' 'KIND(virgo)/* KIND(new) */'
result $? "a line of kinds.def with spaces or a comment is read as the compiler reads it"
for line in 'KIND(maple);' 'KIND(Maple)' 'KIND(maple' 'KIND(maple) // the first' '#if 0' 'kind(maple)'; do
	! listed maple 'KIND(maple)' "$line" && grep -qF "devices/kinds.def:2: expected KIND(name)" "$work/errors" &&
		! check && [ ! -s "$work/output" ] && grep -qF "kinds.def:2:" "$work/errors"
	result $? "a line '$line' of kinds.def is an error"
done

rm -r "$work/tree/devices"
! check && cat "$work/output" "$work/errors" | grep -q devices/kinds.def
result $? "a tree without devices is not taken for a good one"
plan
