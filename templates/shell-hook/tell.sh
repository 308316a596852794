# Arguments: exit status, duration in seconds, and the words of the command.
_steward_long_send() {
  local code=$1 took=$2 word name='' prefix='' unsure='' more=''
  shift 2
  for word in "$@"; do
    if [[ -z $name ]]; then
      case $word in
        [A-Za-z_]*=*) continue ;;
        @PREFIXES@) prefix=$word; continue ;;
        -*) unsure=$prefix; continue ;;
      esac
      name=${unsure:-${word##*/}}
      [[ -n $unsure ]] || word=$name
    else
      more=1
      [[ -n $unsure ]] || continue
    fi
    # After options of a prefix such as sudo, any word may be the program.
    case $word in
      @INTERACTIVE@) return 0 ;;
    esac
    case " ${STEWARD_LONG_COMMAND_IGNORE-} " in
      *" $word "*) return 0 ;;
    esac
  done
  if [[ -z $more ]]; then
    case $name in
      @PROMPTING@) return 0 ;;
    esac
  fi
  case $name in
    '' | -* | *[!A-Za-z0-9._+@-]* | @KEYWORDS@) name='A command' ;;
  esac
  local after="$took s" event=taskComplete words
  if (( took >= 120 )); then after="$(( took / 60 )) min"; fi
  if (( code == 0 )); then
    words="$name finished after $after"
  else
    event=error words="$name failed ($code) after $after"
  fi
  ( @SEND@ "$words" --event "$event" --duration "${took}s" </dev/null >/dev/null 2>&1 & )
}
