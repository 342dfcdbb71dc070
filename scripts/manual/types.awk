# SPDX-License-Identifier: GPL-2.0 OR MIT
# Pages of the manual from the comments of public headers: the types and constants of a synopsis.

# The types that a reader of the function's page needs: those of its prototype, and types and constants of
# the library that its parameters' lines name.
function types_of(name,   text, i, result, words)
{
	text = synopsis[name]
	for (i = 1; i <= parameter_count[name]; i++)
		text = text " " meaning[parameter[name, i]]
	words = " " text " "
	gsub(/[^A-Za-z0-9_]+/, " ", words)
	split("", is_shown)
	for (i = 1; i <= type_count; i++)
		if (index(words, " " type_order[i] " ") || names_one(type_order[i], words, of_library[file_of[name]]))
			result = result type_with_parts(type_order[i])
	for (i = 1; i <= constant_count; i++)
		if (index(words, " " constant_order[i] " "))
			result = result "\n" code(constant_text[constant_order[i]]) "\n"
	return result
}

# Does the text name a constant of this enum?
function names_one(type, words, library,   names, count, i)
{
	if (type_library[type] != library || type_is_far[type])
		return 0
	count = split(names_of[type], names, " ")
	for (i = 1; i <= count; i++)
		if (index(words, " " names[i] " "))
			return 1
	return 0
}

# The types of its members come first.
function type_with_parts(type,   text, i, result)
{
	if (type in is_shown)
		return ""
	is_shown[type] = 1
	text = " " type_text[type] " "
	gsub(/[^A-Za-z0-9_]+/, " ", text)
	for (i = 1; i <= type_count; i++)
		if (type_order[i] != type && index(text, " " type_order[i] " "))
			result = result type_with_parts(type_order[i])
	return result "\n" code(expanded(type_text[type])) "\n"
}

# The members that a list makes: "#define _(name, meaning) MEMBER", the list's name, "#undef _".
function expanded(text,   lines, count, i, result, template, list)
{
	count = split(text, lines, "\n")
	for (i = 1; i <= count; i++) {
		if (lines[i] ~ /^#define _\(/)
			template = lines[i]
		else if (lines[i] ~ /^#undef _/)
			continue
		else if (lines[i] ~ /^\t[A-Z0-9_]+\(_\)$/) {
			list = trimmed(lines[i])
			sub(/\(_\)$/, "", list)
			result = result "\n" members(template, list)
		} else
			result = result "\n" lines[i]
	}
	return substr(result, 2)
}

# Comments begin in one column.
function members(template, list,   i, result, line, widest, row_line)
{
	for (i = 1; i <= list_count[list]; i++) {
		row_line[i] = member(template, list_rows[list, i])
		if (index(row_line[i], "/*") > widest)
			widest = index(row_line[i], "/*")
	}
	for (i = 1; i <= list_count[list]; i++) {
		line = row_line[i]
		while (index(line, "/*") < widest)
			sub(/ \/\*/, "  /*", line)
		result = result (i == 1 ? "" : "\n") line
	}
	return result
}

# One row, "_(FIRST, SECOND, "text")", put into the template; its last value is the comment.
function member(template, text,   names, values, value_of, count, i, body, meant, first)
{
	sub(/^[ \t]*_\(/, "", text)
	sub(/\)[ \t]*\\?$/, "", text)
	match(text, /"[^"]*"$/)
	meant = substr(text, RSTART + 1, RLENGTH - 2)
	text = substr(text, 1, RSTART - 1)
	sub(/^#define _\(/, "", template)
	first = index(template, ")")
	body = substr(template, first + 2)
	count = split(substr(template, 1, first - 1), names, ", ")
	split(text, values, ", *")
	for (i = 1; i < count; i++)
		value_of[names[i]] = values[i]
	return "\t" with_values(body, value_of) " /* " meant " */"
}

function with_values(text, value_of,   result, word)
{
	while (match(text, /[A-Za-z0-9_]+/)) {
		word = substr(text, RSTART, RLENGTH)
		result = result substr(text, 1, RSTART - 1) ((word in value_of) ? value_of[word] : word)
		text = substr(text, RSTART + RLENGTH)
	}
	gsub(/##/, "", result)
	return result text
}
