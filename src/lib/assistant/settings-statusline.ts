import { appendChild, applyEdits, removeChildren, type Edit } from '../platform/files/json-edit';
import { parseJsonTree } from '../platform/files/json-tree';
import { commandIn, memberOf, rootOf, wrongShape } from './settings-hooks';
import type { ShimCommands } from './shim';

/** `unsupported` means that the existing command can't be quoted for this system's shells. */
export type StatusLineInstall = 'added' | 'chained' | 'unchanged' | 'unsupported';

export interface StatusLineAdded {
  text: string;
  result: StatusLineInstall;
  /** The raw JSON that was replaced; null if the key was missing, undefined if nothing changed. */
  before: string | null | undefined;
}

/** Adds steward's status line, or wraps an existing command. Leaves every other byte unchanged. */
export function addStatusLine(
  source: string,
  path: string,
  key: string,
  commands: ShimCommands,
): StatusLineAdded {
  const { root, node, found } = lineIn(source, path, key);
  if (root.kind !== 'object') throw wrongShape(path, 'the top level is not an object');
  const then = found === undefined || found.command.trim() === '' ? undefined : found.command;
  const isThere = then !== undefined && runsSteward(then, commands);
  const command = isThere ? undefined : commands.statusLineFor(then);
  if (command === undefined) {
    return { text: source, result: isThere ? 'unchanged' : 'unsupported', before: undefined };
  }
  const value = { type: 'command', command };
  if (node === undefined) {
    const text = applyEdits(source, [appendChild(source, root, value, key)]);
    return { text, result: 'added', before: null };
  }
  const isChained = found !== undefined && then !== undefined;
  const { start, end } = isChained ? found : node;
  const text = applyEdits(source, [{ start, end, text: JSON.stringify(isChained ? command : value) }]);
  return { text, result: isChained ? 'chained' : 'added', before: source.slice(node.start, node.end) };
}

export interface StatusLineRemoved {
  text: string;
  /** The change to the status line; null if the status line isn't steward's. */
  result: 'removed' | 'restored' | null;
  /** The user's own commands that run the shim. */
  left: string[];
}

/**
 * Removes steward's status line and restores the command that it wraps. If the JSON in `before` contains the
 * same command, restores that JSON unchanged.
 */
export function removeStatusLine(
  source: string,
  path: string,
  input: { key: string; commands: ShimCommands; before: string | null | undefined },
): StatusLineRemoved {
  const { key, commands } = input;
  const before = input.before ?? '';
  const { root, node, found } = lineIn(source, path, key);
  const ours = commands.statusLineOf(found?.command ?? '');
  if (node === undefined || found === undefined || ours === undefined) {
    const left = found !== undefined && commands.isMentionedIn(found.command) ? [found.command] : [];
    return { text: source, result: null, left };
  }
  const tree = parseJsonTree(before);
  const old = 'problem' in tree ? undefined : tree.root;
  const restore = ({ start, end }: Omit<Edit, 'text'>, text: string): StatusLineRemoved => {
    return { text: applyEdits(source, [{ start, end, text }]), result: 'restored', left: [] };
  };
  if (ours.then !== undefined) {
    const was = old === undefined ? undefined : commandIn(before, old);
    const raw = was?.command === ours.then ? before.slice(was.start, was.end) : JSON.stringify(ours.then);
    return restore(found, raw);
  }
  if (old !== undefined) return restore(node, before);
  const index = root.members.findLastIndex((member) => member.key === key);
  return {
    text: applyEdits(source, removeChildren(source, root, new Set([index]))),
    result: 'removed',
    left: [],
  };
}

/** Returns who owns the status line in the settings. */
export function statusLineOwner(
  source: string,
  path: string,
  key: string,
  commands: ShimCommands,
): 'steward' | 'other' | 'none' {
  const command = lineIn(source, path, key).found?.command ?? '';
  if (command.trim() === '') return 'none';
  return runsSteward(command, commands) ? 'steward' : 'other';
}

/** Returns whether a command already prints steward's status line. */
function runsSteward(command: string, commands: ShimCommands): boolean {
  return commands.isMentionedIn(command) || PRINTS_STEWARD.test(command);
}

const PRINTS_STEWARD = /(?:^|[\s\\/"'])steward(?:-hook)?(?:\.cmd)?["']?\s+statusline(?![\w-])/;

function lineIn(source: string, path: string, key: string) {
  const root = rootOf(source, path);
  const node = memberOf(root, key);
  return { root, node, found: node && commandIn(source, node) };
}
