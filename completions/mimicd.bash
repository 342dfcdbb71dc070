# SPDX-License-Identifier: GPL-2.0 OR MIT
# shellcheck shell=bash
# Completion of mimicd's options, which it is asked for, and of their values.

# The help shows them as "-s, --socket PATH", "--kernel[=WHEN]" or "--allow-users".
_mimicd_options()
{
	"$1" --help 2>/dev/null | grep -oE '^ +(-[a-zA-Z], )?--[a-z-]+' | tr -s ', ' '\n' | grep .
}

# _mimicd_words WORD CANDIDATE...
_mimicd_words()
{
	mapfile -t COMPREPLY < <(compgen -W "${*:2}" -- "$1")
}

# _mimicd_list WORD CANDIDATE...: the same behind the last comma
_mimicd_list()
{
	local last=${1##*,}
	mapfile -t COMPREPLY < <(compgen -P "${1%"$last"}" -W "${*:2}" -- "$last")
}

# _mimicd_files WORD f|d: files, or directories only
_mimicd_files()
{
	mapfile -t COMPREPLY < <(compgen "-$2" -- "$1")
	compopt -o filenames 2>/dev/null
}

# _mimicd_value OPTION WORD: the option's value; fails where OPTION has none in a word of its own.
_mimicd_value()
{
	case $1 in
	-s | --socket | -c | --config | --plugin | --bus | --vfio-user | --record) _mimicd_files "$2" f ;;
	--channel) _mimicd_words "$2" auto uring read ;;
	--log-level) _mimicd_words "$2" error warning info debug ;;
	--group) mapfile -t COMPREPLY < <(compgen -g -- "$2") ;;
	--sandbox) _mimicd_list "$2" all none privileges capabilities seccomp landlock ;;
	--quota)
		_mimicd_list "$2" connections= devices= lanes= maps= shared=
		compopt -o nospace 2>/dev/null ;;
	--state)
		[[ $2 != -* ]] || return 1
		_mimicd_files "$2" d ;;
	-d | --devices | --threads | --spin | --recovery-time) ;;
	*) return 1 ;;
	esac
	return 0
}

_mimicd()
{
	local word=${COMP_WORDS[COMP_CWORD]} i=$((COMP_CWORD - 1))
	COMPREPLY=()
	# Bash makes a word of '=', too: "--kernel=auto" is three, "--vfio-user maple0=PATH" is four.
	if [[ $word == = ]]; then
		word=''
		((i++))
	fi
	while ((i > 0)) && [[ ${COMP_WORDS[i]} == = ]]; do
		((i--))
		[[ ${COMP_WORDS[i]} == -* ]] || ((i--))
	done
	if [[ ${COMP_WORDS[i]}${COMP_WORDS[i + 1]-} == --kernel= ]]; then
		_mimicd_words "$word" auto required off
		return
	fi
	if [[ ${COMP_WORDS[i]}${COMP_WORDS[i + 1]-} == --check= ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(pgrep -x 'mimicd-(supervis|recovera)')" -- "$word")
		return
	fi
	_mimicd_value "${COMP_WORDS[i]}" "$word" ||
		mapfile -t COMPREPLY < <(compgen -W "$(_mimicd_options "$1")" -- "$word")
}

complete -F _mimicd mimicd
