import { StewardError } from '../errors';
import { parseJsonTree, type JsonMember, type JsonNode, type JsonObject } from '../platform/files/json-tree';

/** Settings that hold nothing. */
export const NEW_FILE = '{}\n';

/** The commands of one event's list, in order. */
export function commandsIn(source: string, groups: JsonNode): string[] {
  if (groups.kind !== 'array') return [];
  return groups.items.flatMap((group) => {
    const list = group.kind === 'object' ? memberOf(group, 'hooks') : undefined;
    if (list?.kind !== 'array') return [];
    return list.items.flatMap((hook) => commandOf(source, hook) ?? []);
  });
}

/** The command that one hook runs, where it is of that kind. */
export function commandOf(source: string, hook: JsonNode): string | undefined {
  const node = hook.kind === 'object' ? memberOf(hook, 'command') : undefined;
  const command = node === undefined ? undefined : valueOf(source, node);
  return typeof command === 'string' ? command : undefined;
}

/** The table of hooks by event, for adding to it: another shape than the assistant's is `config`. */
export function hooksOf(source: string, path: string): { root: JsonObject; hooks: JsonObject | undefined } {
  const root = rootOf(source, path);
  if (root.kind !== 'object') throw wrongShape(path, 'it holds no settings by name');
  const hooks = memberOf(root, 'hooks');
  if (hooks !== undefined && hooks.kind !== 'object') throw wrongShape(path, 'hooks is no mapping of events');
  return { root, hooks };
}

/** The member that counts: the last of that name. */
export function memberOf(object: JsonObject, key: string): JsonNode | undefined {
  return object.members.findLast((member: JsonMember) => member.key === key)?.value;
}

/** A value as it reads, parsed. */
export function valueOf(source: string, node: JsonNode): unknown {
  return JSON.parse(source.slice(node.start, node.end));
}

/** No file, or one that `touch` made: no settings yet. */
export function isBlank(source: string | undefined): source is undefined {
  return source === undefined || /^\ufeff?\s*$/.test(source);
}

/** What the file holds; text that is no JSON is `config`. */
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
