#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# Boots a kernel in QEMU (software emulation: needs no right to anything) and
# runs a command in it.
#
#   boot.sh [OPTION...] KERNEL INITRAMFS COMMAND...
#
#   --memory MEGABYTES   default 1024
#   --processors N       default 2
#   --timeout SECONDS    when the machine is stopped; default 600
#   --console FILE       the kernel's console, kept; then nothing of it is shown here
#   --append TEXT        more of the kernel's command line
#   --poll               a processor with nothing to do polls, if the host has as many: tests are
#                        faster, and the machine takes its processors even while it waits
#   --shell              COMMAND, then a shell on this terminal; Ctrl-A X ends the machine
#
# KERNEL is a directory that fetch-kernel.sh made. COMMAND is a line for the
# guest's shell. Its output goes to standard output; kernel messages do not.
# Exits with the command's status (at most 126), 124 at the time limit, and 125
# if the machine ended by itself: then the console's end, or the kernel's panic, is shown.
set -u

here=$(dirname "$(realpath "$0")")
memory=1024
processors=2
timeout=600
console=
show=yes
append=
shell=no
poll=no
complain() {
	echo "boot.sh: $*" >&2
	exit 2
}
while [ $# -gt 0 ]; do
	case $1 in
	--memory) memory=$2; shift 2 ;;
	--processors) processors=$2; shift 2 ;;
	--timeout) timeout=$2; shift 2 ;;
	--console) console=$2; show=no; shift 2 ;;
	--append) append=$2; shift 2 ;;
	--shell) shell=yes; shift ;;
	--poll) poll=yes; shift ;;
	-*) complain "no option $1" ;;
	*) break ;;
	esac
done
[ $# -ge 3 ] || complain "usage: boot.sh [OPTION...] KERNEL INITRAMFS COMMAND..."
kernel=$1
initramfs=$2
shift 2
[ -r "$kernel/vmlinux" ] || complain "$kernel has no vmlinux (fetch-kernel.sh makes it)"
[ -r "$initramfs" ] || complain "no initramfs $initramfs"

scratch=$(mktemp -d) || exit 2
qemu=
# A signal that ends this script stops the machine, too.
trap '[ -z "$qemu" ] || kill "$qemu" 2>/dev/null; rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM HUP
[ -n "$console" ] || console=$scratch/console

# The command goes into an archive of its own: the kernel unpacks one after the other.
mkdir -p "$scratch/root/vm"
printf '%s\n' "$*" >"$scratch/root/vm/command"
[ $shell = no ] || touch "$scratch/root/vm/shell"
if [ $shell = yes ] && size=$(stty size 2>/dev/null) && [ "$size" != "0 0" ]; then
	printf 'stty rows %d cols %d\n' $size >"$scratch/size"
	cat "$scratch/root/vm/command" >>"$scratch/size"
	mv "$scratch/size" "$scratch/root/vm/command"
fi
# newc archives begin on a multiple of four bytes.
{
	cat "$initramfs"
	head -c $(((4 - $(stat -c %s "$initramfs") % 4) % 4)) /dev/zero
	(cd "$scratch/root" && find . | cpio --quiet -o -H newc -R 0:0)
} >"$scratch/initramfs"

# tsc=reliable: on a busy host the emulated TSC stalls, 6.12 takes the clock away
# and can die while it patches its code for that. maxcpus=1: guest/init starts the
# other processors, after all that is patched is patched. mitigations=off: an emulated
# processor speculates nothing, and retpolines are slow there. -erms: without it the
# kernel clears and copies by words, not by bytes. At each store into a page with code that
# it has translated, the emulator looks through that code: khugepaged needed 22 s for some
# such pages, and the kernel called it a soft lockup. idle=poll: a processor that waits in a
# loop goes on at once, where one that halts has to be woken by the host; on a host of one
# processor the loop would take what the other one needs.
command_line="console=ttyS0 loglevel=5 panic=-1 tsc=reliable maxcpus=1 log_buf_len=4M mitigations=off"
[ $poll = no ] || [ "$(nproc)" -lt "$processors" ] || command_line="$command_line idle=poll"
command_line="$command_line $append"
machine=(qemu-system-x86_64 -accel tcg,thread=multi -cpu max,-erms -smp "$processors" -m "$memory"
	-nodefaults -no-user-config -display none -no-reboot
	-device isa-debug-exit,iobase=0x501,iosize=1
	-kernel "$kernel/vmlinux" -initrd "$scratch/initramfs" -append "$command_line")

if [ $shell = yes ]; then
	"${machine[@]}" -serial mon:stdio
	exit
fi

timeout --foreground -k 5 "$timeout" "${machine[@]}" -serial file:"$console" -serial stdio </dev/null &
qemu=$!
wait "$qemu"
status=$?
qemu=

show_console() {
	echo "boot.sh: $1" >&2
	[ $show = no ] || awk -f "$here/console-end.awk" "$console" | sed 's/^/    /' >&2
}
case $status in
124 | 137)
	show_console "the machine did not end after $timeout s"
	exit 124
	;;
0)
	show_console "the machine ended before the command did"
	exit 125
	;;
esac
if [ $((status % 2)) = 0 ] || [ $status = 1 ]; then
	show_console "QEMU failed with status $status"
	exit 125
fi
exit $(((status - 1) / 2 - 1))
