#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# The Virgo example programs: right results in every form, type and size, on
# clusters of several kinds and on both transports; their counters; their errors
# for bad input and for a unit that fails. TAP.
# usage: test-virgo-examples.sh BUILD-DIRECTORY
set -u
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/tap.sh"

run() # run KERNEL ARGUMENTS...: status of the program; it may take 100 s
{
	local kernel=$1
	shift
	timeout -k 2 100 "$build/examples/virgo/$kernel" "$@" >"$work/output" 2>"$work/errors" </dev/null
}

# all_verified RUNS KERNEL ARGUMENTS...: as many runs, each verified, nothing on standard error
all_verified()
{
	local runs=$1
	shift
	run "$@" && [ "$(grep -cE '^[a-z]+ +(fp32|fp16|int8) +[-0-9,]+ +[a-z]+ +yes ' "$work/output")" = "$runs" ] &&
		[ ! -s "$work/errors" ]
}

# preload NAME: builds $work/NAME.so from standard input
preload()
{
	cat >"$work/$1.c"
	gcc -shared -fPIC -Iinclude -Ilibvirgo -o "$work/$1.so" "$work/$1.c" -ldl 2>"$work/errors"
}

# --- right results -----------------------------------------------------------

for size in 256x256x256 128x192x512 100x90x70 65x129x63 1x1x1 1x300x5 300x1x64 64x64x1; do
	all_verified 12 gemm --transport embedded --size $size
	result $? "gemm of $size is right in all forms and types"
	all_verified 6 gemm_swish --transport embedded --size $size
	result $? "gemm_swish of $size is right in all forms and types"
	all_verified 4 gemm_two_units --transport embedded --size $size --second 70x130x90
	result $? "gemm_two_units of $size and 70x130x90 is right in all forms"
done
for threads in 1 2 3 16; do
	all_verified 12 gemm --transport embedded --size 130x100x100 --threads $threads
	result $? "gemm with $threads threads is right"
	all_verified 6 gemm_swish --transport embedded --size 130x100x100 --threads $threads
	result $? "gemm_swish with $threads threads is right"
