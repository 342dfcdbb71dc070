#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR MIT
# A device that is a copy of the template, for the guests: a copy of this tree in which
# scripts/new-device.sh has made the device, and what a guest runs of it. The tree's own programs
# know nothing of it.
#
#   copied-device.sh NAME BUILD DIRECTORY
#
# BUILD is the build directory, whose objects are used again. DIRECTORY becomes the copy; its
# programs are in DIRECTORY/build.
set -eu

name=$1
build=$(realpath "$2")
directory=$3
cd "$(dirname "$0")/../.."
mkdir -p "$directory"
directory=$(realpath "$directory")

! [ -e "$directory/devices/kinds.def" ] || cp -p "$directory/devices/kinds.def" "$directory/build/kinds.def"
find "$directory" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
# Copies the files that git knows, or, outside of a checkout, all but those that were built.
if git ls-files -coz --exclude-standard >"$directory/.files" 2>/dev/null && [ -s "$directory/.files" ]; then
	tar -cf - --null -T "$directory/.files" | tar -xpf - -C "$directory"
else
	tar -cf - --exclude=./build --exclude='./build-*' --exclude=./.git . | tar -xpf - -C "$directory"
fi
"$directory/scripts/new-device.sh" "$name" >"$directory/.made"
# Files are as old as what they were made from and by, and the list is as old as it was here before, so
# that nothing is compiled again.
while read -r file; do
	case $file in
	devices/kinds.def:*)
		! cmp -s "$directory/build/kinds.def" "$directory/devices/kinds.def" ||
			touch -r "$directory/build/kinds.def" "$directory/devices/kinds.def" ;;
	*)
		touch -r "$(echo "$file" | sed "s/$name/template/g")" "$directory/$file"
		[ -z "$(find scripts/new-device.sh -newer "$directory/$file")" ] || touch -r scripts/new-device.sh "$directory/$file" ;;
	esac
done <"$directory/.made"

# Objects are as good there as here: their names in make's rules begin with "build", too.
mkdir -p "$directory/build/obj"
for part in "$build"/obj/*; do
	case ${part##*/} in
	asan | tsan | fuzz | kselftest | without-trace) ;;
	*) cp -a -u "$part" "$directory/build/obj/" ;;
	esac
done
# But for those that know the list of devices: the tree's own may be newer than the copy's list.
find "$directory/build/obj" -name '*.d' -exec grep -l 'devices/kinds\.def' {} + | sed 's/d$/o/' | while read -r object; do
	rm -f "$object"
done
contract=build/tests/contract/test_contract_${name}
env -u MAKEFLAGS -u MAKELEVEL make -C "$directory" -s -j "$(nproc)" O=build packages-build= packages-tests= \
	build/bin/mimicd "${contract}_kernel_trap" "${contract}_kernel_library" >"$directory/build/log" 2>&1 || {
	echo "copied-device.sh: the tree with the device $name does not build:" >&2
	tail -n 40 "$directory/build/log" >&2
	exit 1
}
