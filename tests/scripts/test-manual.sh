#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# Pages of the manual: they are made without warnings, each public function has one, and those of commands
# name the options that the commands have. TAP.
# usage: test-manual.sh BUILD-DIRECTORY
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/tap.sh"
pages=$build/man

# manual FILE...: scripts/manual on these headers; $work/pages gets the pages
manual()
{
	rm -rf "$work/pages" && mkdir "$work/pages" &&
		awk -v folder="$work/pages" -f scripts/manual/read.awk -f scripts/manual/types.awk -f scripts/manual/text.awk \
			-f scripts/manual/write.awk library=libtry include=try.h types=0 "$@" >"$work/output" 2>"$work/errors"
}

# is_refused TEXT: the header on standard input is, for this reason
is_refused()
{
	cat >"$work/try.h"
	! manual "$work/try.h" && grep -qF -- "$1" "$work/errors"
}

# $work/good.h: a header as it should be
good_header()
{
	cat >"$work/good.h" <<'HEADER'
/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * libtry: tries.
 *
 * Errors. Functions return 0 or -errno. try_error_text() says more. Beside these, every function that talks may return
 *	-EIO	the line is cut
 * and every function with a unit
 *	-EBUSY	it is in use
 *
 * Threads. One at a time.
 */
struct try;

enum try_flags {
	TRY_HARD = 1,	/* more than once */
};

/**
 * try_it() - tries what_is *there*
 * @try: the handle
 * @unit: its number
 * @flags: TRY_HARD, or 0
 *
 * A paragraph, see try_error_text().
 *	int code = 1;
 *
 * Returns 0, or
 * -EINVAL: no such unit, which
 *          goes on here
 * -ENOENT, -EPERM: others
 *
 * See also: mimicd(8).
 */
int try_it(struct try *try, unsigned int unit,
	   unsigned int flags);

/**
 * try_error_text() - says more
 *
 * Returns a text.
 */
const char *try_error_text(void);
HEADER
}

good_header
manual "$work/good.h" && diff - "$work/pages/try_it.3.scd" >"$work/output" <<'PAGE'
try_it(3) "" "mimic"

# NAME

try\_it - tries what\_is \*there\*

# SYNOPSIS

```
#include <try.h>

enum try_flags {
    TRY_HARD = 1,   /* more than once */
};

int try_it(struct try *try, unsigned int unit,
           unsigned int flags);
```

Compile and link with *pkg-config --cflags --libs libtry*.

# PARAMETERS

*try*
	the handle

*unit*
	its number

*flags*
	*TRY\_HARD*, or 0

# DESCRIPTION

A paragraph, see *try\_error\_text*(3).

```
int code = 1;
```

# RETURN VALUE

0, or one of the errors below.

# ERRORS

*-EINVAL*
	no such unit, which goes on here

*-ENOENT*, *-EPERM*
	others

Beside these, every function that talks may return:

*-EIO*
	the line is cut

Beside these, every function with a unit may return:

*-EBUSY*
	it is in use

*try\_error\_text*(3) says more about an error.

# THREADS

One at a time.

# SEE ALSO

*mimicd*(8), *try\_error\_text*(3), *libtry*(3)
PAGE
result $? "a_page_is_made_of_a_comment"

# gawk, mawk and busybox have an awk each; a machine has one of them at least
for one in gawk mawk "busybox awk" original-awk; do
	${one%% *} --help >/dev/null 2>&1 || command -v "${one%% *}" >/dev/null || continue
	manual "$work/good.h" || echo "$one"
	mv "$work/pages" "$work/expected"
	mkdir "$work/pages"
	# shellcheck disable=SC2086 # two words
	$one -v folder="$work/pages" -f scripts/manual/read.awk -f scripts/manual/types.awk -f scripts/manual/text.awk \
		-f scripts/manual/write.awk library=libtry include=try.h types=0 "$work/good.h" >"$work/output" 2>"$work/errors" &&
		diff -r "$work/expected" "$work/pages" >"$work/output" || echo "$one"
	rm -rf "$work/expected"
done >"$work/others"
[ ! -s "$work/others" ]
result $? "any_awk_makes_the_same_pages"

