#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR MIT
"""Runs the code of a page of the docs: each block of it is run, checked, or marked as one that is not run.

usage: page-blocks.py [--list] TREE PREFIX WORK PAGE

TREE: a copy of the sources, where build has links to the files of the build directory, and make.database is the output
of `make -pn`. PREFIX: mimic as `make install` leaves it. WORK: an empty folder, for the page's commands. Prints a line for
each trouble, PAGE:LINE: TEXT, and at the end how many blocks were run and not run; ends with 1 if there is a trouble.

A block is a fence, or lines that are indented by four spaces or a tab. Its kind is the word behind the fence (sh, console,
c, python, ini), or is said by a comment in the line before it (an indented block with lines of "$ " is console):

  <!-- block: sh -->                 commands; each must succeed. "sh 1": its last one ends with 1
  <!-- block: console -->            commands after "$ ", with the output that they have. A line "..." stands for any
                                     lines, "..." in a line for the rest. `cat FILE` makes a file that is not there yet.
                                     "console, numbers differ": numbers and spaces are not compared; "console, numbers
                                     of gcc 12": not with another gcc, which may compile to other accesses
  <!-- block: sh, needs TOOL -->     the same where there is this program, or for root ("needs root"); else it is not run
  <!-- block: sh, with mimicd -->    the same while a daemon serves the default devices
  <!-- block: c -->                  a program, which is compiled, linked and run; it is first.c, or named: "c first.c"
  <!-- block: c in FILE -->          a part of a program: tests/pages/FILE includes it as "block.inc" and must compile
  <!-- block: python -->             must be Python
  <!-- block: ini -->                a configuration that mimicd takes
  <!-- block: from FILE -->          its lines are in FILE, one after the other
  <!-- block: not run: REASON -->    make's targets and mimic's options in it are checked all the same

And they are checked in `code` of the text.
"""
import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap

MARK = re.compile(r'<!-- block: (.*?) -->$')
FENCES = ('sh', 'console', 'c', 'python', 'ini')
SECONDS = 120
LIBRARIES = 'libmaple libdare libvirgo libmimic'
FLAGS = f'-Wall -Werror $(pkg-config --cflags {LIBRARIES})'
DAEMON = 'mimicd >mimicd.log 2>&1 & server=$!; for _ in $(seq 60); do [ -S "$MIMIC_SOCKET" ] && break; sleep 0.05; done'


class Block:
    """A piece of code of a page: its first line's number, its kind or '', what stands behind the kind, and its lines."""

    def __init__(self, line, mark, lines):
        self.line = line
        self.kind, _, self.rest = mark.partition(' ')
        self.lines = lines
        if mark.startswith('not run:'):
            self.kind, self.rest = 'not run', mark[8:].strip()
        self.kind = self.kind.rstrip(',')

    def lacks(self):
        """Whether this machine cannot run it."""
        needs = re.findall(r'\bneeds (\w+)', self.rest)
        return any(os.geteuid() != 0 if need == 'root' else not shutil.which(need) for need in needs)

    def text(self):
        return '\n'.join(self.lines) + '\n'


def indented(lines, start):
    """The lines of an indented block from here on, and the number of the line behind it."""
    end = start
    while end < len(lines) and (re.match(r'    |\t', lines[end]) or not lines[end].strip()):
        end += 1
    while not lines[end - 1].strip():
        end -= 1
    return textwrap.dedent('\n'.join(lines[start:end])).split('\n'), end


def fenced(lines, start):
    end = start + 1
    while end < len(lines) and not lines[end].lstrip().startswith('```'):
        end += 1
    return textwrap.dedent('\n'.join(lines[start + 1:end])).split('\n'), end + 1


def blocks_of(path):
    with open(path, encoding='utf-8') as page:
        lines = page.read().split('\n')
    found, mark, at, is_after_blank = [], '', 0, True
    while at < len(lines):
        line, start = lines[at], at
        match = MARK.match(line.strip())
        if line.startswith('```'):
            body, at = fenced(lines, at)
            found.append(Block(start + 2, mark or line[3:].strip(), body))
        elif re.match(r'(    |\t)\s*\S', line) and is_after_blank:
            body, at = indented(lines, at)
            is_session = any(text.startswith('$ ') for text in body)
            found.append(Block(start + 1, mark or ('console' if is_session else ''), body))
        else:
            is_after_blank = not line.strip() or bool(match)
            mark = match.group(1) if match else mark if not line.strip() else ''
            at += 1
            continue
        mark, is_after_blank = '', False
    return found


