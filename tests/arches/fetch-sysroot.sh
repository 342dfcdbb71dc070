#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR MIT
# Fetches libraries that programs of another architecture are linked and run with, from Debian 13, without
# installing anything and without being root: the C library, those that mimic needs, and the tests'.
#
#   fetch-sysroot.sh arm64|riscv64 DIRECTORY
#
# DIRECTORY appears whole or not at all, and one that is there already stays: remove it to fetch anew.
set -eu

me=fetch-sysroot.sh
. "$(dirname "$(realpath "$0")")/../../tools/vm/apt.sh"

[ $# = 2 ] || complain "usage: fetch-sysroot.sh arm64|riscv64 DIRECTORY"
arch=$1 directory=$2
case $arch in
arm64 | riscv64) ;;
*) complain "no architecture $arch: arm64 and riscv64 are known" ;;
esac

[ ! -e "$directory/complete" ] || exit 0
lock "$directory"
[ ! -e "$directory/complete" ] || exit 0
part=$directory.part
rm -rf "$part"
mkdir -p "$part/packages" "$part/usr/lib"

libraries="libc6 libc6-dev linux-libc-dev libgcc-s1 libgomp1 libatomic1 libstdc++6
	libinih1 libinih-dev libjson-c5 libjson-c-dev liburing2 liburing-dev libfuse3-4 libfuse3-dev
	libdw1t64 libdw-dev libelf1t64 libelf-dev zlib1g libbz2-1.0 liblzma5 libzstd1 systemtap-sdt-dev
	libcmocka0 libcmocka-dev libzydis4.1 libzydis-dev libzycore1.5 libzycore-dev"

download_libraries() {
	echo "$me: downloading libraries of $arch (some 20 MB)"
	download "$part/packages" $libraries
}

# For use_debian_13() of apt.sh.
# shellcheck disable=SC2034
suites=trixie
use_debian_13 "$part/packages"
apt_options="$apt_options -o APT::Architecture=$arch -o APT::Architectures=$arch"
with_fresh_lists "$part/packages" download_libraries
# Paths in packages begin with /usr; the loader's, in programs, with /lib.
ln -s usr/lib "$part/lib"
for package in "$part"/packages/*.deb; do
	dpkg-deb --fsys-tarfile "$package" |
		tar -x -C "$part" --exclude='./usr/share/*' --exclude='./etc/*' --exclude='./var/*'
done
rm -rf "$part/packages"
touch "$part/complete"
rm -rf "$directory"
mv "$part" "$directory"
