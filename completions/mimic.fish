# SPDX-License-Identifier: GPL-2.0 OR MIT
# Completion of mimic's commands, options and devices for fish. It asks mimic itself, so it
# offers whatever the mimic knows that is installed.

# "NAME<tab>MEANING" of each command
function __mimic_commands
    mimic --help 2>/dev/null | string match -rg '^  ([a-z]{2,} .*)' | string replace -r ' +' \t
end

# The command of the line so far, if there is one.
function __mimic_command
    set -l words (commandline -opc)
    test (count $words) -ge 2; and echo $words[2]
end

# "--OPTION<tab>MEANING" of the command; the help shows them as "-o, --output FILE  meaning".
function __mimic_options
    set -l command (__mimic_command); or return
    mimic $command --help 2>/dev/null | string match -rg '^ +(?:-[a-zA-Z], )?(--[a-z-]+)\S*(?: \S+)*?(?:  +(.*))?$' |
        while read -l option
            read -l meaning
            printf '%s\t%s\n' $option $meaning
        end
end

function __mimic_devices
    mimic list --json 2>/dev/null | string match -rg '"name": *"([^"]*)"'
end

function __mimic_is_first
    test (count (commandline -opc)) -eq 1
end

# Is it one of these commands, and this word its first argument?
function __mimic_takes_device
    set -l words (commandline -opc)
    test (count $words) -eq 2; and contains -- $words[2] $argv
end

complete -c mimic -n __mimic_is_first -f -a '(__mimic_commands)'
complete -c mimic -n __mimic_is_first -f -a help -d 'print the help of a command'
complete -c mimic -n __mimic_is_first -l help -d 'print the commands'
complete -c mimic -n __mimic_is_first -l version -d 'print the version'
complete -c mimic -n '__mimic_takes_device help' -f -a '(__mimic_commands)'
complete -c mimic -n '__mimic_takes_device stat dump reset remove inject save' -f -a '(__mimic_devices)'
complete -c mimic -n 'not __mimic_is_first; and string match -q -- "-*" (commandline -ct)' -f -a '(__mimic_options)'
