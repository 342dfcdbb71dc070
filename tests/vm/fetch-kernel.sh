#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR MIT
# Fetches a Debian kernel and the headers to build modules for it, without
# installing anything.
#
#   fetch-kernel.sh FLAVOUR DIRECTORY
#
# FLAVOUR is 6.1, 6.12, rt (6.12 with PREEMPT_RT) or newest (what Debian 13's backports
# have). DIRECTORY gets vmlinux (ELF), config, release (what `uname -r` will say) and kdir
# (for make -C). It appears whole or not at all, and what is there already stays: remove
# it to fetch a newer kernel.
#
# A kernel of Debian 13 has a compiler that Debian 12 does not have: for newest, tree is a
# small Debian 13, out of packages that are unpacked only, in which build-modules.sh builds.
set -eu

me=fetch-kernel.sh
here=$(dirname "$(realpath "$0")")
. "$here/../../tools/vm/apt.sh"

[ $# = 2 ] || complain "usage: fetch-kernel.sh 6.1|6.12|rt|newest DIRECTORY"
flavour=$1
directory=$2
case $flavour in
6.1 | 6.12 | rt | newest) ;;
*) complain "no kernel $flavour: 6.1, 6.12, rt and newest are known" ;;
esac
[ -e "$directory/vmlinux" ] && exit
lock "$directory"
[ -e "$directory/vmlinux" ] && exit

part=$directory.part
rm -rf "$part"
mkdir -p "$part/packages"

# Packages that a build of modules needs beside those that the headers depend on.
tools="make dash coreutils sed grep mawk findutils diffutils perl-base sparse"

# The meta packages know today's name; it carries an ABI number that drifts.
find_release() {
	release=$(kernel_release "$flavour")
	[ -n "$release" ] || { echo "apt knows no kernel $flavour" >"$part/packages/apt.log"; return 1; }
	image=linux-image-$release
	headers=linux-headers-$release
}

find_and_download() {
	find_release || return
	common=$(dependency "$headers" 'linux-headers-.*-common.*')
	kbuild=$(dependency "$headers" 'linux-kbuild-.*')
	[ -n "$common" ] && [ -n "$kbuild" ] || return 1
	echo "$me: downloading $image and its headers"
	download "$part/packages" "$image" "$headers" "$common" "$kbuild"
}

find_and_download_newest() {
	find_release || return
	echo "$me: downloading $image, its headers, and a compiler of Debian 13"
	# From 7.0 on the package of the image has only dependencies.
	download "$part/packages" "linux-binary-$release" "linux-base-$release" &&
		download_with_dependencies "$part/packages" "$headers" $tools
}

fetch() {
	with_fresh_lists "$part/packages" find_and_download
	echo "$me: unpacking $release"
	extract "$part/packages" "$image" "$part/image" ./boot
	for package in "$headers" "$common" "$kbuild"; do
		extract "$part/packages" "$package" "$part/tree"
	done
	vmlinuz=$part/image/boot/vmlinuz-$release
	mv "$part/image/boot/config-$release" "$part/config"

	# The package's Makefile includes its other half by the absolute name of an
	# installed package. Relative to itself it works from here, too.
	makefile=$part/tree/usr/src/$headers/Makefile
	sed -i 's|^include /usr/src/\(.*\)$|include $(dir $(lastword $(MAKEFILE_LIST)))../\1|' "$makefile"
	grep -q '^include $(dir' "$makefile" || complain "$headers: its Makefile does not look as expected"
}

fetch_newest() {
	use_debian_13 "$part/packages"
	with_fresh_lists "$part/packages" find_and_download_newest
	echo "$me: unpacking $release, and a compiler"
	for package in binary base; do
		extract "$part/packages" "linux-$package-$release" "$part/image" "./usr/lib/modules/$release"
	done
	vmlinuz=$part/image/usr/lib/modules/$release/vmlinuz
	mv "$part/image/usr/lib/modules/$release/config" "$part/config"
	mkdir "$part/tree"
	for package in "$part"/packages/archives/*.deb; do
		dpkg-deb --fsys-tarfile "$package" |
			tar -x -C "$part/tree" --exclude='./usr/share/*' --exclude='./etc/*' --exclude='./var/*'
	done
	# An installation of the package would make this link.
	ln -s mawk "$part/tree/usr/bin/awk"
}

case $flavour in
newest) fetch_newest ;;
*) fetch ;;
esac
"$here/../../tools/vm/extract-vmlinux.sh" "$vmlinuz" "$part/vmlinux.new"
echo "$release" >"$part/release"
ln -s "tree/usr/src/$headers" "$part/kdir"

rm -rf "$part/image" "$part/packages"
mv "$part/vmlinux.new" "$part/vmlinux"
rm -rf "$directory"
mv "$part" "$directory"
