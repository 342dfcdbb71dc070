#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# The example programs and the demo: right results on real and generated
# matrices, in every form and on both transports, and their errors for bad input. TAP.
# usage: test-examples.sh BUILD-DIRECTORY
set -u
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/tap.sh"
data=../shared/data
as=()	# a command that runs the programs as somebody else

run() # run KERNEL ARGUMENTS...: status of the program; it may take 60 s
{
	local kernel=$1
	shift
	timeout -k 2 60 "${as[@]}" "$build/examples/maple/$kernel" "$@" >"$work/output" 2>"$work/errors" </dev/null
}

daemons_stop_at_once() # 0 if each of many, told so in its first moments, ends well and leaves nothing
{
	local first status
	for _ in $(seq 40); do
		"$build/bin/mimicd" --foreground --socket "$work/socket" >"$work/daemon" 2>&1 &
		first=$!
		while [ ! -S "$work/socket" ] && kill -0 $first; do :; done
		kill $first
		wait $first
		status=$?
		[ $status = 0 ] && [ ! -e "$work/socket" ] || return 1
	done
}

# all_verified FORMS KERNEL ARGUMENTS...: as many forms, each verified, nothing on standard error
all_verified()
{
	local forms=$1
	shift
	run "$@" && [ "$(grep -cE '^[a-z]+ +[a-z]+ +yes ' "$work/output")" = "$forms" ] && [ ! -s "$work/errors" ]
}

# --- right results -----------------------------------------------------------

for kernel in spmv sdhp spmm bfs; do
	for file in bcsstk13.mtx cora.mtx jagmesh7.mtx maple_spmv_data_big.mtx maple_spmv_data_sq_big.mtx \
		n1024-l1.mtx olm1000.mtx p2p-Gnutella25.txt pubmed.mtx pushpull.mtx; do
		what="$kernel of $file is right in all forms"
		# These two are not square, so they are no graphs.
		[ $kernel = bfs ] && [ "${file#maple_}" != "$file" ] && continue
		if [ -e "$data/$file" ]; then
			all_verified 4 $kernel --transport embedded --roots 8 "$data/$file"
			result $? "$what"
		else
			skip "$what" "no $data/$file"
		fi
	done
	all_verified 4 $kernel --transport embedded --roots 8 --kronecker 10
	result $? "$kernel of a Kronecker graph is right in all forms"
	all_verified 4 $kernel --transport embedded --roots 8 --uniform 3000x5
	result $? "$kernel of a uniform matrix is right in all forms"
	for threads in 1+3 3+1 2+2 8+8; do
		all_verified 1 $kernel --transport embedded --form decoupled --threads $threads --roots 8 --kronecker 10
		result $? "$kernel with $threads threads is right"
	done
done

printf '[maple]\nprofile = artifact\n' >"$work/artifact.ini"
for kernel in spmv sdhp spmm bfs; do
	all_verified 4 $kernel --transport embedded --config "$work/artifact.ini" --roots 4 --kronecker 8
	result $? "$kernel is right in all forms on the artifact profile"
done

printf '%%%%MatrixMarket matrix coordinate real general\n5 4 3\n2 1 1.5\n2 4 -2\n4 2 .25\n' >"$work/gaps.mtx"
printf '%%%%MatrixMarket matrix coordinate integer general\n3 3 0\n' >"$work/none.mtx"
printf '%%%%MatrixMarket matrix coordinate integer general\n0 0 0\n' >"$work/zero.mtx"
for kernel in spmv sdhp spmm; do
	for file in gaps none zero; do
		all_verified 4 $kernel --transport embedded "$work/$file.mtx"
		result $? "$kernel of a matrix with $file is right in all forms"
	done
done

run spmv --transport embedded --json --kronecker 8
status=$?
for key in '"kernel":"spmv"' '"input":"kronecker 8"' '"rows":256' '"nonzeros":' '"form":"lima"' \
	'"transport":"embedded"' '"verified":true' '"elements_per_second":' '"seconds":' '"tlb_misses":'; do
	tr -d '\n' <"$work/output" | sed 's/": *"/":"/g; s/": */":/g' | grep -qF "$key" || status=1
done
result $status "the JSON report has what the forms did"