def is_whole(text):
    """Whether the shell needs no more lines for this command."""
    check = subprocess.run(['bash', '-n'], input=text, capture_output=True, text=True)
    return check.returncode == 0 and not check.stderr


def commands_of(lines):
    """Commands, each with the number of its first line: a command may be more than one line."""
    found, pending, first = [], [], 0
    for number, line in enumerate(lines):
        if not pending and (not line.strip() or line.lstrip().startswith('#')):
            continue
        first = first if pending else number
        pending.append(line)
        if not line.endswith('\\') and is_whole('\n'.join(pending) + '\n'):
            found.append((first, '\n'.join(pending)))
            pending = []
    if pending:
        found.append((first, '\n'.join(pending)))
    return found


def session_of(lines):
    """Commands after "$ " with their numbers and the output below each."""
    found = []
    for number, line in enumerate(lines):
        if line.startswith('$ '):
            found.append([number, line[2:], []])
        elif found and (found[-1][1].endswith('\\') or not is_whole(found[-1][1] + '\n')):
            found[-1][1] += '\n' + line
        elif found:
            found[-1][2].append(line)
    return found


def is_like(shown, seen, is_free):
    """Whether output is as the page shows it, line by line; is_free: but for numbers and spaces."""
    def pattern(line):
        parts = [re.escape(part) for part in line.split('...')]
        text = '.*'.join(parts)
        if is_free:
            text = re.sub(r'(0x[0-9a-f]+|[0-9]+)(\\\.[0-9]+)?(e\\\+?[0-9]+)?', r'[0-9a-fx.e+-]+', text)
            text = re.sub(r'(\\ )+', r' +', text)
        return text

    def rest(i, j):
        if i == len(shown):
            return j == len(seen)
        if shown[i].strip() == '...':
            return any(rest(i + 1, k) for k in range(j, len(seen) + 1))
        return j < len(seen) and re.fullmatch(pattern(shown[i].rstrip()), seen[j].rstrip()) is not None and rest(i + 1, j + 1)

    while shown and not shown[-1].strip():
        shown = shown[:-1]
    return rest(0, 0)


def is_loose(block):
    """Whether numbers of its output may be others here."""
    compiler = re.search(r'numbers of gcc (\d+)', block.rest)
    if not compiler:
        return 'numbers differ' in block.rest
    version = subprocess.run(["gcc", "-dumpversion"], capture_output=True, text=True, check=True).stdout
    return version.split(".")[0].strip() != compiler[1]


def is_background(command):
    """A daemon: it says something when it has begun, and more later."""
    return re.search(r'&\s*(#.*)?$', command) is not None


