import { StewardError } from '../errors';
import { appendChild, applyEdits, removeChildren, type Edit } from '../platform/files/json-edit';
import { parseJsonTree, type JsonArray, type JsonNode, type JsonObject } from '../platform/files/json-tree';
import type { HookRegistration } from './claude-code-settings';
import type { ShimCommands } from './shim';

const NEW_FILE = '{}\n';

/** The text of a settings file with our hooks, and the changes. */
export interface Added {
  text: string;
  /** Events that got an entry. */
  events: string[];
  /** Containers that were missing: `hooks`, `hooks.Stop`. */
  created: string[];
}

/**
 * Adds an entry for each hook whose event has none of ours; every other byte stays. An undefined source is a missing
 * file. Invalid JSON, or hooks of another shape, are `config`.
 */
export function addHooks(
  source: string | undefined,
  path: string,
  hooks: readonly HookRegistration[],
  commands: ShimCommands,
): Added {
  const added: Added = { text: isBlank(source) ? NEW_FILE : source, events: [], created: [] };
  for (const hook of hooks) addHook(added, path, hook, commands);
  return added;
}

function addHook(added: Added, path: string, hook: HookRegistration, commands: ShimCommands): void {
  const { event } = hook;
  const entry = entryOf(hook, commands);
  const { root, hooks } = tableOf(added.text, path);
  const groups = hooks === undefined ? undefined : memberOf(hooks, event);
  let edit: Edit;
  if (hooks === undefined) {
    added.created.push('hooks', `hooks.${event}`);
    edit = appendChild(added.text, root, { [event]: [entry] }, 'hooks');
  } else if (groups === undefined) {
    added.created.push(`hooks.${event}`);
    edit = appendChild(added.text, hooks, [entry], event);
  } else {
    if (groups.kind !== 'array') throw wrongShape(path, `hooks.${event} is not a list`);
    if (hasHook(added.text, groups, hook.verb, commands)) return;
    edit = appendChild(added.text, groups, entry);
  }
  added.text = applyEdits(added.text, [edit]);
  added.events.push(event);
}

function entryOf({ verb, matcher, timeoutSec }: HookRegistration, commands: ShimCommands): unknown {
  const hook = { type: 'command', command: commands.commandFor(verb), timeout: timeoutSec };
  return { ...(matcher === undefined ? {} : { matcher }), hooks: [hook] };
}

/** Is there an entry of ours, or one built around it? A second one would record each event twice. */
function hasHook(source: string, groups: JsonNode, verb: string, commands: ShimCommands): boolean {
  return commandsIn(source, groups).some((command) => {
    const found = commands.verbOf(command);
    return found === verb || (found === undefined && commands.isMentionedIn(command));
  });
}

/** Returns the events that have our entry. */
export function eventsWithHooks(
  source: string,
  path: string,
  hooks: readonly HookRegistration[],
  commands: ShimCommands,
): string[] {
  const table = tableOf(source, path).hooks;
  return hooks
    .filter(({ event, verb }) => {
      const groups = table === undefined ? undefined : memberOf(table, event);
      return groups !== undefined && hasHook(source, groups, verb, commands);
    })
    .map(({ event }) => event);
}

/** Returns the commands that run another user area's hooks, which record each event too. */
export function strangersIn(source: string, path: string, commands: ShimCommands): string[] {
  const hooks = topNode(source, path, 'hooks');
  const all = hooks?.kind === 'object' ? hooks.members.flatMap(({ value }) => commandsIn(source, value)) : [];
  return all.filter(
    (command) => /steward-hook(?:\.cmd)?\b/.test(command) && !commands.isMentionedIn(command),
  );
}

/** Returns the parsed value of a top-level key; undefined if it is missing. */
export function topValue(source: string, path: string, key: string): unknown {
  const node = topNode(source, path, key);
  return node === undefined ? undefined : valueOf(source, node);
}

export interface Removed {
  text: string;
  /** Removed entries. */
  entries: number;
  /** Commands of the person's own that also run the shim; they stay. */
  left: string[];
  /** Nothing but `{}` remains. */
  isEmpty: boolean;
}

/**
 * Removes every entry of ours, even if moved, and the containers in `created` that are then empty (undefined: every
 * container that only held our entries). Every other byte stays. Invalid JSON is `config`.
 */
