#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# mimic vm: a stock kernel in a virtual machine that has mimic's devices as PCI functions.
set -u

me="mimic vm"
here=$(dirname "$(realpath "$0")")

help() {
	cat <<'HELP'
Usage: mimic vm [OPTION]... [--] COMMAND...
Boots a stock kernel of Debian in QEMU (software emulation), with devices of mimic as PCI functions, loads
your driver, runs COMMAND there, and exits with its status.

  -d, --device NAME     a device by its kind and number, such as KIND0 (`mimic list` shows names), or
                        KIND0 with ,msi, ,rings, ,split behind it; may be repeated
      --function PATH   one more PCI function, of a server of vfio-user that listens there; may be repeated
      --socket PATH     where mimicd listens for mimic list, trace and so on meanwhile
      --record FILE     keeps all that the devices are asked and answer, for mimic replay
      --driver DIR      a folder with a Kbuild file: its modules are compiled for the kernel, and loaded in
                        the order of obj-m; may be repeated
      --module FILE     a module that is compiled already; may be repeated
  -f, --file FILE       copied to / of the machine; may be repeated. A program must be static
      --compile FILE.c  compiled for the machine as a static program of the file's name, copied to /
      --arch ARCH       x86_64 (default) or riscv64
      --kernel KERNEL   6.12 (default), newest (x86_64), or the file of a kernel; then --driver needs --headers
      --headers DIR     what modules for that kernel are compiled with (make -C)
      --levels NUMBER   of page tables: x86_64 4 (default) or 5, riscv64 3 (default), 4 or 5
      --qemu FILE       a QEMU of one's own, 10.1 or later
      --include DIR     for the compilers of --driver and --compile; may be repeated
      --memory MIB      of the machine (default: 1024)
      --timeout S       when the machine is stopped (default: 300)
      --gdb             waits for gdb at port 1234 before the kernel starts
      --cache DIR       where what is downloaded stays (default: $XDG_CACHE_HOME/mimic/vm)
      --fetch           only downloads what is missing
      --dmesg FILE      what the kernel has said
      --console FILE    all that the machine has printed
  -h, --help            this text

Exit status: the command's; 124 if the machine did not end in time, 125 if it ended by itself, 2 for
bad options. Files that are not there are downloaded from Debian 13: QEMU (150 MB unpacked), a kernel with a
compiler (400 MB; riscv64: 660 MB).
HELP
}

complain() {
	echo "$me: $*" >&2
	exit 2
}

devices=() servers=() drivers=() modules=() files=() sources=() includes=()
arch=x86_64 kernel=6.12 headers='' levels='' qemu='' memory=1024 timeout=300 gdb=no fetch_only=no dmesg='' console='' socket='' record=''
cache=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/mimic/vm
while [ $# -gt 0 ]; do
	case $1 in
	-h | --help) help; exit ;;
	--gdb) gdb=yes; shift; continue ;;
	--fetch) fetch_only=yes; shift; continue ;;
	--) shift; break ;;
	-*=*) option=${1%%=*} value=${1#*=}; shift; set -- "$option" "$value" "$@" ;;
	-*) ;;
	*) break ;;
	esac
	[ $# -ge 2 ] || complain "$1: an argument is needed, or there is no such option (try --help)"
	case $1 in
	-d | --device) devices+=("$2") ;;
	--function) servers+=("$2") ;;
	--socket) socket=$2 ;;
	--record) record=$2 ;;
	--driver) drivers+=("$2") ;;
	--module) modules+=("$2") ;;
	-f | --file) files+=("$2") ;;
	--compile) sources+=("$2") ;;
	--include) includes+=("$2") ;;
	--arch) arch=$2 ;;
	--kernel) kernel=$2 ;;
	--headers) headers=$2 ;;
	--levels) levels=$2 ;;
	--qemu) qemu=$2 ;;
	--memory) memory=$2 ;;
	--timeout) timeout=$2 ;;
	--cache) cache=$2 ;;
	--dmesg) dmesg=$2 ;;
	--console) console=$2 ;;
	*) complain "$1: no such option (try --help)" ;;
	esac
	shift 2
