# Notifies you when a long command finishes. Add to ~/.config/fish/config.fish: steward shell-hook fish | source
if status is-interactive
    function _steward_long_done --on-event fish_postexec
        set -l code $status
        set -l limit @LONG_SEC@
        string match -qr '^[0-9]{1,6}$' -- "$STEWARD_LONG_COMMAND_SEC"
        and set limit $STEWARD_LONG_COMMAND_SEC
        # Skip commands ended by Ctrl-C or Ctrl-Z, because you are at the terminal.
        contains -- $code 130 146 148
        and return 0
        test -n "$CMD_DURATION" -a "$CMD_DURATION" -ge "$limit"000
        or return 0
        set -l took (math -s0 $CMD_DURATION / 1000)
        test $took -le 999999
        or return 0
        set -l name
        set -l prefix
        set -l unsure
        set -l more
        set -l ignored @INTERACTIVE@ (string split -n ' ' -- "$STEWARD_LONG_COMMAND_IGNORE")
        for word in (string split -n ' ' -- (string replace -ra '\s+' ' ' -- "$argv[1]"))
            if test -z "$name"
                if string match -qr '^[A-Za-z_][A-Za-z0-9_]*=' -- $word
                    continue
                end
                if contains -- $word @PREFIXES@
                    set prefix $word
                    continue
                end
                if string match -q -- '-*' $word
                    set unsure $prefix
                    continue
                end
                if test -n "$unsure"
                    set name $unsure
                else
                    set name (string replace -r '^.*/' '' -- $word)
                    set word $name
                end
            else
                set more 1
                # After options of a prefix such as sudo, any word may be the program.
                test -n "$unsure"
                or continue
            end
            contains -- $word $ignored
            and return 0
        end
        if test -z "$more"
            contains -- $name @PROMPTING@
            and return 0
        end
        string match -qr '^[A-Za-z0-9._+@][A-Za-z0-9._+@-]*$' -- "$name"
        and not contains -- $name @KEYWORDS@
        or set name 'A command'
        set -l after "$took s"
        test $took -ge 120
        and set after (math -s0 $took / 60)" min"
        set -l event taskComplete
        set -l words "$name finished after $after"
        if test $code -ne 0
            set event error
            set words "$name failed ($code) after $after"
        end
        command @STEWARD@ notify send $words --event $event --duration "$took"s </dev/null >/dev/null 2>&1 &
        disown 2>/dev/null
    end
end
