import { StewardError } from '../errors';
import { appendChild, applyEdits, removeChildren, type Edit } from '../platform/files/json-edit';
import { parseJsonTree, type JsonNode } from '../platform/files/json-tree';
import type { PathHost } from '../platform/files/paths';
import { wordsOf, type Assistant, type HookRegistration } from './assistant';
import type { ShimCommands } from './shim';

const NEW_FILE = '{}\n';

/** The text of a settings file after adding steward's hooks, and what changed. */
export interface HooksText {
  text: string;
  /** Events whose hooks were added. */
  events: string[];
  /** Paths of JSON objects and arrays that were created, such as `hooks` or `hooks.Stop`. */
  created: string[];
}

/**
 * Adds the missing hook entries, leaving every other byte unchanged. Throws `config` for invalid JSON or an
 * unknown hook format.
 */
export function addHooks(
  source: string | undefined,
  path: string,
  assistant: Assistant,
  commands: ShimCommands,
): HooksText {
  const { hooks, newFile = NEW_FILE } = assistant;
  const added: HooksText = { text: isBlank(source) ? newFile : source, events: [], created: [] };
  for (const hook of hooks) addHook(added, path, { assistant, hook, commands });
  return added;
}

function addHook(
  added: HooksText,
  path: string,
  { assistant, hook, commands }: { assistant: Assistant; hook: HookRegistration; commands: ShimCommands },
): void {
  const { event } = hook;
  const entry = assistant.entry?.(hook, commands.commandFor(wordsOf(assistant, hook.verb)));
  const { root, hooks } = tableOf(added.text, path, assistant);
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

/**
 * Returns whether a registered command runs the shim with this verb, directly or as part of a longer command.
 */
function hasHook(source: string, groups: JsonNode, verb: string, commands: ShimCommands): boolean {
  return commandsIn(source, groups).some((command) => {
    const found = commands.verbOf(command);
    return found === verb || (found === undefined && commands.isMentionedIn(command));
  });
}

/** Returns the events that have a steward entry. */
export function eventsWithHooks(source: string, path: string, assistant: Assistant, commands: ShimCommands) {
  const table = tableOf(source, path, assistant).hooks;
  return assistant.hooks
    .filter(({ event, verb }) => {
      const groups = table === undefined ? undefined : memberOf(table, event);
      return groups !== undefined && hasHook(source, groups, verb, commands);
    })
    .map(({ event }) => event);
}

/** Returns the commands that run another user area's hooks. Such hooks record every event a second time. */
export function strangersIn(source: string, path: string, assistant: Assistant, commands: ShimCommands) {
  const hooks = memberOf(rootOf(source, path, assistant), 'hooks');
  const all = hooks?.members.flatMap(({ value }) => commandsIn(source, value)) ?? [];
  return all.filter(
    (command) => /steward-hook(?:\.cmd)?\b/.test(command) && !commands.isMentionedIn(command),
  );
}

/** Returns where all hooks are disabled, as `KEY in PATH`; null if they aren't disabled. */
export function switchedOffBy(
  source: string | undefined,
  path: string,
  assistant: Assistant,
  host: PathHost,
): string | null {
  const { switchedOffBy: key } = assistant;
  const node = source && key && memberOf(rootOf(source, path, assistant), key);
  const isOff = node && source?.slice(node.start, node.end) === 'true';
  return (isOff ? `${key} in ${path}` : assistant.disabledBy?.(host)) ?? null;
}

/**
 * Removes steward's entries and the containers in `created` that are now empty. Leaves every other byte
 * unchanged. Throws `config` for invalid JSON.
 */
export function removeHooks(
  source: string,
  path: string,
  input: { assistant: Assistant; commands: ShimCommands; created: readonly string[] | undefined },
) {
  const { assistant, commands, created } = input;
  const root = rootOf(source, path, assistant);
  const isTable = ({ key, value }: { key: string; value: JsonNode }): boolean =>
    key === 'hooks' && value.kind === 'object';
  const mayRemove = (name: string, isEmptiedByUs: boolean): boolean =>
    created === undefined ? isEmptiedByUs : created.includes(name);
  const hookCut = (hook: JsonNode): Cut => {
    const isOurs = commands.verbOf(commandIn(source, hook)?.command ?? '') !== undefined;
    return isOurs ? { edits: [], entries: 1, isRemoved: true } : NOTHING;
  };
  const groupCut = (group: JsonNode): Cut => {
    const list = memberOf(group, 'hooks');
    // Cursor lists its hooks directly, without groups.
    if (list === undefined) return hookCut(group);
    if (list.kind !== 'array') return NOTHING;
    const isBare = group.members.every(({ key }) => key === 'hooks' || key === 'matcher');
    return cutOf(source, list, list.items.map(hookCut), ({ entries }) => isBare && entries > 0);
  };
  const tableCut = (table: JsonNode): Cut => {
    const cuts = table.members.map(({ key, value }) =>
      value.kind === 'array'
        ? cutOf(source, value, value.items.map(groupCut), ({ entries }) =>
            mayRemove(`hooks.${key}`, entries > 0),
          )
        : NOTHING,
    );
    return cutOf(source, table, cuts, ({ removed }) => mayRemove('hooks', removed > 0));
  };
  const cuts = root.members.map((one) => (isTable(one) ? tableCut(one.value) : NOTHING));
  const { edits, entries } = cutOf(source, root, cuts, () => false);
  const left = root.members
    .filter(({ key }) => key === 'hooks')
    .flatMap(({ value }) => value.members)
    .flatMap(({ value }) => commandsIn(source, value))
    .filter((command) => commands.verbOf(command) === undefined && commands.isMentionedIn(command));
  const text = applyEdits(source, edits);
  return { text, entries, left, isEmpty: isBare(text) };
}

function isBare(text: string): boolean {
  return /^\ufeff?\s*\{\s*(?:"version"\s*:\s*1\s*)?\}\s*$/.test(text);
}

/** `edits` remove parts of a JSON value; `isRemoved` means that the whole value must be removed. */
interface Cut {
  edits: readonly Edit[];
  entries: number;
  isRemoved: boolean;
}

const NOTHING: Cut = { edits: [], entries: 0, isRemoved: false };

function cutOf(
  source: string,
  container: JsonNode,
  cuts: readonly Cut[],
  mayRemove: (emptied: { entries: number; removed: number }) => boolean,
): Cut {
  const removed = new Set(cuts.flatMap(({ isRemoved }, index) => (isRemoved ? [index] : [])));
  const entries = cuts.reduce((sum, cut) => sum + cut.entries, 0);
  if (removed.size === cuts.length && mayRemove({ entries, removed: removed.size }))
    return { edits: [], entries, isRemoved: true };
  const own = removed.size === 0 ? [] : removeChildren(source, container, removed);
  const inside = cuts.filter(({ isRemoved }) => !isRemoved).flatMap(({ edits }) => edits);
  return { edits: [...inside, ...own], entries, isRemoved: false };
}

function commandsIn(source: string, groups: JsonNode): string[] {
  return groups.items
    .flatMap((group) => memberOf(group, 'hooks')?.items ?? group)
    .flatMap((hook) => commandIn(source, hook)?.command ?? []);
}

/** Returns the command of a hook or status line, with its position. */
export function commandIn(source: string, node: JsonNode) {
  const member = memberOf(node, 'command');
  if (member === undefined) return undefined;
  const { start, end } = member;
  const command: unknown = JSON.parse(source.slice(start, end));
  return typeof command === 'string' ? { command, start, end } : undefined;
}

/** Returns the `hooks` object. Throws `config` for an unknown format. */
function tableOf(source: string, path: string, assistant: Assistant) {
  const root = rootOf(source, path, assistant);
  if (root.kind !== 'object') throw wrongShape(path, 'the top level is not an object');
  const hooks = memberOf(root, 'hooks');
  if (hooks !== undefined && hooks.kind !== 'object')
    throw wrongShape(path, 'hooks is not an object keyed by event');
  return { root, hooks };
}

/** Returns a member's value. For duplicate keys, returns the last value, as JSON.parse does. */
export function memberOf(object: JsonNode, key: string): JsonNode | undefined {
  return object.members.findLast((member) => member.key === key)?.value;
}

function isBlank(source: string | undefined): source is undefined {
  return source === undefined || /^\ufeff?\s*$/.test(source);
}

export function rootOf(source: string, path: string, { hasComments }: Pick<Assistant, 'hasComments'> = {}) {
  const tree = parseJsonTree(isBlank(source) ? NEW_FILE : source, { comments: hasComments === true });
  if (!('problem' in tree)) return tree.root;
  const { line, column, message } = tree.problem;
  throw new StewardError('config', `${path} is not JSON: line ${line}, column ${column}: ${message}.`, {
    hint: 'Fix the file, then retry.',
  });
}

export function wrongShape(path: string, what: string): StewardError {
  return new StewardError('config', `${path} is not a valid settings file: ${what}.`, {
    hint: 'Fix the file, then retry.',
  });
}
