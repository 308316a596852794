import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Document, Pair, ParsedNode, Scalar, YAMLMap } from 'yaml';

import { StewardError } from '../errors';
import { replaceFile } from '../platform/files/atomic-file';
import { ensureFolder } from '../platform/files/folder';
import { isObject } from '../platform/files/json-object';
import { withLock } from '../platform/files/lock';
import { isOnlyComments } from '../platform/files/yaml-comments';
import type { Clock } from '../platform/time/clock';
import { CONFIG_FILES, type ConfigFile, fileOfKey, whatIsWrong } from './files';
import { isLeaf, nodeAt } from './leaf';
import { parseDocumentOf, parseYaml, readConfigFile, setInJson } from './text';
import { type UserArea, ensureUserArea } from './user-area';

const LOCK_WAIT_MS = 5_000;
const VOICE = 'da.voices.main.voiceId';
const VOICE_MIRROR = 'daidentity.voices.main.voiceId';

export interface WriteDeps {
  area: UserArea;
  clock: Clock;
  machineId: string;
}

/** One change: the key, and its new stored value given the one in the file; undefined means not in the file. */
export interface Change {
  key: string;
  to: (stored: unknown) => unknown;
}

export interface Changed {
  key: string;
  path: string;
  before: unknown;
  after: unknown;
}

/**
 * Changes keys in the files that own them: read, checked, changed and replaced as whole files under one lock,
 * so that two programs that set two keys lose neither. The DA's voice is written to its mirror in
 * settings.json too. A value that does not fit is `usage`; a file that cannot be read, or is
 * of a newer version, is `config`, and then nothing is written.
 */
export async function changeConfig(
  deps: WriteDeps,
  changes: readonly Change[],
  options: { dryRun?: boolean } = {},
): Promise<Changed[]> {
  // A dry run writes nothing at all, so not a lock either.
  if (options.dryRun === true) return (await plan(deps.area, changes)).changed;
  ensureUserArea(deps.area);
  return locked(deps, async () => {
    const { changed, texts } = await plan(deps.area, changes);
    for (const [file, text] of texts) {
      const path = file.path(deps.area);
      if (dirname(path) !== deps.area.root) ensureFolder(dirname(path));
      replaceFile(path, text, { followLink: file.followLink });
    }
    return changed;
  });
}

/** Brings the voice's mirror in settings.json in line with config.yaml. True when it was not. */
export async function mirrorVoice(deps: WriteDeps): Promise<boolean> {
  const { file, path } = fileOfKey(VOICE);
  const voice = valueAt(await contentOf(deps.area, file), path);
  if (typeof voice !== 'string') return false;
  const mirror = fileOfKey(VOICE_MIRROR);
  if (valueAt(await contentOf(deps.area, mirror.file), mirror.path) === voice) return false;
  await changeConfig(deps, [{ key: VOICE, to: (stored) => stored }]);
  return true;
}

function locked<T>(deps: WriteDeps, work: () => Promise<T>): Promise<T> {
  const { clock, machineId } = deps;
  return withLock(join(deps.area.machine, 'config.lock'), { clock, machineId, waitMs: LOCK_WAIT_MS }, work);
}

interface Plan {
  changed: Changed[];
  /** New texts, config.yaml (the canonical one of what is mirrored) first. */
  texts: Map<ConfigFile, string>;
}

async function plan(area: UserArea, changes: readonly Change[]): Promise<Plan> {
  const changed: Changed[] = [];
  const texts = new Map<ConfigFile, string>();
  const open = new Map<ConfigFile, Open>();
  for (const change of withMirrors(changes)) {
    const { file, path } = fileOfKey(change.key);
    const at = open.get(file) ?? (await openFile(area, file));
    const before = valueAt(at.content, path);
    const after = change.to(before);
    const wrong = after === undefined ? undefined : fit(file, path, after);
    if (wrong !== undefined) throw new StewardError('usage', `${change.key}${wrong}.`);
    changed.push({ key: change.key, path: file.path(area), before, after });
    if (isDeepStrictEqual(before, after)) continue;
    const text = await textWith(file, at, path, after);
    open.set(file, { text, content: withValue(at.content, path, after) ?? {} });
    texts.set(file, text);
  }
  return { changed, texts: new Map(CONFIG_FILES.flatMap((file) => pairOf(file, texts.get(file)))) };
}

