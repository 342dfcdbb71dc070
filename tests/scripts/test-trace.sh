#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# mimic trace: traces of example programs are whole, and the command behaves as the program does.
#
#   test-trace.sh [BUILD]     BUILD: the build directory; else $O, else build
set -u
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/tap.sh"
mimic=$build/bin/mimic
check=$build/tests/tools/check_trace
examples=$build/examples
unset MIMIC_TRACE
export TMPDIR=$work/tmp
mkdir "$TMPDIR"

# run ARGUMENTS...: mimic trace, the trace in $work/trace.json
run()
{
	rm -f "$work/trace.json"
	# The outer redirection takes the shell's own "Segmentation fault".
	{ timeout -k 5 60 "$mimic" trace -o "$work/trace.json" "$@" >"$work/output" 2>"$work/errors"; } 2>/dev/null
}

# checked ARGUMENTS...: the same; the program succeeds, and its trace is valid and complete
checked()
{
	run "$@" && "$check" "$work/trace.json" >"$work/found" 2>>"$work/errors"
}

# found NAME: the count of check_trace
found()
{
	awk -v name="$1" '$1 == name { print $2 }' "$work/found"
}

# counted KEY: the sum of a counter over all forms of an example's --json report
counted()
{
	grep -o "\"$1\": *[0-9]*" "$work/output" | awk -F: '{ sum += $2 } END { print sum + 0 }'
}

# same NAME KEY [TIMES]: the trace has as many as the device has counted, and not none; a report
# shows a counter so many times (1)
same()
{
	local device=$(($(counted "$2") / ${3:-1}))
	echo "$1: trace $(found "$1"), device $device" >>"$work/errors"
	[ "$(found "$1")" = "$device" ] && [ "$device" -gt 0 ]
}

# A program that has three words in a queue when it is killed; or one more or less, which it
# produces or consumes at that moment.
about_three() # about_three NAME
{
	[ "$(found "$1")" -ge 2 ] && [ "$(found "$1")" -le 4 ]
}
cat >"$work/killed.sh" <<'EOF'
mkfifo "$2"
"$1" <"$2" &
exec 3>"$2"
sleep 0.5
kill -9 $!
wait $!
EOF

# --- whole traces ---------------------------------------------------------------------

checked "$examples/maple/spmv" --json --form decoupled --kronecker 8 &&
	same produced produced && same consumed consumed && [ "$(found arrows)" -gt 0 ]
result $? "SpMV by two threads: every word that was produced is consumed, and arrows show it"

checked "$examples/maple/spmv" --json --form lima --kronecker 8 && same produced produced &&
	grep -q '"name":"loop","cat":"lima"' "$work/trace.json"
result $? "SpMV by LIMA: every word, and the loops"

checked "$examples/maple/spmv" --json --form prefetch --kronecker 6 &&
	grep -q '"name":"prefetch"' "$work/trace.json"
result $? "SpMV by prefetches"

checked "$examples/dare/spmm" --json --form gsa --block 1,8 --columns 16 --uniform 64x4 &&
	same instructions instructions && grep -q '"name":"mgather"' "$work/trace.json"
result $? "SpMM on DARE: every instruction"

checked "$examples/virgo/gemm" --json --form library,dma --size 128x64x96 && same commands commands 2 &&
	grep -q '"name":"dma_read"' "$work/trace.json" && grep -q '"name":"matrix"' "$work/trace.json"
result $? "GEMM on Virgo: every command, with DMA and matrix operations"

grep -q '"name":"barrier_open"' "$work/trace.json"
result $? "barriers of a cluster"

checked "$build/tests/unmodified/node" && [ "$(found accesses)" -gt 0 ]
result $? "a program that knows nothing of mimic, by its traps"

checked "$build/tests/unmodified/processes"
result $? "a program of several processes"

# --- the limit ------------------------------------------------------------------------------

run --limit 1 "$examples/maple/spmv" --form decoupled --kronecker 12 &&
	grep -q 'events were not kept' "$work/errors" && "$check" "$work/trace.json" >"$work/found" &&
	[ "$(found not_kept)" -gt 0 ]
result $? "a full spool: the trace is valid, and says how many events it lacks"

# A file system of 1 MB for the spool. The output is elsewhere.
in_small_place() {
	mkdir -p "$work/small"
	TMPDIR=$work/small unshare -m sh -c 'mount -t tmpfs -o size=1m none "$TMPDIR" && exec "$@"' - \
		"$mimic" trace -o "$work/trace.json" "$@" >"$work/output" 2>"$work/errors"
}
if unshare -m true 2>/dev/null; then
	in_small_place "$examples/maple/spmv" --form decoupled --kronecker 12
	[ $? = 1 ] && grep -q 'events were not kept.*: there is no more room in ' "$work/errors" &&
		"$check" "$work/trace.json" >"$work/found" && [ "$(found not_kept)" -gt 0 ]
	result $? "a full disk: what fits is in the trace, a line says what is not, and the status is 1"
else
	skip "a full disk: what fits is in the trace, a line says what is not, and the status is 1" "nothing can be mounted"
fi

# --- devices of a daemon ----------------------------------------------------------------------

start_daemon maple:2,dare:1,virgo:1
through=(--transport daemon --socket "$work/socket")
checked "${through[@]}" "$examples/maple/spmv" --json --form decoupled,lima --kronecker 8 &&
	same produced produced && same consumed consumed && [ "$(found arrows)" -gt 0 ] &&
	grep -q '"transport": *"daemon"' "$work/output"
