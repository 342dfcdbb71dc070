#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# Functions that are plugged into a running machine and taken out of it, whose daemon is killed, whose machine
# reboots or is killed: how drivers and programs end, and that they work again. x86-64: Debian's riscv64
# kernel has no hot plug. TAP.
# usage: test-plugged.sh BUILD CACHE
set -u
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/../scripts/tap.sh"
cache=$2
mkdir -p "$cache"
cache=$(realpath "$cache")
# shellcheck source=tests/machines/machine.sh
. "$(dirname "$0")/machine.sh"

name=x86_64-6.12-4
kinds=(maple dare virgo)
# Virgo's memory is a function of its own: behind its registers.
sockets=(maple dare virgo memory)
plugged=0
first_port=1

# write_qemu ARGUMENT...: the machine's QEMU, with more arguments and a socket for the host's commands.
write_qemu()
{
	local root=$cache/qemu-x86_64/root
	{
		echo '#!/bin/sh'
		echo "export QEMU_MODULE_DIR='$root/usr/lib/x86_64-linux-gnu/qemu'"
		echo "echo \$\$ >'$work/qemu.pid'"
		echo "exec '$root/usr/lib64/ld-linux-x86-64.so.2' --library-path '$root/usr/lib/x86_64-linux-gnu' \\"
		echo "	'$root/usr/bin/qemu-system-x86_64' -L '$root/usr/share/qemu' -L '$root/usr/share/seabios' \"\$@\" \\"
		echo "	-qmp 'unix:$work/qmp,server=on,wait=off' $*"
	} >"$work/qemu"
	chmod +x "$work/qemu"
}

slots() # as arguments
{
	local slot
	for slot in 1 2 3 4 5 6 7 8; do
		echo "-device pcie-root-port,id=port$slot,chassis=$slot,slot=$slot,mem-reserve=16M,pref64-reserve=16M"
	done
}

# qmp COMMAND ARGUMENTS: both JSON; prints QEMU's error or nothing
qmp()
{
	python3 - "$work/qmp" "$1" "$2" <<'PYTHON'
import json, socket, sys

connection = socket.socket(socket.AF_UNIX)
connection.settimeout(60)
connection.connect(sys.argv[1])
stream = connection.makefile("rw")
stream.readline()
for command, arguments in (("qmp_capabilities", "{}"), (sys.argv[2], sys.argv[3])):
    stream.write(json.dumps({"execute": command, "arguments": json.loads(arguments)}) + "\n")
    stream.flush()
    answer = {}
    while "return" not in answer and "error" not in answer:
        answer = json.loads(stream.readline())
    if "error" in answer:
        sys.exit(answer["error"]["desc"])
PYTHON
}