run spmv --transport embedded --form lima --uniform 1000x7 &&
	awk '/^lima/ { exit !($5 > 0 && $6 == 14000 && $7 == 14000 && $8 == 7000 && $10 == 0) }' "$work/output"
result $? "the device's counters are those of the work: two words and one fetch for each of 7000 values"

run bfs --transport embedded --form plain --json --kronecker 8 && grep -q '"roots": *64' "$work/output" &&
	grep -q '"teps_harmonic_mean"' "$work/output"
result $? "bfs searches from 64 roots and reports TEPS"

# --- the daemon ----------------------------------------------------------------

if start_daemon maple:2; then
	for kernel in spmv sdhp spmm bfs; do
		for registered in "" --register; do
			all_verified 4 $kernel --transport daemon --socket "$work/socket" $registered --roots 4 --kronecker 8
			result $? "$kernel is right through the daemon ${registered:-with memory of its own}"
		done
	done
	run spmv --socket "$work/socket" --config artifact --form lima --kronecker 6 &&
		grep -q '^lima  *embedded  *yes ' "$work/output"
	result $? "--config makes the transport embedded even beside a daemon"
	"$build/examples/maple/spmv" --transport daemon --socket "$work/socket" --register \
		--form decoupled --uniform 700000x32 >"$work/output" 2>"$work/errors" &
	client=$!
	# It is at work once its two threads are there.
	for _ in $(seq 400); do
		[ "$(awk '/^Threads/ { print $2 }' /proc/$client/status 2>/dev/null || echo 9)" -ge 3 ] && break
		sleep 0.05
	done
	sleep 0.2
	daemon_dies_under $client; result $? "a program whose daemon is killed ends with status 1 and says why"
	rm -f "$work/socket"
	start_daemon maple:2 && stop_daemon
	result $? "a daemon stops cleanly"
	daemons_stop_at_once; result $? "a daemon that is told to stop as soon as its socket is there stops cleanly"
else
	cp "$work/daemon" "$work/errors"
	result 1 "the daemon starts"
fi

run spmv --transport daemon --socket "$work/nobody" --form lima --kronecker 4
[ $? = 1 ] && grep -q "$work/nobody\|refused\|daemon" "$work/errors"
result $? "without a daemon the daemon transport is an error that says so"

# --- wrong results ---------------------------------------------------------------

cat >"$work/liar.c" <<'SOURCE'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
struct maple;
ssize_t maple_consume64_batch(struct maple *maple, unsigned int queue, uint64_t *data, size_t count);
ssize_t maple_consume64_batch(struct maple *maple, unsigned int queue, uint64_t *data, size_t count)
{
	ssize_t (*next)(struct maple *, unsigned int, uint64_t *, size_t) = dlsym(RTLD_NEXT, "maple_consume64_batch");
	static int calls;
	ssize_t got = next(maple, queue, data, count);

	if (calls++ == 3)
		data[0] ^= 1ull << 45;	/* not one that rounding hides */
	return got;
}
SOURCE
if gcc -shared -fPIC -o "$work/liar.so" "$work/liar.c" -ldl 2>"$work/errors"; then
	for kernel in spmv sdhp spmm; do
		LD_PRELOAD=$work/liar.so run $kernel --transport embedded --form lima --kronecker 8
		[ $? = 1 ] && grep -q ' NO ' "$work/output" && grep -q 'lima: wrong result' "$work/errors"
		result $? "$kernel finds one wrong bit in one value and ends with status 1"
	done
else
	result 1 "a library that lies can be built"
fi

# --- bad input ---------------------------------------------------------------------

