import { StewardError } from '../errors';
import { appendChild, applyEdits, removeChildren, type Edit } from '../platform/json-edit';
import { parseJsonTree, type JsonMember, type JsonNode, type JsonObject } from '../platform/json-tree';
import type { HookRegistration } from './claude-code-settings';
import type { ShimCommands } from './shim-command';

/** The text of a settings file with our hooks, and what was done to it. */
export interface Added {
  text: string;
  /** Events that got an entry now. */
  events: string[];
  /** Containers that were not there: `hooks`, `hooks.Stop`. */
  created: string[];
}

const NEW_FILE = '{}\n';

/**
 * Adds an entry for each hook whose event has none of ours; every other byte stays. `undefined` stands for
 * no file. A text that is no JSON, or in which hooks stand in another shape, is `config`.
 */
export function addHooks(
  source: string | undefined,
  path: string,
  hooks: readonly HookRegistration[],
  commands: ShimCommands,
): Added {
  const events: string[] = [];
  const created: string[] = [];
  let text = isBlank(source) ? NEW_FILE : source;
  for (const hook of hooks) {
    const entry = entryOf(hook, commands);
    const table = hooksOf(text, path);
    if (table.hooks === undefined) {
      created.push('hooks', `hooks.${hook.event}`);
      text = applyEdits(text, [appendChild(text, table.root, { [hook.event]: [entry] }, 'hooks')]);
    } else {
      const groups = memberOf(table.hooks, hook.event);
      if (groups === undefined) {
        created.push(`hooks.${hook.event}`);
        text = applyEdits(text, [appendChild(text, table.hooks, [entry], hook.event)]);
      } else {
        if (groups.kind !== 'array') throw wrongShape(path, `hooks.${hook.event} is not a list`);
        if (hasHook(text, groups, hook, commands)) continue;
        text = applyEdits(text, [appendChild(text, groups, entry)]);
      }
    }
    events.push(hook.event);
  }
  return { text, events, created };
}

/** Which of these events have our entry, in the list that the assistant reads. */
export function eventsWithHooks(
  source: string,
  path: string,
  hooks: readonly HookRegistration[],
  commands: ShimCommands,
): string[] {
  const table = hooksOf(source, path);
  return hooks
    .filter(({ event, verb }) => {
      const groups = table.hooks === undefined ? undefined : memberOf(table.hooks, event);
      return groups !== undefined && hasHook(source, groups, { verb }, commands);
    })
    .map(({ event }) => event);
}

