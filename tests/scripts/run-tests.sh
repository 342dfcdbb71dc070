#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# Runs TAP programs and joins their output into one TAP stream.
#
#   run-tests.sh --results FILE [--label TEXT] [--timeout SECONDS] [--jobs N [--most N]] [--again N]
#                "PROGRAM ARGUMENTS"...
#   run-tests.sh --results FILE --summary
#
# A program's results are its TAP's. It also fails, by its own name, if it
# does not end in time, ends with a status of its own, or gives fewer results
# than it planned. --timeout is the limit of a program that does not say that it
# needs more (limit-of.sh). Results are added to FILE, one a line, and to FILE.times how long
# each program ran, its processor time, and its name; --summary ends the
# stream with its plan and the line "N passed, N failed, N skipped", and exits
# with 1 if anything failed. With --jobs, N programs run at a time, and with --most up to so many
# as long as processors are idle: most programs wait most of the time. Results
# come in the order of the programs all the same. On a terminal only failures and a progress line
# are shown; V=1 shows everything.
#
# Many tests wait for another process, and a busy machine can make that too long. With --again, up
# to N programs of which a check failed run a second time, alone, after all others, and the second
# run counts. FILE.unsteady names them, and --summary shows it. A death, a hang or a report of a
# sanitizer counts at once: these are races that a second run would hide.
#
# FILE.failures has each failure and the first lines that the
# program printed about it; --summary shows both last, because people see the end of a long log.
set -u

here=$(dirname "$(realpath "$0")")
results=
label=
timeout=120
jobs=1
most=0
again=0
summary=no
while [ $# -gt 0 ]; do
	case $1 in
	--results) results=$2; shift 2 ;;
	--label) label="$2: "; shift 2 ;;
	--timeout) timeout=$2; shift 2 ;;
	--jobs) jobs=$2; shift 2 ;;
	--most) most=$2; shift 2 ;;
	--again) again=$2; shift 2 ;;
	--summary) summary=yes; shift ;;
	-*) echo "run-tests.sh: no option $1" >&2; exit 2 ;;
	*) break ;;
	esac
done
if [ -z "$results" ]; then
	echo "run-tests.sh: --results FILE is needed" >&2
	exit 2
fi

terminal=no
[ -t 1 ] && terminal=yes
show_all=yes
[ $terminal = yes ] && [ "${V:-0}" != 1 ] && show_all=no

# The lines of FILE.times: seconds, seconds of processors, name.
print_profile()
{
	local column
	for column in 1 2; do
		echo "# $([ $column = 1 ] && echo "longest" || echo "most of the processors")"
		sort -rn -t '	' -k $column,$column "$results.times" | head -n 10 |
			awk -F '\t' '{ printf "#   %7.1f s, %7.1f s of a processor  %s\n", $1, $2, $3 }'
	done
	awk -F '\t' '
		function line(label) {
			return sprintf("#   %7.1f s, %7.1f s of a processor, %3d programs  %s", clock[label], processor[label], count[label], label)
		}
		{
			label = $3 ~ /^[a-z]+: / ? substr($3, 1, index($3, ":") - 1) : $3 ~ /^run-fuzzers/ ? "fuzz" : "native"
			clock[label] += $1; processor[label] += $2; count[label]++
			clock["all"] += $1; processor["all"] += $2; count["all"]++
		}
		END {
			print "# sums"
			for (label in count)
				if (label != "all")
					print line(label) | "sort -k 7"
			close("sort -k 7")
			print line("all")
		}' "$results.times"
}

if [ $summary = yes ]; then
	touch "$results"
	[ -s "$results.times" ] && print_profile
	if [ -s "$results.unsteady" ]; then
		echo "# failed while other programs ran, and passed alone"
		cat "$results.unsteady"
	fi
	if grep -q '^fail' "$results"; then
		[ -s "$results.failures" ] && { echo "# what failures printed"; cat "$results.failures"; }
		echo "# failed"
		sed -n 's/^fail	/#   /p' "$results"
	fi
	awk -F '\t' '
		{ count[$1]++ }
		END {
			printf "1..%d\n", NR
			printf "%d passed, %d failed, %d skipped\n", count["pass"], count["fail"], count["skip"]
			exit count["fail"] > 0 || NR == 0
		}' "$results"
	exit
fi

