#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR MIT
# Fetches the parts of a virtual machine from Debian 13 and its backports, on any release,
# without installing anything and without being root.
#
#   fetch.sh qemu ARCH DIRECTORY              QEMU for machines of ARCH
#   fetch.sh kernel ARCH VERSION DIRECTORY    a kernel, its headers, a compiler for modules and
#                                             static programs, and busybox
#   fetch.sh libraries ARCH DIRECTORY         libraries that static programs of libmimic need, too
#
# ARCH is x86_64 or riscv64, VERSION 6.12 or newest. DIRECTORY appears whole or not at all, and
# an existing one stays: remove it to fetch anew.
#
# Of a kernel, DIRECTORY gets image (as Debian has it), on x86_64 vmlinux (ELF: it boots
# faster, and has four levels of page tables), release (`uname -r`), busybox,
# and tree: an unpacked Debian 13, in which in-tree.sh compiles.
set -eu

me=fetch.sh
here=$(dirname "$(realpath "$0")")
. "$here/apt.sh"

usage() {
	complain "usage: fetch.sh qemu|libraries ARCH DIRECTORY, or fetch.sh kernel ARCH 6.12|newest DIRECTORY"
}

what=${1-}
case $what in
qemu | libraries) [ $# = 3 ] || usage; arch=$2 version='' directory=$3 ;;
kernel) [ $# = 4 ] || usage; arch=$2 version=$3 directory=$4 ;;
*) usage ;;
esac
case $arch in
x86_64) debian=amd64 qemu_package=qemu-system-x86 ;;
riscv64) debian=riscv64 qemu_package=qemu-system-riscv ;;
*) complain "no architecture $arch: x86_64 and riscv64 are known" ;;
esac
[ "$(dpkg --print-architecture)" = amd64 ] || complain "this machine is no x86-64: give --qemu and --kernel"

[ ! -e "$directory/complete" ] || exit 0
lock "$directory"
[ ! -e "$directory/complete" ] || exit 0
part=$directory.part
rm -rf "$part"
mkdir -p "$part/packages"

unpack_all() {
	for package in "$part"/packages/archives/*.deb; do
		dpkg-deb --fsys-tarfile "$package" |
			tar -x -C "$1" --exclude='./usr/share/doc/*' --exclude='./usr/share/man/*' \
				--exclude='./usr/share/locale/*' --exclude='./etc/*' --exclude='./var/*'
	done
}

# --- QEMU -----------------------------------------------------------------------------------

download_qemu() {
	echo "$me: downloading $qemu_package (some 50 MB)"
	download_with_dependencies "$part/packages" "$qemu_package"
}

fetch_qemu() {
	use_debian_13 "$part/packages"
	with_fresh_lists "$part/packages" download_qemu
	mkdir "$part/root"
	unpack_all "$part/root"
}

# --- kernels --------------------------------------------------------------------------------

# Packages that a build of modules and of static programs needs beside those that the headers depend on.
tools="make dash coreutils sed grep mawk findutils diffutils perl-base libc6-dev"
[ $arch = x86_64 ] || tools="$tools gcc-$arch-linux-gnu libc6-dev-$arch-cross"

suffix=
[ $arch = x86_64 ] || suffix=:$debian

find_release() {
	release=$(dependency "linux-image-$debian$suffix" 'linux-image-[0-9].*' | sed 's/^linux-image-//; s/:.*//')
	[ -n "$release" ] || { echo "apt knows no kernel $version for $arch" >"$part/packages/apt.log"; return 1; }
	image=linux-image-$release
	headers=linux-headers-$release
}

download_kernel() {
	find_release || return
	# The programs of kbuild are this machine's, not the other machine's.
	common=linux-headers-${release%-"$debian"}-common
	kbuild=linux-kbuild-${release%-"$debian"}
	echo "$me: downloading $image, its headers and a compiler (some 200 MB)"
	# From 7.0 on the package of the image has only dependencies.
	packages=$image$suffix
	! has_package "linux-binary-$release" || packages="linux-binary-$release$suffix linux-base-$release$suffix"
	download "$part/packages" $packages "$headers$suffix" "$common" "busybox-static$suffix" &&
		download_with_dependencies "$part/packages" "$kbuild" gcc-14 $tools
}

fetch_kernel() {
	# For use_debian_13() of apt.sh.
	# shellcheck disable=SC2034
	[ "$version" = newest ] || suites=trixie
	use_debian_13 "$part/packages"
	[ $arch = x86_64 ] || apt_options="$apt_options -o APT::Architectures::=amd64 -o APT::Architectures::=$debian"
	with_fresh_lists "$part/packages" download_kernel
	echo "$me: unpacking $release, and a compiler"
	mkdir "$part/tree" "$part/image-tree"
	for package in "$part"/packages/linux-image-*.deb "$part"/packages/linux-binary-*.deb "$part"/packages/linux-base-*.deb; do
		[ ! -e "$package" ] || dpkg-deb -x "$package" "$part/image-tree"
	done
	cp "$(find "$part/image-tree/boot" "$part/image-tree/usr/lib/modules" -name 'vmlinu[xz]*' 2>/dev/null | head -n 1)" "$part/image"
	dpkg-deb --fsys-tarfile "$part"/packages/busybox-static_*.deb | tar -xO ./usr/bin/busybox >"$part/busybox"
	chmod +x "$part/busybox"
	unpack_all "$part/tree"
	for package in "$part"/packages/linux-headers-*.deb; do
		dpkg-deb -x "$package" "$part/tree"
	done
	# The postinst of an installation would make this a link.
	ln -s mawk "$part/tree/usr/bin/awk"
	[ $arch = riscv64 ] || "$here/extract-vmlinux.sh" "$part/image" "$part/vmlinux"
	echo "$release" >"$part/release"
	rm -rf "$part/image-tree"
}

# --- libraries ------------------------------------------------------------------------------

download_libraries() {
	echo "$me: downloading libinih and libjson-c of $arch"
	download "$part/packages" "libinih-dev$suffix" "libjson-c-dev$suffix"
}

fetch_libraries() {
	# shellcheck disable=SC2034
	suites=trixie
	use_debian_13 "$part/packages"
	apt_options="$apt_options -o APT::Architectures::=amd64 -o APT::Architectures::=$debian"
	with_fresh_lists "$part/packages" download_libraries
	for package in "$part"/packages/*.deb; do
		dpkg-deb -x "$package" "$part"
	done
}

fetch_$what
rm -rf "$part/packages"
touch "$part/complete"
rm -rf "$directory"
mv "$part" "$directory"
