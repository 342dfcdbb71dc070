#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR MIT
# Makes the tree that a guest gets: our commands, libraries and examples in the
# layout of the build directory, modules, test programs, the guest's scripts.
#
#   stage.sh BUILD MODULES TREE [PROGRAM...]
#
# BUILD is the build directory, MODULES directories of build-modules.sh, in the order in
# which their modules are loaded, or "" for none. PROGRAMs are paths below BUILD. All of it lies in /mimic of the guest.
set -eu

build=$1
modules=$2
tree=$3
shift 3
here=$(dirname "$(realpath "$0")")

rm -rf "$tree"
mkdir -p "$tree/mimic/vm" "$tree/mimic/modules"
for part in bin lib examples; do
	[ ! -d "$build/$part" ] || cp -a "$build/$part" "$tree/mimic/$part"
done
find "$tree/mimic" -name '*.a' -delete
cp "$here"/guest/*.sh "$build/vm/supervise" "$build/vm/hold_breakpoint" "$tree/mimic/vm"

# note_limit PROGRAM: in the tree. It is read here: the guest's grep does not look into programs.
note_limit() {
	limit=$("$here/../scripts/limit-of.sh" "$1")
	[ -z "$limit" ] || echo "$limit" >"$1.seconds"
}

for script in "$tree"/mimic/vm/*.sh; do
	note_limit "$script"
done
for program in "$@"; do
	mkdir -p "$tree/mimic/$(dirname "$program")"
	cp "$build/$program" "$tree/mimic/$program"
	note_limit "$tree/mimic/$program"
done

if [ -n "$modules" ]; then
	# kbuild's list, in the order of driver/Kbuild: each needs only modules before it. A
	# module whose source is gone lies about still. 6.1 names it .ko, 6.12 names its object; 7.x by
	# a path from there.
	for directory in $modules; do
		sed -e 's/\.k\{0,1\}o$/.ko/' -e "s|^[^/]|$directory/driver/&|" "$directory/driver/modules.order"
	done | while read -r module; do
		cp "$module" "$tree/mimic/modules"
		basename "$module" .ko
	done >"$tree/mimic/modules/order"
fi
# Debug information would be most of what the guest unpacks.
find "$tree/mimic" -type f \( -perm -100 -o -name '*.so*' -o -name '*.ko' \) \
	-exec strip --strip-debug {} + 2>/dev/null || true
