#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR MIT
# Nothing outside of a device's own places names it, but what scripts/names.txt allows: what others
# need to know of a device comes from its kind (devices/kind.h), so that a device is added by one
# folder and one line.
#
#   check-names.sh [NAME]     from the root of the tree
#
# Says where a device is named, a line each, and ends with 1. With NAME, of a device that is not there yet:
# each place that has the word.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
kinds=${1:-$(scripts/kinds.sh)} || exit 1
rows=scripts/names.txt
[ $# = 0 ] || rows=/dev/null
[ -n "$kinds" ] || { echo "devices/kinds.def: names no device"; exit 1; }

find Makefile completions config daemon devices driver include lib* mk packages.txt scripts sim tools \
	-type f ! -name '*.md' ! -name names.txt 2>/dev/null | sort >"$work/files"
[ "$(wc -l <"$work/files")" -gt 100 ] || { echo "this is not the root of the tree"; exit 1; }

# The files as they are without comments: "FILE:LINE:TEXT".
xargs awk '
	FNR == 1 { in_comment = 0; is_c = FILENAME ~ /\.([chS]|def|map)$/; is_script = !is_c && FILENAME !~ /\.(ini|txt|css)$/ }
	is_script { sub(/^[ \t]*#([^!].*)?$/, "") }
	is_c {
		text = $0; $0 = ""
		while (text != "") {
			if (in_comment) {
				if (!(at = index(text, "*/"))) break
				text = substr(text, at + 2); in_comment = 0
			} else if (match(text, /"([^"\\]|\\.)*"|\047([^\047\\]|\\.)*\047|\/\*|\/\/.*/)) {
				# A literal stays; in it, nothing begins a comment.
				token = substr(text, RSTART, RLENGTH)
				in_comment = token == "/*"
				$0 = $0 substr(text, 1, RSTART - 1) (token ~ /^\// ? "" : token)
				text = substr(text, RSTART + RLENGTH)
			} else {
				$0 = $0 text; text = ""
			}
		}
	}
	{ print FILENAME ":" FNR ":" $0 }' <"$work/files" |
	grep -iE "$(echo "$kinds" | xargs | tr ' ' '|')" >"$work/text"

awk -v kinds="$kinds" '
	# Also in -lNAME and -IlibNAME.
	function names(text, kind) { return tolower(text) ~ "(^|[^a-z])(i?lib|l)?" kind "([^a-z]|$)" }
	function is_allowed(file, kind,   i, path) {
		for (i = 1; i <= rows; i++) {
			path = row[i]; gsub(/NAME/, kind, path)
			if (file ~ path) { used[i] = 1; return 1 }
		}
		return 0
	}
	BEGIN { count = split(kinds, kind, /[ \n]+/) }
	FILENAME ~ /names.txt$/ {
		if (/^#/ || !/:/) next
		path = $0; sub(/:.*/, "", path); written[++rows] = path
		gsub(/\./, "\\.", path); gsub(/\*/, ".*", path); row[rows] = "^" path "$"
		next
	}
	{
		file = $0; sub(/:.*/, "", file)
		text = substr($0, length(file) + 2)
		for (i = 1; i <= count; i++)
			if (names(text, kind[i]) && !is_allowed(file, kind[i])) { print; bad = 1; next }
	}
	END {
		for (i = 1; i <= rows; i++)
			if (!used[i]) { print "scripts/names.txt: no file needs the row " written[i]; bad = 1 }
		exit bad
	}' $rows "$work/text"