function pairOf(file: ConfigFile, text: string | undefined): [ConfigFile, string][] {
  return text === undefined ? [] : [[file, text]];
}

/** Whichever of the voice's two places is set, both are. */
function withMirrors(changes: readonly Change[]): Change[] {
  return changes.flatMap((change) => {
    if (change.key !== VOICE && change.key !== VOICE_MIRROR) return [change];
    let voice: unknown;
    const first = { key: change.key, to: (stored: unknown) => (voice = change.to(stored)) };
    return [first, { key: change.key === VOICE ? VOICE_MIRROR : VOICE, to: () => voice }];
  });
}

interface Open {
  text: string | undefined;
  content: unknown;
}

async function openFile(area: UserArea, file: ConfigFile): Promise<Open> {
  const path = file.path(area);
  const read = await readConfigFile(file, path);
  if ('problem' in read) {
    throw new StewardError('config', `${path}: ${read.problem}`, {
      hint: 'Correct the file in an editor first; nothing was written.',
    });
  }
  const content = read.content ?? {};
  if (!isObject(content)) {
    throw new StewardError('config', `${path}: there are no keys at its top.`, {
      hint: 'Correct the file in an editor first; nothing was written.',
    });
  }
  const version = content['version'];
  if (version !== undefined && !(typeof version === 'number' && version <= file.version)) {
    throw new StewardError('config', `${path} is of a format that this steward does not write.`, {
      hint: 'Update steward: the file comes from a newer one, and is left as it is.',
    });
  }
  return read.text === undefined
    ? { text: undefined, content: { version: file.version } }
    : { text: read.text, content };
}

async function contentOf(area: UserArea, file: ConfigFile): Promise<unknown> {
  return (await openFile(area, file)).content;
}

async function textWith(
  file: ConfigFile,
  at: Open,
  path: readonly string[],
  value: unknown,
): Promise<string> {
  if (file.format === 'json') return setInJson(at.text, withValue(at.content, path, value) ?? {});
  return setInYaml(at.text ?? `version: ${file.version}\n`, path, value);
}

function fit(file: ConfigFile, path: readonly string[], value: unknown): string | undefined {
  const node = nodeAt(file.keys, path);
  return isLeaf(node) ? whatIsWrong(node, value) : ' is not a key of the configuration';
}

/**
 * A copy of nested keys and values with one value set; what stands in the place of a section is replaced. Setting
 * `undefined` removes the key, and the sections that it leaves empty; undefined when nothing is left.
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

/**
 * The YAML text with one value set, or removed where the value is undefined. Only the value's own bytes change, or
 * one block of lines is added; where the text is built so that this cannot be done, the document is written anew with
 * its comments. Either way the result is parsed again and has to say exactly what was meant, else it is a `config` error.
 */
export async function setInYaml(source: string, path: readonly string[], value: unknown): Promise<string> {
  const parsed = await parseDocumentOf(source);
  if ('problem' in parsed) throw unchangeable(path);
  const yaml = await import('yaml');
  const before = (await valueOf(source)) ?? {};
  const meant =
    value === undefined ? withoutEmpty(withValue(before, path, value)) : withValue(before, path, value);
  const edits = [
    () => spliced(source, parsed.document, path, value, yaml),
    () => rewritten(source, parsed.document, path, value, yaml),
  ];
  for (const edit of edits) {
    const text = edit();
    if (text === undefined) continue;
    const said = await valueOf(text);
    if (isDeepStrictEqual(value === undefined ? withoutEmpty(said) : said, meant)) return text;
  }
  throw unchangeable(path);
}

async function valueOf(source: string): Promise<unknown> {
  const parsed = await parseYaml(source);
  return 'value' in parsed ? parsed.value : undefined;
}