result $? "a MAPLE of mimicd: every word"

checked "${through[@]}" "$examples/dare/spmm" --json --form gsa --block 8 --columns 16 --uniform 64x4 &&
	same instructions instructions
result $? "a DARE of mimicd: every instruction"

checked "${through[@]}" "$examples/virgo/gemm" --json --form library --size 128x64x96 && same commands commands 2
result $? "a Virgo of mimicd: every command, although workers do them"

run "${through[@]}" bash "$work/killed.sh" "$build/tests/unmodified/steady" "$work/input2"
[ $? = 137 ] && "$check" "$work/trace.json" >"$work/found" 2>>"$work/errors" && about_three dropped &&
	grep -q '"by":"POWER_ON"' "$work/trace.json"
result $? "a program that is killed: mimicd drops its words, and the trace says so"

stop_daemon
result $? "mimicd is as before"

# --- devices of another user's daemon ------------------------------------------------------------

# The daemon of root may make the spool immutable, and then the second program cannot open it.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	chmod 755 "$work" && mkdir "$work/others" && chown 65534 "$work/others"
	"$build/bin/mimicd" --socket "$work/socket" --devices virgo:1 --allow-users >"$work/daemon" 2>&1 &
	daemon=$!
	for _ in $(seq 200); do
		[ -S "$work/socket" ] && break
		sleep 0.05
	done
	# shellcheck disable=SC2016 # the program's arguments
	timeout -k 5 60 setpriv --reuid 65534 --regid 65534 --clear-groups \
		"$mimic" trace -o "$work/others/trace.json" "${through[@]}" sh -c '"$@" && exec "$@"' - \
		"$examples/virgo/gemm" --json --form library --size 64x64x64 >"$work/output" 2>"$work/errors" &&
		"$check" "$work/others/trace.json" >"$work/found" 2>>"$work/errors" && same commands commands 2
	result $? "a daemon of root traces each of another user's programs"
	stop_daemon
else
	skip "a daemon of root traces each of another user's programs" "not root"
fi

# --- as the program ----------------------------------------------------------------------------

run sh -c 'exit 37'
[ $? = 37 ]
result $? "the exit status is the program's"

run sh -c 'kill -SEGV $$'
[ $? = 139 ]
result $? "a signal that ends the program ends mimic trace"

run bash "$work/killed.sh" "$build/tests/unmodified/steady" "$work/input"
[ $? = 137 ] && "$check" "$work/trace.json" >"$work/found" 2>>"$work/errors" && [ "$(found consumed)" -gt 10 ] &&
	about_three left_over
result $? "a program that is killed leaves a trace of what it did, and of the words that it left"

timeout -k 5 60 "$mimic" trace -o "$work/trace.json" sh -c 'trap "exit 5" TERM; echo up; while :; do sleep 0.05; done' \
	>"$work/output" 2>"$work/errors" &
tracer=$!
for _ in $(seq 100); do
	grep -q up "$work/output" && break
	sleep 0.05
done
kill -TERM "$(pgrep -P $tracer -x mimic)" 2>/dev/null || kill -TERM $tracer
wait $tracer
[ $? = 5 ] && "$check" "$work/trace.json" >/dev/null
result $? "a signal for mimic trace is one for the program"

run "$build/bin/mimic" --version
[ $? = 0 ] && "$check" "$work/trace.json" >/dev/null
result $? "a program without a device has an empty trace"

[ -z "$(ls "$TMPDIR")" ]
result $? "no spool is left behind"

# --- refusals ---------------------------------------------------------------------------------------

refused 'which program'
result $? "no program"

refused 'no number of megabytes' --limit 0 true && refused 'no number of megabytes' --limit 1x true
result $? "a limit that is no number"

[ -e /dev/maple0 ] || refused 'is mimic.ko loaded and mimicd running' --transport kernel true
result $? "the transport of a kernel that is not there"

"$mimic" trace -o "$work/none/trace.json" sh -c 'echo started' >"$work/output" 2>"$work/errors"
[ $? = 2 ] && [ ! -s "$work/output" ] && grep -q 'none/trace.json' "$work/errors"
result $? "a file that cannot be written is said before the program starts"

run "$work/there-is-none"
[ $? = 127 ]
result $? "no such program"

# --- probes and lists ---------------------------------------------------------------------------------

names=$(sed -n 's/^	_([0-9]*, \([a-z_]*\), "[a-z]*", [A-Z]*, [A-Z_]*,.*/\1/p' devices/trace.h)
if ! echo '#include <sys/sdt.h>' | gcc -E - >/dev/null 2>&1; then
	skip "every event has a USDT probe" "no <sys/sdt.h>"
else
	readelf -n "$build/lib/libmimic.so.0" | awk '/Provider: mimic/ { getline; print $2 }' | sort -u >"$work/probes"
	printf '%s\n' $names | sort >"$work/names"
	diff "$work/names" "$work/probes" >"$work/output" && [ "$(wc -l <"$work/names")" -gt 30 ]
	result $? "every event has a USDT probe"
fi

for name in $names; do
	grep -q "^| $name |" docs/trace.md || echo "docs/trace.md has no $name"
done >"$work/output"
[ ! -s "$work/output" ]
result $? "every event is in docs/trace.md"

plan