done
case $arch in
x86_64) levels=${levels:-4}; known="4 5" console_device=ttyS0 ;;
riscv64) levels=${levels:-3}; known="3 4 5" console_device=ttyS0 ;;
*) complain "--arch $arch: x86_64 and riscv64 are known" ;;
esac
case " $known " in
*" $levels "*) ;;
*) complain "--levels $levels: $arch has one of $known" ;;
esac
[ ${#devices[@]} -gt 0 ] || [ $fetch_only = yes ] || complain "a device is needed: --device NAME (try --help)"
for device in "${devices[@]}"; do
	[[ $device, =~ ^[^,]+,((msi|rings|split),)*$ ]] || complain "--device $device: NAME, NAME,msi, NAME,rings, NAME,split or several of these is needed"
done
[ $# -gt 0 ] || [ $fetch_only = yes ] || complain "a command is needed (try --help)"
for file in "${modules[@]}" "${files[@]}" "${sources[@]}"; do
	[ -r "$file" ] || complain "$file: cannot be read"
done
for folder in "${drivers[@]}"; do
	[ -r "$folder/Kbuild" ] || complain "--driver $folder: there is no Kbuild in it"
done

# --- requirements ----------------------------------------------------------------------------

mkdir -p "$cache" || exit 2
cache=$(realpath "$cache")
own_kernel=no
case $kernel in
6.12 | newest)
	[ "$arch-$kernel" != riscv64-newest ] || complain "--kernel newest: of riscv64 there is 6.12"
	kernel_folder=$cache/kernel-$arch-$kernel
	"$here/fetch.sh" kernel "$arch" "$kernel" "$kernel_folder" >&2 || exit 2
	image=$kernel_folder/image
	[ $arch = riscv64 ] || [ "$levels" = 5 ] || image=$kernel_folder/vmlinux
	busybox=$kernel_folder/busybox
	;;
*)
	own_kernel=yes
	[ -r "$kernel" ] || complain "--kernel $kernel: 6.12, newest or a file is needed"
	image=$kernel
	busybox=$(command -v busybox) || complain "busybox is missing (on Debian: package busybox-static)"
	;;
esac
if [ -n "$qemu" ]; then
	command -v "$qemu" >/dev/null || complain "--qemu $qemu: there is no such program"
	run_qemu=("$qemu")
else
	"$here/fetch.sh" qemu "$arch" "$cache/qemu-$arch" >&2 || exit 2
	root=$cache/qemu-$arch/root
	export QEMU_MODULE_DIR=$root/usr/lib/x86_64-linux-gnu/qemu
	run_qemu=("$root/usr/lib64/ld-linux-x86-64.so.2" --library-path "$root/usr/lib/x86_64-linux-gnu"
		"$root/usr/bin/qemu-system-$arch" -L "$root/usr/share/qemu" -L "$root/usr/share/seabios")
fi
[ $fetch_only = no ] || exit 0

# kbuild refuses paths with spaces or colons.
[[ ! ${TMPDIR-} =~ [[:space:]:] ]] || TMPDIR=/tmp
scratch=$(mktemp -d) || exit 2
daemon=
machine=
end() {
	[ -z "$machine" ] || kill "$machine" 2>/dev/null
	[ -z "$daemon" ] || kill "$daemon" 2>/dev/null
	wait 2>/dev/null
	rm -rf "$scratch"
}
trap end EXIT
trap 'exit 130' INT TERM HUP

# in_tree COMMAND...: with the compiler that came with the kernel.
in_tree() {
	if [ $own_kernel = yes ]; then
		"$@"
	else
		"$here/in-tree.sh" "$kernel_folder/tree" "$@"
	fi
}

# --- the machine's files ------------------------------------------------------------------------

tree=$scratch/tree
mkdir -p "$tree"/{bin,dev,etc,modules,proc,root,sys,tmp} || exit 2
cp "$busybox" "$tree/bin/busybox" && chmod +x "$tree/bin/busybox"
cp "$here/guest-init" "$tree/init" && chmod +x "$tree/init"
printf '%s\n' "$*" >"$tree/vm-command"
: >"$tree/modules/order"

# Headers of mimic lie where they lie beside the command. By links: make and the shell part flags at spaces.
flags=
for folder in "$here/../../../include" "${includes[@]}"; do
	link=$scratch/include-${#flags}
	ln -s "$(realpath "$folder")" "$link" || exit 2
	flags="$flags -I$link"
done

# Compiled in a copy: the driver's folder stays as it is.
build_driver() {
	local folder=$1 build=$scratch/driver-$RANDOM kdir arguments=()
	cp -rL "$folder" "$build" || return
	kdir=$headers
	if [ $own_kernel = no ]; then
		kdir=/usr/src/linux-headers-$(cat "$kernel_folder/release")
		# The kernel was compiled by that one; its types for modules (BTF) would need vmlinux.
		[ $arch = x86_64 ] || arguments=(CC=riscv64-linux-gnu-gcc-14 CROSS_COMPILE=riscv64-linux-gnu- ARCH=riscv)
	elif [ -z "$kdir" ]; then
		complain "--driver needs --headers for a kernel of one's own"
	fi
	if ! in_tree make -C "$kdir" M="$build" KCFLAGS="$flags" "${arguments[@]}" modules >"$scratch/build.log" 2>&1; then
		grep -E -v '^(make|  [A-Z]+ )' "$scratch/build.log" | head -n 40 >&2
		complain "$folder: the modules do not compile"
	fi
	grep -E 'warning:|^WARNING' "$scratch/build.log" | grep -v BTF >&2
	sed 's/\.k\{0,1\}o$/.ko/' "$build/modules.order" | while read -r module; do
		case $module in
		/*) ;;
		*) module=$build/$module ;;
		esac
		cp "$module" "$tree/modules" && basename "$module" >>"$tree/modules/order"
	done
}

for folder in "${drivers[@]}"; do
	build_driver "$folder"
done
for file in "${modules[@]}"; do
	cp "$file" "$tree/modules" && basename "$file" >>"$tree/modules/order"
done
for file in "${sources[@]}"; do
	compiler=gcc
	[ $own_kernel = yes ] || compiler=gcc-14
	[ $arch = "$(uname -m)" ] || compiler=riscv64-linux-gnu-$compiler
	in_tree $compiler -static -O2 -pthread $flags -o "$tree/$(basename "$file" .c)" "$(realpath "$file")" ||
		complain "$file: does not compile"
done
for file in "${files[@]}"; do
	cp -L "$file" "$tree/" || exit 2
done
(cd "$tree" && find . | cpio --quiet -o -H newc -R 0:0) >"$scratch/initramfs" || exit 2

# --- the devices ------------------------------------------------------------------------------

mimicd=${MIMICD:-}
for candidate in "$here/../../../bin/mimicd" "$(command -v mimicd)"; do
	[ -n "$mimicd" ] || [ ! -x "$candidate" ] || mimicd=$candidate
done
[ -n "$mimicd" ] || complain "there is no mimicd"

# count_devices: KIND:COUNT,... so that each device's number is there.
count_devices() {
	printf '%s\n' "${devices[@]}" | sed 's/,.*//' | awk '
		match($0, /[0-9]+$/) {
			kind = substr($0, 1, RSTART - 1); number = substr($0, RSTART) + 1
			if (number > count[kind]) count[kind] = number
		}
		END { for (kind in count) { printf "%s%s:%d", comma, kind, count[kind]; comma = "," } }'
}

daemon_arguments=() functions=()
for device in "${devices[@]}"; do
	name=${device%%,*} options=${device#"${device%%,*}"},
	servers+=("$scratch/$name.sock")
	# Added after its registers: mimicd gives the memory to the machine that has those.
	case $options in
	*,split,*)
		options=${options/,split,/,}memory=$scratch/$name-memory.sock,
		servers+=("$scratch/$name-memory.sock")
		;;
	esac
	daemon_arguments+=(--vfio-user "$name=$scratch/$name.sock${options%,}")
done
for server in "${servers[@]}"; do
	functions+=(-device "{\"driver\":\"vfio-user-pci\",\"rombar\":0,\"x-msg-timeout\":60000,\"socket\":{\"type\":\"unix\",\"path\":\"$server\"}}")
done
[ -z "$record" ] || daemon_arguments+=(--record "$record")
socket=${socket:-$scratch/mimicd.sock}
"$mimicd" --foreground --kernel=off --socket "$socket" --devices "$(count_devices)" \
	"${daemon_arguments[@]}" 2>"$scratch/mimicd.log" &
daemon=$!
for _ in $(seq 100); do
	[ ! -S "$socket" ] || break
	sleep 0.05
done
if [ ! -S "$socket" ]; then
	cat "$scratch/mimicd.log" >&2
	complain "mimicd does not serve"
fi

# --- the machine ------------------------------------------------------------------------------

command_line="console=$console_device loglevel=4 panic=-1"
case $arch in
x86_64)
	# tsc=reliable: on a busy host the emulated clock is calibrated wrongly.
	kind=(-machine q35,memory-backend=ram -cpu max)
	command_line="$command_line tsc=reliable mitigations=off"
	;;
riscv64)
	cpu=rv64
	[ "$levels" = 5 ] || cpu=$cpu,sv57=off
	[ "$levels" != 3 ] || cpu=$cpu,sv48=off
	kind=(-machine virt,aia=aplic-imsic,memory-backend=ram -cpu "$cpu")
	;;
