#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR MIT
"""Links of Markdown pages: files that are there, headings that are there. Prints what leads nowhere, and ends with 1. README.md and
the pages of docs name other pages by links only, but for tables that are made from the sources.

usage: check-links.py ROOT PAGE...     pages are named from ROOT; links to the web are not followed
"""
import os
import re
import sys

LINK = re.compile(r'!?\[[^\]]*\]\(([^)\s]+)\)')
MENTION = re.compile(r'(?<![\w/.-])((?:docs/)?[a-z][a-z-]*\.md)(?![\w/])')


def prose_lines(text):
    """The lines of a page with their numbers, without code between ``` and lines that are indented by 4 spaces or a tab."""
    is_code = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith('```'):
            is_code = not is_code
        elif not is_code and not re.match(r'(    |\t)', line):
            yield number, line


def is_for_readers(page):
    """A page in which a reader clicks."""
    return page == 'README.md' or page.startswith('docs/')


def made_lines(text):
    """The numbers of the lines that `make docs` has made."""
    numbers, is_made = set(), False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith('<!-- made') or line.startswith('<!-- end'):
            is_made = line.startswith('<!-- made')
        elif is_made:
            numbers.add(number)
    return numbers


def anchor(title):
    """The name that GitHub gives a heading."""
    title = re.sub(r'\[([^\]]*)\]\([^)]*\)', r'\1', title).replace('`', '').strip().lower()
    return re.sub(r'[^\w\- ]', '', title).replace(' ', '-')


def anchors(path):
    """All names of a page's headings; one that comes again has a number."""
    seen = {}
    names = set()
    with open(path, encoding='utf-8') as page:
        for _, line in prose_lines(page.read()):
            match = re.match(r'#{1,6} +(.*?) *#*$', line)
            if not match:
                continue
            name = anchor(match.group(1))
            names.add(name if name not in seen else f'{name}-{seen[name]}')
            seen[name] = seen.get(name, 0) + 1
    return names


def trouble_of_link(root, page, target):
    """Why a link leads nowhere, or None."""
    if re.match(r'[a-z]+:', target):
        return None
    path, _, name = target.partition('#')
    where = os.path.normpath(os.path.join(root, os.path.dirname(page), path)) if path else os.path.join(root, page)
    if not os.path.exists(where):
        return f'there is no {path}'
    if name and where.endswith('.md') and name not in anchors(where):
        return f'{path or page} has no heading #{name}'
    return None


def trouble_of_mention(root, page, name):
    """The same for the name of a page that is no link: it is named from the root, or from its own folder."""
    places = (name, os.path.join('docs', name), os.path.join(os.path.dirname(page), name))
    return None if any(os.path.exists(os.path.join(root, place)) for place in places) else f'there is no {name}'


def main(root, pages):
    count = 0
    bad = False
    for page in pages:
        with open(os.path.join(root, page), encoding='utf-8') as file:
            text = file.read()
        made = made_lines(text)
        for number, line in prose_lines(text):
            links = LINK.findall(line)
            found = [trouble_of_link(root, page, target) for target in links]
            rest = LINK.sub('', line)
            names = MENTION.findall(rest)
            found += [trouble_of_mention(root, page, name) for name in names]
            if is_for_readers(page) and number not in made:
                found += [f'{name} is no link' for name in names]
            count += len(links)
            for trouble in filter(None, found):
                print(f'{page}:{number}: {trouble}')
                bad = True
    if not count:
        print('no page has a link')
        bad = True
    return bad


if __name__ == '__main__':
    sys.exit(main(sys.argv[1], sys.argv[2:]))
