#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# Retired terms are found, by scripts/check-words.sh and scripts/words.txt. TAP.
# usage: test-words.sh BUILD-DIRECTORY
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/tap.sh"

# finds NAME LINE: a file with this line is refused for this term
finds()
{
	printf '%s\n' "$2" >"$work/file.c"
	scripts/check-words.sh "$work/file.c" >"$work/output" 2>"$work/errors"
	[ $? = 1 ] && grep -qF "$work/file.c:1: \"$1\" is retired (" "$work/output" || echo "$1: $2"
}

accepts() # accepts LINE
{
	printf '%s\n' "$1" >"$work/file.c"
	scripts/check-words.sh "$work/file.c" >"$work/output" 2>"$work/errors" || echo "$1"
}

{
	finds baton '/* The thread that has the baton goes on. */'
	finds void-page '	/* It lies in a void page. */'
	finds orphan '/* Orphans are found later. */'
	finds look '	/* A last look at the ring. */'
	finds out '/* The job is out, and comes back. */'
	finds out '/* While jobs are out */'
	finds who '/* Who was interrupted has not got it. */'
	finds who ' * It goes on. Who is ordered behind this word is behind its cause.'
	finds for-who '/* puts to sleep who waits */'
	finds whoever '/* It is told to whoever asks. */'
	finds what '/* What comes first is done first. */'
} >"$work/not-found"
cp "$work/not-found" "$work/output"
[ ! -s "$work/output" ]
result $? "each_retired_term_is_found_with_its_file_and_line"

{
	accepts '/* Who waits here? */'
	accepts 'static void pages_of(struct page *page)'
	accepts 'uint64_t who = event->owner;'
	accepts '/* That is out of memory; it looks for another one. */'
	accepts '/* It says what it is, and who uses it. */'
} >"$work/refused"
cp "$work/refused" "$work/output"
[ ! -s "$work/output" ]
result $? "other_uses_of_the_words_are_accepted"

# A row that is left over would hide the term when it comes back. make lint reads the whole tree.
if git rev-parse >/dev/null 2>&1; then
	printf 'term\tbaton\t[Bb]aton-that-is-nowhere\tlock\nleft\tbaton\tlibmimic/\n' >"$work/words"
	WORDS=$work/words scripts/check-words.sh >"$work/output" 2>&1
	[ $? = 1 ] && [ "$(cat "$work/output")" = "$work/words: no file needs the row: left baton libmimic/" ]
	result $? "a_row_that_no_file_needs_is_an_error"
else
	skip "a_row_that_no_file_needs_is_an_error" "this is no clone"
fi
plan