esac
[ $gdb = no ] || kind+=(-s -S)
began=$SECONDS
timeout --foreground -k 5 "$timeout" "${run_qemu[@]}" -accel tcg,thread=multi "${kind[@]}" -smp 2 -m "${memory}M" \
	-nodefaults -no-user-config -display none -no-reboot \
	-object memory-backend-memfd,id=ram,size="${memory}M",share=on \
	-kernel "$image" -initrd "$scratch/initramfs" -append "$command_line" \
	-serial file:"$scratch/console" "${functions[@]}" </dev/null 2>"$scratch/qemu.log" &
machine=$!
# The output of the command is shown as it comes, one line late: the last of all is no line, if it is empty.
# No awk here: mawk waits until its buffer is full.
tail -n +1 -F "$scratch/console" --pid=$machine 2>/dev/null | stdbuf -oL sed -n '
	/^mimic-vm: begin/!d
	n
	:line
	s/\r//g
	/^mimic-vm: status/q
	${ /./p; q; }
	h
	n
	/^mimic-vm: status/!{ x; p; x; b line; }
	x
	/./p
	q' &
shower=$!
wait "$machine"
status=$?
machine=
wait "$shower" 2>/dev/null
tr -d '\r' <"$scratch/console" >"$scratch/said"
[ -z "$console" ] || cp "$scratch/said" "$console"
[ -z "$dmesg" ] || sed -n '/^mimic-vm: status/,/^mimic-vm: end/p' "$scratch/said" | sed '1d;$d' >"$dmesg"
# 137 is also the status of a QEMU that another process killed.
[ $status != 137 ] || [ $((SECONDS - began)) -ge "$timeout" ] || status=1
case $status in
124 | 137)
	echo "$me: the machine did not end after $timeout s; its last lines:" >&2
	tail -n 20 "$scratch/said" | sed 's/^/    /' >&2
	exit 124
	;;
esac
command_status=$(sed -n 's/^mimic-vm: status \([0-9]*\)$/\1/p' "$scratch/said" | tail -n 1)
[ -z "$command_status" ] || exit "$command_status"
echo "$me: the machine ended before the command did; its last lines:" >&2
{ tail -n 20 "$scratch/said"; grep -v 'error recovery' "$scratch/qemu.log"; tail -n 5 "$scratch/mimicd.log"; } | sed 's/^/    /' >&2
exit 125