sed 's|^/\*\*$|/*|' "$work/good.h" | is_refused "try.h:35: try_it() has no comment /** */ in front of it"
result $? "a_function_without_a_comment_is_refused"
grep -v '^ \* @unit' "$work/good.h" | is_refused "try_it(): its comment has no line for the parameter unit"
result $? "a_comment_without_a_parameter_is_refused"
sed 's/^ \* @unit/ * @units/' "$work/good.h" | is_refused "has a line for units, which is no parameter of it"
result $? "a_comment_with_a_parameter_that_is_not_there_is_refused"
grep -v '^ \* Returns a text' "$work/good.h" | is_refused "try_error_text(): its comment does not say what it returns"
result $? "a_comment_that_does_not_say_what_is_returned_is_refused"
sed 's/^ \* try_it() - / * it() - /' "$work/good.h" | is_refused 'try_it(): its comment does not begin with "try_it() - what it does"'
result $? "a_comment_that_is_about_another_function_is_refused"

# --- the pages themselves ------------------------------------------------------------------

if [ ! -e "$pages/mimic.1" ]; then
	skip "pages" "scdoc is not installed"
	plan
	exit
fi

# Functions of shared libraries that a public header declares: by the symbols, not by the pages' generator.
make -s --no-print-directory O="$build" print-manual-headers >"$work/headers" 2>"$work/errors"
for library in "$build"/lib/lib*.so; do
	nm -D --defined-only "$library" | awk '$2 == "T" { sub(/@.*/, "", $3); print $3 }'
done | sort -u >"$work/symbols"
xargs cat <"$work/headers" | grep -v '^ \*' | grep -oE '\b[a-z0-9_]+\(' | tr -d '(' | sort -u >"$work/declared"
comm -12 "$work/symbols" "$work/declared" >"$work/functions"
while read -r function; do
	[ -s "$pages/$function.3" ] || { echo "no page: $function"; continue; }
	for section in NAME SYNOPSIS DESCRIPTION '"?RETURN VALUE"?' THREADS; do
		grep -qE "^\.SH ($section)$" "$pages/$function.3" || echo "$function: no section $section"
	done
done <"$work/functions" >"$work/output"
[ ! -s "$work/output" ] && [ "$(wc -l <"$work/functions")" -gt 150 ]
result $? "each_function_of_the_libraries_has_a_page_with_all_sections"

for page in "$pages"/*.[1-8]; do
	command -v groff >/dev/null || break
	groff -ww -man -t -z -Tutf8 -K utf8 "$page" 2>&1 | sed "s|^|${page##*/}: |"
done >"$work/output"
if command -v groff >/dev/null; then
	[ ! -s "$work/output" ]
	result $? "groff_has_no_warning_of_a_page"
else
	skip "groff_has_no_warning_of_a_page" "groff is not installed"
fi

# Bold names with a section, as \fBname\fR(3): those of ours exist.
for page in "$pages"/*.[1-8]; do
	sed 's/\\-/-/g; s/\\fB\([a-z0-9_.-]*\)\\fR(\([1-8]\))/\n@\1.\2\n/g' "$page" | sed -n 's/^@//p' |
		grep -E '^(lib)?(mimic|maple|dare|virgo)' | while read -r other; do
		[ -e "$pages/$other" ] || echo "${page##*/} refers to $other, which is not there"
	done
done >"$work/output"
[ ! -s "$work/output" ]
result $? "pages_refer_to_pages_that_exist"

# options_of_help COMMAND...: names of options at the beginning of a line of its help
options_of_help()
{
	"$@" --help | sed -n 's/^ \{2,6\}\(-.*\)/\1/p' | awk '{ for (i = 1; i <= 2; i++) if ($i ~ /^-/) { sub(/[[=,].*/, "", $i); print $i } }' | sort -u
}

# The terms of a page's lists are options: *-o*, *--output* _FILE_
options_of_page()
{
	sed -n '/^# OPTIONS/,/^# [^O]/{/^\*-/p}' "$1" | sed 's/\\//g' | grep -oE '\*--?[a-zA-Z][a-z-]*' | tr -d '*' | sort -u
}

same_options() # same_options PAGE COMMAND...
{
	local page=docs/man/$1.scd
	shift
	[ -e "$page" ] || { echo "$*: no page $page"; return; }
	options_of_help "$@" >"$work/in-help"
	options_of_page "$page" >"$work/in-page"
	comm -23 "$work/in-help" "$work/in-page" | grep -vx -e --help -e -h | sed "s|^|${page##*/} lacks |"
	comm -13 "$work/in-help" "$work/in-page" | sed "s|^|$(basename "$1") ${*:2} --help lacks |"
}

{
	for command in $("$build/bin/mimic" --help | sed -n 's/^  \([a-z]\{2,\}\) .*/\1/p'); do
		same_options "mimic-$command.1" "$build/bin/mimic" "$command"
	done
	same_options mimicd.8 "$build/bin/mimicd"
} >"$work/output"
[ ! -s "$work/output" ] && [ -s "$work/in-help" ]
result $? "help_and_page_of_a_command_name_the_same_options"
plan
