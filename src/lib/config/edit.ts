import { isDeepStrictEqual } from 'node:util';
import type { Document, Node, Pair, ParsedNode, YAMLMap } from 'yaml';

import { StewardError } from '../errors';
import { isObject } from '../platform/files/json-object';
import { isOnlyComments } from '../platform/files/yaml';
import { parseDocumentOf, parseYaml } from '../platform/files/yaml-document';

/**
 * Returns a copy of `content` with one value set. An undefined value removes the key and any section that
 * becomes empty. Returns undefined if nothing is left.
 */
export function withValue(content: unknown, path: readonly string[], value: unknown): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return value;
  const { [name]: old, ...others } = isObject(content) ? content : {};
  const next = withValue(old, rest, value);
  if (next !== undefined) return isObject(content) ? { ...content, [name]: next } : { [name]: next };
  return Object.keys(others).length === 0 ? undefined : others;
}

export function valueAt(content: unknown, path: readonly string[]): unknown {
  let at = content;
  for (const name of path) {
    if (!isObject(at) || !Object.hasOwn(at, name)) return undefined;
    at = at[name];
  }
  return at;
}

type Yaml = typeof import('yaml');

/**
 * Returns the YAML text with one value set, or with the key removed if `value` is undefined. Preserves every
 * comment. Throws `config` if the new text doesn't parse to the expected values.
 */
export async function setInYaml(source: string, path: readonly string[], value: unknown): Promise<string> {
  const yaml = await import('yaml');
  const parsed = await parseDocumentOf(source);
  const before = await parseYaml(source);
  if ('problem' in parsed || 'problem' in before) throw unchangeable(path);
  const wanted = withValue(before.value ?? {}, path, value);
  const edit: YamlEdit = { source, document: parsed.document, path, value, yaml };
  for (const apply of [inPlace, rewritten]) {
    const text = apply(edit);
    const after = text === undefined ? undefined : await parseYaml(text);
    if (text === undefined || after === undefined || 'problem' in after) continue;
    if (isDeepStrictEqual(withoutEmpty(after.value), withoutEmpty(wanted))) return text;
  }
  throw unchangeable(path);
}

function withoutEmpty(value: unknown): unknown {
  if (!isObject(value)) return value ?? undefined;
  const entries = Object.entries(value).flatMap(([name, inner]) => {
    const rest = withoutEmpty(inner);
    return rest === undefined ? [] : [[name, rest] as const];
  });
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

function unchangeable(path: readonly string[]): StewardError {
  return new StewardError('config', `${path.join('.')} cannot be changed in this file automatically.`, {
    hint: 'The file uses anchors or aliases, or has a value where a section should be. Edit it by hand.',
  });
}

interface YamlEdit {
  source: string;
  document: Document.Parsed;
  path: readonly string[];
  value: unknown;
  yaml: Yaml;
}

function inPlace({ source, document, path, value, yaml }: YamlEdit): string | undefined {
  const eol = eolOf(source);
  if (value !== undefined && isOnlyComments(source)) {
    const block = yaml.stringify(withValue({}, path, value), { lineWidth: 0 }).replaceAll('\n', eol);
    return source + (source === '' || source.endsWith('\n') ? '' : eol) + block;
  }
  const old = document.getIn(path, true);
  if (!yaml.isScalar(old) || old.value === null || typeof value === 'object' || value === undefined)
    return undefined;
  const [start, end] = (old as ParsedNode).range;
  if (source.slice(start, end).includes('\n')) return undefined;
  const node = new yaml.Scalar(value);
  if (old.type === 'QUOTE_DOUBLE' || old.type === 'QUOTE_SINGLE') node.type = old.type;
  // Remove only the line break; trimEnd would also remove a non-ASCII space at the end of the value.
  const written = yaml.stringify(node, { lineWidth: 0 }).replace(/\n$/, '');
  return source.slice(0, start) + (source[start - 1] === ':' ? ' ' : '') + written + source.slice(end);
}

function rewritten({ source, document, path, value, yaml }: YamlEdit): string | undefined {
  const copy = document.clone() as Document<ParsedNode>;
  if (value === undefined) remove(copy, path, yaml);
  else if (!set(copy, path, value, yaml)) return undefined;
  const indent = /\n( +)[^\s#-]/.exec(source)?.[1]?.length ?? 2;
  if (copy.contents === null && copy.commentBefore === null && copy.comment === null) return '';
  const text = copy.toString({
    lineWidth: 0,
    indent: Math.min(indent, 8),
    flowCollectionPadding: /\{ /.test(source),
  });
  return text.replaceAll('\n', eolOf(source));
}

function eolOf(source: string): string {
  return source.includes('\r\n') ? '\r\n' : '\n';
}

/** Sets a value. Returns false if a parent key isn't a section. Unchanged list items keep their comments. */
function set(copy: Document<ParsedNode>, path: readonly string[], value: unknown, yaml: Yaml): boolean {
  for (let depth = 0; depth < path.length; depth += 1) {
    const at = path.slice(0, depth);
    const section = copy.getIn(at, true);
    if (section === undefined) break;
    if (section === null || (yaml.isScalar(section) && section.value === null)) {
      const map = copy.createNode({}) as Node;
      if (section !== null) map.commentBefore = joined(commentsIn(section as Node, yaml));
      copy.setIn(at, map);
    } else if (!yaml.isMap(section)) return false;
  }
  const old = copy.getIn(path, true);
  const node = copy.createNode(value);
  if (yaml.isSeq(old) && yaml.isSeq(node)) {
    const oldItem = (item: unknown): unknown =>
      old.items.find((was) => yaml.isScalar(was) && yaml.isScalar(item) && was.value === item.value) ?? item;
    old.items = node.items.map(oldItem);
  } else if (yaml.isScalar(old) && yaml.isScalar(node)) {
    old.value = node.value;
    delete old.type;
  } else copy.setIn(path, node);
  return true;
}

/** Removes a key and any sections that become empty. Moves the comments of removed keys to the next key. */
function remove(copy: Document<ParsedNode>, path: readonly string[], yaml: Yaml): void {
  const parent = copy.getIn(path.slice(0, -1), true);
  if (!yaml.isMap(parent)) return;
  const { items } = parent as YAMLMap<Node, Node | null>;
  const at = items.findIndex(({ key }) => yaml.isScalar(key) && key.value === path[path.length - 1]);
  const pair = items[at];
  if (pair === undefined) return;
  if (items.length === 1 && path.length > 1) return remove(copy, path.slice(0, -1), yaml);
  items.splice(at, 1);
  const comments = commentsIn(pair, yaml);
  const next = items[at]?.key;
  if (next !== undefined) next.commentBefore = joined([...comments, next.commentBefore]);
  else if (items.length > 0) parent.comment = joined([...comments, parent.comment]);
  else {
    copy.comment = joined([parent.commentBefore, ...comments, parent.comment, copy.comment]);
    copy.contents = null as unknown as ParsedNode;
  }
}

function commentsIn(node: Node | Pair<Node, Node | null>, yaml: Yaml): string[] {
  const comments: string[] = [];
  const root = yaml.isPair(node) ? Object.assign(new yaml.YAMLMap(), { items: [node] }) : node;
  yaml.visit(root, {
    Node(_, { commentBefore, comment }) {
      for (const text of [commentBefore, comment]) if (typeof text === 'string') comments.push(text);
    },
  });
  return comments;
}

function joined(comments: readonly (string | null | undefined)[]): string | null {
  const found = comments.filter((text) => typeof text === 'string' && text !== '');
  return found.length === 0 ? null : found.join('\n');
}
