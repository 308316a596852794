import { aliases } from '../../../templates/data/command-names.json';

type Resolution =
  | { kind: 'command'; id: string; argv: string[] }
  /** The help for a command or topic, or for steward itself if `words` is empty. */
  | { kind: 'help'; words: string[] }
  | { kind: 'topic'; words: string[] }
  | { kind: 'unknown'; words: string[] };

/**
 * Finds the command with the longest matching name. `--json` and `--debug` may precede the name.
 * @param ids command ids with colons (`sense:today`)
 */
export function resolveCommand(argv: readonly string[], ids: readonly string[]): Resolution {
  const leading = argv.findIndex((word) => !GLOBAL_FLAGS.has(word));
  const before = leading === -1 ? argv.slice() : argv.slice(0, leading);
  const rest = argv.slice(before.length);
  const end = rest.findIndex((word) => word.startsWith('-'));
  const words = end === -1 ? rest : rest.slice(0, end);
  const wantsHelp = flagsOf(argv).some((word) => HELP_FLAGS.has(word));

  for (let length = words.length; length > 0; length -= 1) {
    const id = words.slice(0, length).join(':');
    const alias = ALIASES[id.replaceAll(':', ' ')];
    if (alias !== undefined) return resolveCommand([...before, ...inFull(alias, rest.slice(length))], ids);
    if (!ids.includes(id)) continue;
    if (wantsHelp) return { kind: 'help', words: words.slice(0, length) };
    return { kind: 'command', id, argv: [...rest.slice(length), ...before] };
  }
  const isTopic = words.length === 0 || ids.some((id) => id.startsWith(`${words.join(':')}:`));
  if (!isTopic) return { kind: 'unknown', words };
  if (words.length === 0 && !wantsHelp && rest.length > 0)
    return { kind: 'unknown', words: rest.slice(0, 1) };
  return wantsHelp ? { kind: 'help', words } : { kind: 'topic', words };
}

/** The specification's names of commands that have another name here. They stay callable. */
export const ALIASES: Readonly<Record<string, string>> = aliases;

/** Returns the arguments that an alias stands for. The specification's installers also take `--uninstall`. */
function inFull(alias: string, args: readonly string[]): string[] {
  if (!alias.startsWith('install ') || !flagsOf(args).includes('--uninstall'))
    return [...alias.split(' '), ...args];
  const others = args.filter((word) => word !== '--uninstall');
  if (!others.includes('--insight')) return [`un${alias}`.split(' '), others].flat();
  return ['config', 'set', 'sense.insight.hourly', 'false', ...others.filter((word) => word !== '--insight')];
}

/** Returns the arguments before `--`. */
export function flagsOf(argv: readonly string[]): readonly string[] {
  const end = argv.indexOf('--');
  return end === -1 ? argv : argv.slice(0, end);
}

const GLOBAL_FLAGS = new Set(['--json', '--debug']);
const HELP_FLAGS = new Set(['--help', '-h']);
