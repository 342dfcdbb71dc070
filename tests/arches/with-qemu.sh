#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR MIT
# Runs a command that may start programs of another architecture, which may start others of it: the kernel
# gives them to qemu-user. It does so for this command alone, which has a namespace of its own for such
# formats (Linux 6.7; the user must be allowed to have namespaces).
#
#   with-qemu.sh arm64|riscv64 SYSROOT COMMAND...
set -eu

me=with-qemu.sh
complain() {
	echo "$me: $*" >&2
	exit 1
}

[ $# -ge 3 ] || complain "usage: $me arm64|riscv64 SYSROOT COMMAND..."
case $1 in
arm64) qemu=qemu-aarch64 machine='\xb7' ;;
riscv64) qemu=qemu-riscv64 machine='\xf3' ;;
*) complain "no architecture $1: arm64 and riscv64 are known" ;;
esac
# Debian 13 has static ones only, by the short name.
path=$(command -v $qemu-static) || path=$(command -v $qemu) ||
	complain "no $qemu: it is in Debian's package qemu-user-static"
QEMU_LD_PREFIX=$(realpath "$2")
export QEMU_LD_PREFIX
shift 2

# An ELF file of 64 bits, little-endian, a program or a library, of that machine.
header='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00'$machine'\x00'
mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
export MIMIC_BINFMT=":$qemu:M::$header:$mask:$path:PF"
# shellcheck disable=SC2016
exec unshare --user --map-root-user --mount sh -c '
	mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc &&
	printf %s "$MIMIC_BINFMT" >/proc/sys/fs/binfmt_misc/register || {
		echo "with-qemu.sh: the kernel has no formats of programs for a user namespace: it takes Linux 6.7" >&2
		exit 1
	}
	unset MIMIC_BINFMT
	exec "$@"' sh "$@"
