#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# The DARE example programs: right results on real and generated matrices, in
# every form and block size and on both transports; their counters; their errors
# for bad input. TAP.
# usage: test-dare-examples.sh BUILD-DIRECTORY
set -u
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/tap.sh"
data=../shared/data

run() # run KERNEL ARGUMENTS...: status of the program; it may take 100 s
{
	local kernel=$1
	shift
	timeout -k 2 100 "$build/examples/dare/$kernel" "$@" >"$work/output" 2>"$work/errors" </dev/null
}

# all_verified RUNS KERNEL ARGUMENTS...: as many runs, each verified, nothing on standard error
all_verified()
{
	local runs=$1
	shift
	run "$@" && [ "$(grep -cE '^(plain|baseline|gsa|auto) +[^ ]+ +[a-z]+ +yes ' "$work/output")" = "$runs" ] &&
		[ ! -s "$work/errors" ]
}

# --- right results -----------------------------------------------------------

for kernel in spmm sddmm; do
	for file in cora.mtx n1024-l1.mtx jagmesh7.mtx maple_spmv_data_big.mtx maple_spmv_data_sq_big.mtx olm1000.mtx; do
		what="$kernel of $file is right in all forms and blocks"
		if [ -e "$data/$file" ]; then
			all_verified 16 $kernel --transport embedded "$data/$file"
			result $? "$what"
		else
			skip "$what" "no $data/$file"
		fi
	done
	for file in pubmed.mtx bcsstk13.mtx p2p-Gnutella25.txt; do
		what="$kernel of $file is right in both forms with blocks of 1 and 4"
		if [ -e "$data/$file" ]; then
			all_verified 5 $kernel --transport embedded --form plain,baseline,gsa --block 1,4 "$data/$file"
			result $? "$what"
		else
			skip "$what" "no $data/$file"
		fi
	done
	for layout in csr csc; do
		all_verified 16 $kernel --transport embedded --layout $layout --kronecker 8
		result $? "$kernel of a Kronecker graph by $layout is right in all forms and blocks"
	done
	for columns in 1 17 100; do
		all_verified 16 $kernel --transport embedded --columns $columns --uniform 300x7
		result $? "$kernel with $columns columns is right in all forms and blocks"
	done
done

all_verified 4 gemm --transport embedded --size 100x30x77; result $? "gemm is right in all types"
what="gemm of a matrix from a file is right in all types"
if [ -e "$data/n1024-l1.mtx" ]; then
	all_verified 4 gemm --transport embedded --columns 33 "$data/n1024-l1.mtx"
	result $? "$what"
else
	skip "$what" "no $data/n1024-l1.mtx"
fi

printf '%%%%MatrixMarket matrix coordinate real general\n5 4 3\n2 1 1.5\n2 4 -2\n4 2 .25\n' >"$work/gaps.mtx"
printf '%%%%MatrixMarket matrix coordinate integer general\n3 3 0\n' >"$work/none.mtx"
printf '%%%%MatrixMarket matrix coordinate integer general\n0 0 0\n' >"$work/zero.mtx"
printf '%%%%MatrixMarket matrix coordinate real general\n3 3 4\n1 2 1\n1 2 .5\n3 3 2\n1 2 -1\n' >"$work/twice.mtx"
for kernel in spmm sddmm; do
	for file in gaps none zero twice; do
		all_verified 16 $kernel --transport embedded "$work/$file.mtx"
		result $? "$kernel of a matrix with $file is right in all forms and blocks"
	done
done

# --- the output --------------------------------------------------------------

# An arrow of one full column: 1000 rows, 62.5 groups of 16; each row is next to the last one.
{
	echo '%%MatrixMarket matrix coordinate pattern general'
	echo '1000 1 1000'
	seq 1000 | sed 's/$/ 1/'
} >"$work/column.mtx"
run sddmm --transport embedded --form baseline,gsa --block 1 --columns 16 "$work/column.mtx" &&
	awk '/^baseline .* yes/ { exit !($7 == 16000) }' "$work/output" &&
	awk '/^gsa .* yes/ { exit !($7 == 16000 && $8 == 258048) }' "$work/output" &&
	awk '/^baseline/ && !/yes/ { exit !($5 == 127 && $6 == 63 && $7 == 63 && $8 == 0) }' "$work/output" &&
	awk '/^gsa/ && !/yes/ { exit !($5 == 127 && $6 == 63 && $7 == 63 && $8 == 63) }' "$work/output"
