#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# The instruction streams of the DARE paper's kernels: right results in every form, block size and width, also where
# blocks and tiles are cut off; the instructions that they dispatch, in order; errors for bad input. TAP.
# usage: test-dare-streams.sh BUILD-DIRECTORY
set -u
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/tap.sh"

run() # run PROGRAM ARGUMENTS...: status of the program, on the embedded transport
{
	local program=$1
	shift
	timeout -k 2 100 "$build/examples/dare/$program" --transport embedded "$@" >"$work/output" 2>"$work/errors" </dev/null
}

# all_verified RUNS ARGUMENTS...: as many runs, each verified, nothing on standard error
all_verified()
{
	local runs=$1
	shift
	run streams "$@" && [ "$(grep -cE '^[a-z0-9-]+ +[0-9]+ [a-z]+ +yes ' "$work/output")" = "$runs" ] && [ ! -s "$work/errors" ]
}

# counted FORM TILES MMA READ WRITTEN: the line of the form, one block size
counted()
{
	awk -v form="$1" -v tiles="$2" -v mma="$3" -v rows="$4" -v written="$5" \
		'$1 == form { found = $5 == tiles && $7 == mma && $8 == rows && $9 == written } END { exit !found }' "$work/output"
}

# --- inputs --------------------------------------------------------------------

printf '%%%%MatrixMarket matrix coordinate real general\n5 4 3\n2 1 1.5\n2 4 -2\n4 2 .25\n' >"$work/gaps.mtx"
printf '%%%%MatrixMarket matrix coordinate integer general\n3 3 0\n' >"$work/none.mtx"
printf '%%%%MatrixMarket matrix coordinate integer general\n0 0 0\n' >"$work/zero.mtx"
printf '%%%%MatrixMarket matrix coordinate real general\n3 3 4\n1 2 1\n1 2 .5\n3 3 2\n1 2 -1\n' >"$work/twice.mtx"
printf '%%%%MatrixMarket matrix coordinate real general\n1 40 4\n1 2 3\n1 3 .5\n1 30 2\n1 40 -1\n' >"$work/row.mtx"
column() # column NAME COUNT STEP: elements in rows 1, 1 + STEP, ... of one column
{
	{
		echo '%%MatrixMarket matrix coordinate pattern general'
		echo "$((($2 - 1) * $3 + 1)) 1 $2"
		seq 1 "$3" $((($2 - 1) * $3 + 1)) | sed 's/$/ 1/'
	} >"$work/$1.mtx"
}
column column 1000 1
column spread 100 2
column two 32 1
printf '%%%%MatrixMarket matrix coordinate pattern general\n1 2 2\n1 1\n1 2\n' >"$work/pair.mtx"

# --- right results --------------------------------------------------------------

for kernel in spmm sddmm; do
	for file in gaps none zero twice row; do
		all_verified 20 --kernel $kernel "$work/$file.mtx"
		result $? "$kernel of a matrix with $file is right in all forms and blocks"
	done
	all_verified 10 --kernel $kernel --form plain,gsa --width 17 --stores at-once --merge equal --uniform 133x61x7 &&
		all_verified 10 --kernel $kernel --form plain,gsa --width 17 --register-sets 1 --merge none --uniform 133x61x7 &&
		all_verified 1 --kernel $kernel --form plain --width 17 --block 1 --merge equal "$work/spread.mtx"
	result $? "$kernel is right with other code"
	for width in 1 16 17 100; do
		all_verified 20 --kernel $kernel --width $width --uniform 133x61x7
		result $? "$kernel of width $width is right in all forms and blocks"
	done
	all_verified 10 --kernel $kernel --form plain,gsa --width 16 --kronecker 7
	result $? "$kernel of a graph is right in the streams' own forms"
done
for width in 1 16 77; do
	all_verified 3 --kernel gemm --width $width --uniform 45x50x1
	result $? "gemm of width $width is right in all forms"
done
all_verified 3 --kernel gemm "$work/zero.mtx"; result $? "gemm of an empty matrix is right in all forms"

# --- the paper's data ---------------------------------------------------------------

for input in "collab 300x6" "proteins 300x6" "attention 150"; do
	# shellcheck disable=SC2086 # option and value
	all_verified 4 --kernel sddmm --form plain,gsa --block 1,8 --width 16 --$input
	result $? "sddmm of --$input is right"
done
elements() # elements NUMBER ARGUMENTS...: the input has so many
{
	local number=$1
	shift
	run streams --kernel sddmm --form gsa --block 1 --width 1 --json "$@" && grep -q "\"nonzeros\": *$number,\?$" "$work/output"
}
for part in "1024 4834" "2048 9460"; do
	what="the part of pubmed of ${part% *} vertices has ${part#* } elements"
	if [ -e ../shared/data/pubmed.mtx ]; then
		elements "${part#* }" --bfs-vertices "${part% *}" ../shared/data/pubmed.mtx
		result $? "$what"
	else
		skip "$what" "no ../shared/data/pubmed.mtx"
	fi
