/** Programs that a person sits before: how long they ran says nothing. */
export const INTERACTIVE: readonly string[] = [
  ...['vi', 'vim', 'nvim', 'view', 'vimdiff', 'nano', 'emacs', 'emacsclient', 'micro', 'hx', 'kak', 'ed'],
  ...['sudoedit', 'visudo', 'crontab', 'less', 'more', 'most', 'man', 'info', 'fzf'],
  ...['ssh', 'mosh', 'telnet', 'sftp', 'ftp', 'tmux', 'screen', 'zellij', 'byobu', 'script'],
  ...['top', 'htop', 'btop', 'atop', 'iotop', 'watch', 'nvtop', 'ncdu'],
  ...['mc', 'ranger', 'nnn', 'lf', 'yazi', 'vifm', 'tig', 'lazygit', 'gitui', 'k9s', 'lazydocker'],
  ...['mutt', 'neomutt', 'aerc', 'weechat', 'irssi', 'su', 'login', 'fg', 'wait', 'read'],
  ...['claude', 'codex', 'gemini', 'aider', 'opencode', 'steward'],
];

/** Those that a person sits before when nothing follows their name. */
export const PROMPTING: readonly string[] = [
  ...['bash', 'zsh', 'fish', 'sh', 'dash', 'ksh', 'nu', 'pwsh'],
  ...['python', 'python3', 'ipython', 'node', 'deno', 'bun', 'irb', 'lua', 'php', 'R', 'ghci', 'julia'],
  ...['sqlite3', 'psql', 'mysql', 'mariadb', 'redis-cli', 'mongosh', 'bc', 'gdb', 'lldb'],
];

/** Words before the name of the program that is started. */
export const PREFIXES: readonly string[] = [
  ...['sudo', 'doas', 'time', 'env', 'command', 'builtin', 'exec', 'nice', 'nohup', 'caffeinate', 'stdbuf'],
];

/** Words of the shell that begin something compound. */
export const KEYWORDS: readonly string[] = [
  ...[
    'for',
    'while',
    'until',
    'if',
    'case',
    'select',
    'repeat',
    'foreach',
    'switch',
    'begin',
    'and',
    'or',
    'not',
  ],
];

/**
 * In bash and zsh: tells of a command, in the background, unless a person sat before it. Of the command only the
 * name of the program is said; what is no plain name is "A command".
 *
 * @param send the words of the shell that send a notification
 */
export function tellFunction(send: string): string {
  return `# What: the exit status, the seconds, and the words of the command.
_steward_long_tell() {
  local code=$1 took=$2 word name='' prefix='' unsure='' more=''
  shift 2
  for word in "$@"; do
    if [[ -z $name ]]; then
      case $word in
        [A-Za-z_]*=*) continue ;;
        ${PREFIXES.join(' | ')}) prefix=$word; continue ;;
        -*) unsure=$prefix; continue ;;
      esac
      name=\${unsure:-\${word##*/}}
      [[ -n $unsure ]] || word=$name
    else
      more=1
      [[ -n $unsure ]] || continue
    fi
    # After options of sudo and its like any word may be the program.
    case $word in
      ${INTERACTIVE.join(' | ')}) return 0 ;;
    esac
    case " \${STEWARD_LONG_COMMAND_IGNORE-} " in
      *" $word "*) return 0 ;;
    esac
  done
  if [[ -z $more ]]; then
    case $name in
      ${PROMPTING.join(' | ')}) return 0 ;;
    esac
  fi
  case $name in
    '' | -* | *[!A-Za-z0-9._+@-]* | ${KEYWORDS.join(' | ')}) name='A command' ;;
  esac
  local after="$took s" event=taskComplete words
  if (( took >= 120 )); then after="$(( took / 60 )) min"; fi
  if (( code == 0 )); then
    words="$name is done, after $after"
  else
    event=error words="$name failed after $after (exit $code)"
  fi
  ( ${send} "$words" --event "$event" --duration "\${took}s" </dev/null >/dev/null 2>&1 & )
}`;
}
