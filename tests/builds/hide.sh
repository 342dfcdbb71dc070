# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0 OR MIT
# For scripts that have read tests/scripts/tap.sh.
OPTIONAL_HEADERS="fuse3/fuse_lowlevel.h liburing.h dwarf.h elfutils/libdw.h elfutils/libdwfl.h sys/sdt.h cmocka.h Zydis/Zydis.h suitesparse/cholmod.h"

hide() # hide HEADER...: from tests/builds/hiding-cc, and no others
{
	local header
	export HIDDEN=$work/hidden
	rm -rf "$HIDDEN"
	for header in "$@"; do
		mkdir -p "$HIDDEN/$(dirname "$header")"
		echo "#error $header is of no use" >"$HIDDEN/$header"
	done
}
