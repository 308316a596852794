import { StewardError } from '../errors';
import { forShell } from '../platform/process/shell-word';
import { clean } from '../platform/terminal/terminal';
import type { AppKind } from './app-kind';
import { APP_KINDS } from './app-kind';
import { SHIPPED_APPS } from './shipped-apps';

/** What a rule looks at: the name or the id as a whole, or either by a glob. */
export const RULE_KEYS = ['app', 'bundleId', 'glob'] as const;
export type RuleKey = (typeof RULE_KEYS)[number];

/** A rule of the user's classify.yaml. */
export interface ClassifyRule {
  key: RuleKey;
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
 * A classifier over the user's rules, then the shipped map: the first rule that matches wins. Names are
 * compared whole and without case; answers are remembered, so 10,000 events cost as many map look-ups.
 */
export function makeClassifier(userRules: readonly ClassifyRule[] = []): Classifier {
  const exact = { app: new Map<string, number>(), bundleId: new Map<string, number>() };
  const globs: { position: number; matches: (folded: string) => boolean }[] = [];
  userRules.forEach((rule, position) => {
    if (rule.key === 'glob') {
      if (rule.matches === undefined)
        throw new StewardError('internal', 'A glob rule came without its matcher.');
      globs.push({ position, matches: rule.matches });
      return;
    }
    const folded = rule.key === 'app' ? foldName(rule.pattern) : foldId(rule.pattern);
    if (!exact[rule.key].has(folded)) exact[rule.key].set(folded, position);
  });
  const known = new Map<string, Map<string | undefined, Classification>>();

  const decide = (app: string, bundleId: string | undefined): Classification => {
    const name = foldName(app);
    const id = bundleId === undefined ? undefined : foldId(bundleId);
    let position = Math.min(exact.app.get(name) ?? Infinity, exact.bundleId.get(id ?? '') ?? Infinity);
    for (const glob of globs) {
      if (glob.position >= position) break;
      if (glob.matches(name) || (id !== undefined && glob.matches(id))) position = glob.position;
    }
    const rule = userRules[position];
    if (rule === undefined) return shippedKind(app, bundleId);
    const deciding: DecidingRule = {
      index: position + 1,
      origin: 'user',
      text: `${rule.key}: ${rule.pattern}`,
    };
    return { kind: rule.kind, rule: deciding };
  };

  return (app, bundleId) => {
    let byId = known.get(app);
    if (byId === undefined) known.set(app, (byId = new Map()));
    let found = byId.get(bundleId);
    if (found === undefined) byId.set(bundleId, (found = decide(app, bundleId)));
    return found;
  };
}

/** `sense classify explain`: the kind of an application, the rule that decided, and both in a sentence. */
export function explainClassification(
  userRules: readonly ClassifyRule[],
  fileName: string,
  app: string,
  bundleId?: string,
): { app: string; kind: AppKind; rule: DecidingRule | null; explanation: string } {
  refuseEmptyApp(app);
  const { kind, rule } = makeClassifier(userRules)(app, bundleId);
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

/**
 * A name as it is compared: composed, without case in any script ("STRASSE" is "straße", a final sigma is
 * a sigma), without space around it.
 */
export function foldName(name: string): string {
  return ASCII.test(name)
    ? name.trim().toLowerCase()
    : name.normalize('NFC').trim().toUpperCase().toLowerCase().replaceAll('ς', 'σ').normalize('NFC');
}

/** An id as it is compared: systems differ on whether the suffix of a program or a desktop file belongs to it. */
export function foldId(id: string): string {
  return foldName(id).replace(/\.(?:exe|desktop)$/, '');
}

const ASCII = /^[\x00-\x7f]*$/;

let shipped: Map<string, Classification> | undefined;

/** A shipped row lists display names and ids alike: either may be what a system gives as the name. */
function shippedKind(app: string, bundleId: string | undefined): Classification {
  shipped ??= shippedByName();
  for (const text of bundleId === undefined ? [app] : [app, bundleId]) {
    const found = shipped.get(foldName(text)) ?? shipped.get(foldId(text));
    if (found !== undefined) return found;
  }
  return UNKNOWN;
}

const UNKNOWN: Classification = { kind: 'neutral' };

function shippedByName(): Map<string, Classification> {
  const byName = new Map<string, Classification>();
  let index = 0;
  for (const kind of APP_KINDS) {
    for (const names of SHIPPED_APPS[kind]) {
      index += 1;
      const rule: DecidingRule = { index, origin: 'shipped', text: `app: ${names[0] ?? ''}` };
      for (const name of names) {
        const folded = foldName(name);
        if (!byName.has(folded)) byName.set(folded, { kind, rule });
      }
    }
  }
  return byName;
}
