import * as v from 'valibot';

import { StewardError } from '../errors';
import { readText, replaceFile } from '../platform/files/atomic-file';
import { isObject } from '../platform/files/json-object';
import { isOnlyComments } from '../platform/files/yaml';
import { asciiEntry } from '../platform/net/site';
import { plural } from '../platform/terminal/format';
import { clean } from '../platform/terminal/terminal';
import type { Day } from '../platform/time/time';
import {
  APP_KINDS,
  checkedApp,
  foldName,
  globMatcher,
  makeClassifier,
  RULE_KEYS,
  type AppKind,
  type Classifier,
  type ClassifyRule,
} from '../time/classify';
import { classifiedNames } from '../time/site';
import { futureDayError } from '../platform/time/day-words';
import { rollAgain, todayOf, type Rerolled, type RollDeps } from './roll';

/** Returns the rules in a classify.yaml, or an empty list if the file doesn't exist. */
export async function readClassifyRules(path: string): Promise<ClassifyRule[]> {
  const text = readText(path, { maxBytes: 1024 * 1024 });
  return text === undefined ? [] : parseClassifyRules(text, path);
}

/** Returns a classifier that uses the rules in your classify.yaml and the built-in rules. */
export async function readClassifier(templates: string, path: string): Promise<Classifier> {
  return makeClassifier(templates, await readClassifyRules(path));
}

/** The result of `sense classify set`. */
export interface Classified extends Rerolled {
  app: string;
  kind: AppKind;
  file: string;
}

/**
 * Writes the rule and rebuilds the records from `since` on (default: today). The caller must hold the sense
 * lock.
 */
export async function setAppKind(
  deps: RollDeps,
  { templates, path }: { templates: string; path: string },
  { app: shown, kind, since }: { app: string; kind: AppKind; since: Day | undefined },
): Promise<Classified> {
  const today = todayOf(deps);
  if (since !== undefined && since > today) throw futureDayError(since, today);
  const [app = shown] = classifiedNames(checkedApp(shown));
  deps.store.prepare();
  replaceFile(path, await withRule(readText(path) ?? '', path, { key: 'app', pattern: app }, kind));
  const classify = await readClassifier(templates, path);
  return { app, kind, file: path, ...rollAgain({ ...deps, classify }, since ?? today) };
}

const PATTERN = v.pipe(v.string(), v.trim(), v.nonEmpty());
const RULE = v.record(v.string(), PATTERN);

/** Parses a classify.yaml. Throws one `config` error that lists all problems. */
export async function parseClassifyRules(text: string, fileName: string): Promise<ClassifyRule[]> {
  // Loading the YAML library is slow, so don't load it for an empty file.
  if (isOnlyComments(text)) return [];
  const problems: string[] = [];
  const rules: ClassifyRule[] = [];
  for (const [index, item] of listOf(await parseYaml(text, fileName), problems).entries()) {
    const key = RULE_KEYS.find((name) => isObject(item) && Object.hasOwn(item, name));
    const kind = APP_KINDS.find((name) => isObject(item) && item['kind'] === name);
    if (v.is(RULE, item) && key !== undefined && kind !== undefined && Object.keys(item).length === 2) {
      rules.push({ key, pattern: asciiEntry(item[key] ?? ''), kind });
    } else {
      problems.push(
        `rule ${index + 1}: expected a string under one of ${RULE_KEYS.join(', ')}, and a kind that is one of ${APP_KINDS.join(', ')}; found ${inWords(item)}`,
      );
    }
  }
  if (problems.length > 0) {
    const count = problems.length === 1 ? 'a problem' : plural(problems.length, 'problem');
    throw new StewardError('config', `${fileName} has ${count}:\n  ${problems.join('\n  ')}`, {
      hint: 'Fix the file; no rules apply until then. Example: "- {app: Firefox, kind: consumption}".',
    });
  }
  for (const rule of rules) {
    if (rule.key === 'glob') rule.matches = await globMatcher(foldName(rule.pattern));
  }
  return rules;
}

async function parseYaml(text: string, fileName: string): Promise<unknown> {
  const parsed = await (await import('../platform/files/yaml-document')).parseYaml(text);
  if ('value' in parsed) return parsed.value;
  const { line, column, message } = parsed.problem;
  const where = `line ${line}, column ${column}`;
  throw new StewardError('config', `${fileName} is not valid YAML (${where}): ${message}.`, {
    hint: 'Fix the file; no rules apply until then.',
  });
}

function listOf(content: unknown, problems: string[]): unknown[] {
  const { rules, version = 1, ...unknown } = isObject(content) ? content : { rules: content };
  for (const key of Object.keys(unknown)) problems.push(`unknown key "${clean(key)}"; expected "rules"`);
  if (version !== 1)
    problems.push(
      `version: expected 1, found ${inWords(version)}; a newer steward may have written this file`,
    );
  if (Array.isArray(rules)) return rules;
  if (rules !== null && rules !== undefined)
    problems.push(`expected a list of rules, found ${inWords(rules)}`);
  return [];
}

function inWords(value: unknown): string {
  return clean(JSON.stringify(value) ?? 'nothing').slice(0, 80);
}

/**
 * Returns the file's text with a rule changed or added, or removed if its kind is null. Preserves comments, but not
 * all spacing.
 */
export async function withRule(
  text: string,
  fileName: string,
  { key, pattern }: Pick<ClassifyRule, 'key' | 'pattern'>,
  kind: string | null,
): Promise<string> {
  const before = await parseClassifyRules(text, fileName);
  const isSame = (rule: ClassifyRule | undefined): boolean =>
    rule?.key === key && foldName(rule.pattern) === foldName(pattern);
  const index = before.findIndex(isSame);
  const isFirst = index >= 0 && (key === 'glob' || before.slice(0, index).every((rule) => rule.key === key));
  if (before.length === 0 && isOnlyComments(text)) {
    const separator = text === '' || text.endsWith('\n') ? '' : '\n';
    return kind === null
      ? text
      : `${text}${separator}- {${key}: ${JSON.stringify(pattern)}, kind: ${kind}}\n`;
  }
  const { parseDocument, isMap, isSeq } = await import('yaml');
  const document = parseDocument(text);
  if (isMap(document.contents) && !isSeq(document.get('rules', true)))
    document.set('rules', document.createNode([]));
  const rules = isMap(document.contents) ? document.get('rules', true) : document.contents;
  if (!isSeq(rules)) throw new StewardError('internal', `${fileName} has no list of rules.`);
  const added = document.createNode({ [key]: pattern, kind }, { flow: true });
  if (kind === null) rules.items = rules.items.filter((_, at) => !isSame(before[at]));
  else if (isFirst) rules.setIn([index, 'kind'], kind);
  else if (key === 'glob') rules.items.push(added);
  else rules.items.unshift(added);
  const edited = document.toString({ flowCollectionPadding: false, lineWidth: 0 });
  return text.includes('\r\n') ? edited.replaceAll('\n', '\r\n') : edited;
}