class Page:
    def __init__(self, tree, prefix, work, page):
        self.tree, self.prefix, self.work, self.page = map(os.path.abspath, (tree, prefix, work, page))
        self.name = page
        self.blocks = blocks_of(page)
        self.script = []
        self.checks = []
        self.troubles = []
        self.ran = self.marked = 0

    def trouble(self, line, text):
        self.troubles.append((line, text))

    # --- commands -----------------------------------------------------------------------------------

    def command(self, line, text, status, shown=None, is_free=False):
        number = len(self.checks)
        made = re.match(r'cat (\S+)$', text)
        if shown is not None and made:
            self.script.append(f'[ -e {made[1]} ] || cat >{made[1]} <<\'END-OF-PAGE\'\n' + '\n'.join(shown) + '\nEND-OF-PAGE')
        self.script.append(f'eval {shlex.quote(text)} </dev/null >{self.work}/out.{number} 2>&1; echo $? >{self.work}/status.{number}')
        if is_background(text):
            self.script.append(f'for _ in $(seq 60); do [ -s {self.work}/out.{number} ] && break; sleep 0.05; done')
        self.checks.append((line, text, status, shown, is_free))

    def see(self, number, kind):
        try:
            with open(f'{self.work}/{kind}.{number}', encoding='utf-8', errors='replace') as file:
                return file.read()
        except FileNotFoundError:
            return ''

    def run_commands(self):
        """All commands of the page, in one shell."""
        home = f'{self.work}/home'
        os.makedirs(f'{home}/build')
        for name in set(os.listdir(self.tree)) - {'build'}:
            os.symlink(f'{self.tree}/{name}', f'{home}/{name}')
        # `make install` writes files with its PREFIX there, which other pages must not see.
        for name in set(os.listdir(f'{self.tree}/build')) - {'pkgconfig', 'units', 'installed'}:
            os.symlink(os.path.realpath(f'{self.tree}/build/{name}'), f'{home}/build/{name}')
        self.add_files(home)
        environment = {key: value for key, value in os.environ.items() if not key.startswith('MIMIC_')}
        # Files that a page installs stay here.
        environment.update(HOME=home, PREFIX=f'{home}/usr', PIP_REQUIRE_VIRTUALENV='1',
                           PATH=f'{self.prefix}/bin:{os.environ["PATH"]}', PKG_CONFIG_PATH=f'{self.prefix}/lib/pkgconfig',
                           LD_LIBRARY_PATH=f'{self.prefix}/lib', MIMIC_SOCKET=f'{self.work}/socket', XDG_RUNTIME_DIR=home,
                           LC_ALL='C.UTF-8', TERM='dumb', MAKEFLAGS='')
        shell = subprocess.Popen(['bash', '-c', '\n'.join(self.script)], cwd=home, env=environment, start_new_session=True,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            shell.wait(SECONDS)
        except subprocess.TimeoutExpired:
            self.trouble(0, f'the commands of the page take more than {SECONDS} s')
        for signal in ('-TERM', '-KILL'):
            subprocess.run(['kill', signal, '--', f'-{shell.pid}'], stderr=subprocess.DEVNULL, check=False)
            if signal == '-TERM':
                subprocess.run(['sleep', '0.1'], check=True)
        shell.wait()

    def add_files(self, home):
        """Files that pages take for granted: the user's program, matrix and the like."""
        files = os.path.join(self.tree, 'tests/pages')
        for name in os.listdir(files):
            program, extension = os.path.splitext(name)
            if extension == '.c' and any(f'./{program}' in line for block in self.blocks for line in block.lines):
                subprocess.run(['gcc', '-g', '-o', f'{home}/{program}', f'{files}/{name}', '-pthread'], check=True)
            elif extension != '.c':
                os.symlink(os.path.realpath(f'{files}/{name}'), f'{home}/{name}')

    def judge_commands(self):
        for number, (line, text, status, shown, is_free) in enumerate(self.checks):
            seen = self.see(number, 'out').replace(f'{self.work}/socket', '/run/mimic/mimicd.sock').replace(f'{self.work}/home', '$HOME')
            got = self.see(number, 'status').strip()
            if got != str(status):
                self.trouble(line, f'"{text.splitlines()[0]}" ends with {got or "no status"}: {" / ".join(seen.splitlines()[-3:])}')
            elif shown is not None and not is_like(shown + ['...'] * is_background(text), seen.splitlines(), is_free):
                self.trouble(line, f'"{text.splitlines()[0]}" prints: {" / ".join(seen.splitlines()[-8:])}')

    # --- blocks, by their kinds -----------------------------------------------------------------------

    def do_part(self, block, whole):
        """C that is no program: it compiles inside of one."""
        self.script.append(f'cat >block.inc <<\'END-OF-PAGE\'\n{block.text()}END-OF-PAGE')
        self.command(block.line, f'gcc {FLAGS} -fsyntax-only -I. tests/pages/{whole}', 0)

    def do_sh(self, block):
        commands = commands_of(block.lines)
        for i, (number, text) in enumerate(commands):
            status = int(block.rest) if block.rest.isdigit() and i == len(commands) - 1 else 0
            self.command(block.line + number, text, status)

    def do_console(self, block):
        session = session_of(block.lines)
        if not session:
            self.trouble(block.line, 'a session without a command')
        for number, text, shown in session:
            self.command(block.line + number, text, 0, shown, is_loose(block))

    def do_c(self, block):
        if block.rest.startswith('in '):
            self.do_part(block, block.rest[3:])
            return
        name = block.rest or 'first.c'
        program = f'./{os.path.splitext(name)[0]}-of-page'
        self.script.append(f'cat >{name} <<\'END-OF-PAGE\'\n{block.text()}END-OF-PAGE')
        self.command(block.line, f'gcc {FLAGS} -o {program} {name} $(pkg-config --libs {LIBRARIES}) -pthread', 0)
        self.command(block.line, f'MIMIC_TRANSPORT=embedded {program}', 0)

    def do_python(self, block):
        try:
            compile(block.text(), self.page, 'exec')
        except SyntaxError as error:
            self.trouble(block.line + (error.lineno or 1) - 1, f'no Python: {error.msg}')

    def do_ini(self, block):
        path = f'block-{block.line}.ini'
        self.script.append(f'cat >{path} <<\'END-OF-PAGE\'\n{block.text()}END-OF-PAGE')
        self.command(block.line, f'timeout -s INT 0.5 mimicd --socket ini.sock --kernel=off --config {path}; [ $? = 124 ]', 0)

    def do_from(self, block):
        def words(text):
            return [' '.join(line.split()) for line in text.splitlines() if line.strip()]
        with open(os.path.join(self.tree, block.rest), encoding='utf-8') as file:
            there = '\n'.join(words(file.read()))
        if '\n'.join(words(block.text())) not in there:
            self.trouble(block.line, f'{block.rest} does not have these lines')

    def do_not_run(self, block):
        if len(block.rest) < 4:
            self.trouble(block.line, 'marked as not run, without a reason')
        for number, line in enumerate(block.lines):
            for text in check_words(re.sub(r'^([$#]|\S+ #) ', '', line.strip()), self.tree):
                self.trouble(block.line + number, text)

    def check_text(self):
        """Commands in the text: make's targets, mimic's options."""
        with open(self.page, encoding='utf-8') as page:
            for number, line in enumerate(page, 1):
                for code in re.findall(r'`((?:mimic|mimicd|make) [^`]+)`', line):
                    for text in check_words(code, self.tree):
                        self.trouble(number, text)

    def go(self, is_list):
        kinds = {'sh': self.do_sh, 'console': self.do_console, 'c': self.do_c, 'python': self.do_python, 'ini': self.do_ini,
                 'from': self.do_from, 'not run': self.do_not_run}
        for block in self.blocks:
            if is_list:
                print(f'{self.name}:{block.line}: {block.kind} {block.rest}')
            elif block.kind != 'not run' and block.lacks():
                self.marked += 1
            elif block.kind in kinds:
                self.marked += block.kind == 'not run'
                self.ran += block.kind != 'not run'
                if block.rest.endswith('with mimicd'):
                    self.script.append(DAEMON)
                kinds[block.kind](block)
                if block.rest.endswith('with mimicd'):
                    self.script.append('kill $server; wait $server')
            else:
                self.trouble(block.line, f'a block that is neither run nor marked: {block.kind or block.lines[0]}')
        if not is_list:
            self.check_text()
        if self.checks:
            self.run_commands()
            self.judge_commands()
        for line, text in sorted(self.troubles):
            print(f'{self.name}:{line}: {text}')
        print(f'{self.name}: {self.ran} run, {self.marked} not run')
        return bool(self.troubles)


# --- make's targets and mimic's options -----------------------------------------------------------------

def check_words(line, tree):
    """What is wrong with the targets or options of a command that is not run."""
    try:
        words = shlex.split(line, comments=True)
    except ValueError:
        return []
    if not words:
        return []
    if words[0] == 'make' and words[1:2] != ['-C']:
        return check_make(words[1:], tree)
    command = words[0].removeprefix('build/bin/')
    if command in ('mimic', 'mimicd', 'mimic-demo'):
        first = 2 if command == 'mimic' and len(words) > 1 else 1
        return check_options([os.path.join(tree, 'build/bin', command)] + words[1:first], words[first:])
    return []


def check_make(words, tree):
    with open(os.path.join(tree, 'make.database'), encoding='utf-8', errors='replace') as file:
        database = file.read()
    found = []
    for word in words:
        name = word.partition('=')[0]
        if '=' in word and not re.search(rf'\b{re.escape(name)}\b', database):
            found.append(f'make has no variable {name}')
        if re.fullmatch(r'[a-z-]+', word) and not re.search(rf'^{word}:', database, re.M):
            found.append(f'make has no target {word}')
        if not re.fullmatch(r'[a-z-]+|\w+=.*|build/.*|-j\d*', word):
            break
    return found


def check_options(command, words):
    told = subprocess.run(command + ['--help'], capture_output=True, text=True, check=False).stdout
    if not told:
        return [f'{" ".join(command[1:])} is no command of mimic']
    found = []
    while words and words[0].startswith('-'):
        option = words.pop(0)
        name = option.partition('=')[0]
        if name not in ('--', '-') and not re.search(rf'(^|[\s,[|]){re.escape(name)}(?![\w-])', told):
            found.append(f'{os.path.basename(command[0])} has no option {name}')
        if '=' not in option and re.search(rf'{re.escape(name)} [A-Z]', told) and words:
            words.pop(0)
    return found


if __name__ == '__main__':
    LIST = sys.argv[1] == '--list'
    sys.exit(Page(*sys.argv[1 + LIST:]).go(LIST))
