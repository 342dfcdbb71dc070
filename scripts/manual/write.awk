# SPDX-License-Identifier: GPL-2.0 OR MIT
# Pages of the manual from the comments of public headers, second half: the pages, as scdoc reads them.
# read.awk says what it is given. text.awk makes the text of a page, types.awk its synopsis.

function wrong(name, text)
{
	print file_of[name] ":" line_of[name] ": " name "(): " text > "/dev/stderr"
	bad = 1
}

# --- the parts of a function's comment -----------------------------------------

# Takes a comment apart: brief, meaning[PARAMETER], description, returns, item rows, threads, example, see.
function take_apart(name,   i, line, part, parameters)
{
	brief = description = returns = threads = example = see = ""
	items = 0
	split("", meaning)
	if (index(comment[name, 1], name "() - ") != 1)
		wrong(name, "its comment does not begin with \"" name "() - what it does\"")
	brief = substr(comment[name, 1], length(name) + 6)
	part = "parameters"
	for (i = 2; i <= comment_lines[name]; i++) {
		line = comment[name, i]
		if (line == "" && part == "parameters")
			part = "description"
		if (match(line, /^@[a-z0-9_]+: /)) {
			parameters = substr(line, 2, RLENGTH - 3)
			meaning[parameters] = substr(line, RLENGTH + 1)
		} else if (part == "parameters") {
			if (parameters == "")
				brief = brief " " trimmed(line)
			else
				meaning[parameters] = meaning[parameters] " " trimmed(line)
		} else
			part = take_line(part, line, comment[name, i - 1] == "")
	}
}

# A line behind the parameters: which part it is of. A part ends where another begins.
function take_line(part, line, begins)
{
	if (begins && line != "") {
		part = "description"
		if (line ~ /^Returns /)
			part = "returns"
		else if (line ~ /^Threads\. /)
			part = "threads"
		else if (line ~ /^Example:/)
			part = "example"
		else if (line ~ /^See also: /)
			part = "see"
	}
	if (part == "description")
		description = description "\n" line
	else if (part == "threads")
		threads = threads "\n" line
	else if (part == "see")
		see = see " " line
	else if (part == "example") {
		if (line !~ /^Example:/)
			example = example "\n" line
	} else if (part == "returns" && line != "")
		take_returned(line)
	return part
}

# "Returns 0, or", then a line for each error or other value; longer ones go on behind spaces.
function take_returned(line,   at)
{
	if (match(line, /^(-?E[A-Z0-9]+(, -?E[A-Z0-9]+)*( and others)?|-?[0-9]+|NULL): /)) {
		item_value[++items] = substr(line, 1, RLENGTH - 2)
		item_text[items] = substr(line, RLENGTH + 1)
	} else if (items)
		item_text[items] = item_text[items] " " trimmed(line)
	else
		returns = returns (returns == "" ? "" : " ") line
}

function check(name,   i, one, is_parameter)
{
	split("", is_parameter)
	if (brief == "")
		wrong(name, "its comment does not say what it does")
	for (i = 1; i <= parameter_count[name]; i++) {
		one = parameter[name, i]
		is_parameter[one] = 1
		if (!(one in meaning))
			wrong(name, "its comment has no line for the parameter " one)
	}
	for (one in meaning)
		if (!(one in is_parameter))
			wrong(name, "its comment has a line for " one ", which is no parameter of it")
	if (!is_void[name] && returns == "")
		wrong(name, "its comment does not say what it returns")
	if (is_void[name] && returns != "")
		wrong(name, "its comment says what it returns, and it is void")
}

# --- what the main header says for all of its functions ------------------------

# The front comment's paragraph of that name, in the function's own header or in the library's main one.
function common_paragraph(name, title,   text)
{
	text = front_paragraph(file_of[name], title)
	return text != "" ? text : front_paragraph(main[of_library[file_of[name]]], title)
}

function front_paragraph(file, title,   i, text, is_in)
{
	for (i = 1; i <= front_lines[file]; i++) {
		if (index(front[file, i], title ". ") == 1)
			is_in = 1
		else if (front[file, i] == "")
			is_in = 0
		if (is_in)
			text = text "\n" front[file, i]
	}
	return text
}

