#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR MIT
# Takes the ELF kernel out of a bzImage. It boots faster in an emulator than
# the bzImage, which would unpack itself with emulated instructions.
#
#   extract-vmlinux.sh BZIMAGE VMLINUX
#
# Offsets: Documentation/arch/x86/boot.rst, "The Real-Mode Kernel Header".
set -eu

image=$1
vmlinux=$2

# number OFFSET BYTES: a little-endian number
number() {
	od -A n -t "u$2" -j "$1" -N "$2" "$image" | tr -d ' '
}

[ "$(number 514 4)" = 1400005704 ] || {	# "HdrS"
	echo "extract-vmlinux.sh: $image is no bzImage" >&2
	exit 1
}
setup_sectors=$(number 497 1)
start=$(((setup_sectors + 1) * 512 + $(number 584 4)))
length=$(number 588 4)

# The build appends the unpacked size in 4 bytes, which a decompressor that
# does not know of it would take for a damaged stream.
payload() {
	tail -c +$((start + 1)) "$image" | head -c "$1"
}

magic=$(od -A n -t x1 -j "$start" -N 4 "$image" | tr -d ' ')
case $magic in
fd377a58) payload $((length - 4)) | xz -dc ;;
28b52ffd) payload $((length - 4)) | zstd -dcq ;;
1f8b*) payload "$length" | gzip -dc ;;
*)
	echo "extract-vmlinux.sh: $image: a compression that is not xz, zstd or gzip ($magic)" >&2
	exit 1
	;;
esac >"$vmlinux.part"
[ "$(head -c 4 "$vmlinux.part" | tail -c 3)" = ELF ] || {
	echo "extract-vmlinux.sh: $image: what it unpacks to is no ELF file" >&2
	exit 1
}
mv "$vmlinux.part" "$vmlinux"