done
for shape in 256x64 100x64 65x33 1x64 130x1 31x7 33x256; do
	all_verified 2 flash_attention --transport embedded --sequence ${shape%x*} --head ${shape#*x}
	result $? "flash_attention of $shape is right with both exponential functions"
done
for threads in 1 2 3 64; do
	all_verified 2 flash_attention --transport embedded --sequence 200 --head 40 --threads $threads
	result $? "flash_attention with $threads threads is right"
done
all_verified 4 gemm_two_units --transport embedded --threads 9; result $? "gemm_two_units with 9 threads is right"
all_verified 4 gemm --transport embedded --unit 1 --size 70x80x90 && grep -q '^dma .* 1 .* yes' "$work/output"
result $? "gemm on a unit of 4 x 4 is right, and only in that unit's type"
all_verified 4 gemm_two_units --transport embedded --unit 1,0
result $? "gemm_two_units with its units the other way round is right"
run gemm --form plain --type int8 --size 20x30x40 && grep -q '^plain  *int8  *-  *none  *yes' "$work/output"
result $? "the plain form needs no device"

cluster() { printf '[virgo]\n%b' "$2" >"$work/$1.ini"; }
cluster paper 'profile = paper\n'
cluster heterogeneous 'profile = heterogeneous\n'
cluster gemmini 'profile = gemmini\n'
cluster later 'profile = later\n'
cluster small 'profile = mixed\nunits = 2\nshared_kb = 64\nunit0_type = 2\nunit0_dim = 16\nunit0_accumulator_kb = 4\nunit1_type = 2\nunit1_dim = 8\nunit1_accumulator_kb = 4\n'
cluster large 'profile = mixed\nshared_kb = 256\n'
cluster bytes 'profile = mixed\nunits = 2\nunit0_type = 0\nunit0_dim = 8\nunit1_type = 0\nunit1_dim = 16\n'
cluster halves 'profile = mixed\nunits = 2\nunit0_type = 1\nunit0_dim = 16\nunit1_type = 1\nunit1_dim = 4\n'
cluster wide 'profile = mixed\nunits = 3\nshared_kb = 64\nunit0_type = 2\nunit0_dim = 32\nunit0_accumulator_kb = 4\nunit1_type = 0\nunit1_dim = 32\nunit2_type = 1\nunit2_dim = 32\n'
for config in paper:4 heterogeneous:4 gemmini:4 later:4 small:4 bytes:4 halves:4 wide:12; do
	name=${config%:*}
	all_verified "${config#*:}" gemm --config "$work/$name.ini" --size 200x150x170
	result $? "gemm is right on the cluster '$name'"
done
for config in paper:3 later:3 small:3 halves:3 wide:6; do
	name=${config%:*}
	all_verified "${config#*:}" gemm_swish --config "$work/$name.ini" --size 200x150x170
	result $? "gemm_swish is right on the cluster '$name'"
done
for name in paper small large; do
	all_verified 2 flash_attention --config "$work/$name.ini" --sequence 150 --head 48
	result $? "flash_attention is right on the cluster '$name'"
done
for name in heterogeneous small bytes halves; do
	all_verified 4 gemm_two_units --config "$work/$name.ini" --size 200x150x170 --second 100x90x270
	result $? "gemm_two_units is right on the cluster '$name'"
done

# --- the output --------------------------------------------------------------

# Four tiles of C, each of two steps of 32 KB.
run gemm --transport embedded --type fp32 --unit 0 --form dma --size 128x128x128 && awk '
	/^dma/ && !/yes/ { exit !($4 == 4096 && $5 == 2097152 && $6 == 262144 && $7 == 65536 && $9 == 262144 && $10 == 0) }' "$work/output"
result $? "the counters are those of the work: tiles, MACs, bytes by DMA, into shared memory, no polls"
run gemm --transport embedded --type fp32 --unit 0 --form copy --size 128x128x128 && awk '
	/^copy/ && !/yes/ { exit !($4 == 4096 && $5 == 2097152 && $6 == 0 && $7 == 65536 && $9 == 0) }' "$work/output"
result $? "operands that the threads copy are not moved by DMA"
run gemm_swish --transport embedded --type fp32 --form fused --size 128x128x128 && awk '
	/^fused/ && !/yes/ { exit !($7 == 0 && $9 == 262144 + 65536) }' "$work/output"
result $? "finished tiles go to the activation through shared memory, and by no DMA"
# Two tiles of queries; for each Q, and four tiles of keys and values of 32 x 64.
run flash_attention --transport embedded --unit 0 --sequence 128 --head 64 --exp exact &&
	grep -q '^tiles of 64 queries and 32 keys, 96 KB' "$work/output" && awk '
	/^exact/ && !/yes/ { exit !($3 == 2 * 128 * 128 * 64 / 512 && $4 == 2 * 128 * 128 * 64 &&
				    $5 == 4 * (128 * 64 + 2 * 2 * 128 * 64) && $6 == 0) }' "$work/output"
result $? "the counters of flash_attention: two products, Q once, K and V once for each tile of queries, no scores by DMA"
run flash_attention --config "$work/large.ini" --sequence 128 && grep -q '^tiles of 64 queries and 64 keys, 144 KB' "$work/output"
result $? "flash_attention takes tiles of 64 x 64 where the shared memory has room"
run flash_attention --transport embedded --json --sequence 70 --head 24 --exp taylor --threads 3 --seed 9
status=$?
for key in '"kernel":"flash_attention"' '"description":"Q, K, V 70 x 24"' '"sequence":70' '"head":24' '"queries":64' \
	'"keys":' '"shared_bytes":' '"tolerance":' '"threads":3' '"exp":"taylor"' '"type":"fp32"' '"transport":"embedded"' \
	'"device":"virgo0"' '"unit":0' '"verified":true' '"error":' '"macs":235200' '"macs_per_second":' '"seconds":' '"tiles":'; do
	tr -d '\n' <"$work/output" | sed 's/": *"/":"/g; s/": */":/g' | grep -qF "$key" || { status=1; echo "no $key" >>"$work/errors"; }
done
result $status "the JSON report of flash_attention has its sizes, tiles, error and counters"
run flash_attention --transport embedded --sequence 8192 --head 1 --exp exact && ! grep -q '.\{101\}' "$work/output"
result $? "no line of the tables of flash_attention is wider than 100 columns"
run gemm --transport embedded --size 512x512x512 && ! grep -q '.\{101\}' "$work/output"
result $? "no line of the tables is wider than 100 columns"

run gemm_two_units --transport embedded --json
status=$?
for key in '"kernel":"gemm_two_units"' '"description":"A 256 x 256, B 256 x 256; A 128 x 256, B 256 x 128"' \
	'"threads":4' '"form":"parallel"' '"type":"fp32"' '"transport":"embedded"' '"device":"virgo0"' '"verified":true' \
	'"macs":20971520' '"macs_per_second":' '"commands":' '"tiles":' '"dma_bytes_read":' '"shared_bytes_written":' \
	'"polls":0' '"units":' '"unit":1' '"macs":4194304' '"macs":16777216'; do
	tr -d '\n' <"$work/output" | sed 's/": *"/":"/g; s/": */":/g' | grep -qF "$key" || { status=1; echo "no $key" >>"$work/errors"; }
done
result $status "the JSON report has what the forms did, and each unit"

# --- the daemon ----------------------------------------------------------------

if start_daemon virgo:2; then
	all_verified 12 gemm --transport daemon --socket "$work/socket" --size 200x150x170
	result $? "gemm is right through the daemon"
	all_verified 6 gemm_swish --transport daemon --socket "$work/socket" --size 200x150x170
	result $? "gemm_swish is right through the daemon"
	all_verified 4 gemm_two_units --transport daemon --socket "$work/socket"
	result $? "gemm_two_units is right through the daemon"
	all_verified 2 flash_attention --transport daemon --socket "$work/socket" --sequence 300
	result $? "flash_attention is right through the daemon"
	all_verified 2 flash_attention --transport daemon --socket "$work/socket" --sequence 75 --head 50 --threads 7
	result $? "flash_attention of parts of tiles is right through the daemon"
	for client in 0 1; do
		timeout -k 2 100 "$build/examples/virgo/gemm" --transport daemon --socket "$work/socket" --form dma,library \
			>"$work/output$client" 2>"$work/errors$client" </dev/null &
		clients[client]=$!
	done
	status=0
	for client in 0 1; do
		wait "${clients[client]}" || status=1
		[ "$(grep -c ' yes ' "$work/output$client")" = 6 ] || status=1
	done
	cat "$work/output0" "$work/output1" >"$work/output"
	cat "$work/errors0" "$work/errors1" >"$work/errors"
	result $status "two programs at once have a cluster each"
	run gemm --transport daemon --socket "$work/socket" --device virgo1 --form library --type int8 --size 64x64x64 --json &&
		grep -q '"device": *"virgo1"' "$work/output"
	result $? "a cluster is chosen by its name"
	"$build/examples/virgo/gemm" --transport daemon --socket "$work/socket" --type fp32 --form dma \
		--size 4096x4096x4096 >"$work/output" 2>"$work/errors" &
	client=$!
	# It is at work once its warps are there.
	for ((try = 0; try < 1200; try++)); do
		[ "$(awk '/^Threads/ { print $2 }' /proc/$client/status 2>/dev/null || echo 9)" -ge 4 ] && break
		sleep 0.05
	done
	sleep 0.2
	daemon_dies_under $client; result $? "a program whose daemon is killed ends with status 1 and says why"
else
	cp "$work/daemon" "$work/errors"
	result 1 "the daemon starts"
fi

run gemm --transport daemon --socket "$work/nobody"
[ $? = 1 ] && grep -q "$work/nobody" "$work/errors"
result $? "without a daemon the daemon transport is an error that says so"

# --- wrong results, and a unit that fails -------------------------------------------

if preload liar <<'SOURCE'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <virgo.h>
int virgo_gemm(struct virgo *virgo, unsigned int unit, const struct virgo_product *product)
{
	int (*next)(struct virgo *, unsigned int, const struct virgo_product *) = dlsym(RTLD_NEXT, "virgo_gemm");
	int error = next(virgo, unit, product);

	((unsigned short *)product->c)[154] ^= 1;
	return error;
}
int virgo_matmul_tile(struct virgo *virgo, unsigned int unit, unsigned int flags, const struct virgo_tile *tile)
{
	int (*next)(struct virgo *, unsigned int, unsigned int, const struct virgo_tile *) =
		dlsym(RTLD_NEXT, "virgo_matmul_tile");
	static int calls;

	return next(virgo, unit, ++calls == 2 ? 0 : flags, tile);	/* forgets the tile's values */
}
SOURCE
then
	for type in fp32 int8; do
		LD_PRELOAD=$work/liar.so run gemm --transport embedded --library --type $type --size 100x70x60
		[ $? = 1 ] && grep -q ' NO ' "$work/output" && grep -q "library $type: wrong result: C\[1\]\[7\] is" "$work/errors"
		result $? "gemm of $type finds one wrong bit in one element and ends with status 1"
	done
	LD_PRELOAD=$work/liar.so run flash_attention --transport embedded --exp exact --sequence 128
	[ $? = 1 ] && grep -q ' NO ' "$work/output" && grep -q 'exact: wrong result: O\[0\]\[0\] is' "$work/errors"
	result $? "flash_attention finds a wrong tile of scores"
	for form in gemm:dma gemm:copy gemm_swish:fused gemm_two_units:serial; do
		LD_PRELOAD=$work/liar.so run ${form%:*} --transport embedded --form ${form#*:} --type fp32 --size 64x64x128
		[ $? = 1 ] && grep -q "${form#*:} fp32: wrong result: C\[0\]\[0\] is" "$work/errors"
		result $? "${form%:*} in the form ${form#*:} finds a step that did not add"
	done
else
	result 1 "a library that lies can be built"
fi
if preload breaker <<'SOURCE'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <virgo.h>
int virgo_dma_load(struct virgo *virgo, unsigned int unit, unsigned int flags, const struct virgo_tile *tile,
		   const void *a, size_t lda, const void *b, size_t ldb)
{
	int (*next)(struct virgo *, unsigned int, unsigned int, const struct virgo_tile *, const void *, size_t,
		    const void *, size_t) = dlsym(RTLD_NEXT, "virgo_dma_load");
	static int calls;

	return next(virgo, unit, flags, tile, ++calls == 5 ? (void *)0x1000 : a, lda, b, ldb);
}
SOURCE
then
	for form in gemm:dma gemm_swish:fused gemm_two_units:parallel; do
		LD_PRELOAD=$work/breaker.so run ${form%:*} --transport embedded --form ${form#*:} --type fp32 --size 256x256x256
		[ $? = 1 ] && [ ! -s "$work/output" ] && grep -q "${form#*:} fp32: .*0x1000" "$work/errors"
		result $? "${form%:*}: all warps leave when their unit fails, and the address is told"
	done
	LD_PRELOAD=$work/breaker.so run flash_attention --transport embedded --exp exact --sequence 256
	[ $? = 1 ] && [ ! -s "$work/output" ] && grep -q "exact: .*0x1000" "$work/errors"
	result $? "flash_attention: all warps leave when their unit fails, and the address is told"
else
	result 1 "a library that breaks things can be built"
fi

# --- plain stores ------------------------------------------------------------------------

# stores OPTIONS... -- ARGUMENTS...: gemm_stores under mimic run
stores()
{
	local options=()
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	timeout -k 2 100 "$build/bin/mimic" run "${options[@]}" "$build/examples/virgo/gemm_stores" "$@" \
		>"$work/output" 2>"$work/errors" </dev/null
}
for type in int8 fp32; do
	for size in 100x90x70 1x1x1 17x16x33; do
		stores --transport embedded -- --type $type --size $size && grep -q "$type on unit .*: verified" "$work/output"
		result $? "gemm_stores of $size in $type is right under mimic run"
	done
done
stores --transport embedded -- --size 32x48x64 &&
	awk '$1 == "tiles" { t = $2 } $1 == "macs" { m = $2 } $1 == "commands" { c = $2 } $1 == "polls" { p = $2 }
		END { exit !(t == 24 && m == 98304 && c == 4 + 4 * 24 + 6 && p > 0) }' "$work/output"
result $? "gemm_stores counts the commands that it stored, and its polls"
stores --transport embedded -- --json && grep -q '"verified": *true' "$work/output" && grep -q '"polls": *[1-9]' "$work/output"
result $? "gemm_stores reports as JSON"
rm -f "$work/socket"
if start_daemon virgo:1; then
	stores --transport daemon --socket "$work/socket" -- --type int8 && grep -q ": verified" "$work/output"
	result $? "gemm_stores is right through the daemon"
	stop_daemon
	result $? "the daemon stops cleanly"
fi
stores --transport embedded --config "$work/paper.ini" -- --type int8
[ $? = 2 ] && grep -q -- '--type int8: /dev/virgo0 has no such matrix unit' "$work/errors"
result $? "gemm_stores refuses a type that the cluster has no unit for"
if [ -e /dev/virgo0 ]; then
	skip "gemm_stores without a node is an error that says what to do" "there is a /dev/virgo0"
else
	run gemm_stores
	[ $? = 1 ] && grep -q '/dev/virgo0: No such file.*mimic run' "$work/errors"
	result $? "gemm_stores without a node is an error that says what to do"
fi
refused "$work/node: No such file" gemm_stores --device "$work/node"; result $? "gemm_stores refuses a node that is not there"
refused "--type fp16" gemm_stores --type fp16; result $? "gemm_stores refuses an unknown type"
refused "--size 4x4" gemm_stores --size 4x4; result $? "gemm_stores refuses half a size"
refused "it takes no arguments" gemm_stores what; result $? "gemm_stores refuses an argument"

# --- bad input ---------------------------------------------------------------------

refused "--form fast: it must be plain, dma, copy, library or all" gemm --form dma,fast
result $? "an unknown form is refused"
refused "--type fp64: it must be int8, fp16, fp32 or all" gemm --type fp64; result $? "an unknown type is refused"
refused "--type int8: it must be fp16, fp32 or all" gemm_swish --type int8; result $? "swish has no integers"
refused "--size 0x4x4: it must be MxNxK, each from 1 to 8192" gemm --size 0x4x4; result $? "a size of 0 is refused"
refused "--size 4x4" gemm_swish --size 4x4; result $? "half a size is refused"
refused "--size 9000x1x1" gemm --size 9000x1x1; result $? "too large a size is refused"
refused "--second: this program has one product" gemm --second 4x4x4; result $? "a second size is refused where there is one product"
refused "--threads 0: it must be a number from 1 to 64" gemm --threads 0; result $? "no thread is refused"
refused "--threads 1: it must be a number from 2 to 64" gemm_two_units --threads 1
result $? "fewer threads than units is refused"
refused "--unit 8" gemm --unit 8; result $? "a unit that no cluster can have is refused"
refused "--unit 7: virgo0 has 4 units" gemm --transport embedded --unit 7; result $? "a unit that the cluster has not is refused"
refused "--unit 2: it is not of type fp32" gemm --transport embedded --unit 2 --type fp32
result $? "a unit of another type is refused"
refused "--unit 1,1: they must be two units" gemm_two_units --unit 1,1; result $? "one unit twice is refused"
refused "--unit 1: it must be two numbers" gemm_two_units --unit 1; result $? "one unit for two products is refused"
refused "--type int8: virgo0 has 1 such units, but 2 are needed" gemm_two_units --transport embedded --type int8
result $? "too few units of a type are refused"
refused "--type int8: virgo0 has 0 such units" gemm --config "$work/paper.ini" --type int8
result $? "a type that the cluster has no unit for is refused"
refused "--exp fast: it must be taylor, exact or all" flash_attention --exp fast
result $? "an unknown exponential function is refused"
refused "--sequence 0: it must be a number from 1 to 8192" flash_attention --sequence 0
result $? "a sequence of 0 is refused"
refused "--head 513: it must be a number from 1 to 512" flash_attention --head 513
result $? "too large a head is refused"
refused "--head 512: no tile fits into unit 0" flash_attention --config "$work/paper.ini" --head 512
result $? "a head that does not fit into the cluster's shared memory is refused"
refused "--threads 65" flash_attention --threads 65; result $? "too many threads are refused"
refused "--unit 2: it is not of type fp32" flash_attention --transport embedded --unit 2
result $? "flash_attention refuses a unit of another type"
refused "--unit 7: virgo0 has 4 units" flash_attention --transport embedded --unit 7
result $? "flash_attention refuses a unit that the cluster has not"
refused "virgo0 has no unit of type fp32" flash_attention --config "$work/bytes.ini"
result $? "flash_attention refuses a cluster without fp32"
refused "matrix.mtx: this program takes no input" flash_attention matrix.mtx
result $? "flash_attention refuses a file"
refused "matrix.mtx: this program takes no input" gemm matrix.mtx; result $? "a file is refused"
refused "--kronecker=4: unknown option" gemm --kronecker=4; result $? "a graph is refused"
refused "--seed 1x" gemm --seed 1x; result $? "a seed that is no number is refused"
refused "--size needs a value" gemm --size; result $? "an option without its value is refused"
refused "--transport pigeon" gemm --transport pigeon; result $? "an unknown transport is refused"
refused "--nonsense" gemm_swish --nonsense; result $? "an unknown option is refused"
refused "$work/none.ini: No such file" gemm --transport embedded --config "$work/none.ini"
result $? "a missing configuration is refused"
printf '[virgo]\nno_such_key = 1\n' >"$work/bad.ini"
refused "bad.ini:2" gemm --config "$work/bad.ini"; result $? "a wrong configuration is refused by line"
for kernel in gemm gemm_swish gemm_two_units; do
	refused "virgo99" $kernel --transport embedded --device virgo99
	result $? "$kernel refuses a device that is not there"
done
for kernel in gemm gemm_swish gemm_two_units gemm_stores; do
	run $kernel --help && grep -q "^Usage: $kernel" "$work/output" && [ ! -s "$work/errors" ]
	result $? "$kernel --help prints the usage"
done

plan
