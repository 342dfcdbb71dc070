#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# Completion of mimic's command line and of mimicd's in bash, zsh and fish. TAP on stdout.
#
#   test-completion.sh [BUILD]   BUILD: the build directory; else $O, else build
set -u
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/tap.sh" "$@"
export MIMIC_SOCKET=$work/socket
# shellcheck source=completions/mimic.bash
. completions/mimic.bash
# shellcheck source=completions/mimicd.bash
. completions/mimicd.bash

mimic=$build/bin/mimic

# offered LINE: the words offered at its end, in $work/output, sorted. Words as bash makes
# them: broken at the characters of COMP_WORDBREAKS, which are words of their own.
offered()
{
	COMP_LINE=$1
	COMP_POINT=${#1}
	mapfile -t COMP_WORDS < <(grep -oE '[^ @:=]+|[@:=]+' <<<"$1")
	[[ $1 == *' ' ]] && COMP_WORDS+=('')
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
	COMPREPLY=()
	case $1 in
	mimicd*) _mimicd "$build/bin/mimicd" ;;
	*) _mimic "$mimic" ;;
	esac
	printf '%s\n' ${COMPREPLY[@]+"${COMPREPLY[@]}"} | sort >"$work/output"
}

# expect LINE WORD...: exactly these are offered
expect()
{
	offered "$1"
	shift
	printf '%s\n' "$@" | sort | cmp -s - "$work/output"
}

# includes LINE WORD...: these are offered, perhaps among others
includes()
{
	offered "$1"
	shift
	for word in "$@"; do
		grep -qxF -- "$word" "$work/output" || return 1
	done
}

start_daemon maple:2,dare:1,virgo:1 || exit 1

includes 'mimic ' run list dump stat top reset add remove inject asm dis help --help --version &&
	expect 'mimic inj' inject && expect 'mimic st' stat
result $? "commands"
"$build/bin/mimic" --help | sed -n 's/^  \([a-z]\{2,\}\) .*/\1/p' >"$work/commands"
while read -r command; do
	"$build/bin/mimic" "$command" --help | awk '/^ +-/ { for (i = 1; i <= 2; i++) if ($i ~ /^--/) { sub(/\[.*/, "", $i); print $i } }' |
		sort >"$work/options"
	offered "mimic $command --"
	cmp -s "$work/options" "$work/output" || echo "$command"
done <"$work/commands" >"$work/errors"
[ ! -s "$work/errors" ]
result $? "options_of_every_command"
expect 'mimic record -' -o --output --devices --config --plugin --verbose --help &&
	expect 'mimic replay -' --plugin --set --json -v --verbose --help &&
	expect 'mimic asm -' -b --binary --json -o --output --help &&
	expect 'mimic dis --' --binary --json --output --help &&
	expect 'mimic trace --' --output --limit --transport --devices --config --plugin --socket --state --verbose --help
result $? "options_with_a_short_form"
expect 'mimic dump ' maple0 maple1 dare0 virgo0 && expect 'mimic reset ma' maple0 maple1 &&
	expect 'mimic remove dare' dare0 && expect 'mimic stat maple0 v' virgo0 &&
	expect 'mimic save ma' maple0 maple1 && expect 'mimic restore state da' dare0
result $? "devices_of_the_daemon"
export MIMIC_SOCKET=/nowhere
expect "mimic dump --socket $work/socket d" dare0 && expect "mimic dump --socket=$work/socket d" dare0
result $? "devices_of_the_daemon_that_the_line_names"
expect 'mimic dump ' ''
result $? "nothing_without_a_daemon"
MIMIC_SOCKET=$work/socket
expect 'mimic dump maple0 ' config/ registers/ counters/ tlb/ faults/ lima/ queues/ &&
	expect 'mimic dump maple0 queues/0/al' queues/0/allocated &&
	expect 'mimic dump maple0 queues/0/' queues/0/allocated
result $? "paths_of_a_device"
expect 'mimic run --transport e' embedded && expect 'mimic inject maple0 ha' hang && expect 'mimic add vi' virgo &&
	expect 'mimic reset maple0 ' ''
result $? "values_and_arguments"
expect 'mimic run --transport ' auto embedded daemon kernel && expect 'mimic trace --transport ' auto embedded daemon kernel pci &&
	expect 'mimic trace --limit ' '' && expect 'mimic record --devices ' '' && expect 'mimic replay --set ' ''
result $? "values_that_a_command_takes"
expect 'mimic sim --set l2.ms' 'l2.mshrs=' && expect 'mimic sweep --soc maple-s' maple-sim && expect 'mimic replay --set l2.ms' ''
result $? "parameters_of_virtual_time"
mkdir "$work/folder" && touch "$work/folder/program" && chmod +x "$work/folder/program"
expect "mimic run $work/folder/pr" "$work/folder/program" && expect "mimic run program --" '' &&
	expect "mimic run --config $work/folder/pr" "$work/folder/program"
