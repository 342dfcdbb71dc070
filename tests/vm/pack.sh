#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR MIT
# Makes an initramfs: busybox, our init, and a directory tree with the shared
# libraries that the programs in it need.
#
#   pack.sh TREE INITRAMFS
#
# TREE is the guest's root. It is completed in place.
set -eu

tree=$1
initramfs=$2
here=$(dirname "$(realpath "$0")")

busybox=$(command -v busybox) || {
	echo "pack.sh: busybox is missing (package busybox-static)" >&2
	exit 1
}
for directory in bin dev etc proc root run sys tmp vm; do
	mkdir -p "$tree/$directory"
done
cp "$busybox" "$tree/bin/busybox"
cp "$here/guest/init" "$tree/init"
printf 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n' >"$tree/etc/passwd"
printf 'root:x:0:\nnogroup:x:65534:\n' >"$tree/etc/group"
printf 'PS1="mimic-vm# "\n' >"$tree/etc/profile"

# Libraries keep their paths. Those of ours lie in the tree and are found by the
# programs' own run path. libgcc_s is loaded by name only, when a thread is cancelled.
programs=$(find "$tree" -type f \( -perm -100 -o -name '*.so*' \) ! -path "$tree/bin/busybox" ! -name '*.ko')
gcc_library=$(gcc -print-file-name=libgcc_s.so.1)
{
	[ -z "$programs" ] || ldd $programs 2>/dev/null || true
	echo "libgcc_s.so.1 => $(realpath -s "$gcc_library") (0)"
} | sed -n -e 's|.*=> \(/[^ ]*\) (.*|\1|p' -e 's|^[[:space:]]*\(/[^ ]*\) (.*|\1|p' | sort -u |
while read -r library; do
	case $(realpath "$library") in
	"$(realpath "$tree")"/*) continue ;;
	esac
	mkdir -p "$tree$(dirname "$library")"
	cp -L "$library" "$tree$library"
done

(cd "$tree" && find . | cpio --quiet -o -H newc -R 0:0) >"$initramfs.part"
mv "$initramfs.part" "$initramfs"
