# Arguments: exit status, duration in seconds, and the words of the command line.
_steward_long_send() {
  local code=$1 took=$2 word name='' prefix='' unsure='' more='' ends before='' first='' last='' joined='' part quote=''
  shift 2
  for word in "$@" $'\n'; do
    ends='' part=${word//[^\'\"]/}
    while [[ -n $part ]]; do
      if [[ -z $quote ]]; then
        quote=${part:0:1} part=${part:1}
      elif [[ $part == *"$quote"* ]]; then
        part=${part#*"$quote"} quote=''
      else
        part=''
      fi
    done
    if [[ $word == $'\n' ]]; then
      ends=';' word=''
    elif [[ -z $quote ]]; then
      case $word in
        ';' | '&' | '|' | '|&' | '&&' | '||') ends=$word word='' ;;
        ?*';') ends=';' word=${word%;} ;;
      esac
    fi
    if [[ -n $word ]]; then
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
        [[ -n $unsure || -n $ends ]] || continue
      fi
      # After options of a prefix such as sudo, any word may be the program.
      if [[ -n $unsure || $word == "$name" ]]; then
        case $word in
          @INTERACTIVE@) return 0 ;;
        esac
        case " ${STEWARD_LONG_COMMAND_IGNORE-} " in
          *" $word "*) return 0 ;;
        esac
      fi
    fi
    [[ -n $ends && -n $name ]] || continue
    if [[ -z $more ]]; then
      case $name in
        @PROMPTING@) return 0 ;;
      esac
    fi
    # Either side of && or || may have failed.
    case $before in
      '&&' | '||') joined=1 ;;
      '|' | '|&') ;;
      *) joined='' ;;
    esac
    first=${first:-$name} last=$name before=$ends name='' prefix='' unsure='' more=''
  done
  name=$first
  if (( code != 0 )); then
    name=$last
    [[ -z $joined ]] || name=''
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
