# SPDX-License-Identifier: GPL-2.0 OR MIT
# Turns what the guest's programs print into one KTAP stream, and writes a line
# for each result to `results`, in the form of tests/scripts/run-tests.sh.
#
#   awk -v label=6.1 -v results=FILE -v reports=kernel-reports.txt \
#       -v harmless=kernel-harmless.txt -v unfinished=FILE -f report.awk
#
# guest/supervise.c puts "# program: NAME" before a program's output, its part of
# the kernel's log and "# ended: NAME HOW after N s" behind it. If the output ends
# before a program does, `unfinished` gets the program's name and, where the program
# has said it, the test that ran: how the machine ended, the caller knows.

function read_patterns(file, into,    line, count) {
	while ((getline line < file) > 0)
		into[++count] = line
	close(file)
	if (!count) {
		print "report.awk: no patterns in " file > "/dev/stderr"
		exit 2
	}
}

# The assertion that failed, as the harness says it: it goes into the list of failures, too,
# which may be all that is left of a long run's output.
function first_assertion(    i) {
	for (i = 1; i <= kept; i++)
		if (lines[i] ~ /\.[ch]:[0-9]+:/) {
			sub(/^# */, "", lines[i])
			return " (" lines[i] ")"
		}
	return ""
}

function verdict(kind, text) {
	number++
	counted[kind]++
	printf "%s\t%s: %s: %s%s\n", kind, label, program, text, kind == "fail" ? first_assertion() : "" >> results
	printf "%s %d - %s: %s: %s\n", kind == "fail" ? "not ok" : "ok", number, label, program, text
	fflush()
}

function is_kernel_report(line,    i) {
	for (i in harmless_text)
		if (index(line, harmless_text[i]))
			return 0
	for (i in report_pattern)
		if (line ~ report_pattern[i])
			return 1
	return 0
}

function begin_program(name) {
	program = name
	planned = seen = failures = has_plan = kept = 0
	kernel_report = ""
	harness_test = ""
}

function show_kept(    i) {
	for (i = 1; i <= kept; i++)
		print "#   " lines[i]
	kept = 0
}

function keep(line) {
	lines[++kept] = line
	if (kept > 400)
		delete lines[kept--]
}

# "ok 3 name", "not ok 3 - name # SKIP why". The harness of 6.1 gives no name
# where it skips: then it is the one it said it would run.
function result(line,    bad, text, kind) {
	bad = line ~ /^not ok/
	text = line
	sub(/^(not )?ok *[0-9]* *(- *)?/, "", text)
	if (text ~ /^# *SKIP/ && harness_test != "")
		text = harness_test " " text
	kind = toupper(text) ~ /# *SKIP/ ? "skip" : bad ? "fail" : "pass"
	seen++
	failures += kind == "fail"
	verdict(kind, text)
	if (kind == "fail")
		show_kept()
	kept = 0
	harness_test = ""
}

function plan(line,    words) {
	has_plan = 1
	split(substr(line, 4), words, " ")
	planned = words[1] + 0
	if (planned == 0 && toupper(line) ~ /# *SKIP/) {
		sub(/^1\.\.0 *# *[A-Za-z]* */, "", line)
		verdict("skip", "all # SKIP " line)
	}
}

function end_program(how, seconds,    status) {
	if (how == "timeout")
		verdict("fail", "no end after " seconds " s")
	else if (how == "unkillable")
		verdict("fail", "a process of it does not die")
	else if (how == "cut")
		verdict("fail", "its supervisor did not say how it ended")
	else if (how ~ /^signal/)
		verdict("fail", "died of " how)
	else if (how != "0" && how != "4" && !failures)	# 4: all skipped
		verdict("fail", "ended with status " how)
	else if (!has_plan)
		verdict("fail", "gave no test plan")
	else if (seen != planned)
		verdict("fail", "planned " planned " results and gave " seen)
	if (kernel_report != "") {
		verdict("fail", "kernel log: " kernel_report)
		blamed = 1
	}
	if (failures || counted["fail"] > failed_before)
		show_kept()
	kept = 0
	failed_before = counted["fail"]
	program = ""
}

BEGIN {
	read_patterns(reports, report_pattern)
	read_patterns(harmless, harmless_text)
}

{ sub(/\r$/, "") }
/^# program: / {
	if (program != "")
		end_program("cut", 0)
	begin_program($3)
	next
}
/^# ended: / { if (program != "") end_program($4, $6); next }
/^# all programs ran$/ { complete = 1; next }
program == "" { if ($0 != "") print "# " label ": " $0; next }
/^# kernel: / {
	if (kernel_report == "" && is_kernel_report($0)) {
		kernel_report = $0
		sub(/^# kernel: (<[0-9]>)?/, "", kernel_report)
	}
	keep(substr($0, 3))
	next
}
/^1\.\.[0-9]+/ { plan($0); next }
/^(not )?ok( |$)/ { result($0); next }
/^(K?TAP version|$)/ { next }
/^# +RUN +/ { harness_test = $3 }
{ keep($0) }

END {
	if (program != "") {
		print "# " label ": the machine ended while " program " ran; the last that it said:"
		show_kept()
		print program "\t" harness_test > unfinished
	}
	# The script that reads the console's log then need not say it again.
	exit (blamed ? 3 : complete ? 0 : 4)
}
