# fish completion for steward
function __steward_at
    set -l at
    for word in (commandline -opc)[2..-1]
        set -l next (string join -- ' ' $at $word)
        if contains -- $next @KNOWN@
            set at $next
        end
    end
    test "$at" = "$argv[1]"
end
function __steward_first
    __steward_at $argv[1]; and string match -q -- "*"(commandline -opc)[-1] $argv[1]
end
complete -c steward -e
@PLACES@
