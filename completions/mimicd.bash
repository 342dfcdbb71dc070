# SPDX-License-Identifier: GPL-2.0 OR MIT
# shellcheck shell=bash
# Completion of mimicd's options, which it is asked for.

_mimicd()
{
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
	COMPREPLY=()
	case $before in
	--socket | --config | --plugin | --vfio-user)
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
		compopt -o filenames 2>/dev/null
		return ;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$("$1" --help 2>/dev/null |
		grep -oE '^  (-[a-zA-Z], )?--[a-z-]+' | grep -oE -- '--[a-z-]+')" -- "$word")
}

complete -F _mimicd mimicd
