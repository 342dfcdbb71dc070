#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR MIT
# Holds the folders to scripts/layers.txt: by the #include lines of files, and, where there are objects of
# them, by the functions and variables that they take from each other; and by the SVG that they draw.
#
#   check-layers.sh [BUILD-DIRECTORY]     from the root of the tree
#
# Says what is wrong, a line each, and ends with 1.
set -u
build=${1:-build}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
listed() { sed -n "s/#.*//; s/^$1: *//p" scripts/layers.txt; }
# All files but built ones; and of those the sources that have to keep to the rows.
find . \( -path './.*' -o -path "./$(realpath -m --relative-to=. "$build")" -o -path './build-*' \) -prune -o -type f -print |
	sed 's/^\.\///' | sort > "$work/files"
outside=$(listed 'not looked at' | sed 's/ *$//; s/  */|/g')
grep '/.*\.[chS]$' "$work/files" | grep -Ev "^($outside)/" > "$work/sources"
roots=$(sed 's/\/.*//' "$work/sources" | uniq)

# "USER USED NAME": USER includes USED, or takes the symbol NAME from it.
xargs grep -HE '^[[:blank:]]*#[[:blank:]]*include[[:blank:]]*[<"]' < "$work/sources" |
	sed 's/^\([^:]*\):[[:blank:]]*#[[:blank:]]*include[[:blank:]]*\([<"][^>"]*\).*/\1 \2/' > "$work/includes"
awk -v libraries="$(printf '|%s/' lib* devices/*/lib)" -v generated="$(listed generated)" '
	function normal(path,   n, part, i, out) {
		while (sub(/(^|\/)\.(\/|$)/, "/", path) || sub(/\/\/+/, "/", path)) ;
		sub(/^\//, "", path)
		n = split(path, part, "/"); out = ""
		for (i = 1; i <= n; i++)
			if (part[i] != "..") out = out "/" part[i]
			else sub(/\/[^\/]*$/, "", out)
		return substr(out, 2)
	}
	FILENAME == ARGV[1] { is_file[$1] = 1; next }
	{
		folder = $1; sub(/[^\/]*$/, "", folder)
		is_quoted = sub(/^"/, "", $2); sub(/^</, "", $2)
		n = split((is_quoted ? folder "|" : "") "|include/|driver/" libraries, before, "|")
		for (i = 1; i <= n; i++)
			if ((used = normal(before[i] $2)) in is_file) { print $1, used, "#include"; next }
		# Headers that are not of this tree are included by "<".
		if (is_quoted && index(" " generated " ", " " $2 " ") == 0)
			print $1 ": includes " $2 ", and there is no such file" > "/dev/stderr"
	}' "$work/files" "$work/includes" > "$work/uses" 2> "$work/missing"
# shellcheck disable=SC2086
(cd "$build/obj" 2>/dev/null && find $roots -name '*.o' -exec nm -A -P {} + 2>/dev/null) |
	awk 'FILENAME == ARGV[1] { is_source[$1] = 1; next }
	{
		file = $1; sub(/\.o:$/, ".c", file)
		if (!is_source[file]) next;		# left from before it was moved
		if ($3 == "U") undefined[file, $2] = 1
		# These stand in front of the C library, for other programs: close(), mmap(), nanosleep().
		else if (file ~ /^(libmimic\/preload|sim\/runtime)\// && $2 !~ /^(mimic|sim)_/) next
		else if ($3 ~ /[A-Z]/) definers[$2] = definers[$2] " " file
	}
	END {
		for (key in undefined) {
			split(key, part, SUBSEP)
			# Several have it where a test or a tool has its own: the first that may be used is meant.
			if (part[2] in definers) print part[1], definers[part[2]] " " part[2]
		}
	}' "$work/sources" - >> "$work/uses"

awk -v folders="$work/folders" -v calls="$work/calls" '
	function folder_of(file,   k, list, n) {
		sub(/\/[^\/]*$/, "", file)
		n = split(with_parent, list, " ")
		for (k = 1; k <= n; k++) if (fits(file, list[k])) sub(/\/[^\/]*$/, "", file)
		return file
	}
	function fits(folder, pattern) {
		gsub(/\*/, "[^/]*", pattern)
		return folder ~ "^" pattern "$"
	}
	function row_of(folder,   i) {
		for (i = 1; i <= rows; i++) if (fits(folder, row[i])) return i
		return 0
	}
	function may_use(i, file, used,   k, list, n) {
		n = split(allowed[i] " " of_file[file], list, " ")
		for (k = 1; k <= n; k++) if (fits(used, list[k])) return 1
		return folder_of(file) == used
	}
	FILENAME == ARGV[1] {
		sub(/#.*/, "")
		if (!/:/) next
		name = $0; sub(/:.*/, "", name); sub(/[^:]*:/, "")
		if (name == "not looked at" || name == "generated" || name == "draws") next
		if (name == "with their parent") { with_parent = $0; next }
		if (name == "no circles") { without_circles = $0; next }
		if (name ~ /\.[ch]$/) { of_file[name] = $0; next }
		row[++rows] = name; allowed[rows] = $0
		next
	}
	FILENAME == ARGV[2] {
		i = row_of(folder_of($1)); files[i]++
		if (!i) without_row[folder_of($1)]
		next
	}
	{
		from = folder_of($1); i = row_of(from); used = ""
		if (!i) next
		for (k = 2; k < NF && !used; k++) if (may_use(i, $1, folder_of($k))) used = $k
		if (!used) {
			used = $2
			print $1 ": " ($NF == "#include" ? "includes " used : "takes " $NF " from " used) \
				", and " from " may not use " folder_of(used)
		}
		to = folder_of(used)
		if (from != to && row_of(to)) print from, to > folders
		n = split(without_circles, list, " ")
		for (k = 1; k <= n; k++)
			if ($NF != "#include" && from == to && $1 != used && fits(from, list[k])) print $1, used > calls
	}
	END {
		for (folder in without_row) print "scripts/layers.txt: no row for " folder
		for (i = 1; i <= rows; i++) if (!files[i]) print "scripts/layers.txt: no file lies in " row[i]
	}
	' scripts/layers.txt "$work/sources" "$work/uses" | sort - "$work/missing" > "$work/wrong"
grep '\.\([ch]\|css\|py\|sh\)$' "$work/files" | grep -Ev "^(tests|$(listed draws))/" | xargs grep -lE \
	'<(svg|g|rect|path|polyline|polygon|line|circle)( [a-z]|")|(fill|stroke)(-[a-z]+)?: ' |
	sed "s|\$|: draws, which only $(listed draws) does|" >> "$work/wrong"
# Folders, and files of a folder, that use each other in a circle.
for graph in folders calls; do
	sort -u "$work/$graph" 2>/dev/null | tsort 2>&1 >/dev/null |
		sed 's/^tsort: -: .*/a circle:/; s/^tsort: /    /' >> "$work/wrong"
done
cat "$work/wrong"
[ ! -s "$work/wrong" ]