done
run streams --kernel sddmm --form gsa --block 1 --width 1 --json --collab 1000x10 --bfs-vertices 4 &&
	grep -q '"rows": *4,' "$work/output" &&
	grep -q '"input": *"collab 1000x10, 4 vertices"' "$work/output"
result $? "a part of a generated graph can be taken, and its name says so"

# 3 of 16 blocks of a row of blocks, if none is drawn twice: all full, and nothing else.
run streams --kernel sddmm --form plain --block 8 --width 16 --json --uniform 16x3 --expand 8 --seed 3 &&
	grep -q '"rows": *128,' "$work/output" && grep -q '"fill": *1[.,]' "$work/output" && grep -q '"verified": *true' "$work/output"
result $? "elements can be made blocks"

# --- how many ---------------------------------------------------------------------

# 1000 rows of one column: 62 tiles of 16 rows and one of 8. A tile reads its rows of C, of S (an element each) and 16
# rows of D; with GSA an address for each row, too.
run streams --kernel spmm --width 16 --block 1 "$work/column.mtx" && counted plain 63 63 3008 1000 &&
	counted gsa 63 63 4008 1000
result $? "spmm reads for each tile rows of C, elements of S and a tile of D"
# Sums, rows of A, one row of B.
run streams --kernel sddmm --width 16 --block 1 "$work/column.mtx" && counted plain 63 63 2063 1000 &&
	counted gsa 63 63 3063 1000
result $? "sddmm reads for each tile its sums, rows of A and of B"
# Sums once; the others for each of the 5 pieces of 16 elements.
run streams --kernel sddmm --width 80 --block 1 "$work/column.mtx" && counted plain 63 315 6315 1000 &&
	counted gsa 63 315 11315 1000
result $? "sddmm reads rows of A and B for each 64 bytes, and sums once"
# Every other row: nothing to merge, while libdare takes rows with equal distances together.
run streams --kernel spmm --width 16 --block 1 "$work/spread.mtx" && counted plain 100 100 1800 100 &&
	counted gsa 7 7 412 100 && counted libdare 0 7 216 100
result $? "plain tiles are rows without a gap, those of gsa any rows"
# As libdare takes them, with the plain form's reads: 100 rows of C and of S, and 16 rows of D for each of 7 tiles.
run streams --kernel spmm --width 16 --block 1 --merge equal "$work/spread.mtx" && counted plain 7 7 312 100
result $? "plain tiles can be rows at equal distances"
# Each of the 1000 rows for itself: a row of C, an element of S, 16 rows of D.
run streams --kernel spmm --width 16 --block 1 --merge none "$work/column.mtx" && counted plain 1000 1000 18000 1000 &&
	counted gsa 63 63 4008 1000
result $? "plain tiles can be single blocks, and those of gsa are the same"
# Blocks of 2 at distances of 2 and more are no rows at equal distances.
printf '%%%%MatrixMarket matrix coordinate pattern general\n10 2 3\n1 1\n5 1\n9 1\n' >"$work/apart.mtx"
run streams --kernel spmm --width 16 --block 2 --merge equal "$work/apart.mtx" && counted plain 3 3 60 6
result $? "blocks of more than one row are taken together only if they follow each other"
# 199 rows in blocks of 2: all 100 blocks follow each other, the last one is cut off.
run streams --kernel spmm --width 16 --block 2 "$work/spread.mtx" && counted plain 13 13 606 199
result $? "blocks that follow each other are one tile, up to 16 rows"
# 3 x 3 tiles of C, 2 pieces. A quad of h x w tiles loads h + w for each piece: 4 + 3 + 3 + 2.
run streams --kernel gemm --width 32 --uniform 48x1 && counted plain 9 18 720 144 && counted 2x2 9 18 528 144
result $? "gemm loads two tiles for a multiplication, with 2 x 2 one"

what="the products of sddmm with blocks of 8 are the same in every form"
run streams --kernel sddmm --json --block 8 --uniform 100x5 &&
	[ "$(tr -d ' \n' <"$work/output" | grep -oE '"macs_used":[0-9]+' | sort -u | wc -l)" = 1 ]
result $? "$what"

# --- in which order ------------------------------------------------------------------