result $? "files"
path=$PATH
PATH=$work/folder:$PATH
for line in 'run ' 'trace ' 'record ' 'trace --limit 5 ' 'trace -o x --devices maple:2 ' 'record --verbose -- '; do
	includes "mimic ${line}progr" program || echo "$line"
done >"$work/errors"
[ ! -s "$work/errors" ]
result $? "programs"
PATH=$path
cd "$work/folder" || exit 1
for command in run trace record; do
	expect "mimic $command ./program --" '' && expect "mimic $command -- ./program --" '' &&
		expect "mimic $command ./program --transport pr" program &&
		includes "mimic $command --" --verbose || echo "$command"
done >"$work/errors"
[ ! -s "$work/errors" ]
result $? "no_options_of_mimic_behind_a_program"
cd - >/dev/null || exit 1

# Not a daemon's: it tests the '@', at which bash breaks words.
printf '#!/bin/sh\necho "{ \\"name\\":\\"maple@0\\" }"\n' >"$work/stub"
chmod +x "$work/stub"
mimic=$work/stub
expect 'mimic dump maple@' 0 && expect 'mimic dump ma' maple@0 && expect 'mimic dump maple@0' 0
result $? "names_of_private_devices"

# Each option of the help, with its short form.
"$build/bin/mimicd" --help | awk '/^ +-/ { for (i = 1; i <= 2; i++) if ($i ~ /^-/) { sub(/[[,].*/, "", $i); print $i } }' |
	sort >"$work/options-of-mimicd"
# shellcheck disable=SC2046
expect 'mimicd -' $(cat "$work/options-of-mimicd") && expect 'mimicd --de' --devices &&
	expect 'mimicd --' $(grep '^--' "$work/options-of-mimicd")
result $? "options_of_mimicd"

# words_of OPTION: those that mimicd names when it refuses a value
words_of()
{
	"$build/bin/mimicd" "$1=?" 2>&1 | sed "s/.*?'*: //" | grep -oE '[a-z]+' | grep -vxE 'one|of|or|is|needed|names|with|commas|are'
}

for option in --kernel --channel --log-level --sandbox; do
	expect "mimicd $option=" $(words_of $option) || echo $option
done >"$work/errors"
expect "mimicd --quota maps=3,l" 3,lanes= && expect "mimicd --quota " $(words_of --quota | sed 's/$/=/') &&
	expect 'mimicd --sandbox all,s' all,seccomp && [ ! -s "$work/errors" ]
result $? "values_of_mimicd"
mkdir -p "$work/files/folder"
"$build/bin/mimicd" --help | sed -nE 's/^ +(-[a-zA-Z], )?(--[a-z-]+) (\[DEVICE=\])?\[?(FILE|PATH|DIR).*/\2/p' >"$work/options"
while read -r option; do
	expect "mimicd $option $work/files/fold" "$work/files/folder" && expect "mimicd $option=$work/files/fold" "$work/files/folder" ||
		echo "$option"
done <"$work/options" >"$work/errors"
expect "mimicd --vfio-user maple0=$work/files/fold" "$work/files/folder" && expect "mimicd -s $work/files/fold" "$work/files/folder" &&
	grep -qx -- --state "$work/options" && [ ! -s "$work/errors" ]
result $? "files_of_mimicd"

# open_terminal COLUMNS LINES COMMAND: the command in a terminal of its own. Each has its own
# socket: a server that was told to end still accepts a client, which then fails.
terminals=0
open_terminal()
{
	terminals=$((terminals + 1))
	terminal=$work/tmux-$terminals
	env -u TMUX TERM=screen tmux -S "$terminal" -f /dev/null new-session -d -x "$1" -y "$2" "$3"
}

if command -v tmux >/dev/null; then
	open_terminal 100 10 "PATH=$build/bin:$PATH bash --norc"
	tmux -S "$terminal" send-keys ". completions/mimic.bash; clear" Enter "mimic du" Tab "vi" Tab "shared" Tab "--js" Tab
	false
	for _ in $(seq 60); do
		tmux -S "$terminal" capture-pane -p >"$work/output"
		grep -q 'mimic dump virgo0 shared_memory --json' "$work/output" && break
		sleep 0.05
	done
	result $? "in_a_terminal_by_the_tab_key"
	tmux -S "$terminal" kill-server
else
	skip "in_a_terminal_by_the_tab_key" "tmux is not installed"
fi

