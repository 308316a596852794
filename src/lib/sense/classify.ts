import { join } from 'node:path';

import { StewardError } from '../errors';
import { readText } from '../platform/files/atomic-file';
import { forShell } from '../platform/process/spawn';
import { clean } from '../platform/terminal/terminal';

/** What an application's time counts as. Unknown ones are neutral. */
export const APP_KINDS = ['creation', 'consumption', 'neutral'] as const;
export type AppKind = (typeof APP_KINDS)[number];

/** What a rule looks at: the name or the id as a whole, or either by a glob. */
export const RULE_KEYS = ['app', 'bundleId', 'glob'] as const;

/** A rule of the user's classify.yaml. */
export interface ClassifyRule {
  key: (typeof RULE_KEYS)[number];
  pattern: string;
  kind: AppKind;
  /** Of a glob: does it match this name, as `foldName` gives it? */
  matches?: (folded: string) => boolean;
}

/** The rule that decided. */
export interface DecidingRule {
  /** From 1, in its own list. */
  index: number;
  origin: 'user' | 'shipped';
  /** The rule as one would write it: `app: Firefox`. */
  text: string;
}

export interface Classification {
  kind: AppKind;
  /** Absent when no rule names the application. */
  rule?: DecidingRule;
}

export type Classifier = (app: string, bundleId?: string) => Classification;

/**
 * A classifier over the user's rules, then the shipped map: the first rule that matches wins, and names are compared whole.
 *
 * @param templates the folder of the templates, which has the shipped map
 */
export function makeClassifier(templates: string, rules: readonly ClassifyRule[] = []): Classifier {
  const known = new Map<string, Classification>();
  let shipped: Map<string, Classification> | undefined;
  const decide = (app: string, bundleId: string | undefined): Classification => {
    const index = rules.findIndex((rule) => isMatch(rule, app, bundleId));
    const rule = rules[index];
    if (rule !== undefined) {
      const text = `${rule.key}: ${rule.pattern}`;
      return { kind: rule.kind, rule: { index: index + 1, origin: 'user', text } };
    }
    shipped ??= readShipped(templates);
    // Systems differ on whether they give a display name or an id.
    const names = (bundleId === undefined ? [app] : [app, bundleId]).flatMap((name) => [
      foldName(name),
      foldId(name),
    ]);
    const name = names.find((folded) => shipped?.has(folded) === true);
    return shipped.get(name ?? '') ?? { kind: 'neutral' };
  };
  return (app, bundleId) => {
    const key = `${app}\n${bundleId ?? ''}`;
    const found = known.get(key) ?? decide(app, bundleId);
    known.set(key, found);
    return found;
  };
}

function isMatch(
  { key, pattern, matches }: ClassifyRule,
  app: string,
  bundleId: string | undefined,
): boolean {
  if (key === 'app') return foldName(pattern) === foldName(app);
  if (key === 'bundleId') return bundleId !== undefined && foldId(pattern) === foldId(bundleId);
  return (
    matches?.(foldName(app)) === true || (bundleId !== undefined && matches?.(foldId(bundleId)) === true)
  );
}

/**
 * The shipped map by folded name. A row is one application under the names that systems give it: display name, bundle
 * ids, desktop ids and window classes, executables without `.exe`.
 */
function readShipped(templates: string): Map<string, Classification> {
  const path = join(templates, 'data', 'applications.json');
  const text = readText(path);
  if (text === undefined) {
    throw new StewardError('not_found', `${path} is missing.`, { hint: 'Install steward again.' });
  }
  const rows = JSON.parse(text) as Partial<Record<AppKind, string[][]>>;
  const byName = new Map<string, Classification>();
  let index = 0;
  for (const kind of APP_KINDS) {
    for (const names of rows[kind] ?? []) {
      index += 1;
      const rule: DecidingRule = { index, origin: 'shipped', text: `app: ${names[0] ?? ''}` };
      for (const name of names) byName.set(foldName(name), { kind, rule });
    }
  }
  return byName;
}

/** `sense classify explain`: the kind of an application, the rule that decided, and both in a sentence. */
export function explainClassification(
  classify: Classifier,
  fileName: string,
  app: string,
  bundleId?: string,
): { app: string; kind: AppKind; rule: DecidingRule | null; explanation: string } {
  refuseEmptyApp(app);
  const { kind, rule } = classify(app, bundleId);
  const where = rule?.origin === 'user' ? `rule ${rule.index} of ${fileName}` : 'the shipped map';
  const explanation =
    rule === undefined
      ? `${clean(app)} is neutral: no rule names it. To change that: steward sense classify set ${forShell(clean(app))} creation`
      : `${clean(app)} is ${kind}: ${where} says so (${clean(rule.text)}).`;
  return { app, kind, rule: rule ?? null, explanation };
}

export function refuseEmptyApp(app: string): void {
  if (app.trim() !== '') return;
  throw new StewardError('usage', 'The name of the application is empty.', {
    hint: 'Write the name as "steward sense today" shows it.',
  });
}

/** A name for comparison: composed, trimmed, and without case in any script (a final sigma is a sigma). */
export function foldName(name: string): string {
  return name.normalize('NFC').trim().toUpperCase().toLowerCase().replaceAll('ς', 'σ').normalize('NFC');
}

/** An id for comparison: systems differ on whether the suffix of a program or a desktop file belongs to it. */
export function foldId(id: string): string {
  return foldName(id).replace(/\.(?:exe|desktop)$/, '');
}

export type AppMatcher = (app: { app: string; bundleId?: string }) => boolean;

/**
 * Does an application stand in the list? Entries are whole names or ids, without case; one with `*` or `?` is
 * a glob over the same. Never a part of a name: "x" is not Excel.
 */
export async function appMatcher(entries: readonly string[]): Promise<AppMatcher> {
  const isGlob = (entry: string): boolean => /[*?]/.test(entry);
  const whole = entries.filter((entry) => !isGlob(entry));
  const [names, ids] = [new Set(whole.map(foldName)), new Set(whole.map(foldId))];
  // Names have brackets, braces and bangs of their own: only `*` and `?` are wild here.
  const globs = entries
    .filter(isGlob)
    .map((entry) => foldName(entry).replace(/[\\[\](){}!+@|,^$.]/g, '\\$&'));
  const isLike = globs.length === 0 ? () => false : await globMatcher(globs);
  return ({ app, bundleId }) =>
    names.has(foldName(app)) ||
    isLike(foldName(app)) ||
    (bundleId !== undefined && (ids.has(foldId(bundleId)) || isLike(foldName(bundleId))));
}

/** Matches folded names; `*` takes every character, dots and slashes too. */
export async function globMatcher(globs: string | string[]): Promise<(folded: string) => boolean> {
  const { default: picomatch } = await import('picomatch');
  const matches = picomatch(globs, { nocase: true, dot: true, bash: true });
  return (folded) => matches(folded);
}
