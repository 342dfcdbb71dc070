# SPDX-License-Identifier: GPL-2.0 OR MIT
# Pages of the manual from the comments of public headers: text as scdoc reads it.

function escaped_term(text)
{
	gsub(/[\\_+]/, "\\\\&", text)
	return text
}

function escaped(text)
{
	gsub(/[\\_*+`~^<>]/, "\\\\&", text)
	return text
}

function reference(text,   name)
{
	name = text
	sub(/\(.*/, "", name)
	return "*" escaped_term(name) "*" substr(text, length(name) + 1)
}

# A sentence: pages, functions, constants and commands are bold.
function prose(text,   result, token)
{
	gsub(/[ \t\n]+/, " ", text)
	while (match(text, /`[^`]+`|[a-zA-Z][a-zA-Z0-9_.-]*\([1-8]?\)|[A-Z][A-Z0-9]+_[A-Z0-9_]*[A-Z0-9]/)) {
		token = substr(text, RSTART, RLENGTH)
		result = result escaped(substr(text, 1, RSTART - 1)) bold(token)
		text = substr(text, RSTART + RLENGTH)
	}
	result = result escaped(text)
	if (result ~ /^[]#|[;.:-]/)
		result = "\\" result
	return result
}

function bold(token,   name)
{
	name = token
	sub(/\(.*/, "", name)
	if (token ~ /^`/)
		return "*" escaped_term(substr(token, 2, length(token) - 2)) "*"
	if (token ~ /\(\)$/)
		return "*" escaped_term(name) "*" ((name in is_function) ? "(3)" : "()")
	if (token ~ /\)$/)
		return reference(token)
	return "*" escaped_term(token) "*"
}

# Paragraphs of a comment. A line that begins with a tab or "|" is printed as it is.
function paragraphs(text,   lines, count, i, result, one, literal)
{
	count = split(text, lines, "\n")
	for (i = 1; i <= count + 1; i++) {
		if (i <= count && lines[i] ~ /^(\t|\|)/) {
			result = result flushed(one)
			one = ""
			literal = literal code(lines[i] ~ /^\t/ ? substr(lines[i], 2) : lines[i]) "\n"
			continue
		}
		if (literal != "")
			result = result "```\n" literal "```\n\n"
		literal = ""
		if (i > count || lines[i] == "") {
			result = result flushed(one)
			one = ""
		} else
			one = one (one == "" ? "" : " ") lines[i]
	}
	return result
}

# A title in front of a paragraph of a header's own comment, such as "Errors.", is bold.
function flushed(one,   title)
{
	if (one == "")
		return ""
	if (has_titles && match(one, /^[A-Z][a-z]+( [a-z]+)?( [a-z]+)?\. /)) {
		title = substr(one, 1, RLENGTH - 1)
		return "*" title "* " prose(substr(one, RLENGTH + 1)) "\n\n"
	}
	return prose(one) "\n\n"
}

# Lines of C: tabs are spaces. An indentation by a tab is by 4 of them, but in prototypes.
function code(text, is_prototype,   lines, count, i, at, result)
{
	count = split(text, lines, "\n")
	for (i = 1; i <= count; i++) {
		while ((at = index(lines[i], "\t")))
			lines[i] = substr(lines[i], 1, at - 1) substr("        ", 1, 8 - (at - 1) % 8) substr(lines[i], at + 1)
		if (!is_prototype && lines[i] ~ /^        /)
			lines[i] = substr(lines[i], 5)
		result = result (i == 1 ? "" : "\n") lines[i]
	}
	return result
}