banner='%%MatrixMarket matrix coordinate pattern general'
bad()
{
	printf '%b' "$2" >"$work/bad.mtx"
	refused "$work/bad.mtx$3" spmv --transport embedded "$work/bad.mtx"
	result $? "$1"
}
bad "a column out of range is refused by line" "$banner\n8 8 1\n1 9\n" ":3: column 9 is beyond the 8 columns"
bad "row 0 is refused by line" "$banner\n8 8 1\n0 1\n" ":3: row is 0; the first is 1"
bad "too few entries are refused" "$banner\n8 8 2\n1 1\n" ":3: the file ends after 1 entries; line 2 promises 2"
bad "too many entries are refused" "$banner\n8 8 1\n1 1\n2 2\n" ":4: more entries than the 1"
bad "2^31 rows in a small file are refused" "$banner\n2147483648 2147483648 1\n1 1\n" ":2: 2147483648 rows are more"
bad "an empty file is refused" "" ": the file is empty"
bad "a dense matrix is refused" "%%MatrixMarket matrix array real general\n1 1\n1\n" ":1: this is a dense matrix"
bad "text is refused" "hello\n" ":1: vertex \"hello\" is not a number"
refused "it is a directory" spmv "$work"; result $? "a directory is refused"
refused "$work/missing: No such file" spmv "$work/missing"; result $? "a missing file is refused"
refused "a graph needs a square matrix" bfs "$work/gaps.mtx"; result $? "bfs refuses a matrix that is not square"
refused "the graph has no edge" bfs "$work/none.mtx"; result $? "bfs refuses a graph without edges"
refused "no input" spmv; result $? "no input is refused"
refused "one input at a time" spmv "$work/gaps.mtx" "$work/none.mtx"; result $? "two files are refused"
refused "--kronecker needs a value" spmv --kronecker; result $? "an option without its value is refused"
refused "--seed 1x" spmv --seed 1x --kronecker 4; result $? "a seed that is no number is refused"
refused "--roots 0" bfs --roots 0 --kronecker 4; result $? "no root is refused"
refused "more than one of" spmv --kronecker 4 --uniform 4x4; result $? "two inputs are refused"
refused "--kronecker 31" spmv --kronecker 31; result $? "too large a scale is refused"
refused "--uniform 4x" spmv --uniform 4x; result $? "half a shape is refused"
refused "--uniform 4x5: 5 non-zeros in each row are more than its 4 columns" spmv --uniform 4x5 &&
	refused "--uniform 9x4x5: 5 non-zeros in each row are more than its 4 columns" spmv --uniform 9x4x5
result $? "more non-zeros in a row than it has columns are refused"
refused "--threads 0+1" spmv --threads 0+1 --kronecker 4; result $? "no access thread is refused"
refused "needs 9 queues" spmv --transport embedded --form decoupled --threads 9+1 --kronecker 4
result $? "more threads than the device has queues are refused"
refused "--form fast" spmv --form plain,fast --kronecker 4; result $? "an unknown form is refused"
refused "--form fast" spmv --form fast,plain --kronecker 4; result $? "an unknown form before a known one is refused"
refused "device 'maple64'" spmv --transport embedded --device maple64 --form lima --kronecker 4
result $? "a device that is not there is refused"
refused "$work/none.ini: No such file" spmv --transport embedded --config "$work/none.ini" --kronecker 4
result $? "a missing configuration is refused"
printf '[maple]\nno_such_key = 1\n' >"$work/bad.ini"
refused "bad.ini:2" spmv --transport embedded --config "$work/bad.ini" --kronecker 4
result $? "a wrong configuration is refused by line"
refused "the options config and devices belong to the embedded transport" \
	spmv --transport daemon --config artifact --kronecker 4
result $? "a configuration for the daemon is refused"
# root may read everything, so it becomes a user that owns nothing here
[ "$(id -u)" = 0 ] && as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
if "${as[@]}" test -x "$build/examples/maple/spmv" 2>/dev/null; then
	printf '[maple]\nprofile = paper\n' >"$work/closed.ini"
	mkdir "$work/closed"
	chmod 0 "$work/closed.ini" "$work/closed"
	refused "$work/closed.ini: Permission denied" spmv --transport embedded --config "$work/closed.ini" --kronecker 4
	result $? "a configuration that may not be read is refused"
	run spmv --transport daemon --socket "$work/closed/socket" --form lima --kronecker 4
	[ $? = 1 ] && grep -q "$work/closed/socket: Permission denied" "$work/errors"
	result $? "a daemon that may not be reached is a failure"
	chmod 700 "$work/closed"
else
	skip "a configuration that may not be read is refused" "other users cannot reach the build directory"
	skip "a daemon that may not be reached is a failure" "other users cannot reach the build directory"
fi
as=()
refused "--transport pigeon" spmv --transport pigeon --kronecker 4; result $? "an unknown transport is refused"
refused "--nonsense" spmv --nonsense; result $? "an unknown option is refused"
run spmv --help && grep -q '^Usage: spmv' "$work/output" && [ ! -s "$work/errors" ]
result $? "--help prints the usage"