/** The commands in the settings that run another user area's hooks: each event of theirs counts there, too. */
export function strangersIn(source: string, path: string, commands: ShimCommands): string[] {
  const root = rootOf(source, path);
  const hooks = root.kind === 'object' ? memberOf(root, 'hooks') : undefined;
  const all = hooks?.kind === 'object' ? hooks.members.flatMap(({ value }) => commandsIn(source, value)) : [];
  return all.filter(
    (command) => /steward-hook(?:\.cmd)?\b/.test(command) && !commands.isMentionedIn(command),
  );
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
 * Takes out every entry of ours, wherever it was moved to, and the containers in `created` that are empty
 * then (undefined: it is not known which we made; those that our entries leave empty go). What stands beside
 * our entries stays to the byte. A text that is no JSON is `config`; an odd shape holds none of ours and stays.
 */
export function removeHooks(
  source: string,
  path: string,
  commands: ShimCommands,
  created: readonly string[] | undefined,
): Removed {
  const root = rootOf(source, path);
  const plan: Plan = { source, commands, created, entries: 0, edits: [] };
  const left: string[] = [];
  if (root.kind === 'object') {
    const emptied = new Set<number>();
    root.members.forEach((member, index) => {
      if (member.key !== 'hooks' || member.value.kind !== 'object') return;
      left.push(...foreignCommands(source, member.value, commands));
      if (planTable(plan, member.value)) emptied.add(index);
    });
    prune(plan, root, emptied);
  }
  const text = applyEdits(source, plan.edits);
  return { text, entries: plan.entries, left, isEmpty: /^\ufeff?\s*\{\s*\}\s*$/.test(text) };
}

/** What the assistant reads at a key of the settings' top, parsed; undefined when it is not there. */
export function topValue(source: string, path: string, key: string): unknown {
  const root = rootOf(source, path);
  const node = root.kind === 'object' ? memberOf(root, key) : undefined;
  return node === undefined ? undefined : valueOf(source, node);
}

interface Plan {
  source: string;
  commands: ShimCommands;
  created: readonly string[] | undefined;
  entries: number;
  edits: Edit[];
}

/** Plans the removals inside of one `hooks`; true when all of it is to go. */
function planTable(plan: Plan, table: JsonObject): boolean {
  const gone = new Set<number>();
  const inside: Edit[][] = table.members.map(({ key, value }, index) => {
    const own = { ...plan, edits: [] as Edit[], entries: 0 };
    if (value.kind === 'array' && planEvent(own, key, value)) gone.add(index);
    plan.entries += own.entries;
    return own.edits;
  });
  const all = gone.size === table.members.length && mayGo(plan, 'hooks', gone.size > 0);
  if (all) return true;
  inside.forEach((edits, index) => {
    if (!gone.has(index)) plan.edits.push(...edits);
  });
  prune(plan, table, gone);
  return false;
}

/** The same for the list of one event. */
function planEvent(plan: Plan, event: string, groups: JsonNode & { kind: 'array' }): boolean {
  const gone = new Set<number>();
  const before = plan.entries;
  groups.items.forEach((group, index) => {
    if (group.kind === 'object' && planGroup(plan, group)) gone.add(index);
  });
  const all = gone.size === groups.items.length && mayGo(plan, `hooks.${event}`, plan.entries > before);
  if (!all) prune(plan, groups, gone);
  return all;
}

/** The same for one group: a matcher and its hooks. */
function planGroup(plan: Plan, group: JsonObject): boolean {
  const list = memberOf(group, 'hooks');
  if (list?.kind !== 'array') return false;
  const gone = new Set<number>();
  list.items.forEach((hook, index) => {
    const command = commandOf(plan.source, hook);
    if (command !== undefined && plan.commands.verbOf(command) !== undefined) gone.add(index);
  });
  plan.entries += gone.size;
  const isBare = group.members.every(({ key }) => key === 'hooks' || key === 'matcher');
  if (isBare && gone.size > 0 && gone.size === list.items.length) return true;
  prune(plan, list, gone);
  return false;
}

/** A container that is empty, or will be: may it go? */
function mayGo(plan: Plan, name: string, emptiedByUs: boolean): boolean {
  return plan.created === undefined ? emptiedByUs : plan.created.includes(name);
}

function prune(plan: Plan, container: JsonNode, gone: ReadonlySet<number>): void {
  if (gone.size > 0 && container.kind !== 'scalar') plan.edits.push(...removeChildren(container, gone));
}

/** Ours, or one that a person built around it: with a second one each event would count twice. */
function hasHook(
  source: string,
  groups: JsonNode,
  { verb }: Pick<HookRegistration, 'verb'>,
  commands: ShimCommands,
): boolean {
  return commandsIn(source, groups).some(
    (command) =>
      commands.verbOf(command) === verb ||
      (commands.verbOf(command) === undefined && commands.isMentionedIn(command)),
  );
}

function foreignCommands(source: string, table: JsonObject, commands: ShimCommands): string[] {
  return table.members
    .flatMap(({ value }) => commandsIn(source, value))
    .filter((command) => commands.verbOf(command) === undefined && commands.isMentionedIn(command));
}

/** The commands of one event's list, in order. */
function commandsIn(source: string, groups: JsonNode): string[] {
  if (groups.kind !== 'array') return [];
  return groups.items.flatMap((group) => {
    const list = group.kind === 'object' ? memberOf(group, 'hooks') : undefined;
    if (list?.kind !== 'array') return [];
    return list.items.flatMap((hook) => commandOf(source, hook) ?? []);
  });
}

function commandOf(source: string, hook: JsonNode): string | undefined {
  const node = hook.kind === 'object' ? memberOf(hook, 'command') : undefined;
  const command = node === undefined ? undefined : valueOf(source, node);
  return typeof command === 'string' ? command : undefined;
}

function entryOf({ verb, matcher, timeoutSec }: HookRegistration, commands: ShimCommands): unknown {
  const hook = { type: 'command', command: commands.commandFor(verb), timeout: timeoutSec };
  return { ...(matcher === undefined ? {} : { matcher }), hooks: [hook] };
}

function hooksOf(source: string, path: string): { root: JsonObject; hooks: JsonObject | undefined } {
  const root = rootOf(source, path);
  if (root.kind !== 'object') throw wrongShape(path, 'it holds no settings by name');
  const hooks = memberOf(root, 'hooks');
  if (hooks !== undefined && hooks.kind !== 'object') throw wrongShape(path, 'hooks is no mapping of events');
  return { root, hooks };
}

/** The member that counts: the last of that name. */
function memberOf(object: JsonObject, key: string): JsonNode | undefined {
  return object.members.findLast((member: JsonMember) => member.key === key)?.value;
}

function valueOf(source: string, node: JsonNode): unknown {
  return JSON.parse(source.slice(node.start, node.end));
}

/** No file, or one that `touch` made: no settings yet. */
function isBlank(source: string | undefined): source is undefined {
  return source === undefined || /^\ufeff?\s*$/.test(source);
}

function rootOf(source: string, path: string): JsonNode {
  const tree = parseJsonTree(isBlank(source) ? NEW_FILE : source);
  if (!('problem' in tree)) return tree.root;
  const { line, column, message } = tree.problem;
  throw new StewardError('config', `${path} is not JSON: line ${line}, column ${column}: ${message}.`, {
    hint: 'Correct it there, then run the command again; it is as it was.',
  });
}

function wrongShape(path: string, what: string): StewardError {
  return new StewardError('config', `${path} has another shape than the assistant's settings: ${what}.`, {
    hint: 'Correct it there, then run the command again; it is as it was.',
  });
}