# Reads one program's output, writes renumbered TAP and appends to the results.
join='
function verdict(kind, text,    word) {
	number++
	printf "%s\t%s%s: %s\n", kind, label, program, text >> results
	kept_for_summary = kind == "fail" ? 12 : 0
	if (kind == "fail")
		printf "#   %s%s: %s\n", label, program, text >> failures_file
	shown = kind == "fail" || show_all == "yes"
	if (!shown)
		return
	word = kind == "fail" ? "not ok" : "ok"
	printf "%s %d - %s%s: %s\n", word, number, label, program, text
}
function comment(line) {
	sub(/^# ?/, "", line)
	print "#   " line
	if (kept_for_summary-- > 0)
		print "#      " line >> failures_file
}
function after_result() {
	for (i = 1; i <= kept; i++)
		if (failing)
			comment(lines[i])
		else if (unsaid < 100)
			before[++unsaid] = lines[i]
	kept = 0
}
# A program that ends with a status of its own may have printed the reason long before, in front of results that passed.
function tell_unsaid() {
	kept_for_summary = 40
	for (i = 1; i <= unsaid; i++)
		comment(before[i])
}
/^1\.\.[0-9]+/ { planned += substr($1, 4); has_plan = 1; next }
/^(not )?ok( |$)/ {
	text = $0
	bad = text ~ /^not ok/
	sub(/^(not )?ok *[0-9]* *(- *)?/, "", text)
	seen++
	kind = toupper(text) ~ /# *SKIP/ ? "skip" : bad ? "fail" : "pass"
	if (kind == "fail")
		failures++
	# lines that a program printed before a result belong to that result
	failing = failing || kind == "fail"
	verdict(kind, text)
	after_result()
	failing = kind == "fail"
	next
}
{ if (failing && kept == 0) comment($0); else { lines[++kept] = $0; if (kept > 200) { delete lines[kept]; kept-- } } }
END {
	failing = 1
	if (status == 124 || status == 137)
		verdict("fail", "no end after " timeout " s")
	else if (status != 0 && !failures)
		verdict("fail", "ended with status " status)
	else if (!has_plan)
		verdict("fail", "gave no test plan")
	else if (seen != planned)
		verdict("fail", "planned " planned " results and gave " seen + 0)
	else
		exit
	tell_unsaid()
	after_result()
}'

mkdir -p "$(dirname "$results")"
touch "$results"
work=$(mktemp -d)
# Programs in the background do not hear of Ctrl-C.
trap 'kill $(jobs -rp) 2>/dev/null; wait; rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
programs=("$@")
total=$#

# milliseconds 1m2.345s: as bash prints times of processors
milliseconds()
{
	local minutes=${1%m*} rest=${1#*m}
	rest=${rest%s}
	printf '%d' $((minutes * 60000 + 10#${rest/[.,]/}))
}

# A program's output, then how it ended, its limit, how long it took and its time on
# the processors, in milliseconds.
run_program()
{
	limit=$("$here/limit-of.sh" "${programs[$1]%% *}" 2>/dev/null)
	[ "${limit:-0}" -gt "$timeout" ] || limit=$timeout
	begun=${EPOCHREALTIME/[.,]/}
	# The shell's own word on how a program died goes nowhere: the status says it.
	CMOCKA_MESSAGE_OUTPUT=TAP timeout -k 5 "$limit" ${programs[$1]} >"$work/$1" 2>&1 </dev/null &
	trap 'kill $! 2>/dev/null' INT TERM
	{ wait $!; status=$?; } 2>/dev/null
	ended=${EPOCHREALTIME/[.,]/}
	times >"$work/$1.times"		# a line of the shell's own, one of its children's
	{ read -r _ && read -r user system; } <"$work/$1.times"
	echo "$status $limit $(((ended - begun) / 1000)) $(($(milliseconds "$user") + $(milliseconds "$system")))" >"$work/$1.part"
	mv "$work/$1.part" "$work/$1.end"
}

# failed_checks INDEX STATUS: the program ended by itself, and a check of it failed
failed_checks()
{
	[ "$2" -lt 124 ] && grep -q '^not ok' "$work/$1" &&
		! grep -qE 'ERROR: [A-Za-z]+Sanitizer|WARNING: ThreadSanitizer|runtime error:' "$work/$1"
}

# put_off INDEX STATUS: 0 if the program is to run once more, after all others
put_off()
{
	[ ${#unsteady[@]} -lt "$again" ] && failed_checks "$1" "$2" || return
	unsteady+=("$1")
	mv "$work/$1" "$work/$1.first"
	rm -f "$work/$1.end" "$work/$1.times"
}

# Results of programs that have ended and that all before them are told of.
tell_results()
{
	while [ -e "$work/$told.end" ]; do
		read -r status _ <"$work/$told.end"
		put_off "$told" "$status" || tell_result "$told"
		told=$((told + 1))
	done
}

# The second run of those that were put off, one after the other.
run_again()
{
	local index pid
	for index in "${unsteady[@]}"; do
		run_program "$index" &
		pid=$!
		wait "$pid"
		# bash may come back before it has ended ("wait_for: No record of process").
		while [ ! -e "$work/$index.end" ] && kill -0 "$pid" 2>/dev/null; do
			read -r -t 0.1 -u "$never"
		done
		[ -e "$work/$index.end" ] || { touch "$work/$index"; echo "255 0 0 0" >"$work/$index.end"; }
		read -r status _ <"$work/$index.end"
		[ "$status" != 0 ] || grep -q '^not ok' "$work/$index" || {
			echo "#   $label$(basename "${programs[index]%% *}")"
			grep -m 3 '^not ok' "$work/$index.first" | sed 's/^/#      /'
		} >>"$results.unsteady"
		tell_result "$index"
	done
}

# tell_result INDEX
tell_result()
{
	local told=$1
	read -r status limit clock processor <"$work/$told.end"
	name=$(basename "${programs[$told]%% *}")
	printf '%d.%03d\t%d.%03d\t%s%s\n' $((clock / 1000)) $((clock % 1000)) \
		$((processor / 1000)) $((processor % 1000)) "$label" "$name" >>"$results.times"
	[ $terminal = yes ] && printf '\r\033[K'
	awk -v program="$name" -v label="$label" -v status="$status" -v timeout="$limit" \
		-v results="$results" -v failures_file="$results.failures" -v number="$(wc -l <"$results")" -v show_all=$show_all \
		"$join" "$work/$told"
	rm -f "$work/$told" "$work/$told.end" "$work/$told.times"
}

# Time of all processors until now, and the part of it that was idle or a nice process's.
read_processors()
{
	local user nice system idle waiting interrupts soft stolen
	read -r _ user nice system idle waiting interrupts soft stolen _ </proc/stat
	processor_time=$((user + nice + system + idle + waiting + interrupts + soft + stolen))
	idle_time=$((nice + idle + waiting))
}

# Has half a processor been idle since read_processors()?
was_idle()
{
	local before=$processor_time idle_before=$idle_time
	read_processors
	[ $((2 * processors * (idle_time - idle_before))) -gt $((processor_time - before)) ]
}

count_running()
{
	local ended=("$work"/*.end)
	running=$((index - told - ${#ended[@]}))
}

# The process that ran a program may die before it says how that ended (killed, no room on the disk).
# Then nothing runs any more, and results still miss: without this the loops would wait for ever.
give_up_lost()
{
	[ -z "$(jobs -rp)" ] || return
	for ((lost = told; lost < index; lost++)); do
		[ -e "$work/$lost.end" ] || { touch "$work/$lost"; echo "255 0 0 0" >"$work/$lost.end"; }
	done
	tell_results
}

# Until one more program may be started. A new one shows its load within a third of a second.
wait_for_room()
{
	local tick=0
	count_running
	[ "$running" -ge "$jobs" ] || return
	read_processors
	while [ "$running" -ge "$jobs" ]; do
		read -r -t 0.03 -u "$never"
		tell_results
		count_running
		tick=$(((tick + 1) % 10))
		[ $tick = 0 ] || continue
		give_up_lost
		was_idle && [ "$running" -lt "$most" ] && return
	done
}

shopt -s nullglob
mkfifo "$work/never"
exec {never}<>"$work/never"
processors=$(nproc)
told=0
unsteady=()		# the programs that run a second time, by their place in `programs`
for ((index = 0; index < total; index++)); do
	wait_for_room
	[ $terminal = yes ] && printf '\r\033[K# %s[%d/%d] %s' "$label" $((index + 1)) $total "$(basename "${programs[$index]%% *}")"
	run_program $index &
done
while [ $told -lt $total ]; do
	wait -n
	tell_results
	give_up_lost
done
run_again
exit 0
