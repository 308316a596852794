import { StewardError } from '../errors';
import { readText, replaceFile } from '../platform/files/atomic-file';
import { isObject } from '../platform/files/json-object';
import { isOnlyComments } from '../platform/files/yaml';
import { clean } from '../platform/terminal/terminal';
import { plural } from '../platform/terminal/format';
import { futureDayError } from '../platform/time/day-words';
import type { Day } from '../platform/time/time';
import {
  APP_KINDS,
  foldName,
  globMatcher,
  makeClassifier,
  refuseEmptyApp,
  RULE_KEYS,
  type AppKind,
  type Classifier,
  type ClassifyRule,
} from './classify';
import { rollAgain, todayOf, type Rerolled, type RollDeps } from './roll';

/** The rules of a classify.yaml; none without the file. */
export async function readClassifyRules(path: string): Promise<ClassifyRule[]> {
  const text = readText(path, { maxBytes: 1024 * 1024 });
  return text === undefined ? [] : parseClassifyRules(text, path);
}

/** The classifier of the person's classify.yaml and the shipped map. */
export async function readClassifier(templates: string, path: string): Promise<Classifier> {
  return makeClassifier(templates, await readClassifyRules(path));
}

/** What `sense classify set` did. */
export interface Classified extends Rerolled {
  app: string;
  kind: AppKind;
  /** The classify.yaml that holds the rule. */
  file: string;
}

/**
 * Writes the rule, then rolls the records from `since` on again; without it only today's, where one is stored. A day to
 * come is `usage`. Call it under the lock of sense.
 */
export async function setAppKind(
  deps: RollDeps,
  { templates, path }: { templates: string; path: string },
  { app, kind, since }: { app: string; kind: AppKind; since: Day | undefined },
): Promise<Classified> {
  const today = todayOf(deps);
  if (since !== undefined && since > today) throw futureDayError(since, 'today', today);
  deps.store.prepare();
  replaceFile(path, await withAppRule(readText(path) ?? '', path, app, kind));
  const classify = await readClassifier(templates, path);
  return { app, kind, file: path, ...rollAgain({ ...deps, classify }, since ?? today) };
}

/**
 * The rules of a classify.yaml: a list, or a list under `rules`, of `{app | bundleId | glob, kind}`.
 * All problems come in one `config` error, by file, rule number and key.
 */
export async function parseClassifyRules(text: string, fileName: string): Promise<ClassifyRule[]> {
  // The YAML library is loaded only for a file with rules.
  if (isOnlyComments(text)) return [];
  const problems: string[] = [];
  const items = ruleItems(await parseYaml(text, fileName), problems);
  const rules = items.flatMap((item, index) => readRule(item, index + 1, problems));
  if (problems.length > 0) {
    const count = problems.length === 1 ? 'a problem' : plural(problems.length, 'problem');
    throw new StewardError('config', `${fileName} has ${count}:\n  ${problems.join('\n  ')}`, {
      hint: 'Fix the file; no rules apply until then. A rule looks like "- {app: Firefox, kind: consumption}".',
    });
  }
  for (const rule of rules) {
    if (rule.key === 'glob') rule.matches = await globMatcher(foldName(rule.pattern));
  }
  return rules;
}

async function parseYaml(text: string, fileName: string): Promise<unknown> {
  const { parseDocument } = await import('yaml');
  const document = parseDocument(text, { schema: 'core', prettyErrors: true });
  const cause = document.errors[0];
  if (cause !== undefined) {
    const at = cause.linePos?.[0];
    const where = at === undefined ? '' : ` (line ${at.line}, column ${at.col})`;
    throw new StewardError('config', `${fileName} is not valid YAML${where}.`, {
      hint: 'Look for a missing colon, quote or space there.',
      cause,
    });
  }
  try {
    return document.toJS({ maxAliasCount: 50 }) as unknown;
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error;
    throw new StewardError('config', `${fileName} has aliases (*name) that unfold to too much.`, {
      hint: 'Write the rules out.',
      cause: error,
    });
  }
}

function ruleItems(content: unknown, problems: string[]): unknown[] {
  if (content === null || content === undefined) return [];
  if (Array.isArray(content)) return content;
  if (!isObject(content) || !('rules' in content)) {
    problems.push(`expected a list of rules, or a list under "rules"; found ${inWords(content)}`);
    return [];
  }
  const { rules, version, ...more } = content;
  for (const key of Object.keys(more)) problems.push(`unknown key "${clean(key)}"; expected rules`);
  if (version !== undefined && version !== 1) {
    problems.push(`version: expected 1, found ${inWords(version)}; a newer steward may have written it`);
  }
  if (rules === null) return [];
  if (Array.isArray(rules)) return rules;
  problems.push(`rules: expected a list, found ${inWords(rules)}`);
  return [];
}

