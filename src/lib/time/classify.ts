import { join } from 'node:path';

import { StewardError } from '../errors';
import { readText } from '../platform/files/atomic-file';
import { asciiSite, checkedSite, isSite, OTHER_SITES } from '../platform/net/site';
import { forShell } from '../platform/process/spawn';
import { clean } from '../platform/terminal/terminal';
import { classifiedNames, siteKey } from './site';

/** The classifications of application time. Time in an unknown application is neutral. */
export const APP_KINDS = ['creation', 'consumption', 'neutral'] as const;
export type AppKind = (typeof APP_KINDS)[number];

/**
 * The allowed keys of a rule. `app` must match the complete name and `bundleId` the complete id; `glob` can
 * match either.
 */
export const RULE_KEYS = ['app', 'bundleId', 'glob'] as const;

/** A rule in your classify.yaml. */
export interface ClassifyRule {
  key: (typeof RULE_KEYS)[number];
  pattern: string;
  kind: AppKind;
  /** Returns true if a normalized name or id matches the glob. Set only for glob rules. */
  matches?: (folded: string) => boolean;
}

export interface DecidingRule {
  /** The rule's position among your rules or the built-in rules, starting at 1. */
  index: number;
  origin: 'user' | 'shipped';
  /** The rule as written, such as `app: Firefox`. */
  text: string;
}

export interface Classification {
  kind: AppKind;
  rule?: DecidingRule;
}

export type Classifier = (app: string, bundleId?: string) => Classification;

/** Returns a classifier that tries your rules, then the built-in rules. The first match wins. */
export function makeClassifier(templates: string, rules: readonly ClassifyRule[] = []): Classifier {
  const known = new Map<string, Classification>();
  let shipped: Map<string, Classification> | undefined;
  const decideName = (app: string, bundleId: string | undefined): Classification | undefined => {
    const index = rules.findIndex((rule) => isMatch(rule, app, bundleId));
    const rule = rules[index];
    if (rule !== undefined) {
      const text = `${rule.key}: ${rule.pattern}`;
      return { kind: rule.kind, rule: { index: index + 1, origin: 'user', text } };
    }
    shipped ??= readShipped(templates);
    // Look up each value both as a name and as an id, because some systems report one instead of the other.
    const names = (bundleId === undefined ? [app] : [app, bundleId]).flatMap((name) => [
      foldName(name),
      foldId(name),
    ]);
    const name = names.find((folded) => shipped?.has(folded) === true);
    return shipped.get(name ?? '');
  };
  const decide = (app: string, bundleId: string | undefined): Classification => {
    for (const name of classifiedNames(app)) {
      const found = decideName(name, name.startsWith(siteKey('')) ? undefined : bundleId);
      if (found !== undefined) return found;
    }
    return { kind: 'neutral' };
  };
  return (app, bundleId) => {
    const key = `${app}\n${bundleId ?? ''}`;
    const found = known.get(key) ?? decide(app, bundleId);
    known.set(key, found);
    return found;
  };
}

function isMatch({ key, pattern, matches }: ClassifyRule, app: string, bundleId: string | undefined) {
  if (key === 'app') return foldName(pattern) === foldName(app);
  if (key === 'bundleId') return bundleId !== undefined && foldId(pattern) === foldId(bundleId);
  return (
    matches?.(foldName(app)) === true || (bundleId !== undefined && matches?.(foldId(bundleId)) === true)
  );
}

/** Returns the built-in classifications, keyed by normalized name or id. */
function readShipped(templates: string): Map<string, Classification> {
  const path = join(templates, 'data', 'applications.json');
  const text = readText(path);
  if (text === undefined) {
    throw new StewardError('not_found', `${path} is missing.`, { hint: 'Reinstall steward.' });
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

/** Returns an application's kind, the matching rule, and a sentence that explains the kind. */
export function explainClassification(
  classify: Classifier,
  fileName: string,
  name: string,
  bundleId?: string,
): { app: string; kind: AppKind; rule: DecidingRule | null; explanation: string } {
  const app = checkedApp(name);
  const { kind, rule } = classify(app, bundleId);
  const where = rule?.origin === 'user' ? `rule ${rule.index} in ${fileName}` : 'a built-in rule';
  const explanation =
    rule === undefined
      ? `${clean(app)} ${app.startsWith(siteKey('')) ? 'counts as its browser does' : 'is neutral'} because no rule matches it${siteHint(app)}. To change this: steward sense classify set ${forShell(clean(app))} creation`
      : `${clean(app)} is ${kind} because of ${where} (${clean(rule.text)}).`;
  return { app, kind, rule: rule ?? null, explanation };
}

/** Returns a hint for a name that looks like the name of a site. */
export function siteHint(app: string): string {
  return isSite(app) ? ` (for the site, use ${siteKey(app)})` : '';
}

/** Returns a name, a site's in ASCII. Throws `usage` if it is empty, or "site:" without a site's name. */
export function checkedApp(app: string): string {
  const isNamed = app.startsWith(siteKey('')) && app !== siteKey(OTHER_SITES);
  if (isNamed) return siteKey(checkedSite(app.slice(siteKey('').length)));
  if (app.trim() !== '') return app;
  throw new StewardError('usage', 'The application name is empty.', {
    hint: 'Use a name from "steward sense today".',
  });
}

/** Normalizes a name, so that comparisons ignore case, surrounding whitespace and Unicode composition. */
export function foldName(name: string): string {
  // Convert to lowercase first, because converting to uppercase expands 'ß' to 'SS' but leaves 'ẞ' unchanged.
  const folded = name.normalize('NFC').trim().toLowerCase().toUpperCase().toLowerCase();
  return folded.replaceAll('ς', 'σ').normalize('NFC');
}

/**
 * Normalizes an id for comparison. Strips `.exe` and `.desktop`, because only some systems include these
 * suffixes.
 */
function foldId(id: string): string {
  return foldName(id).replace(/\.(?:exe|desktop)$/, '');
}

export type AppMatcher = (app: { app: string; bundleId?: string }) => boolean;

/**
 * Returns a function that tests whether an application matches an entry. Entries are names, ids, sites or
 * globs; case is ignored, and a site includes its subdomains.
 */
export async function appMatcher(entries: readonly string[]): Promise<AppMatcher> {
  const isGlob = (entry: string): boolean => /[*?]/.test(entry);
  const whole = entries.filter((entry) => !isGlob(entry));
  // A host name without "site:" counts as a site too, because an application rarely has such a name.
  const sites = whole.map(asciiSite).filter(isSite).map(siteKey);
  const [names, ids] = [new Set([...whole, ...sites].map(foldName)), new Set(whole.map(foldId))];
  // Treat brackets, braces and exclamation marks literally, because application names often contain them.
  const globs = entries
    .filter(isGlob)
    .map((entry) => foldName(entry).replace(/[\\[\](){}!+@|,^$.]/g, '\\$&'));
  const matchesGlob = globs.length === 0 ? () => false : await globMatcher(globs);
  return ({ app, bundleId }) =>
    classifiedNames(app).some((name) => names.has(foldName(name)) || matchesGlob(foldName(name))) ||
    (bundleId !== undefined && (ids.has(foldId(bundleId)) || matchesGlob(foldName(bundleId))));
}

/** Returns a function that tests whether a normalized name matches a glob. `*` also matches dots and slashes. */
export async function globMatcher(globs: string | string[]): Promise<(folded: string) => boolean> {
  const { default: picomatch } = await import('picomatch');
  const matches = picomatch(globs, { nocase: true, dot: true, bash: true });
  return (folded) => matches(folded);
}
