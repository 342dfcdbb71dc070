#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# Devices from outside: a plugin on each way and with each command, and plugins with something
# wrong, each of which is refused with a reason. TAP on stdout.
#
#   test-plugin.sh [BUILD]     BUILD: the build directory; else $O, else build
set -u
ulimit -c 0
cd "$(dirname "$0")/../.." || exit 2
build=${1:-${O:-build}}
build=$(cd "$build" && pwd) || exit 2
mimic=$build/bin/mimic
dir=$(mktemp -d)
plugin=$dir/libchecksum.so
daemon=
count=0
failed=0
unset MIMIC_CONFIG MIMIC_DEVICES MIMIC_PLUGINS MIMIC_TRANSPORT

cleanup() {
	[ -n "$daemon" ] && kill "$daemon" 2>/dev/null
	rm -rf "$dir"
}
trap cleanup EXIT

# result STATUS NAME: the output of the command is in $dir/out.
result() {
	count=$((count + 1))
	if [ "$1" = 0 ]; then
		echo "ok $count - $2"
		return
	fi
	failed=$((failed + 1))
	echo "not ok $count - $2"
	tail -n 20 "$dir/out" | sed 's/^/# /'
}

try() {
	timeout -k 5 60 "$@" >"$dir/out" 2>&1
}

# gives TEXT NAME COMMAND...: exit status 0, and a line of the output is TEXT.
gives() {
	local text=$1 name=$2
	shift 2
	try "$@" && grep -q -x -e "$text" "$dir/out"
	result $? "$name"
}

# has TEXT NAME: in the output of the last one.
has() {
	grep -q -e "$1" "$dir/out"
	result $? "$2"
}

# fails STATUS TEXT NAME COMMAND...
fails() {
	local wanted=$1 text=$2 name=$3 status
	shift 3
	try "$@"
	status=$?
	echo "exit status $status, wanted $wanted" >>"$dir/out"
	[ $status = "$wanted" ] && grep -q -F -e "$text" "$dir/out"
	result $? "$name"
}

# compile OUTPUT SOURCE OPTION...
compile() {
	local output=$1 source=$2
	shift 2
	gcc -std=gnu11 -O1 -g -Wall -Wextra -Werror -fPIC -fvisibility=hidden -I. -Iinclude -Iexamples/plugin "$@" \
		-shared -o "$output" "$source" -Wl,--exclude-libs,ALL "$build/lib/libmimic-device.a" >"$dir/out" 2>&1
}

start_daemon() {
	"$build/bin/mimicd" --kernel=off --socket "$dir/socket" "$@" >"$dir/daemon.log" 2>&1 &
	daemon=$!
	for _ in $(seq 400); do
		[ -S "$dir/socket" ] && return
		sleep 0.05
	done
	echo "Bail out! mimicd does not start: $(cat "$dir/daemon.log")"
	exit 1
}

stop_daemon() {
	kill "$daemon"
	wait "$daemon"
	daemon=
}

compile "$plugin" examples/plugin/checksum.c
result $? "the_example_compiles"
gcc -std=gnu11 -O1 -g -Wall -Wextra -Werror -o "$dir/program" examples/plugin/program.c >"$dir/out" 2>&1
result $? "its_program_compiles"
export MIMIC_SOCKET=$dir/socket

# --- embedded: 104 + 101 + 108 + 108 + 111 ---------------------------------------------------

gives 532 "mimic_run_takes_a_plugin" "$mimic" run --plugin "$plugin" "$dir/program" hello
gives 532 "a_relative_path_will_do" sh -c "cd '$dir' && '$mimic' run --plugin libchecksum.so ./program hello"
gives 532 "the_environment_brings_a_plugin" env MIMIC_PLUGINS="$plugin" "$mimic" run "$dir/program" hello
gives 532 "the_same_plugin_twice_is_one" \
	env MIMIC_PLUGINS="$plugin" "$mimic" run --plugin "$plugin" "$dir/program" hello
gives 532 "--devices_knows_its_kind" \
	"$mimic" run --plugin "$plugin" --devices checksum:1 "$dir/program" hello
fails 1 "/dev/checksum0" "without_it_there_is_no_such_node" "$mimic" run "$dir/program" hello
fails 2 "kinds maple" "without_it_--devices_does_not_know_its_kind" \
	"$mimic" run --devices checksum:1 "$dir/program" hello

printf '[plugin]\nfile = libchecksum.so\n[checksum]\nlongest = 5\n' >"$dir/plugin.ini"
gives 532 "a_configuration_brings_a_plugin" "$mimic" run --config "$dir/plugin.ini" "$dir/program" hello
fails 1 "" "and_its_section_has_the_parameters" "$mimic" run --config "$dir/plugin.ini" "$dir/program" hello!
printf '[plugin]\nfile = libchecksum.so\n[checksum]\nlongest = 0\n' >"$dir/bad.ini"
fails 2 "bad.ini:4: longest must be 1 to 1048576" "which_the_plugin_checks" \
	"$mimic" run --config "$dir/bad.ini" "$dir/program" hello
