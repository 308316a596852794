import { StewardError } from '../errors';
import { appendChild, applyEdits, removeChildren, type Edit } from '../platform/files/json-edit';
import { parseJsonTree, type JsonArray, type JsonNode, type JsonObject } from '../platform/files/json-tree';
import type { HookRegistration } from './claude-code-settings';
import type { ShimCommands } from './shim';

/** Settings that hold nothing. */
const NEW_FILE = '{}\n';

/** The text of a settings file with our hooks, and what was done to it. */
export interface Added {
  text: string;
  /** Events that got an entry now. */
  events: string[];
  /** Containers that were not there: `hooks`, `hooks.Stop`. */
  created: string[];
}

/**
 * Adds an entry for each hook whose event has none of ours; every other byte stays. `undefined` stands for
 * no file. A text that is not JSON, or in which hooks have another shape, is `config`.
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

/** Ours, or one that a person built around it: with a second one each event would count twice. */
function hasHook(source: string, groups: JsonNode, verb: string, commands: ShimCommands): boolean {
  return commandsIn(source, groups).some((command) => {
    const found = commands.verbOf(command);
    return found === verb || (found === undefined && commands.isMentionedIn(command));
  });
}

/** Which of these events have our entry, in the list that the assistant reads. */
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

/** The commands in the settings that run another user area's hooks: each event of theirs counts there, too. */
export function strangersIn(source: string, path: string, commands: ShimCommands): string[] {
  const hooks = topNode(source, path, 'hooks');
  const all = hooks?.kind === 'object' ? hooks.members.flatMap(({ value }) => commandsIn(source, value)) : [];
  return all.filter(
    (command) => /steward-hook(?:\.cmd)?\b/.test(command) && !commands.isMentionedIn(command),
  );
}

/** What the assistant reads at a key of the settings' top, parsed; undefined when it is not there. */
export function topValue(source: string, path: string, key: string): unknown {
  const node = topNode(source, path, key);
  return node === undefined ? undefined : valueOf(source, node);
}

export interface Removed {
  text: string;
  /** Entries taken out. */
  entries: number;
  /** Commands that name the shim among other things: a person wrote them, and they are left. */
  left: string[];
  /** Nothing but `{}` remains. */
  isEmpty: boolean;
}

/**
 * Takes out every entry of ours, wherever it was moved to, and the containers in `created` that are empty then
 * (undefined: which we made is unknown; those that our entries leave empty go). The rest stays to the byte. A text that
 * is not JSON is `config`; another shape holds none of ours and stays.
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

/** What is to be taken out of a value, or the whole of it. */
interface Cut {
  edits: readonly Edit[];
  entries: number;
  isGone: boolean;
}

const NOTHING: Cut = { edits: [], entries: 0, isGone: false };

/** The cut of a container, given those of its children; may it go itself when nothing is left in it? */
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

/** The commands of one event's list, in order. */
function commandsIn(source: string, groups: JsonNode): string[] {
  if (groups.kind !== 'array') return [];
  return groups.items.flatMap((group) => {
    const list = group.kind === 'object' ? memberOf(group, 'hooks') : undefined;
    return list?.kind === 'array' ? list.items.flatMap((hook) => commandOf(source, hook) ?? []) : [];
  });
}

/** The command that one hook runs, where it is of that kind. */
function commandOf(source: string, hook: JsonNode): string | undefined {
  const node = hook.kind === 'object' ? memberOf(hook, 'command') : undefined;
  const command = node === undefined ? undefined : valueOf(source, node);
  return typeof command === 'string' ? command : undefined;
}

/** The table of hooks by event, for adding to it: another shape than the assistant's is `config`. */
function tableOf(source: string, path: string): { root: JsonObject; hooks: JsonObject | undefined } {
  const root = rootOf(source, path);
  if (root.kind !== 'object') throw wrongShape(path, 'it holds no settings by name');
  const hooks = memberOf(root, 'hooks');
  if (hooks !== undefined && hooks.kind !== 'object') throw wrongShape(path, 'hooks is no mapping of events');
  return { root, hooks };
}

function topNode(source: string, path: string, key: string): JsonNode | undefined {
  const root = rootOf(source, path);
  return root.kind === 'object' ? memberOf(root, key) : undefined;
}

/** The member that counts: the last of that name. */
export function memberOf(object: JsonObject, key: string): JsonNode | undefined {
  return object.members.findLast((member) => member.key === key)?.value;
}

export function valueOf(source: string, node: JsonNode): unknown {
  return JSON.parse(source.slice(node.start, node.end));
}

/** No file, or one that `touch` made: no settings yet. */
function isBlank(source: string | undefined): source is undefined {
  return source === undefined || /^\ufeff?\s*$/.test(source);
}

export function rootOf(source: string, path: string): JsonNode {
  const tree = parseJsonTree(isBlank(source) ? NEW_FILE : source);
  if (!('problem' in tree)) return tree.root;
  const { line, column, message } = tree.problem;
  throw new StewardError('config', `${path} is not JSON: line ${line}, column ${column}: ${message}.`, {
    hint: 'Correct it there, then run the command again; it is as it was.',
  });
}

export function wrongShape(path: string, what: string): StewardError {
  return new StewardError('config', `${path} has another shape than the assistant's settings: ${what}.`, {
    hint: 'Correct it there, then run the command again; it is as it was.',
  });
}