result $? "the counters are those of the work: 63 products of 16 rows of a column of 1000"

run spmm --transport embedded --form baseline,gsa --block 1 && awk '
	/^baseline .* yes/ { use = $9 }
	/^gsa .* yes/ { gsa_use = $9 }
	/^baseline/ && !/yes/ { instructions = $3 }
	/^gsa/ && !/yes/ { exit !($3 * 3 < instructions && gsa_use > 5 * use) }' "$work/output"
result $? "at B=1 GSA takes less than a third of the instructions at five times the utilisation"

run spmm --transport embedded --block 2,16 "$work/gaps.mtx" &&
	grep -qE '^ +2 +3 +25.00% +2 +2 +[0-9.]+  0 0 0 3 0 0 0 0 0 0 0 0 0 0 0 0$' "$work/output" &&
	grep -qE '^ +16 +1 +1.17% +1 +1 ' "$work/output"
result $? "the blocks' numbers, fill and histogram are printed"
run spmm --transport embedded --form all && ! grep -q '.\{101\}' "$work/output"
result $? "no line of the tables is wider than 100 columns"

run sddmm --transport embedded --json --kronecker 6
status=$?
for key in '"kernel":"sddmm"' '"input":"kronecker 6"' '"rows":64' '"histogram":' '"form":"gsa"' '"block":16' \
	'"transport":"embedded"' '"device":"dare0"' '"verified":true' '"macs_per_second":' '"utilisation":' \
	'"mgather":' '"rows_loaded":' '"bytes_loaded":' '"macs_offered":' '"faults":0'; do
	tr -d '\n' <"$work/output" | sed 's/": *"/":"/g; s/": */":/g' | grep -qF "$key" || status=1
done
result $status "the JSON report has what the forms did"

# --- the daemon ----------------------------------------------------------------

if start_daemon maple:1,dare:1; then
	for kernel in spmm sddmm; do
		all_verified 16 $kernel --transport daemon --socket "$work/socket" --kronecker 8
		result $? "$kernel is right through the daemon"
	done
	all_verified 4 gemm --transport daemon --socket "$work/socket" --size 100x64x65
	result $? "gemm is right through the daemon"
	"$build/examples/dare/spmm" --transport daemon --socket "$work/socket" --form gsa --block 1 \
		--uniform 60000x64 >"$work/output" 2>"$work/errors" &
	client=$!
	# It is at work once its address thread is there.
	for _ in $(seq 1200); do
		[ "$(awk '/^Threads/ { print $2 }' /proc/$client/status 2>/dev/null || echo 9)" -ge 2 ] && break
		sleep 0.05
	done
	sleep 0.2
	daemon_dies_under $client; result $? "a program whose daemon is killed ends with status 1 and says why"
else
	cp "$work/daemon" "$work/errors"
	result 1 "the daemon starts"
fi

run spmm --transport daemon --socket "$work/nobody" --kronecker 4
[ $? = 1 ] && grep -q "$work/nobody" "$work/errors"
result $? "without a daemon the daemon transport is an error that says so"

# --- wrong results ---------------------------------------------------------------

cat >"$work/liar.c" <<'SOURCE'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
struct dare;
struct dare_blocks;
typedef int fn(struct dare *dare, int form, const struct dare_blocks *blocks, const float *value, size_t columns,
	       const float *d, size_t ldd, float *c, size_t ldc);