cat >"$work/list.c" <<'SOURCE'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#define LISTED(name, parameters, arguments, number) \
	int dare_##name parameters; \
	int dare_##name parameters \
	{ \
		int (*next) parameters = (int (*) parameters)dlsym(RTLD_NEXT, "dare_" #name); \
		fprintf(stderr, "%s%u ", #name, number); \
		return next arguments; \
	}
LISTED(mld, (void *dare, unsigned int md, const void *address, int64_t stride), (dare, md, address, stride), md)
LISTED(mst, (void *dare, unsigned int ms3, void *address, int64_t stride), (dare, ms3, address, stride), ms3)
LISTED(mma, (void *dare, unsigned int md, unsigned int ms1, unsigned int ms2), (dare, md, ms1, ms2), md)
LISTED(mgather, (void *dare, unsigned int md, unsigned int ms1), (dare, md, ms1), md)
LISTED(mscatter, (void *dare, unsigned int ms2, unsigned int ms1), (dare, ms2, ms1), ms2)
SOURCE

in_order() # in_order "INSTRUCTIONS" ARGUMENTS...: with the register that they are for
{
	local order=$1
	shift
	LD_PRELOAD=$work/list.so run streams "$@" && [ "$(cat "$work/errors")" = "$order " ]
}

if gcc -shared -fPIC -o "$work/list.so" "$work/list.c" -ldl 2>"$work/errors"; then
	in_order "mld0 mld1 mld2 mma0 mld4 mld5 mld6 mst0 mma4 mst4" \
		--kernel spmm --form plain --block 1 --width 16 "$work/two.mtx"
	result $? "spmm stores a tile behind the next one's loads; tiles take turns between two sets of registers"
	in_order "mld3 mgather0 mld1 mld2 mma0 mld7 mgather4 mld5 mld6 mscatter0 mma4 mscatter4" \
		--kernel spmm --form gsa --block 1 --width 16 "$work/two.mtx"
	result $? "so does spmm with gathered rows"
	in_order "mld0 mld1 mld2 mma0 mst0 mld4 mld5 mld6 mma4 mst4" \
		--kernel spmm --form plain --block 1 --width 16 "$work/pair.mtx"
	result $? "spmm stores first where the next block column loads the same rows"
	in_order "mld0 mld1 mld2 mma0 mld4 mld5 mld6 mst0 mma4 mld0 mld1 mld2 mst4 mma0 mld4 mld5 mld6 mst0 mma4 mst4" \
		--kernel spmm --form plain --block 1 --width 32 "$work/pair.mtx"
	result $? "it need not where the next tile is of other columns of C"
	in_order "mld0 mld2 mld4 mma0 mld3 mld5 mma0 mld1 mld2 mld4 mst0 mma1 mld3 mld5 mma1 mst1" \
		--kernel sddmm --form plain --block 1 --width 32 "$work/two.mtx"
	result $? "sddmm stores a tile's sums before the next one's first multiplication"
	in_order "mld0 mld2 mld4 mma0 mld1 mld3 mld5 mst0 mma1 mst1" --kernel gemm --form plain --width 16 --uniform 32x16x1
	result $? "gemm does so, too"
	in_order "mld0 mld1 mld4 mld6 mld7 mma0 mma1 mst0 mst1" --kernel gemm --form 2x2 --width 16 --uniform 16x32x1
	result $? "gemm with 2 x 2 tiles stores at their end"
	in_order "mld0 mld1 mld2 mma0 mst0 mld4 mld5 mld6 mma4 mst4" \
		--stores at-once --kernel spmm --form plain --block 1 --width 16 "$work/two.mtx" &&
		in_order "mld0 mld2 mld4 mma0 mst0 mld1 mld3 mld5 mma1 mst1" \
			--stores at-once --kernel sddmm --form plain --block 1 --width 16 "$work/two.mtx" &&
		in_order "mld0 mld2 mld4 mma0 mst0 mld1 mld3 mld5 mma1 mst1" \
			--stores at-once --kernel gemm --form plain --width 16 --uniform 32x16x1
	result $? "with --stores at-once a tile is stored behind its own multiplication"
	in_order "mld3 mgather0 mld1 mld2 mma0 mscatter0 mld3 mgather0 mld1 mld2 mma0 mscatter0" \
		--register-sets 1 --kernel spmm --form gsa --block 1 --width 16 "$work/two.mtx" &&
		in_order "mld0 mld2 mld4 mma0 mld2 mld4 mma0 mst0 mld0 mld2 mld4 mma0 mld2 mld4 mma0 mst0" \
			--register-sets 1 --kernel sddmm --form plain --block 1 --width 32 "$work/two.mtx" &&
		in_order "mld0 mld2 mld4 mma0 mst0 mld0 mld2 mld4 mma0 mst0" \
			--register-sets 1 --kernel gemm --form plain --width 16 --uniform 32x16x1
	result $? "with --register-sets 1 all tiles use the same registers, and store at once"
else
	result 1 "a library that lists instructions can be built"
fi

# --- the daemon -------------------------------------------------------------------------

if start_daemon dare:1; then
	for kernel in spmm sddmm; do
		all_verified 4 --kernel $kernel --block 2 --transport daemon --socket "$work/socket" --kronecker 6
		result $? "$kernel is right through the daemon"
	done
	all_verified 3 --kernel gemm --transport daemon --socket "$work/socket" --uniform 40x1
	result $? "gemm is right through the daemon"
	stop_daemon
else
	cp "$work/daemon" "$work/errors"
	result 1 "the daemon starts"
fi

# --- wrong results, bad input, help ----------------------------------------------------

cat >"$work/liar.c" <<'SOURCE'
#define _GNU_SOURCE
#include <dlfcn.h>
int dare_mma(void *dare, unsigned int md, unsigned int ms1, unsigned int ms2);
int dare_mma(void *dare, unsigned int md, unsigned int ms1, unsigned int ms2)
{
	static int count;
	int (*next)(void *, unsigned int, unsigned int, unsigned int) =
		(int (*)(void *, unsigned int, unsigned int, unsigned int))dlsym(RTLD_NEXT, "dare_mma");

	return count++ == 7 ? 0 : next(dare, md, ms1, ms2);
}
SOURCE
if gcc -shared -fPIC -o "$work/liar.so" "$work/liar.c" -ldl 2>"$work/errors"; then
	for kernel in spmm sddmm gemm; do
		LD_PRELOAD=$work/liar.so run streams --kernel $kernel --form plain --uniform 64x4
		[ $? = 1 ] && grep -q ' NO ' "$work/output" && grep -q 'plain.*: wrong result: element' "$work/errors"
		result $? "$kernel finds that one multiplication is missing and ends with status 1"
	done
else
	result 1 "a library that lies can be built"
fi

refused "no --kernel" streams --uniform 4x4; result $? "a kernel must be named"
refused "--kernel spmv" streams --kernel spmv --uniform 4x4; result $? "an unknown kernel is refused"
refused "no input" streams --kernel spmm; result $? "an input must be given"
refused "--form 2x2: spmm has no such form" streams --kernel spmm --form 2x2 --uniform 4x4
result $? "a form that the kernel has not is refused"
refused "--form gsa: gemm has no such form" streams --kernel gemm --form plain,gsa --uniform 4x4
result $? "a dense product has no densified form"
refused "--form fast" streams --kernel spmm --form fast --uniform 4x4; result $? "an unknown form is refused"
refused "gemm has no blocks" streams --kernel gemm --block 4 --uniform 4x4; result $? "a dense product has no blocks"
refused "--stores late: it must be deferred or at-once" streams --kernel spmm --stores late --uniform 4x4 &&
	refused "--register-sets 3: it must be a number from 1 to 2" streams --kernel spmm --register-sets 3 --uniform 4x4 &&
	refused "--merge all: it must be consecutive, none or equal" streams --kernel spmm --merge all --uniform 4x4 &&
	refused "--stores deferred: with --register-sets 1 the next tile loads" streams --kernel spmm --stores deferred --register-sets 1 --uniform 4x4
result $? "code that there is not is refused"
refused "--block 3" streams --kernel spmm --block 3 --uniform 4x4; result $? "a block of 3 is refused"
refused "--width 0" streams --kernel spmm --width 0 --uniform 4x4; result $? "a width of 0 is refused"
refused "a dense matrix of that size is too large" streams --kernel gemm --uniform 200000x1
result $? "a dense result of 200000 by 200000 is refused"
refused "dare99" streams --kernel spmm --device dare99 --uniform 4x4; result $? "a device that is not there is refused"
refused "--collab 10: it must be VERTICESxDEGREE" streams --kernel spmm --collab 10; result $? "half a graph is refused"
refused "--attention 0" streams --kernel spmm --attention 0; result $? "attention of no token is refused"
refused "a degree less than the vertices" streams --kernel spmm --proteins 10x10
result $? "a degree as large as the graph is refused"
refused "--bfs-vertices 5: the graph has 4 vertices" streams --kernel spmm --uniform 4x2 --bfs-vertices 5
result $? "a part that is larger than the graph is refused"
refused "a matrix of 4 by 5 is no graph" streams --kernel spmm --uniform 4x5x2 --bfs-vertices 3
result $? "a part of what is no graph is refused"
refused "--expand 0" streams --kernel spmm --uniform 4x2 --expand 0; result $? "blocks of nothing are refused"
refused "more than one of" streams --kernel spmm --collab 10x2 --attention 4; result $? "two inputs are refused"
run streams --help && grep -q "^Usage: streams" "$work/output" && [ ! -s "$work/errors" ]
result $? "--help prints the usage"

plan