/** Sections that hold nothing are as good as absent: a removed key leaves its section's line and comments behind. */
function withoutEmpty(value: unknown): unknown {
  if (!isObject(value)) return value ?? undefined;
  const kept = Object.entries(value).flatMap(([name, inner]) => {
    const rest = withoutEmpty(inner);
    return rest === undefined ? [] : [[name, rest] as const];
  });
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

function unchangeable(path: readonly string[]): StewardError {
  return new StewardError('config', `The file is written so that ${path.join('.')} cannot be set in it.`, {
    hint: 'Change it in an editor: anchors, aliases and values in the place of sections are left alone.',
  });
}

type Yaml = typeof import('yaml');

/** Where on the path the document stops having keys: the last map, and what of the path it lacks. */
interface Reach {
  map: YAMLMap<ParsedNode, ParsedNode | null> | undefined;
  /** The pair of the last key that was found. */
  pair: Pair<ParsedNode, ParsedNode | null> | undefined;
  rest: readonly string[];
}

function spliced(
  source: string,
  document: Document.Parsed,
  path: readonly string[],
  value: unknown,
  yaml: Yaml,
): string | undefined {
  const eol = source.includes('\r\n') ? '\r\n' : '\n';
  if (isOnlyComments(source)) return withBlock(source, source.length, '', path, value, eol, yaml);
  const { map, pair, rest } = reach(document, path, yaml);
  if (map === undefined) return undefined;
  if (value === undefined) return map.flow === true ? undefined : removed(source, pair, eol, yaml);
  const end = endOf(pair ?? map.items[map.items.length - 1]);
  if (end === undefined) return undefined;
  if (rest.length === 0) return replaced(source, pair?.value, end, value, yaml);
  if (map.flow === true) return undefined;
  const indent = indentOf(source, (pair ?? map.items[0])?.key);
  if (indent === undefined) return undefined;
  // A key without a value: its section begins on the next line.
  const inner = pair === undefined ? indent : `${indent}  `;
  return withBlock(source, lineEnd(source, end), inner, rest, value, eol, yaml);
}

function reach(document: Document.Parsed, path: readonly string[], yaml: Yaml): Reach {
  let node: unknown = document.contents;
  let map: Reach['map'];
  for (const [index, name] of path.entries()) {
    if (!yaml.isMap<ParsedNode, ParsedNode | null>(node)) break;
    map = node;
    const pair = map.items.find(({ key }) => yaml.isScalar(key) && key.value === name);
    const rest = path.slice(index + 1);
    if (pair === undefined) return { map, pair: undefined, rest: path.slice(index) };
    if (rest.length === 0) return { map, pair, rest };
    if (isNothing(pair.value, yaml)) return { map, pair, rest };
    node = pair.value;
  }
  return { map: undefined, pair: undefined, rest: path };
}

function isNothing(node: ParsedNode | null | undefined, yaml: Yaml): boolean {
  return node === null || node === undefined || (yaml.isScalar(node) && node.value === null);
}

function endOf(pair: Reach['pair']): number | undefined {
  return pair?.value?.range[1] ?? pair?.key.range[1];
}

/** The spaces before a key; undefined when something else stands before it on its line. */
function indentOf(source: string, key: ParsedNode | undefined): string | undefined {
  if (key === undefined) return undefined;
  const start = source.lastIndexOf('\n', key.range[0] - 1) + 1;
  const before = source.slice(start, key.range[0]).replace('\ufeff', '');
  return /^ *$/.test(before) ? before : undefined;
}

function lineEnd(source: string, from: number): number {
  const at = source.indexOf('\n', from);
  return at === -1 ? source.length : at + 1;
}

function withBlock(
  source: string,
  at: number,
  indent: string,
  path: readonly string[],
  value: unknown,
  eol: string,
  yaml: Yaml,
): string {
  const lines = path.map((name, depth) => {
    const last = depth === path.length - 1;
    return `${indent}${'  '.repeat(depth)}${name}:${last ? ` ${written(value, undefined, yaml)}` : ''}`;
  });
  const before = source.slice(0, at);
  const gap = before === '' || before.endsWith('\n') ? '' : eol;
  return before + gap + lines.join(eol) + eol + source.slice(at);
}

/** Without the lines of a pair; its comments stay. */
function removed(source: string, pair: Reach['pair'], eol: string, yaml: Yaml): string | undefined {
  const indent = indentOf(source, pair?.key);
  if (indent === undefined || pair === undefined || pair.value === null) return undefined;
  const start = pair.key.range[0];
  const text = source.slice(start, pair.value.range[1]);
  const end = text.endsWith('\n') ? start + text.length : lineEnd(source, start + text.length);
  const inside = [...new yaml.Lexer().lex(text)].filter((token) => token.startsWith('#'));
  const comments = [...inside, source.slice(start + text.length, end).trim()].filter((line) => line !== '');
  return (
    source.slice(0, start - indent.length) +
    comments.map((line) => indent + line + eol).join('') +
    source.slice(end)
  );
}

function replaced(
  source: string,
  old: ParsedNode | null | undefined,
  keyEnd: number,
  value: unknown,
  yaml: Yaml,
): string | undefined {
  if (old === null || old === undefined) return undefined;
  const [start, end] = old.range;
  const oneLine = !source.slice(start, end).includes('\n');
  if (!oneLine || (yaml.isCollection(old) && old.flow !== true)) return undefined;
  const gap = start > 0 && source[start - 1] === ':' ? ' ' : '';
  const style = yaml.isScalar(old) ? old.type : undefined;
  return source.slice(0, Math.min(start, keyEnd)) + gap + written(value, style, yaml) + source.slice(end);
}

/** A value on one line, quoted as the old one was. JSON's lists are YAML's. */
function written(value: unknown, style: Scalar.Type | null | undefined, yaml: Yaml): string {
  if (Array.isArray(value)) return `[${value.map((item) => JSON.stringify(item)).join(', ')}]`;
  if (typeof value !== 'string') return JSON.stringify(value);
  if (style === 'QUOTE_DOUBLE') return JSON.stringify(value);
  if (style === 'QUOTE_SINGLE') return `'${value.replaceAll("'", "''")}'`;
  // Not trimEnd: a plain value may end in a space that is not ASCII.
  return yaml.stringify(value, { lineWidth: 0 }).replace(/\n$/, '');
}

function rewritten(
  source: string,
  document: Document.Parsed,
  path: readonly string[],
  value: unknown,
  yaml: Yaml,
): string | undefined {
  const copy = document.clone();
  if (value === undefined) copy.deleteIn(path);
  else if (!setInDocument(copy, path, value, yaml)) return undefined;
  const indent = /\n( +)[^\s#-]/.exec(source)?.[1]?.length ?? 2;
  const text = copy.toString({
    lineWidth: 0,
    indent: Math.min(indent, 8),
    flowCollectionPadding: /\{ /.test(source),
  });
  return source.includes('\r\n') ? text.replaceAll('\n', '\r\n') : text;
}

/** False where something else stands in the place of a section. A list keeps the items, with comments, that stay. */
function setInDocument(
  copy: Document<ParsedNode>,
  path: readonly string[],
  value: unknown,
  yaml: Yaml,
): boolean {
  for (let depth = 1; depth < path.length; depth += 1) {
    const section = copy.getIn(path.slice(0, depth), true) ?? null;
    if (section === null || (yaml.isScalar(section) && section.value === null)) {
      copy.setIn(path.slice(0, depth), copy.createNode({}));
    } else if (!yaml.isMap(section)) return false;
  }
  const old = copy.getIn(path, true);
  const node = copy.createNode(value);
  if (yaml.isSeq(old) && yaml.isSeq(node)) {
    const stays = (item: unknown): unknown =>
      old.items.find((was) => yaml.isScalar(was) && yaml.isScalar(item) && was.value === item.value) ?? item;
    old.items = node.items.map(stays);
  } else copy.setIn(path, node);
  return true;
}