fn dare_spmm;
int dare_spmm(struct dare *dare, int form, const struct dare_blocks *blocks, const float *value, size_t columns,
	      const float *d, size_t ldd, float *c, size_t ldc)
{
	fn *next = (fn *)dlsym(RTLD_NEXT, "dare_spmm");
	int error = next(dare, form, blocks, value, columns, d, ldd, c, ldc);

	((unsigned int *)(void *)c)[77] ^= 1;
	return error;
}
SOURCE
if gcc -shared -fPIC -o "$work/liar.so" "$work/liar.c" -ldl 2>"$work/errors"; then
	LD_PRELOAD=$work/liar.so run spmm --transport embedded --form gsa --block 2 --kronecker 6
	[ $? = 1 ] && grep -q ' NO ' "$work/output" && grep -q 'gsa B=2: wrong result: element 77 of C' "$work/errors"
	result $? "spmm finds one wrong bit in one element and ends with status 1"
else
	result 1 "a library that lies can be built"
fi

# --- bad input ---------------------------------------------------------------------

printf '%%%%MatrixMarket matrix coordinate pattern general\n8 8 1\n1 9\n' >"$work/bad.mtx"
refused "$work/bad.mtx:3: column 9 is beyond the 8 columns" spmm "$work/bad.mtx"
result $? "a column out of range is refused by line"
printf '%%%%MatrixMarket matrix coordinate real general\n8 8 1\n1 2 1e300\n' >"$work/large.mtx"
refused "too large for fp32" sddmm --transport embedded "$work/large.mtx"
result $? "an element that is no fp32 is refused"
printf '%%%%MatrixMarket matrix coordinate pattern general\n200000 200000 1\n1 2\n' >"$work/wide.mtx"
refused "a dense matrix of that size is too large" gemm --transport embedded "$work/wide.mtx"
result $? "a dense matrix of 200000 by 200000 is refused"
refused "65536 by 4096: a dense matrix of that size is too large" gemm --transport embedded --size 65536x8x4096
result $? "generated matrices that would fill the memory are refused"
refused "is empty" gemm --transport embedded "$work/zero.mtx"; result $? "an empty dense matrix is refused"
refused "$work/missing: No such file" spmm "$work/missing"; result $? "a missing file is refused"
refused "it is a directory" sddmm "$work"; result $? "a directory is refused"
refused "one input at a time" spmm "$work/gaps.mtx" "$work/none.mtx"; result $? "two files are refused"
refused "more than one of" spmm --kronecker 4 --uniform 4x4; result $? "two inputs are refused"
refused "--block 3: it must be 1, 2, 4, 8, 16 or all" spmm --block 1,3; result $? "a block of 3 is refused"
refused "--form fast" sddmm --form gsa,fast; result $? "an unknown form is refused"
refused "--form gsa" gemm --form gsa; result $? "a dense product has no densified form"
refused "--block=4: unknown option" gemm --block=4; result $? "a dense product has no blocks"
refused "--size=4x4x4: unknown option" spmm --size=4x4x4; result $? "a sparse product has no size of its own"
refused "--size 4x4" gemm --size 4x4; result $? "half a size is refused"
refused "--size is for generated" gemm --size 4x4x4 "$work/gaps.mtx"; result $? "a size beside a file is refused"
refused "--columns 0" spmm --columns 0; result $? "no column is refused"
refused "--layout coo" spmm --layout coo; result $? "an unknown layout is refused"
refused "--seed 1x" spmm --seed 1x; result $? "a seed that is no number is refused"
refused "--block needs a value" spmm --block; result $? "an option without its value is refused"
refused "--transport pigeon" spmm --transport pigeon; result $? "an unknown transport is refused"
refused "--nonsense" sddmm --nonsense; result $? "an unknown option is refused"
refused "$work/none.ini: No such file" spmm --transport embedded --config "$work/none.ini"
result $? "a missing configuration is refused"
for kernel in spmm sddmm gemm; do
	refused "dare99" $kernel --transport embedded --device dare99
	result $? "$kernel refuses a device that is not there"
	run $kernel --help && grep -q "^Usage: $kernel" "$work/output" && [ ! -s "$work/errors" ]
	result $? "$kernel --help prints the usage"
done

plan