# Errors that each function has "beside these": a clause, then lines of a tab, a value, a tab and a meaning.
# A clause "every function with a NAME" is for those that have this parameter.
function common_errors(name,   lines, count, i, parts, clause, text, applies)
{
	count = split(front_paragraph(main[of_library[file_of[name]]], "Errors"), lines, "\n")
	for (i = 1; i <= count; i++) {
		if (lines[i] ~ /^\t/) {
			if (clause != "") {
				sub(/.*[Bb]eside these, /, "", clause)
				applies = applies_to(name, clause)
				text = text (applies ? "\n" prose("Beside these, " trimmed_clause(clause) ":") "\n" : "")
				clause = ""
			}
			split(substr(lines[i], 2), parts, /\t+/)
			if (applies)
				text = text "\n" row(parts[1], parts[2])
		} else
			clause = clause (clause == "" ? "" : " ") lines[i]
	}
	return text
}

function trimmed_clause(clause)
{
	sub(/^ *and /, "", clause)
	if (clause !~ /may return$/)
		clause = clause " may return"
	return clause
}

function applies_to(name, clause,   i)
{
	if (!has_handle[name] || synopsis[name] !~ /^(int|ssize_t) /)
		return 0
	if (!match(clause, /every function with an? [a-z_]+/))
		return 1
	sub(/.* /, "", clause)
	for (i = 1; i <= parameter_count[name]; i++)
		if (parameter[name, i] == clause)
			return 1
	return 0
}

# --- sections ------------------------------------------------------------------

function row(term, text)
{
	gsub(/, /, "*, *", term)
	return "*" escaped_term(term) "*\n\t" prose(text) "\n"
}

function section(title, text)
{
	gsub(/^\n+|\n+$/, "", text)
	if (text != "")
		printf "\n# %s\n\n%s\n", title, text > page
}

function return_section(name,   i, text)
{
	if (is_void[name]) {
		section("RETURN VALUE", "None.")
		return
	}
	text = substr(returns, 9)
	sub(/\.$/, "", text)
	sub(/errno:$/, "errno set to one of the errors below.", text)
	for (i = 1; i <= items && item_value[i] ~ /E[A-Z]/; i++)
		;
	if (i <= items)
		sub(/,? or$/, ", one of the values here, or one of the errors below.", text)
	else
		sub(/,? or$/, ", or one of the errors below.", text)
	if (text !~ /below\.$/ && common_errors(name) != "")
		text = text ", or one of the errors below."
	else if (text !~ /[.:]$/)
		text = text "."
	text = prose(toupper(substr(text, 1, 1)) substr(text, 2))
	for (i = 1; i <= items; i++)
		if (item_value[i] !~ /E[A-Z]/)
			text = text "\n\n" row(item_value[i], item_text[i])
	section("RETURN VALUE", text)
}

# The library has a function that says more, if its header's paragraph of errors names it.
function error_text_of(library,   name)
{
	name = library
	sub(/^lib/, "", name)
	name = name "_error_text()"
	return index(front_paragraph(main[library], "Errors"), name " says more") ? name : ""
}

function error_section(name,   i, text, told)
{
	for (i = 1; i <= items; i++)
		if (item_value[i] ~ /E[A-Z]/)
			text = text "\n" row(item_value[i], item_text[i])
	text = text common_errors(name)
	told = error_text_of(of_library[file_of[name]])
	if (text != "" && told != "")
		text = text "\n" prose(told " says more about an error.")
	section("ERRORS", text)
}

function thread_section(name)
{
	if (threads == "" && has_handle[name])
		threads = common_paragraph(name, "Threads")
	if (threads == "")
		threads = "Any thread may call it at any time."
	sub(/^\n*Threads\. */, "", threads)
	section("THREADS", paragraphs(threads))
}

# Those that the comment names first, then the others that are mentioned, and those that are "As this()".
function see_also(name,   i, text)
{
	see_count = 0
	split("", is_seen)
	is_seen[name] = 1
	sub(/^ *See also: /, "", see)
	sub(/\.$/, "", see)
	see_all(see)
	see_all(brief " " description " " returns " " threads)
	for (i = 1; i <= items; i++)
		see_all(item_text[i])
	for (i = 1; i <= function_count; i++)
		if (mentions[functions[i]] ~ "(^|\n)[^\n]*As " name "\\(")
			see_one(functions[i] "(3)")
	see_one(of_library[file_of[name]] "(3)")
	for (i = 1; i <= see_count; i++)
		text = text (i == 1 ? "" : ", ") reference(seen[i])
	section("SEE ALSO", text)
}

