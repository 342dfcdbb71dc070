#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR MIT
# The kinds that are built in, a line each: devices/kinds.def, read as the compiler reads it. A line that the
# compiler would read in another way is an error.
#
#   kinds.sh     from the root of the tree
exec awk '
	{
		text = (in_comment ? "/*" : "") $0; in_comment = 0
		while ((start = index(text, "/*")) && !in_comment) {
			end = index(substr(text, start + 2), "*/")
			in_comment = !end
			text = substr(text, 1, start - 1) " " (end ? substr(text, start + end + 3) : "")
		}
		while (match(text, /^[ \t]*KIND[ \t]*\([ \t]*[a-z]+[ \t]*\)/)) {
			name = substr(text, 1, RLENGTH); gsub(/[^a-z]/, "", name)
			print name
			text = substr(text, RLENGTH + 1)
		}
		if (text !~ /^[ \t]*$/) {
			print FILENAME ":" FNR ": expected KIND(name), in small letters: " $0 > "/dev/stderr"
			exit 1
		}
	}' devices/kinds.def
