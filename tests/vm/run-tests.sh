#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# Runs the packed test programs in one kernel and prints KTAP as they run.
#
#   run-tests.sh --results FILE --label TEXT --log DIRECTORY [--timeout SECONDS]
#                [--each SECONDS] [--time-scale N] [--memory MEGABYTES] [--processors N]
#                KERNEL INITRAMFS [PROGRAM...]
#
# PROGRAM is a path in the guest. --each is a program's limit, --timeout the
# machine's. --time-scale: how much longer a program may take, because the kernel
# is slow; it finds the number in MIMIC_TIME_SCALE. One line for each result is added to FILE; tests/scripts/run-tests.sh
# --summary sums them up. Exits with 0: whether a test failed is in the results.
set -u

here=$(dirname "$(realpath "$0")")
results=
label=
log=
timeout=1200
each=60
memory=1024
processors=2
scale=1
while [ $# -gt 0 ]; do
	case $1 in
	--results) results=$2; shift 2 ;;
	--label) label=$2; shift 2 ;;
	--log) log=$2; shift 2 ;;
	--timeout) timeout=$2; shift 2 ;;
	--each) each=$2; shift 2 ;;
	--time-scale) scale=$2; shift 2 ;;
	--memory) memory=$2; shift 2 ;;
	--processors) processors=$2; shift 2 ;;
	-*) echo "run-tests.sh: no option $1" >&2; exit 2 ;;
	*) break ;;
	esac
done
if [ $# -lt 2 ] || [ -z "$results" ] || [ -z "$label" ] || [ -z "$log" ]; then
	echo "run-tests.sh: --results, --label, --log, a kernel and an initramfs are needed" >&2
	exit 2
fi
kernel=$1
initramfs=$2
shift 2
mkdir -p "$log" "$(dirname "$results")"

# failed NAME TEXT
failed() {
	printf 'fail\t%s: %s: %s\n' "$label" "$1" "$2" >>"$results"
	echo "not ok - $label: $1: $2"
}

# machine_ended STATUS: one failed result, which names the program that ran, and the
# kernel's panic if there was one
machine_ended() {
	local end how program=machine test=""

	[ ! -s "$unfinished" ] || IFS=$'\t' read -r program test <"$unfinished"
	if end=$(awk -f "$here/console-end.awk" "$log/console"); then
		how=${end%%$'\n'*}
		end=${end#*$'\n'}
	else
		how="the machine ended by itself, with status $1"
		[ "$1" != 124 ] || how="the machine did not end after $timeout s"
		"$here/check-dmesg.sh" "$log/console" | sed 's/^/# /'
	fi
	echo "# $label: $how. Its console, $log/console:"
	sed 's/^/#   /' <<<"$end"
	failed "$program" "${test:+in $test: }$how"
}

# mawk would hold its input back until a block is full.
interactive=
! awk -W version 2>&1 </dev/null | grep -q mawk || interactive="-W interactive"

unfinished=$log/unfinished
rm -f "$unfinished" "$log/console"
started=$SECONDS
echo "KTAP version 1"
echo "# $label: $(cat "$kernel/release"), $# programs"
"$here/boot.sh" --poll --memory "$memory" --processors "$processors" --timeout "$timeout" --console "$log/console" "$kernel" "$initramfs" \
	"MIMIC_TIME_SCALE=$scale /mimic/vm/run-tests.sh $each $*" |
	tee "$log/output" |
	awk $interactive -v label="$label" -v results="$results" -v reports="$here/kernel-reports.txt" \
		-v harmless="$here/kernel-harmless.txt" -v unfinished="$unfinished" -f "$here/report.awk"
status=("${PIPESTATUS[@]}")
touch "$log/console"

if [ "${status[0]}" != 0 ]; then
	machine_ended "${status[0]}"
	exit 0
fi
echo $((SECONDS - started)) >"$log/seconds"
[ "${status[2]}" != 4 ] || failed machine "did not run all programs"
if [ "${status[2]}" != 3 ]; then
	"$here/check-dmesg.sh" "$log/console" | sed 's/^/# /'
	[ "${PIPESTATUS[0]}" = 0 ] || failed machine "the kernel's log reports a bug, see $log/console"
fi
exit 0
