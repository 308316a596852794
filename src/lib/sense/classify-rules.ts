import { StewardError } from '../errors';
import { isObject } from '../platform/files/json-object';
import { clean } from '../platform/terminal/terminal';
import { isOnlyComments } from '../platform/files/yaml-comments';
import { foldName, RULE_KEYS, type ClassifyRule, type RuleKey } from './classify';
import { APP_KINDS } from './app-kind';

/**
 * The rules of a classify.yaml: a list, or a list under `rules`, of `{app | bundleId | glob, kind}`.
 * All that is wrong is told in one `config` error, by file, rule number and key. The YAML library is loaded
 * only for a file that holds more than comments, picomatch only for a rule with a glob.
 */
export async function parseClassifyRules(text: string, fileName: string): Promise<ClassifyRule[]> {
  if (isOnlyComments(text)) return [];
  const problems: string[] = [];
  const rules: ClassifyRule[] = [];
  const items = ruleItems(await parseYaml(text, fileName), problems);
  for (const [index, item] of items.entries()) {
    const rule = readRule(item, index + 1, problems);
    if (rule !== undefined) rules.push(rule.key === 'glob' ? await withMatcher(rule) : rule);
  }
  if (problems.length > 0) {
    throw new StewardError('config', `${fileName} has ${count(problems)}:\n  ${problems.join('\n  ')}`, {
      hint: 'A rule looks like "- {app: Firefox, kind: consumption}"; mend the file, nothing is classified by half of it.',
    });
  }
  return rules;
}

async function parseYaml(text: string, fileName: string): Promise<unknown> {
  const { parseDocument } = await import('yaml');
  const document = parseDocument(text, { schema: 'core', prettyErrors: true });
  const first = document.errors[0];
  if (first !== undefined) {
    const at = first.linePos?.[0];
    throw new StewardError(
      'config',
      `${fileName} is not valid YAML${at === undefined ? '' : ` (line ${at.line}, column ${at.col})`}.`,
      { hint: 'Look for a missing colon, quote or space there.', cause: first },
    );
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
  for (const key of Object.keys(content)) {
    if (key !== 'rules' && key !== 'version') problems.push(`unknown key "${clean(key)}"; expected rules`);
  }
  const { rules, version } = content;
  if (version !== undefined && version !== 1) {
    problems.push(`version: expected 1, found ${inWords(version)}; a newer steward may have written it`);
  }
  if (rules === null) return [];
  if (Array.isArray(rules)) return rules;
  problems.push(`rules: expected a list, found ${inWords(rules)}`);
  return [];
}

function readRule(item: unknown, number: number, problems: string[]): ClassifyRule | undefined {
  const before = problems.length;
  const say = (text: string): void => void problems.push(`rule ${number}: ${text}`);
  if (!isObject(item)) {
    say(`expected one of ${RULE_KEYS.join(', ')} and a kind, found ${inWords(item)}`);
    return undefined;
  }
  for (const key of Object.keys(item)) {
    if (key !== 'kind' && !isRuleKey(key)) {
      say(`unknown key "${clean(key)}"; expected ${RULE_KEYS.join(', ')} or kind`);
    }
  }
  const keys = RULE_KEYS.filter((key) => Object.hasOwn(item, key));
  if (keys.length !== 1) {
    say(`expected exactly one of ${RULE_KEYS.join(', ')}, found ${keys.join(' and ') || 'none'}`);
  }
  for (const key of keys) {
    const pattern = item[key];
    if (typeof pattern !== 'string' || pattern.trim() === '') {
      say(`${key}: expected a text, found ${inWords(pattern)}; put it in quotes if it is one`);
    }
  }
  const kind = APP_KINDS.find((known) => known === item['kind']);
  if (kind === undefined) say(`kind: expected ${APP_KINDS.join(', ')}, found ${inWords(item['kind'])}`);
  const [key] = keys;
  if (problems.length > before || kind === undefined || key === undefined) return undefined;
  return { key, pattern: item[key] as string, kind };
}

/** Both sides are folded, so a glob knows no case either; `*` takes every character, dots and slashes too. */
async function withMatcher(rule: ClassifyRule): Promise<ClassifyRule> {
  const { default: picomatch } = await import('picomatch');
  const matches = picomatch(foldName(rule.pattern), { nocase: true, dot: true, bash: true });
  return { ...rule, matches: (folded) => matches(folded) };
}

function isRuleKey(key: string): key is RuleKey {
  return (RULE_KEYS as readonly string[]).includes(key);
}

function inWords(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'keys with values';
  return clean(JSON.stringify(value)).slice(0, 60);
}

function count(problems: readonly string[]): string {
  return problems.length === 1 ? 'a problem' : `${problems.length} problems`;
}