export function removeHooks(
  source: string,
  path: string,
  commands: ShimCommands,
  created: readonly string[] | undefined,
): Removed {
  const root = rootOf(source, path);
  const tables = root.kind === 'object' ? root.members.map(({ key, value }) => ({ key, value })) : [];
  const mayGo = (name: string, isEmptiedByUs: boolean): boolean =>
    created === undefined ? isEmptiedByUs : created.includes(name);
  const hookCut = (hook: JsonNode): Cut => {
    const isOurs = commands.verbOf(commandOf(source, hook) ?? '') !== undefined;
    return isOurs ? { edits: [], entries: 1, isGone: true } : NOTHING;
  };
  const groupCut = (group: JsonNode): Cut => {
    const list = group.kind === 'object' ? memberOf(group, 'hooks') : undefined;
    if (group.kind !== 'object' || list?.kind !== 'array') return NOTHING;
    const isBare = group.members.every(({ key }) => key === 'hooks' || key === 'matcher');
    return cutOf(list, list.items.map(hookCut), ({ entries }) => isBare && entries > 0);
  };
  const tableCut = (table: JsonNode): Cut => {
    if (table.kind !== 'object') return NOTHING;
    const cuts = table.members.map(({ key, value }) =>
      value.kind === 'array'
        ? cutOf(value, value.items.map(groupCut), ({ entries }) => mayGo(`hooks.${key}`, entries > 0))
        : NOTHING,
    );
    return cutOf(table, cuts, ({ gone }) => mayGo('hooks', gone > 0));
  };
  const isTable = ({ key, value }: { key: string; value: JsonNode }): boolean =>
    key === 'hooks' && value.kind === 'object';
  const { edits, entries } =
    root.kind === 'object'
      ? cutOf(
          root,
          tables.map((one) => (isTable(one) ? tableCut(one.value) : NOTHING)),
          () => false,
        )
      : NOTHING;
  const left = tables
    .filter(isTable)
    .flatMap(({ value }) => (value.kind === 'object' ? value.members : []))
    .flatMap(({ value }) => commandsIn(source, value))
    .filter((command) => commands.verbOf(command) === undefined && commands.isMentionedIn(command));
  const text = applyEdits(source, edits);
  return { text, entries, left, isEmpty: /^\ufeff?\s*\{\s*\}\s*$/.test(text) };
}

/** The parts of a value to remove, or the entire value. */
interface Cut {
  edits: readonly Edit[];
  entries: number;
  isGone: boolean;
}

const NOTHING: Cut = { edits: [], entries: 0, isGone: false };

/** Returns the cut of a container from those of its children; `mayGo` allows removing it if empty. */
function cutOf(
  container: JsonArray | JsonObject,
  cuts: readonly Cut[],
  mayGo: (emptied: { entries: number; gone: number }) => boolean,
): Cut {
  const gone = new Set(cuts.flatMap(({ isGone }, index) => (isGone ? [index] : [])));
  const entries = cuts.reduce((sum, cut) => sum + cut.entries, 0);
  if (gone.size === cuts.length && mayGo({ entries, gone: gone.size }))
    return { edits: [], entries, isGone: true };
  const own = gone.size === 0 ? [] : removeChildren(container, gone);
  const inside = cuts.filter(({ isGone }) => !isGone).flatMap(({ edits }) => edits);
  return { edits: [...inside, ...own], entries, isGone: false };
}

/** Returns the commands of one event's list, in order. */
function commandsIn(source: string, groups: JsonNode): string[] {
  if (groups.kind !== 'array') return [];
  return groups.items.flatMap((group) => {
    const list = group.kind === 'object' ? memberOf(group, 'hooks') : undefined;
    return list?.kind === 'array' ? list.items.flatMap((hook) => commandOf(source, hook) ?? []) : [];
  });
}

/** Returns the command that a hook runs, if it is a command hook. */
function commandOf(source: string, hook: JsonNode): string | undefined {
  const node = hook.kind === 'object' ? memberOf(hook, 'command') : undefined;
  const command = node === undefined ? undefined : valueOf(source, node);
  return typeof command === 'string' ? command : undefined;
}

/** Returns the table of hooks by event. Another shape is `config`. */
function tableOf(source: string, path: string): { root: JsonObject; hooks: JsonObject | undefined } {
  const root = rootOf(source, path);
  if (root.kind !== 'object') throw wrongShape(path, 'it is not an object');
  const hooks = memberOf(root, 'hooks');
  if (hooks !== undefined && hooks.kind !== 'object')
    throw wrongShape(path, 'hooks is not a mapping of events');
  return { root, hooks };
}

function topNode(source: string, path: string, key: string): JsonNode | undefined {
  const root = rootOf(source, path);
  return root.kind === 'object' ? memberOf(root, key) : undefined;
}

/** Returns the member that JSON.parse would return: the last with that key. */
export function memberOf(object: JsonObject, key: string): JsonNode | undefined {
  return object.members.findLast((member) => member.key === key)?.value;
}

export function valueOf(source: string, node: JsonNode): unknown {
  return JSON.parse(source.slice(node.start, node.end));
}

/** Is the file missing or empty? */
function isBlank(source: string | undefined): source is undefined {
  return source === undefined || /^\ufeff?\s*$/.test(source);
}

export function rootOf(source: string, path: string): JsonNode {
  const tree = parseJsonTree(isBlank(source) ? NEW_FILE : source);
  if (!('problem' in tree)) return tree.root;
  const { line, column, message } = tree.problem;
  throw new StewardError('config', `${path} is not JSON: line ${line}, column ${column}: ${message}.`, {
    hint: 'Fix it, then retry. steward did not change it.',
  });
}

export function wrongShape(path: string, what: string): StewardError {
  return new StewardError('config', `${path} is not a valid settings file: ${what}.`, {
    hint: 'Fix it, then retry. steward did not change it.',
  });
}
