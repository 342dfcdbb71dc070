#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# Pages of the docs: links and names of pages lead somewhere. TAP.
# usage: test-docs.sh BUILD-DIRECTORY
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/tap.sh"

links() # links ROOT PAGE...
{
	python3 tests/scripts/check-links.py "$@" >"$work/output" 2>"$work/errors"
}

mapfile -t pages < <(find ./*.md docs devices driver examples bench python tests -name '*.md' | sed 's|^\./||' | sort)
[ "${#pages[@]}" -gt 30 ] && links . "${pages[@]}"
result $? "links_of_all_pages_lead_to_files_and_headings_that_are_there"

mkdir -p "$work/tree/docs"
cat >"$work/tree/docs/other.md" <<'PAGE'
# Other `things`: two
## Again
## Again
PAGE
cat >"$work/tree/page.md" <<'PAGE'
# Page
[good](docs/other.md#other-things-two) [itself](#page) [again](docs/other.md#again-1) [web](https://example.org/x) docs/other.md
	[code](none.md)
```
[code](none.md)
```
PAGE
links "$work/tree" page.md
result $? "good_links_and_code_are_accepted"

cat >"$work/tree/page.md" <<'PAGE'
[a](docs/none.md)
[b](docs/other.md#none)
[c](#none)
as docs/away.md says
PAGE
links "$work/tree" page.md
[ $? = 1 ] && diff "$work/output" - <<'TROUBLE'
page.md:1: there is no docs/none.md
page.md:2: docs/other.md has no heading #none
page.md:3: page.md has no heading #none
page.md:4: there is no docs/away.md
TROUBLE
result $? "a_link_to_no_file_or_heading_is_named_by_page_and_line"

printf '# Page\n[other](other.md) and docs/other.md\n<!-- made by make docs -->\ndocs/other.md\n<!-- end -->\n' >"$work/tree/docs/third.md"
links "$work/tree" docs/third.md
[ $? = 1 ] && [ "$(cat "$work/output")" = "docs/third.md:2: docs/other.md is no link" ]
result $? "a_page_of_docs_that_is_named_without_a_link_is_found"
rm "$work/tree/docs/third.md"

unlisted() # unlisted FOLDER: its pages that its README.md has no link to
{
	local page
	for page in "$1"/*.md; do
		page=${page##*/}
		[ "$page" = README.md ] || grep -qE "\]\($page(#[^)]*)?\)" "$1/README.md" || echo "$1/README.md has no link to $page"
	done
}

unlisted docs >"$work/output"
[ ! -s "$work/output" ] && grep -qF '](docs/README.md)' README.md
result $? "docs/README.md, which README.md links to, lists each page"

printf '# Pages\n[other](other.md#again)\nlost.md\n' >"$work/tree/docs/README.md"
: >"$work/tree/docs/lost.md"
[ "$(cd "$work/tree" && unlisted docs)" = "docs/README.md has no link to lost.md" ]
result $? "a_page_that_is_not_listed_is_found"

# Comments, messages and --help name pages, too.
grep -rnoE --include='*.[chS]' --include='*.sh' --include='*.mk' --include='*.py' --include='*.awk' --include='*.scd' 'docs/[a-z-]+\.md' \
	Makefile bench config daemon devices docs/man driver examples include lib* mk options python scripts sim tests tools |
	grep -v '^tests/scripts/test-docs.sh' | while IFS=: read -r file line page; do
	[ -e "$page" ] || echo "$file:$line: there is no $page"
done >"$work/output"
[ ! -s "$work/output" ]
result $? "pages_that_code_names_are_there"

# A place in a published source, such as pipe:559: docs/sources.md says which file that is.
grep -rnoE --include='*.[chS]' '\b[a-z_.]+:[0-9]{2,4}(-[0-9]+)? of (the artifact|docs/sources)' devices lib* include sim | while IFS=: read -r file line name _; do
	grep -qE "^\| ([a-z_.]+, )*${name}[ ,]" docs/sources.md || echo "$file:$line: docs/sources.md does not say what $name is"
done >"$work/output"
[ ! -s "$work/output" ] && grep -rqE 'pipe:[0-9]+ of ' devices
result $? "places_in_published_sources_are_explained"
plan
