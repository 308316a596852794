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
        set -l before
        set -l first
        set -l last
        set -l joined
        set -l quote
        set -l ignored @INTERACTIVE@ (string split -n ' ' -- "$STEWARD_LONG_COMMAND_IGNORE")
        for word in (string split -n ' ' -- (string replace -ra '\s+' ' ' -- "$argv[1]")) '\n'
            for part in (string match -ra '[\'"]' -- $word)
                if test -z "$quote"
                    set quote $part
                else if test "$part" = "$quote"
                    set quote
                end
            end
            set -l ends
            test -z "$quote"
            and set ends (string match -r -- '^(?:;|&|\||\|&|&&|\|\||and|or)$|;$' $word)
            if test "$word" = '\n'
                set ends ';'
                set word
            end
            test -n "$ends"
            and set word (string replace -r -- '(?:^(?:&|\||\|&|&&|\|\||and|or)|;)$' '' $word)
            if test -n "$word"
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
                end
                # After options of a prefix such as sudo, any word may be the program.
                if test -n "$unsure"; or test "x$word" = "x$name"
                    contains -- $word $ignored
                    and return 0
                end
            end
            test -n "$ends"
            or continue
            if test -n "$name"
                if test -z "$more"
                    contains -- $name @PROMPTING@
                    and return 0
                end
                # Either side of && or || may have failed.
                switch "$before"
                    case '&&' '||' and or
                        set joined 1
                    case '|' '|&'
                    case '*'
                        set joined
                end
                test -n "$first"
                or set first $name
                set last $name
            end
            # In "a; and b", the second separator counts.
            set before $ends
            set name
            set prefix
            set unsure
            set more
        end
        set name $first
        if test $code -ne 0
            set name $last
            test -z "$joined"
            or set name ''
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