function see_all(text)
{
	while (match(text, /[a-zA-Z][a-zA-Z0-9_.-]*\([1-8]?\)/)) {
		see_one(substr(text, RSTART, RLENGTH))
		text = substr(text, RSTART + RLENGTH)
	}
}

function see_one(text,   name)
{
	name = text
	sub(/\(.*/, "", name)
	if (name in is_seen || text ~ /\(\)$/ && !(name in is_function))
		return
	is_seen[name] = 1
	seen[++see_count] = name (text ~ /\(\)$/ ? "(3)" : substr(text, length(name) + 1))
}

# --- pages ---------------------------------------------------------------------

function begin_page(name, short)
{
	page = folder "/" name ".3.scd"
	printf "%s(3) \"\" \"mimic\"\n", name > page
	section("NAME", escaped_term(name) " - " prose(short))
}

function package_line(library)
{
	return "Compile and link with *pkg-config --cflags --libs " library "*.\n"
}

function write_function(name,   i, library, text)
{
	library = of_library[file_of[name]]
	take_apart(name)
	check(name)
	begin_page(name, brief)
	section("SYNOPSIS", "```\n#include <" included[library] ">\n" types_of(name) "\n" code(synopsis[name], 1) "\n```\n\n" package_line(library))
	for (i = 1; i <= parameter_count[name]; i++)
		text = text "\n" row(parameter[name, i], meaning[parameter[name, i]])
	section("PARAMETERS", text)
	section("DESCRIPTION", paragraphs(description ~ /[^\n]/ ? description : toupper(substr(brief, 1, 1)) substr(brief, 2) "."))
	return_section(name)
	error_section(name)
	thread_section(name)
	section("EXAMPLES", paragraphs(example))
	if (file_of[name] != main[library])
		section("NOTES", titled_paragraphs(front_text(file_of[name])))
	see_also(name)
	close(page)
}

function front_text(file,   i, text)
{
	for (i = 1; i <= front_lines[file]; i++)
		text = text "\n" front[file, i]
	return text
}

function titled_paragraphs(text,   result)
{
	has_titles = 1
	result = paragraphs(text)
	has_titles = 0
	return result
}

# The functions that a header has, each with what it does.
function index_of(file,   i, text)
{
	for (i = 1; i <= function_count; i++)
		if (file_of[functions[i]] == file)
			text = text "\n" prose(functions[i] "()") "\n\t" prose(substr(comment[functions[i], 1], length(functions[i]) + 6)) "\n"
	return text
}

# lib...(3): what the headers say of the whole, and their functions.
function write_library(library,   i, file, title, short, text)
{
	text = front_text(main[library])
	sub(/^\n*lib[a-z-]*: */, "", text)
	short = text
	sub(/\. .*|\.\n.*/, "", short)
	gsub(/\n/, " ", short)
	begin_page(library, short)
	section("SYNOPSIS", "```\n#include <" included[library] ">\n```\n\n" package_line(library))
	section("DESCRIPTION", titled_paragraphs(toupper(substr(text, 1, 1)) substr(text, 2)))
	section("FUNCTIONS", index_of(main[library]))
	for (i = 2; i <= header_count[library]; i++) {
		file = title = headers[library, i]
		sub(/.*\//, "", title)
		section(escaped_term(toupper(title)), titled_paragraphs(front_text(file)) "\n" index_of(file))
	}
	close(page)
}

END {
	for (i = 1; i <= function_count; i++) {
		is_function[functions[i]] = 1
		for (j = 1; j <= comment_lines[functions[i]]; j++)
			mentions[functions[i]] = mentions[functions[i]] "\n" comment[functions[i], j]
	}
	if (!function_count) {
		print "no header has a function" > "/dev/stderr"
		bad = 1
	}
	for (i = 1; i <= function_count; i++)
		write_function(functions[i])
	for (i = 1; i <= library_count; i++)
		write_library(libraries[i])
	exit bad
}
