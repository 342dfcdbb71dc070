#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR MIT
# Fetches a Debian kernel and the headers to build modules for it, without
# installing anything.
#
#   fetch-kernel.sh FLAVOUR DIRECTORY
#
# FLAVOUR is 6.1 or 6.12. DIRECTORY gets vmlinux (ELF), config, release (what
# `uname -r` will say) and kdir (for make -C). It appears whole or not at all,
# and what is there already stays: remove it to fetch a newer kernel.
set -eu

me=fetch-kernel.sh
here=$(dirname "$(realpath "$0")")
. "$here/apt.sh"

[ $# = 2 ] || complain "usage: fetch-kernel.sh 6.1|6.12 DIRECTORY"
flavour=$1
directory=$2
case $flavour in
6.1 | 6.12) ;;
*) complain "no kernel $flavour: 6.1 and 6.12 are known" ;;
esac
[ -e "$directory/vmlinux" ] && exit
lock "$directory"
[ -e "$directory/vmlinux" ] && exit

part=$directory.part
rm -rf "$part"
mkdir -p "$part/packages"

# The meta packages know today's name; it carries an ABI number that drifts.
find_and_download() {
	release=$(kernel_release "$flavour")
	[ -n "$release" ] || { echo "apt knows no kernel $flavour" >"$part/packages/apt.log"; return 1; }
	image=linux-image-$release
	headers=linux-headers-$release
	common=$(dependency "$headers" 'linux-headers-.*-common')
	kbuild=$(dependency "$headers" 'linux-kbuild-.*')
	[ -n "$common" ] && [ -n "$kbuild" ] || return 1
	echo "$me: downloading $image and its headers"
	download "$part/packages" "$image" "$headers" "$common" "$kbuild"
}

with_fresh_lists "$part/packages" find_and_download

echo "$me: unpacking $release"
extract "$part/packages" "$image" "$part/image" ./boot
for package in "$headers" "$common" "$kbuild"; do
	extract "$part/packages" "$package" "$part/tree"
done
"$here/extract-vmlinux.sh" "$part/image/boot/vmlinuz-$release" "$part/vmlinux.new"
mv "$part/image/boot/config-$release" "$part/config"
echo "$release" >"$part/release"

# The package's Makefile includes its other half by the absolute name of an
# installed package. Relative to itself it works from here, too.
kdir=tree/usr/src/linux-headers-$release
sed -i 's|^include /usr/src/\(.*\)$|include $(dir $(lastword $(MAKEFILE_LIST)))../\1|' "$part/$kdir/Makefile"
grep -q '^include $(dir' "$part/$kdir/Makefile" || complain "$headers: its Makefile does not look as expected"
ln -s "$kdir" "$part/kdir"

rm -rf "$part/image" "$part/packages"
mv "$part/vmlinux.new" "$part/vmlinux"
rm -rf "$directory"
mv "$part" "$directory"