printf '[plugin]\nname = x\n' >"$dir/bad.ini"
fails 2 "bad.ini:2: unknown key 'name' in section [plugin]" "a_section_plugin_has_one_key" \
	"$mimic" run --config "$dir/bad.ini" "$dir/program" hello

# Its state is not in the memory that a supervisor keeps.
if [ -x "$build/bin/mimicd-recoverable" ]; then
	fails 1 "checksum0 is a plugin's device" "a_daemon_that_can_be_recovered_refuses_a_plugins_devices" \
		timeout 20 "$build/bin/mimicd" --supervise --kernel=off --socket "$dir/recovered" --plugin "$plugin" -d maple:1,checksum:1
else
	skip "a_daemon_that_can_be_recovered_refuses_a_plugins_devices" "this build has no mimicd that can be recovered"
fi

gives 532 "mimic_trace_takes_a_plugin" \
	"$mimic" trace -o "$dir/trace.json" --plugin "$plugin" "$dir/program" hello
cp "$dir/trace.json" "$dir/out"
has '"name":"store checksum LENGTH"' "a_trace_has_the_names_of_its_registers"
gives 532 "mimic_record_takes_a_plugin" \
	"$mimic" record -o "$dir/run.mimic" --plugin "$plugin" "$dir/program" hello
try "$mimic" replay --plugin "$plugin" "$dir/run.mimic"
result $? "mimic_replay_does_it_again"
has 'checksum0' "and_names_the_device"
fails 2 "a kind that is not known; those that are: maple" "without_the_plugin_it_says_what_it_lacks" \
	"$mimic" replay "$dir/run.mimic"
! grep -q identical "$dir/out"
result $? "and_does_not_call_it_identical"
try "$mimic" replay --json "$dir/run.mimic"
! grep -q '"identical": *true' "$dir/out"
result $? "nor_in_JSON"

# --- the daemon ------------------------------------------------------------------------------

start_daemon --plugin "$plugin"
gives 532 "mimicd_takes_a_plugin" "$mimic" run --transport daemon --plugin "$plugin" "$dir/program" hello
gives 532 "mimic_trace_of_the_daemon" \
	"$mimic" trace --transport daemon -o "$dir/trace.json" --plugin "$plugin" "$dir/program" hello
cp "$dir/trace.json" "$dir/out"
has '"name":"store checksum LENGTH"' "has_the_names_too"
try "$mimic" list --json
result $? "mimic_list_shows_devices_of_a_plugin"
has '"kind": *"checksum"' "with_the_name_of_its_kind"
gives 'checksum0 .*' "mimic_list_as_a_table" "$mimic" list
try "$mimic" dump checksum0
result $? "mimic_dump_shows_one"
has 'IDENTIFY' "with_its_registers"
try "$mimic" stat checksum0
result $? "mimic_stat_shows_one"
has 'sums' "with_its_counters"
gives checksum1 "mimic_add_makes_one_more" "$mimic" add checksum
try "$mimic" reset checksum0
result $? "mimic_reset_resets_one"
fails 1 "checksum0" "mimic_inject_knows_one" "$mimic" inject checksum0 hang
try "$mimic" remove checksum1
result $? "mimic_remove_takes_one_away"
gives '.*dare0.*' "built_in_devices_are_there_too" "$mimic" list
stop_daemon

# --- something is wrong ------------------------------------------------------------------------

