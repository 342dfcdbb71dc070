# SPDX-License-Identifier: GPL-2.0 OR MIT
# Pages of the manual from the comments of public headers, first half: what the headers say.
#
#   awk -v folder=DIRECTORY -f read.awk -f write.awk ARGUMENTS...
#
# An argument is a header, or a setting for those that follow:
#   library=libNAME   they are of this library; the first one is its main header
#   include=NAME.h    how programs include it
#   types=1           only the types are taken, for the synopses (types=0: functions, too)
#
# A header begins with a comment that is about all of it, and each function has one:
#
#   /**
#    * NAME() - what it does
#    * @PARAMETER: what it is
#    *
#    * Paragraphs. Lines that begin with a tab, or with "|", are printed as they are.
#    *
#    * Returns 0, or
#    * -EINVAL: why
#    *
#    * Threads. A paragraph in place of the header's own of this name.
#    *
#    * Example:
#    *	one line of code
#    *
#    * See also: OTHER_FUNCTION(), mimicd(8).
#    */
#
# A part that is missing or does not fit is an error, with file and line. No page is made then.

function complain(text)
{
	print FILENAME ":" FNR ": " text > "/dev/stderr"
	bad = 1
}

function trimmed(text)
{
	gsub(/^[ \t]+|[ \t]+$/, "", text)
	return text
}

FNR == 1 {
	state = "start"
	prototype = ""
	plain = ""
	if (!types && !(library in main)) {
		main[library] = FILENAME
		included[library] = include
		libraries[++library_count] = library
	}
	of_library[FILENAME] = library
	if (!types)
		headers[library, ++header_count[library]] = FILENAME
	next
}

# --- comments ------------------------------------------------------------------

state == "front" || state == "doc" {
	if (/^ \*\/$/) {
		state = state == "front" ? "code" : "prototype"
		next
	}
	line = $0
	if (line !~ /^ \*($|[ \t])/)
		complain("a line of a comment that does not begin with \" *\"")
	sub(/^ \* ?/, "", line)
	if (state == "front")
		front[FILENAME, ++front_lines[FILENAME]] = line
	else
		doc[++doc_lines] = line
	next
}

state == "plain" {
	plain = plain "\n" $0
	if (/\*\//)
		state = "code"
	next
}

state == "start" && /^\/\*$/ { state = "front"; next }

/^\/\*\*$/ { state = "doc"; doc_lines = 0; split("", doc); plain = ""; next }

# A comment in front of a type or a constant.
state != "type" && /^\/\*/ {
	plain = $0
	if (!/\*\//)
		state = "plain"
	next
}

# --- types and constants -------------------------------------------------------

state == "type" {
	type_text[type] = type_text[type] "\n" $0
	if (match($0, /^\t[A-Z][A-Z0-9_]*/) && type ~ /^enum/)
		names_of[type] = names_of[type] " " substr($0, 2, RLENGTH - 1)
	if (/^[}]/)
		state = "code"
	next
}

/^(enum|struct) [a-z0-9_]+ [{]$/ {
	type = $1 " " $2
	type_text[type] = (plain == "" ? "" : plain "\n") $0
	type_order[++type_count] = type
	type_library[type] = library
	type_is_far[type] = types
	plain = ""
	state = "type"
	next
}

# A list of the form _(NAME, "meaning") that types are made of.
/^#define [A-Z0-9_]+\(_\) \\$/ {
	list = $2
	sub(/\(_\)/, "", list)
	state = "list"
	next
}
state == "list" {
	list_rows[list, ++list_count[list]] = $0
	if (!/\\$/)
		state = "code"
	next
}

/^#define [A-Z0-9_]+ ./ && !types {
	constant_text[$2] = (plain == "" ? "" : plain "\n") $0
	constant_order[++constant_count] = $2
	constant_library[$2] = library
	plain = ""
	next
}

# --- prototypes ----------------------------------------------------------------

/^$/ { plain = ""; next }
types || /^[#} \t]/ && prototype == "" || /^extern "C"/ { next }
/^static/ || /^(struct|enum) [a-z0-9_]+;$/ { next }

{
	prototype = prototype (prototype == "" ? "" : "\n") $0
	if (!/;$/)
		next
	take_function(prototype)
	prototype = ""
	state = "code"
}

# The name of a parameter: its last word, or that of a pointer to a function.
function parameter_name(text)
{
	if (match(text, /\(\*[a-z0-9_]+\)/))
		return substr(text, RSTART + 2, RLENGTH - 3)
	sub(/\[[^]]*\]$/, "", text)
	match(text, /[A-Za-z0-9_]+$/)
	return substr(text, RSTART, RLENGTH)
}

function take_parameters(name, text,   i, c, depth, one)
{
	gsub(/[ \t\n]+/, " ", text)
	if (text == "void")
		return
	for (i = 1; i <= length(text) + 1; i++) {
		c = substr(text, i, 1)
		depth += (c == "(") - (c == ")")
		if (c == "" || c == "," && depth == 0) {
			parameter[name, ++parameter_count[name]] = parameter_name(trimmed(one))
			one = ""
		} else
			one = one c
	}
}

function take_function(text,   name, at, i, header)
{
	gsub(/MIMIC_SIM_API /, "", text)
	at = index(text, "(")
	header = substr(text, 1, at - 1)
	match(header, /[A-Za-z0-9_]+$/)
	name = substr(header, RSTART, RLENGTH)
	if (state != "prototype") {
		complain(name "() has no comment /** */ in front of it")
		return
	}
	functions[++function_count] = name
	file_of[name] = FILENAME
	line_of[name] = FNR
	synopsis[name] = text
	is_void[name] = header ~ /^void [a-z]/
	text = substr(text, at + 1, length(text) - at - 2)
	take_parameters(name, text)
	has_handle[name] = text ~ /^struct [a-z_]+ \*[a-z]/
	for (i = 1; i <= doc_lines; i++)
		comment[name, i] = doc[i]
	comment_lines[name] = doc_lines
}
