# SPDX-License-Identifier: GPL-2.0 OR MIT
# Completion of mimicd's options and their values for fish. It asks mimicd itself, so it offers
# the options of the mimicd that is installed.

# "GIVEN,NAME" of each name, where the word ends behind GIVEN and a comma; in front of it the option may stand.
function __mimicd_list
    set -l given (commandline -ct | string replace -r '^--[a-z-]+=' '' | string replace -r '[^,]*$' '')
    printf '%s\n' $given$argv
end

# What `complete` is to know of the value of an option. $argv: the option's name, its value as the help shows it.
function __mimicd_value
    switch $argv[1]
        case kernel
            printf '%s\n' -f -a 'auto required off'
        case check
            printf '%s\n' -f -a '(__fish_complete_pids)'
        case channel
            printf '%s\n' -x -a 'auto uring read'
        case log-level
            printf '%s\n' -x -a 'error warning info debug'
        case group
            printf '%s\n' -x -a '(__fish_complete_groups)'
        case sandbox
            printf '%s\n' -x -a '(__mimicd_list all none privileges capabilities seccomp landlock)'
        case quota
            printf '%s\n' -x -a '(__mimicd_list connections= devices= lanes= maps= shared=)'
        case state
            printf '%s\n' -f -a '(__fish_complete_directories (commandline -ct | string replace -- --state= ""))'
        case '*'
            string match -qr 'FILE|PATH' -- "$argv[2]"; and printf '%s\n' -r -F
            string match -qr 'FILE|PATH' -- "$argv[2]"; or test -z "$argv[2]"; or echo -x
    end
end

# The help shows an option as "-s, --socket PATH  meaning", "--kernel[=WHEN]  meaning" or "--state [DIR]  meaning".
function __mimicd_define
    mimicd --help 2>/dev/null | string match -rg '^ +-?((?:(?<=-)[a-zA-Z](?=,))?),? *--([a-z-]+)((?:(?:\[=| \[?)[A-Z]\S*)?) *(.*)$' |
        while read -l letter
            read -l name
            read -l value
            read -l meaning
            test -n "$letter"; and set letter -s $letter; or set letter
            complete -c mimicd $letter -l $name -d "$meaning" (__mimicd_value $name $value)
        end
end

complete -c mimicd -f
complete -c mimicd -n '__fish_prev_arg_in --state' -a '(__fish_complete_directories (commandline -ct))'
__mimicd_define