# The defects, and the message of each.
spoiled=(
	"VERSION|a plugin for version 7 of the interface, of mimic $("$mimic" --version | cut -d' ' -f2); this is version 0, of mimic"
	"RELEASE|a plugin for version 0 of the interface, of mimic 0.0.9; this is version 0, of mimic $("$mimic" --version | cut -d' ' -f2)"
	"SIZE|compiled with other headers than those of mimic"
	"SIZES|compiled with other headers than those of mimic"
	"WITHOUT_KIND|it has no kind"
	"NAME_BUILT_IN|there is a kind 'dare' already"
	"NAME|the name 'Check Sum' is not 1 to 12 small letters"
	"MEMORY|its defaults are wrong: memory of 1099511627776 bytes is not whole pages up to 16777216 bytes"
	"PARAMETERS|its parameters are 1099511627776 bytes, of 512 at most"
	"PAGES|2147483648 pages of the device are not 1 to 16"
	"COUNTERS|it has 1099511627776 counters, of 128 at most"
	"WITHOUT_CREATE|it has no function create()"
	"WITHOUT_ACCESS|its model has no function access()"
	"DEFAULTS|its defaults are larger than its parameters"
	"STATE|its state is no tree of values"
	"STATE_OF_ONE_VALUE_TOO_MANY|its state has more than 100000 values"
	"STATE_WITHOUT_END|its state has more than 100000 values"
	"STATE_OF_LONG_TEXTS|its state has more than 8388608 bytes of text"
	"GREEDY|it creates no device: Cannot allocate memory"
	"LOADING_CRASHES|killed by signal 11 in loading"
	"LOADING_EXITS|it exited with status 0 in loading"
	"LOADING_HANGS|it did not end within 5 seconds in loading"
	"CREATION_CRASHES|killed by signal 11 in creation"
	"CREATION_EXITS|it exited with status 3 in creation"
	"CREATION_HANGS|it did not end within 5 seconds in creation"
	"POWER_ON_CRASHES|killed by signal 11 in power-on"
	"EXPLANATION_CRASHES|killed by signal 11 in saying why an access waits"
)
cp /bin/true "$dir/program.so"
printf 'no library\n' >"$dir/text.so"
mkfifo "$dir/pipe.so"
cp "$plugin" "$dir/other.so"
gcc -shared -fPIC -o "$dir/empty.so" -x c /dev/null
others=(
	"absent.so|No such file or directory"
	"text.so|file too short"
	"pipe.so|it is no file"
	"empty.so|no plugin: it has no symbol mimic_plugin"
	"other.so|there is a kind 'checksum' already"
)

printf '[plugin]\nfile = libchecksum.so\n' >"$dir/all.ini"
for row in "${spoiled[@]}"; do
	name=${row%%|*}
	compile "$dir/$name.so" tests/plugins/spoiled.c "-DSPOILED_$name" || result 1 "$name compiles"
	# Five seconds each: once, by mimicd, will do.
	[[ $name == *_HANGS ]] || fails 2 "plugin $dir/$name.so: ${row#*|}" "mimic_run_refuses_$name" \
		"$mimic" run --plugin "$dir/$name.so" "$dir/program" hello
	printf 'file = %s.so\n' "$name" >>"$dir/all.ini"
done
for row in "${others[@]}"; do
	name=${row%%|*}
	printf 'file = %s\n' "$name" >>"$dir/all.ini"
	fails 2 "plugin $dir/$name: ${row#*|}" "mimic_run_refuses_$name" \
		"$mimic" run --plugin "$plugin" --plugin "$dir/$name" "$dir/program" hello
done

# The most that a device may show, and the bound of the time that mimic dump waits.
compile "$dir/full.so" tests/plugins/spoiled.c -DFULL_STATE
result $? "a_plugin_with_the_largest_state_compiles"
start_daemon --plugin "$dir/full.so"
try "$mimic" dump spoiled0
[ $? = 0 ] && [ "$(grep -c '^words/' "$dir/out")" = 99999 ]
result $? "mimic_dump_shows_the_largest_state_that_is_taken"
stop_daemon

# A process that the trial leaves behind would hold the pipe: its reader would wait for the end in vain.
for name in CREATION_FORKS CREATION_FORKS_AND_CRASHES; do
	compile "$dir/$name.so" tests/plugins/spoiled.c "-DSPOILED_$name" || result 1 "$name compiles"
	try timeout 10 sh -c "'$mimic' run --plugin '$dir/$name.so' /bin/echo 'it runs' 2>&1 | cat"
	result $? "the_trial_of_${name}_leaves_no_process"
	[ $name = CREATION_FORKS ] && has '^it runs$' "and_takes_the_plugin"
	[ $name = CREATION_FORKS ] || has 'killed by signal 11 in creation' "and_says_how_it_ended"
done

# A missing plugin is reported once: its devices and its section are left out.
printf '[absent]\nkey = 1\n[checksum]\nlongest = 5\n[mimic]\ndevices = checksum:1, absent:2, maple:1\n' >>"$dir/all.ini"
start_daemon --config "$dir/all.ini"
cp "$dir/daemon.log" "$dir/out"
for row in "${spoiled[@]}"; do
	name=${row%%|*}
	has "^mimicd: plugin $dir/$name.so: ${row#*|}" "mimicd_leaves_${name}_out"
done
for row in "${others[@]}"; do
	name=${row%%|*}
	has "^mimicd: plugin $dir/$name: ${row#*|}" "mimicd_leaves_${name}_out"
done
gives 532 "and_serves_the_good_one" \
	"$mimic" run --transport daemon --plugin "$plugin" "$dir/program" hello
gives '.*maple0.*' "and_what_is_built_in" "$mimic" list
stop_daemon

echo "1..$count"
[ $failed = 0 ]