function readRule(item: unknown, number: number, problems: string[]): ClassifyRule[] {
  const before = problems.length;
  const say = (text: string): void => void problems.push(`rule ${number}: ${text}`);
  const known = RULE_KEYS.join(', ');
  if (!isObject(item)) {
    say(`expected one of ${known} and a kind, found ${inWords(item)}`);
    return [];
  }
  for (const name of Object.keys(item)) {
    const isKnown = name === 'kind' || RULE_KEYS.some((key) => key === name);
    if (!isKnown) say(`unknown key "${clean(name)}"; expected ${known} or kind`);
  }
  const keys = RULE_KEYS.filter((key) => Object.hasOwn(item, key));
  const [key] = keys;
  if (keys.length !== 1) say(`expected exactly one of ${known}, found ${keys.join(' and ') || 'none'}`);
  for (const name of keys) {
    const value = item[name];
    if (typeof value !== 'string' || value.trim() === '')
      say(`${name}: expected a text, found ${inWords(value)}; put it in quotes if it is one`);
  }
  const kind = APP_KINDS.find((name) => name === item['kind']);
  if (kind === undefined) say(`kind: expected ${APP_KINDS.join(', ')}, found ${inWords(item['kind'])}`);
  if (problems.length > before || kind === undefined || key === undefined) return [];
  return [{ key, pattern: item[key] as string, kind }];
}

function inWords(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'keys with values';
  return clean(JSON.stringify(value)).slice(0, 60);
}

/**
 * The text of a classify.yaml in which an application is of this kind: its own rule says so, or a new first one. Only
 * that rule's bytes change; a file that is built so that this cannot be done is `config`.
 */
export async function withAppRule(
  text: string,
  fileName: string,
  app: string,
  kind: AppKind,
): Promise<string> {
  refuseEmptyApp(app);
  const before = await parseClassifyRules(text, fileName);
  const isAppRule = ({ key, pattern }: ClassifyRule): boolean =>
    key === 'app' && foldName(pattern) === foldName(app);
  const index = before.findIndex(isAppRule);
  // A glob or an id further up may match the same application.
  const isFirst = index >= 0 && before.slice(0, index).every(({ key }) => key === 'app');
  const edited = isFirst
    ? await withKind(text, index, kind)
    : await withFirstRule(text, `- {app: ${JSON.stringify(app)}, kind: ${kind}}`);
  const after = edited === undefined ? [] : await parseClassifyRules(edited, fileName);
  const isMeant = after.length === before.length + (isFirst ? 0 : 1) && after.find(isAppRule)?.kind === kind;
  if (edited !== undefined && isMeant) return edited;
  throw new StewardError('config', `${fileName} is written so that no rule can be set in it.`, {
    hint: 'Write the rules as a list, one a line, such as "- {app: Firefox, kind: creation}".',
  });
}

async function withKind(text: string, index: number, kind: AppKind): Promise<string | undefined> {
  const { isMap, isScalar } = await import('yaml');
  const item = (await rulesOf(text))?.items[index];
  const node = isMap(item) ? item.get('kind', true) : undefined;
  const range = isScalar(node) ? node.range : undefined;
  return range ? text.slice(0, range[0]) + kind + text.slice(range[1]) : undefined;
}

async function withFirstRule(text: string, rule: string): Promise<string | undefined> {
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const rules = await rulesOf(text);
  if (rules === undefined) return `${text}${text === '' || text.endsWith('\n') ? '' : eol}${rule}${eol}`;
  const [first] = rules.items as { range?: [number, number, number] }[];
  if (first?.range === undefined || rules.flow === true) return undefined;
  const start = text.lastIndexOf('\n', first.range[0] - 1) + 1;
  const found = /^(\ufeff?)( *)- +$/.exec(text.slice(start, first.range[0]));
  if (found === null) return undefined;
  const [, mark = '', indent = ''] = found;
  const at = start + mark.length;
  return `${text.slice(0, at)}${indent}${rule}${eol}${text.slice(at)}`;
}

/** The list of the rules; undefined for a file that holds none yet. */
async function rulesOf(text: string) {
  const { parseDocument, isMap, isSeq } = await import('yaml');
  const { contents } = parseDocument(text);
  const list: unknown = isMap(contents) ? contents.get('rules', true) : contents;
  return isSeq(list) ? list : undefined;
}
