# SPDX-License-Identifier: GPL-2.0 OR MIT
# Says how a kernel's console ended. Where the kernel panicked, the first line of the
# output is "kernel panic: REPORT at PLACE", the console's lines that matter follow
# (the report, processor and program, place, calls, the panic), and the exit status is 0.
# Else the last 40 lines are printed, and the exit status is 1.
#
#   awk -f console-end.awk CONSOLE

# A kernel may live on after an oops. The report that counts is the first one of the ten
# seconds before the panic: other processors often add theirs before the machine ends.
function begin_report(text) {
	count = calls = in_calls = 0
	place = processor = ""
	began = stamp
	first = text
	open = 1
}

function keep(text) {
	report[++count] = text
}

function keep_call(text) {
	# Those with "?" are what lay on the stack; they need not have been called.
	if (text ~ /^ *(\?|<)/)
		return
	if (++calls <= 16)
		keep(text)
}

{
	sub(/\r$/, "")
	last[NR % 40] = $0
	text = $0
	if (match(text, /[0-9]+\.[0-9]+\]/))
		stamp = substr(text, RSTART, RLENGTH - 1) + 0
	sub(/^\[ *[0-9]+\.[0-9]+\] ?/, "", text)
}

panic != "" && !open { next }

!open && (!count || stamp - began > 10) &&
text ~ /^(Oops|BUG|general protection fault|double fault|stack segment|invalid opcode|divide error|int3|PANIC)[: ]/ {
	begin_report(text)
	keep(text)
	next
}

text ~ /^Kernel panic - not syncing/ {
	if (panic != "")
		next
	panic = text
	# One without a report of its own is told of after this line.
	if (count)
		open = 0
	else
		begin_report(text)
	keep(text)
	next
}

!open { next }
text ~ /^(---\[ end |Kernel Offset:|Rebooting)/ { open = in_calls = 0; next }
text ~ /^Oops:/ && !calls { keep(text); next }
text ~ /^CPU:/ && processor == "" {
	processor = text
	keep(text)
	next
}
text ~ /^(Workqueue|Call Trace):/ { in_calls = text ~ /^Call/; keep(text); next }
text ~ /^RIP: 0010:/ && place == "" {
	place = substr(text, 11)
	keep(text)
	next
}
text ~ /^(RIP|RSP|Code|Modules linked in): ?/ { in_calls = 0; next }
in_calls { keep_call(text) }

END {
	if (panic == "") {
		for (i = NR > 40 ? NR - 39 : 1; i <= NR; i++)
			print last[i % 40]
		exit 1
	}
	sub(/^Kernel panic - not syncing: /, "", first)
	print "kernel panic: " first (place == "" ? "" : " at " place)
	for (i = 1; i <= count; i++)
		print report[i]
}