# start_serving MSI: a daemon with a socket for each function. ",msi", because QEMU 11 aborts when a
# function with MSI-X is taken out.
start_serving()
{
	local kind split arguments=() devices=
	rm -f "$work"/*.sock
	for kind in "${kinds[@]}"; do
		devices="$devices,$kind:1"
		split=
		[ $kind != virgo ] || split=,memory=$work/memory.sock
		arguments+=(--vfio-user "${kind}0=$work/$kind.sock$1,rings$split")
	done
	"$build/bin/mimicd" --foreground --kernel=off --socket "$work/daemon.sock" --devices "${devices#,}" \
		"${arguments[@]}" 2>>"$work/daemon.log" &
	daemon=$!
	for _ in $(seq 200); do
		[ ! -S "$work/daemon.sock" ] || return 0
		sleep 0.05
	done
	return 1
}

# The slot is free when the machine has let go of the function in it, which is later than the driver's end.
plug_one() # plug_one SOCKET PORT
{
	for _ in $(seq 50); do
		qmp device_add "{\"driver\": \"vfio-user-pci\", \"id\": \"$1-$plugged\", \"bus\": \"port$2\", \"rombar\": 0,
			\"x-msg-timeout\": 60000, \"socket\": {\"type\": \"unix\", \"path\": \"$work/$1.sock\"}}" \
			2>"$work/refused" && return
		sleep 0.2
	done
	return 1
}

plug()
{
	local socket port=$first_port
	plugged=$((plugged + 1))
	for socket in "${sockets[@]}"; do
		plug_one "$socket" $port || return
		port=$((port + 1))
	done
}

unplug()
{
	local socket
	for socket in "${sockets[@]}"; do
		qmp device_del "{\"id\": \"$socket-$plugged\"}" || return
	done
}

kill_daemon()
{
	kill -9 "$daemon"
	wait "$daemon" 2>/dev/null
	daemon=
}

# The machine, as mimicd knows it
listed()
{
	"$build/bin/mimic" list --socket "$work/daemon.sock" 2>/dev/null | grep -qw "$(cat "$work/qemu.pid")"
}

kill_machine()
{
	listed
	echo $? >"$work/listed"
	kill -9 "$(cat "$work/qemu.pid")"
}

# serve REQUEST: does the machine's request
serve()
{
	case $1 in
	plug) plug ;;
	unplug) unplug ;;
	kill-daemon) kill_daemon ;;
	recover) start_serving ,msi && plug ;;
	recover-elsewhere) first_port=5; start_serving '' && plug ;;
	kill-machine) kill_machine ;;
	esac
}

# Until the machine has ended: each line of its output that is for the host.
attend()
{
	local served=0 request
	while kill -0 "$1" 2>/dev/null; do
		request=$(grep '^host: ' "$work/output" 2>/dev/null | sed -n "$((served + 1))s/^host: //p")
		if [ -z "$request" ]; then
			sleep 0.2
			continue
		fi
		served=$((served + 1))
		serve "$request" || echo "# $request: failed: $(cat "$work/refused")"
	done
}

link() # link KIND EXAMPLE
{
	gcc -static -pthread -o "$work/programs/$1_$2" "$build/obj/examples/$1/$2.o" \
		"$build"/lib/lib{common,maple,dare,virgo,mimic}.a -linih -ljson-c -lm 2>"$work/errors"
}

# run_machine SCRIPT OPTION...: its status
run_machine()
{
	local script=$1 machine
	shift
	: >"$work/output"
	: >"$work/refused"
	machine "$name" --qemu "$work/qemu" "$@" "${modules[@]}" --file tests/machines/guest-use.sh \
		--file "tests/machines/$script" --file "$work/programs/maple_spmv" --file "$work/programs/dare_spmm" \
		--file "$work/programs/virgo_gemm" --compile tests/machines/try_unserved.c "sh /$script" &
	machine=$!
	attend $machine
	wait $machine
}

"$build/bin/mimic" vm --cache "$cache" --fetch >"$work/output" 2>"$work/errors"
result $? "a machine can be fetched"
modules_for x86_64 6.12
result $? "the drivers compile"
mkdir "$work/programs"
link maple spmv && link dare spmm && link virgo gemm
result $? "programs of the libraries compile"

start_serving ,msi
result $? "a daemon serves the functions"
# shellcheck disable=SC2046
write_qemu $(slots)
run_machine guest-plugged.sh --device maple0,rings
pass_on "plugged" $?
quiet_kernel
result $? "plugged: the kernel reports no defect"

[ -z "$daemon" ] || kill_daemon
start_serving ''
functions=()
for socket in "${sockets[@]}"; do
	functions+=(--function "$work/$socket.sock")
done
write_qemu -action reboot=reset
run_machine guest-reboot.sh --device maple0,rings "${functions[@]}"
status=$?
[ $status = 125 ] && status=0
pass_on "reboot" $status
sed -n 's/^# dmesg: //p' "$work/output" >"$work/dmesg"
[ -e "$work/listed" ] && [ "$(cat "$work/listed")" = 0 ]
result $? "mimic list shows the machine"
for _ in $(seq 100); do
	listed || break
	sleep 0.1
done
! listed
result $? "it shows a machine that was killed no more"
kill -0 "$daemon"
result $? "the daemon goes on"
quiet_kernel
result $? "reboot: the kernel reports no defect"
run_machine guest-use.sh --device maple0,rings "${functions[@]}"
pass_on "the next machine" $?
quiet_kernel
result $? "the next machine: the kernel reports no defect"
plan