# --- the demo -----------------------------------------------------------------------

mkdir "$work/tmp"
export TMPDIR=$work/tmp
timeout -k 2 120 "$build/bin/mimic-demo" --scale 9 >"$work/output" 2>"$work/errors"
[ $? = 0 ] && [ "$(grep -cE ' kronecker 9 .* (none|embedded|daemon) +yes ' "$work/output")" = 14 ]
result $? "the demo verifies 14 runs of the scale that was asked for"
[ "$(grep -n '^kernel ' "$work/output" | cut -d: -f1)" = 1 ]
result $? "the demo's table has one header"
for product in spmm sddmm; do
	[ "$(grep -cE "^$product +(plain|baseline|gsa) .* (none|embedded|daemon) +yes " "$work/output")" = 21 ] &&
		[ "$(grep -cE "^$product +B=.* PE utilisation" "$work/output")" = 5 ]
	result $? "the demo verifies $product of DARE in two forms and five block sizes on both transports"
	awk -v product=$product '$1 == product && $2 == "B=1" { exit !($7 + 0 < 0.5 && $12 > 2) }' "$work/output" &&
		awk -v product=$product '$1 == product && $2 == "B=16" { exit !($7 + 0 >= 1 && $12 == 1) }' "$work/output"
	result $? "the demo shows that GSA pays for $product at B=1 and not at B=16"
done
[ "$(sed -n '/^DARE/,/^Virgo/p' "$work/output" | grep -cE '^gemm .* (none|embedded|daemon) +yes ')" = 7 ]
result $? "the demo verifies the dense product of DARE in three types on both transports"
for expected in gemm:15 gemm_swish:5 gemm_two_units:7; do
	[ "$(sed -n '/^Virgo/,$p' "$work/output" | grep -cE "^${expected%:*} .* (none|embedded|daemon) +yes ")" = "${expected#*:}" ]
	result $? "the demo verifies ${expected%:*} of Virgo by the paper's kernel and by the library, on both transports"
done
sed -n '/^Virgo/,$p' "$work/output" | awk '$1 == "gemm_two_units" && $2 == "parallel" {
	n += $7 > 0 && $8 > 0 && $9 > 0 && $10 > 0 && $11 > 0 && $12 > 0 && $13 > 0 && $14 == 0 } END { exit n != 2 }'
result $? "the demo counts commands, tiles, MACs, bytes by DMA and of shared memory, and polls"
! grep -q '.\{101\}' "$work/output"
result $? "no line of the demo is wider than 100 columns"
timeout -k 2 60 "$build/bin/mimic-demo" "$work/gaps.mtx" >"$work/output" 2>"$work/errors"
[ $? = 0 ] && [ "$(grep -cE '^spmv .* (none|embedded|daemon) +yes ' "$work/output")" = 7 ] && grep -q 'not square' "$work/output"
result $? "the demo leaves bfs out where the matrix is not square"
# Files that it leaves behind then are found below.
timeout -k 2 60 "$build/bin/mimic-demo" --scale 9 2>"$work/errors" | head -n 1 >"$work/output"
[ "${PIPESTATUS[0]}" = 141 ] && [ -s "$work/output" ]
result $? "the demo ends as by SIGPIPE when nobody reads its table any more"
timeout -k 2 60 "$build/bin/mimic-demo" "$work/bad.mtx" >"$work/output" 2>"$work/errors"
[ $? = 1 ] && [ "$(grep -c 'bad.mtx:1: vertex "hello" is not a number' "$work/errors")" = 1 ] &&
	[ ! -s "$work/output" ]
result $? "the demo fails on a bad file, says why once and begins no table"
for wrong in "--nonsense" "a.mtx b.mtx"; do
	# shellcheck disable=SC2086 # two words are meant
	timeout -k 2 60 "$build/bin/mimic-demo" $wrong >"$work/output" 2>"$work/errors"
	[ $? = 2 ] && [ -s "$work/errors" ] && [ ! -s "$work/output" ]
	result $? "the demo refuses $wrong"
done
ls "$work/tmp" >"$work/output"
[ ! -s "$work/output" ]
result $? "the demo leaves nothing behind"

plan
