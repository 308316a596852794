import { applyEdits, removeChildren, type Edit } from '../platform/files/json-edit';
import type { JsonNode, JsonObject } from '../platform/files/json-tree';
import { commandOf, commandsIn, memberOf, rootOf } from './settings-tree';
import type { ShimCommands } from './shim-command';

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

function foreignCommands(source: string, table: JsonObject, commands: ShimCommands): string[] {
  return table.members
    .flatMap(({ value }) => commandsIn(source, value))
    .filter((command) => commands.verbOf(command) === undefined && commands.isMentionedIn(command));
}
