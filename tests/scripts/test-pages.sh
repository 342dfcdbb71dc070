#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# README.md and docs/*.md: their commands and code are run, or marked as not run with a reason. TAP.
# usage: test-pages.sh BUILD-DIRECTORY
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/tap.sh"

# A copy, because commands of pages write beside the sources, and other tests install from the build directory.
mkdir -p "$work/tree/build" "$work/pages"
for entry in *; do
	[[ $entry == build* ]] || cp -a "$entry" "$work/tree/"
done
for entry in "$build"/*; do
	[[ $entry == */pkgconfig || $entry == */units || $entry == */installed ]] || ln -s "$entry" "$work/tree/build/"
done
make -C "$work/tree" -pn PACKAGES=: help >"$work/tree/make.database" 2>/dev/null
prefix=$work/prefix
make -C "$work/tree" -s O=build PACKAGES=: PREFIX="$prefix" DESTDIR= install >"$work/output" 2>"$work/errors"
result $? "mimic_is_installed_for_the_pages"

# page PAGE: its blocks, from the copy
page()
{
	local name=${1//\//-}
	rm -rf "$work/pages/$name" && mkdir "$work/pages/$name" &&
		(cd "$work/tree" && python3 tests/scripts/page-blocks.py . "$prefix" "$work/pages/$name" "$1") \
			>"$work/pages/$name.output" 2>"$work/pages/$name.errors"
	echo $? >"$work/pages/$name.status"
}

pages=(docs/examples.md README.md docs/run.md)	# those that take long come first
for name in docs/*.md; do
	[[ " ${pages[*]} " == *" $name "* ]] || pages+=("$name")
done
for name in "${pages[@]}"; do
	while [ "$(jobs -rp | wc -l)" -ge 2 ]; do wait -n; done
	page "$name" &
done
wait
for name in "${pages[@]}"; do
	file=$work/pages/${name//\//-}
	cp "$file.output" "$work/output" && cp "$file.errors" "$work/errors"
	result "$(cat "$file.status")" "$name: $(sed -n '$s/.*: //p' "$file.output")"
done

# --- the checks themselves: a page with something wrong, and the line that says so ---------------------------

finds() # finds TEXT DESCRIPTION: of the page on standard input
{
	cat >"$work/tree/try.md"
	page try.md
	cp "$work/pages/try.md.output" "$work/output"
	cp "$work/pages/try.md.errors" "$work/errors"
	[ "$(cat "$work/pages/try.md.status")" = 1 ] && grep -qF "$1" "$work/output"
	result $? "$2"
}

finds 'try.md:3: a block that is neither run nor marked: mimic list' "a_block_without_a_mark_is_found" <<'PAGE'
Text.

    mimic list
PAGE
finds 'try.md:3: "mimic lost" ends with 2' "a_command_that_fails_is_found" <<'PAGE'
```sh
true
mimic lost
```
PAGE
finds 'try.md:2: "echo 42" prints: 42' "output_that_differs_is_found" <<'PAGE'

    $ echo 42
    41
PAGE
finds 'a.c:' "a_program_that_does_not_compile_is_found" <<'PAGE'
```c a.c
int main(void) { return none; }
```
PAGE
finds 'first-of-page" ends with 3' "a_program_that_fails_is_found" <<'PAGE'
```c
int main(void) { return 3; }
```
PAGE
finds 'try.md:3: no Python' "python_that_is_none_is_found" <<'PAGE'
```python
x = 1
y = = 1
```
PAGE
finds "unknown key 'quues'" "a_wrong_configuration_is_found" <<'PAGE'
```ini
[maple]
quues = 8
```
PAGE
finds 'try.md:3: examples/plugin/program.c does not have these lines' "a_quotation_that_is_none_is_found" <<'PAGE'
<!-- block: from examples/plugin/program.c -->
```c
int nothing_of_it;
```
PAGE
finds 'try.md:3: make has no target check-nothing' "a_target_that_is_not_there_is_found" <<'PAGE'
<!-- block: not run: takes minutes -->

    make check-nothing
PAGE
finds 'try.md:3: mimic has no option --tranpsort' "an_option_that_is_not_there_is_found" <<'PAGE'
<!-- block: not run: needs the kernel -->

    mimic run --tranpsort kernel ./program
PAGE
finds 'try.md:1: make has no target check-nothing' "a_target_in_the_text_is_looked_for" <<'PAGE'
A test is `make check-nothing`.
PAGE
finds 'try.md:3: marked as not run, without a reason' "a_mark_without_a_reason_is_found" <<'PAGE'
<!-- block: not run: -->

    true
PAGE
plan
