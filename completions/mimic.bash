# SPDX-License-Identifier: GPL-2.0 OR MIT
# shellcheck shell=bash
# Completion of mimic's commands, options, devices and paths. It asks mimic itself, so it
# offers whatever the mimic knows that is installed.

# _mimic_offer WORD: lines of standard input that begin with it. Bash breaks words at '@',
# ':' and '=': what it has put into a word of its own is not repeated.
_mimic_offer()
{
	local last=${COMP_WORDS[COMP_CWORD]} candidate
	[[ $last == [@:=] ]] && last=
	while read -r candidate; do
		[[ $candidate == "$1"* ]] && COMPREPLY+=("${candidate#"${1%"$last"}"}")
	done
}

_mimic_commands()
{
	"$1" --help 2>/dev/null | sed -n 's/^  \([a-z]\{2,\}\) .*/\1/p'
	printf '%s\n' help --help --version
}

# The help shows them as "--json", "-o, --output FILE" or "--watch[=SECONDS]".
_mimic_options()
{
	"$1" "$2" --help 2>/dev/null | grep -oE '^ +(-[a-zA-Z], )?--[a-z-]+' | tr -s ', ' '\n' | grep .
}

# Those whose value is the next word: it stands one blank behind them, a meaning two.
_mimic_valued()
{
	"$1" "$2" --help 2>/dev/null | grep -oE '^ +(-[a-zA-Z], )?--[a-z-]+ [^ ]' | sed 's/.$//' |
		tr -s ', ' '\n' | grep .
}

# _mimic_devices MIMIC [--socket PATH | --pid PID]
_mimic_devices()
{
	"$1" list --json "${@:2}" 2>/dev/null | sed -n 's/.*"name": *"\([^"]*\)".*/\1/p'
}

# _mimic_paths WORD MIMIC DEVICE [...]: what lies in the folder that the word begins with
_mimic_paths()
{
	"$2" dump "${@:3}" 2>/dev/null | awk -v word="$1" '
		index($1, word) == 1 {
			rest = substr($1, length(word) + 1)
			slash = index(rest, "/")
			path = word (slash ? substr(rest, 1, slash) : rest)
			if (!seen[path]++)
				print path
		}'
}

_mimic_files()
{
	mapfile -t COMPREPLY < <(compgen -f -- "$1")
	compopt -o filenames 2>/dev/null
}

# _mimic_value OPTION WORD COMMAND MIMIC: the option's value. Of numbers and lists nothing is known.
_mimic_value()
{
	case $1 in
	--transport)
		_mimic_offer "$2" < <(printf '%s\n' auto embedded daemon kernel $([ "$3" != trace ] || echo pci)) ;;
	--pid) _mimic_offer "$2" < <(cd /proc && printf '%s\n' [0-9]*) ;;
	--socket | --config | --plugin | --output | -o | --info | --costs | --trace | --profile | --directory) _mimic_files "$2" ;;
	--compiler) mapfile -t COMPREPLY < <(compgen -c -- "$2" | sort -u) ;;
	--soc)
		_mimic_files "$2"
		_mimic_offer "$2" < <("$4" sim --help 2>/dev/null |
			sed -n 's/.*--soc NAME *\(.*\) (default), \(.*\), or an INI file/\1 \2/p' | tr -d , | tr ' ' '\n') ;;
	--set)
		[[ $3 == @(sim|sweep) ]] || return 0
		_mimic_offer "$2" < <("$4" sim --parameters 2>/dev/null |
			awk '/^\[/ { section = substr($0, 2, length($0) - 2) } / = / { print section "." $1 "=" }')
		compopt -o nospace 2>/dev/null ;;
	esac
	return 0
}

# _mimic_argument WORD MIMIC COMMAND NUMBER DEVICE [--socket PATH | --pid PID]
_mimic_argument()
{
	case $3:$4 in
	help:0)
		_mimic_offer "$1" < <(_mimic_commands "$2" | grep -v '^-') ;;
	stat:* | dump:0 | reset:0 | remove:0 | inject:0 | save:0 | restore:1)
		_mimic_offer "$1" < <(_mimic_devices "$2" "${@:6}") ;;
	dump:*)
		_mimic_offer "$1" < <(_mimic_paths "$1" "$2" "$5" "${@:6}")
		[[ ${COMPREPLY[0]-} == */ ]] && compopt -o nospace 2>/dev/null ;;
	inject:1)
		_mimic_offer "$1" < <("$2" inject --help 2>/dev/null | sed -n 's/^  \([a-z-]*\)$/\1/p') ;;
	add:0)
		_mimic_offer "$1" < <("$2" add --help 2>/dev/null | sed -n 's/^Kinds: \([^;]*\);.*/\1/p' | tr ' ' '\n') ;;
	cflags:* | list:* | top:* | reset:* | remove:* | inject:* | add:* | save:*) ;;
	run:0 | trace:0 | record:0 | sim:0 | sweep:0)
		mapfile -t COMPREPLY < <(compgen -c -f -- "$1" | sort -u)
		compopt -o filenames 2>/dev/null ;;
	*)
		_mimic_files "$1" ;;
	esac
	return 0
}

_mimic()
{
	local line=${COMP_LINE:0:COMP_POINT} word='' device='' is_over='' words where=() i count=0 valued
	COMPREPLY=()
	read -ra words <<<"$line"
	if [[ $line != *[[:space:]] ]]; then
		word=${words[-1]}
		unset 'words[-1]'
	fi
	if [ ${#words[@]} = 1 ]; then
		_mimic_offer "$word" < <(_mimic_commands "$1")
		return
	fi
	valued=" $(_mimic_valued "$1" "${words[1]}" | tr '\n' ' ')"
	for ((i = 2; i < ${#words[@]}; i++)); do
		if [[ -n $is_over || ${words[i]} != -* ]]; then
			((count++)) || device=${words[i]}
			# All behind a program is the program's own.
			[[ ${words[1]} == @(run|trace|record|sim|sweep) ]] && is_over=yes
		elif [[ ${words[i]} == -- ]]; then
			is_over=yes
		elif [[ $valued == *" ${words[i]} "* ]]; then
			if ((++i == ${#words[@]})); then
				_mimic_value "${words[-1]}" "$word" "${words[1]}" "$1"
				return
			fi
			[[ ${words[i - 1]} == @(--socket|--pid) ]] && where+=("${words[@]:i-1:2}")
		elif [[ ${words[i]} == @(--socket|--pid)=* ]]; then
			where+=("${words[i]}")
		fi
	done
	if [[ $word == -* && -z $is_over ]]; then
		_mimic_offer "$word" < <(_mimic_options "$1" "${words[1]}")
	else
		_mimic_argument "$word" "$1" "${words[1]}" "$count" "$device" ${where[@]+"${where[@]}"}
	fi
}

complete -F _mimic mimic
