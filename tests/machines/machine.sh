# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0 OR MIT
# For the scripts of this folder: one machine of `mimic vm`, and its results as TAP. The caller has read
# tests/scripts/tap.sh, and $cache is where downloaded files stay.

# machine NAME OPTION... -- COMMAND: its output in $work/output, the kernel's messages in $work/dmesg
machine()
{
	local arch kernel levels
	IFS=- read -r arch kernel levels <<<"$1"
	shift
	"$build/bin/mimic" vm --cache "$cache" --arch "$arch" --kernel "$kernel" --levels "$levels" --timeout 400 \
		--dmesg "$work/dmesg" "$@" >"$work/output" 2>"$work/errors"
}

# libraries_of PROGRAM: options that give a machine the libraries of a program that is not static. There it
# is started as `$(ls /ld-linux-*) --library-path / /PROGRAM`.
libraries_of()
{
	ldd "$1" | grep -o '/[^ ]*' | sed 's/^/--file /'
}

compile_modules() # compile_modules ARCH KERNEL TREE: only changed files
{
	local kernel=$cache/kernel-$1-$2 arguments=()
	"$build/bin/mimic" vm --cache "$cache" --arch "$1" --kernel "$2" --fetch >"$work/output" 2>"$work/errors" || return
	[ "$1" = x86_64 ] || arguments=(CC=riscv64-linux-gnu-gcc-14 CROSS_COMPILE=riscv64-linux-gnu- ARCH=riscv)
	scripts/module-tree.sh "$3" && env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u MAKEOVERRIDES \
		tools/vm/in-tree.sh "$kernel/tree" make -j2 -C "/usr/src/linux-headers-$(cat "$kernel/release")" \
		M="$3/driver" KCFLAGS="-I$3 -I$3/include" CONFIG_DEBUG_INFO_BTF_MODULES= "${arguments[@]}" \
		modules >"$work/output" 2>"$work/errors"
}

# modules_for ARCH KERNEL: compiles the project's drivers, one script after the other; sets $modules, the options by
# which a machine has them
modules_for()
{
	local tree=$build/obj/machines/$1-$2 order
	modules=()
	mkdir -p "$tree"
	{ flock 9 && compile_modules "$1" "$2" "$tree"; } 9>"$tree.lock" || return
	# Names from its own folder in newer kernels.
	for order in $(sed 's/\.k\{0,1\}o$/.ko/' "$tree/driver/modules.order"); do
		[[ $order = /* ]] || order=$tree/driver/$order
		modules+=(--module "$order")
	done
}

# Each line of TAP that the machine printed is a result of this script; lines that miss are one, too.
pass_on() # pass_on NAME STATUS
{
	local line
	while read -r line; do
		case $line in
		ok\ * | not\ ok\ *)
			: >"$work/output.none"
			number=$((number + 1))
			case $line in
			not*) failed=$((failed + 1)); echo "not ok $number - $1: ${line#not ok * - }" ;;
			*) echo "ok $number - $1: ${line#ok * - }" ;;
			esac
			;;
		esac
	done <"$work/output"
	[ "$2" = 0 ] && grep -q '^1\.\.' "$work/output"
	result $? "$1: the program ends well"
}

quiet_kernel() # nothing in the kernel's messages that is a report of a defect
{
	[ -s "$work/dmesg" ] && tests/vm/check-dmesg.sh "$work/dmesg" >"$work/output" 2>&1
}

# false: the compiler for the machine's kernel cannot run here, and that is a skipped result.
has_compiler()
{
	[[ $1 = *-newest-* ]] && ! grep -q trixie /etc/os-release && [ "$(id -u)" != 0 ] || return 0
	unshare --map-root-user --mount true 2>/dev/null && return 0
	skip "$1" "no user namespaces, in which its compiler runs"
	return 1
}