# in_zsh: each "KEYS|LINE" of standard input: the line after zsh has completed these keys
in_zsh()
{
	open_terminal 100 10 "PATH=$build/bin:$PATH MIMIC_SOCKET=$MIMIC_SOCKET zsh -f"
	tmux -S "$terminal" send-keys "fpath=($PWD/completions \$fpath); autoload -U compinit; compinit -u -D; PS1='> '" Enter
	while IFS='|' read -r keys line; do
		tmux -S "$terminal" send-keys C-u C-l "$keys" Tab
		for _ in $(seq 100); do
			tmux -S "$terminal" capture-pane -p >"$work/output"
			grep -qxF -- "> $line" "$work/output" && continue 2
			sleep 0.05
		done
		echo "$keys: not $line" >"$work/errors"
		break
	done
	tmux -S "$terminal" kill-server
	[ ! -s "$work/errors" ]
}

if command -v tmux zsh | wc -l | grep -q 2; then
	: >"$work/errors"
	in_zsh <<'KEYS'
mimic inj|mimic inject
mimic run --tr|mimic run --transport
mimic stat vi|mimic stat virgo0
mimic help comp|mimic help compare
KEYS
	result $? "zsh_completes_commands_options_and_devices"
else
	skip "zsh_completes_commands_options_and_devices" "tmux or zsh is not installed"
fi

# in_fish LINE: the words that fish offers at its end
in_fish()
{
	PATH=$build/bin:$PATH HOME=$work fish --no-config -c "source completions/mimic.fish; source completions/mimicd.fish; complete -C '$1'" | cut -f 1
}

# zsh lists options as "--socket  -s  -- MEANING".
zsh_lists_every_option_of_mimicd()
{
	local status=1
	open_terminal 120 60 "PATH=$build/bin:$PATH zsh -f"
	tmux -S "$terminal" send-keys "fpath=($PWD/completions \$fpath); autoload -U compinit; compinit -u -D; PS1='> '" Enter
	tmux -S "$terminal" send-keys C-l "mimicd -" Tab
	for _ in $(seq 100); do
		tmux -S "$terminal" capture-pane -p | sed -nE '/^--/ s/ --( .*)?$//p' | tr -s ' ' '\n' | grep -- - | grep -vx -- -- | sort >"$work/output"
		cmp -s "$work/options-of-mimicd" "$work/output" && status=0 && break
		sleep 0.05
	done
	tmux -S "$terminal" kill-server
	return $status
}

if command -v tmux zsh | wc -l | grep -q 2; then
	zsh_lists_every_option_of_mimicd
	result $? "zsh_lists_every_option_of_mimicd"
	in_zsh <<'KEYS'
mimicd --kernel=req|mimicd --kernel=required
mimicd --log-level w|mimicd --log-level warning
mimicd --record Make|mimicd --record Makefile
mimicd --state compl|mimicd --state completions/
mimic vm --func|mimic vm --function
KEYS
	result $? "zsh_completes_values_of_mimicd"
else
	skip "zsh_lists_every_option_of_mimicd" "tmux or zsh is not installed"
	skip "zsh_completes_values_of_mimicd" "tmux or zsh is not installed"
fi

if command -v fish >/dev/null; then
	in_fish 'mimicd -' | sed 's/=$//' | sort -u >"$work/output"
	cmp -s "$work/options-of-mimicd" "$work/output"
	result $? "fish_lists_every_option_of_mimicd"
	for line in 'mimicd --kernel=req|--kernel=required' 'mimicd --log-level w|warning' 'mimicd --record Makef|Makefile' \
		'mimicd --state compl|completions/' 'mimicd --quota maps=3,l|maps=3,lanes=' 'mimic vm --func|--function'; do
		[ "$(in_fish "${line%|*}")" = "${line#*|}" ] || echo "$line: $(in_fish "${line%|*}")"
	done >"$work/errors"
	[ ! -s "$work/errors" ]
	result $? "fish_completes_values_of_mimicd"
else
	skip "fish_lists_every_option_of_mimicd" "fish is not installed"
	skip "fish_completes_values_of_mimicd" "fish is not installed"
fi

if command -v fish >/dev/null; then
	for line in 'mimic inj|inject' 'mimic run --tr|--transport' 'mimic stat vi|virgo0' 'mimic help comp|compare'; do
		[ "$(in_fish "${line%|*}")" = "${line#*|}" ] || echo "$line: $(in_fish "${line%|*}")"
	done >"$work/errors"
	[ ! -s "$work/errors" ]
	result $? "fish_completes_commands_options_and_devices"
else
	skip "fish_completes_commands_options_and_devices" "fish is not installed"
fi
stop_daemon
plan
