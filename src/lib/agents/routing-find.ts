import data from '../../../templates/data/routing.json';
import { MAX_BRIEFS, traitsIn, type BriefOptions, type BuilderMode, type ModelTier } from './brief';
import { findBuilder, plainAudit, readOnlyAudit } from './audit';
import { asksPerson, needsLocal, type AgentTypes } from './check';
import { objectIn } from './code-object';
import { definedOnly } from '../platform/files/json-object';
import type { RosterEntry } from './roster';
import { escaped, firstMeant, has, findPattern, PATTERNS_BY_RULE, placesOf, rx, type RuleMatch, type Hit, type TextRange } from './routing-match'; // prettier-ignore
import { clauseBefore, type RequestText } from './text';

/** The properties of a roster agent that routing needs. */
export type NamedAgent = Omit<RosterEntry, 'description' | 'path'>;

export interface AgentSettings {
  types: AgentTypes;
  named: readonly NamedAgent[];
  /** Number of invalid files in the roster. */
  broken?: number;
}

export interface RoutingInput extends AgentSettings {
  request: RequestText;
  /** The unmodified request, for use in briefs. */
  whole: string;
  /** Effort level, 1 to 5; null if not specified. */
  effort: number | null;
  /** Number of agents from `--count`; null if not specified. */
  count: number | null;
}

export type Worker = 'team' | 'custom' | 'managed' | 'builtin' | 'named' | 'research' | 'native';

export interface RuleOutcome {
  worker: Worker;
  /** The agent type to launch; null if no agent is launched. */
  type: keyof AgentTypes | null;
  model: ModelTier;
  /** Whether `model` applies regardless of the request's effort and wording. */
  fixedModel?: true;
  mode?: BuilderMode;
  /**
   * Options for the briefs. If omitted, briefs are created only if the request specifies a number of agents.
   */
  brief?: Pick<BriefOptions, 'role' | 'method' | 'prefer'>;
  /** Whether several agents work in parallel. If so, another agent checks their combined output. */
  parallel?: true;
}

/** A routing rule. The first applicable rule determines the routing. */
export interface Rule {
  id: string;
  from: string;
  /** The rule's description in the output of `--explain`. */
  says: string;
  gives: RuleOutcome;
  find: (input: RoutingInput) => RuleMatch;
  /** Returns why the rule doesn't apply although it matches the request; undefined if it applies. */
  unsuitable?: (input: RoutingInput) => string | undefined;
}

/** Matching functions for rules that a pattern alone can't express, keyed by rule id. */
export const FINDERS: Readonly<Record<string, (input: RoutingInput) => RuleMatch>> = {
  named: findNamed,
  'built-in': findType,
  declined: findDeclined,
  audit: findAudit,
  production: findProduction,
  code: findCode,
  parallel: findParallel,
  native: () => ({ hit: { words: '', at: 0, length: 0 } }),
};

export function unsuitableForManaged({ request: { text }, whole }: RoutingInput): string | undefined {
  const short = /\b(\d{1,3}|a few|a couple of|several|five|ten|fifteen|twenty) ?-?min(?:ute)?s?\b/.exec(text);
  if (short !== null && !(Number(short[1]) >= 30))
    return 'Hosted agents are for work that takes 30 minutes or more.';
  if (has(text, 'interactive') || asksPerson(whole)) return 'Hosted agents cannot do interactive work.';
  return has(text, 'localContext') || needsLocal(whole)
    ? 'Hosted agents cannot read your own files, context or skills.'
    : undefined;
}

/** Finds the words in a request that ask to work without agents. */
function findDeclined({ request }: RoutingInput): RuleMatch {
  const hit =
    findPattern(request, PATTERNS_BY_RULE.refusedAgents).refused ??
    findPattern(request, PATTERNS_BY_RULE.yourself).hit;
  return hit === undefined ? {} : { hit };
}

function findProduction(input: RoutingInput): RuleMatch {
  const { request, effort, types } = input;
  const byName = findBuilder(request, types.builder);
  if (byName.hit !== undefined) return byName;
  const code = findCode(input);
  if (code.hit === undefined) return byName;
  const byWords = findPattern(request, PATTERNS_BY_RULE.production);
  if (byWords.hit !== undefined || effort === null || effort < 3) return byWords;
  return { hit: { ...code.hit, words: `effort E${effort}, ${code.hit.words}` } };
}

/** Finds an audit. Other workers that the request names take it unless nothing may be changed. */
function findAudit(input: RoutingInput): RuleMatch {
  const { request, effort, types } = input;
  const strict = readOnlyAudit(request, types.builder);
  if (strict.hit !== undefined) return strict;
  const others = [findNamed(input), findType(input), ...(['agent-team', 'managed', 'agents'] as const).map((rule) => findPattern(request, PATTERNS_BY_RULE[rule]))]; // prettier-ignore
  return others.some(({ hit }) => hit !== undefined) ? strict : plainAudit(request, effort);
}

function findParallel({ request, count }: RoutingInput): RuleMatch {
  const found = findPattern(request, PATTERNS_BY_RULE.parallel);
  if (found.hit !== undefined || count === null || count < 2) return found;
  return { hit: { words: `${count} agents`, at: 0, length: 0 } };
}

function findType({ request, types }: RoutingInput): RuleMatch {
  const { general, explore, plan, toolGuide, researchers } = types;
  const names = [general, explore, plan, toolGuide, ...researchers].map((name) =>
    escaped(name.toLowerCase()),
  );
  return findPattern(request, PATTERNS_BY_RULE.type, `(?:${names.join('|')})`);
}

/** Returns the agent type that the text mentions, or the general type. */
export function typeIn(types: AgentTypes, text: string): string {
  const lower = text.toLowerCase();
  const all = [types.explore, types.plan, types.toolGuide, ...types.researchers, types.general];
  return all.find((name) => lower.includes(name.toLowerCase())) ?? types.general;
}

const REACH = 100;

function findCode({ request }: Pick<RoutingInput, 'request'>): RuleMatch {
  const { text } = request;
  if (has(text, 'noCode')) return {};
  const plainly = findPattern(request, PATTERNS_BY_RULE.code);
  if (plainly.hit !== undefined) return plainly;
  const found = firstMeant(request, [...verbPlaces(text), ...brokenPlaces(text)]);
  return found.hit === undefined && plainly.refused !== undefined ? plainly : found;
}

/** Finds a verb followed by its object, such as "fix the failing test". */
function* verbPlaces(text: string): Generator<TextRange> {
  for (const { at, length } of placesOf(text, rx(String.raw`{ASKS}(?<w>{VERB})\b`), 'w')) {
    const rest = text.slice(at + length, at + length + REACH);
    const object = objectIn(/^[^.;:!?\n]*/.exec(rest)?.[0] ?? '');
    if (object !== undefined) yield { at, length: length + object.at + object.length };
  }
}

/** Finds an object followed by its verb, such as "the build is broken, fix it". */
function* brokenPlaces(text: string): Generator<TextRange> {
  const pattern = /\b(?:fix|repair|debug|mend|stabili[sz]e|patch) (?:it|this|that|them)\b/g;
  for (const { at: end, length } of placesOf(text, pattern, 'w')) {
    const before = text.slice(Math.max(0, end - REACH), end);
    const start = before.search(/(?<![^.;!?\n])[^.;!?\n]*$/);
    const object = objectIn(before.slice(start));
    if (object === undefined) continue;
    const at = end - before.length + start + object.at;
    yield { at, length: end + length - at };
  }
}

function findNamed(input: RoutingInput): RuleMatch {
  const found = input.named.map((agent) => findAgent(input, agent));
  const hits = found.flatMap(({ hit }) => (hit === undefined ? [] : [hit]));
  const hit = hits.sort((a, b) => a.at - b.at)[0];
  const refused = found.find((finding) => finding.refused !== undefined)?.refused;
  return definedOnly({ hit, refused });
}

/** Returns the roster agents mentioned in the request, in order of appearance. */
export function namedAgents(input: RoutingInput): NamedAgent[] {
  return input.named
    .map((agent) => ({ agent, at: findAgent(input, agent).hit?.at }))
    .filter(({ at }) => at !== undefined)
    .sort((a, b) => (a.at ?? 0) - (b.at ?? 0))
    .map(({ agent }) => agent);
}

function findAgent(input: RoutingInput, agent: NamedAgent): RuleMatch {
  const byName = firstMeant(input.request, namePlaces(input.request.plain, agent));
  return byName.hit === undefined ? { ...byRole(input, agent), ...byName } : byName;
}

const COMMON_NAMES = new Set(data.words.commonNames.split(' '));
const EDGE = String.raw`(?![\p{L}\p{N}_-])`;

/**
 * Yields the positions where the request names an agent. Many names are also ordinary words, so case is
 * ignored only in phrases that address an agent, such as "ask will to".
 */
function* namePlaces(plain: string, { name, slug }: NamedAgent): Generator<TextRange> {
  for (const spelled of new Set([name, slug])) {
    const own = `(?<n>${escaped(spelled)})`;
    const addressed = [
      String.raw`(?<![\p{L}\p{N}_])@${own}${EDGE}`,
      String.raw`(?<![\p{L}\p{N}_])${data.parts.HANDS_OVER} (?:the agent |agent |our agent )?${own}${EDGE}`,
      String.raw`(?:^|[.!?\n][^\S\n]*)(?:hey |hi |ok |okay )?${own}(?=\s*[,:]| (?:should|must|please|can you|could you)\b)`,
    ].map((source) => new RegExp(source, 'giu'));
    const alone = new RegExp(String.raw`(?<![\p{L}\p{N}_@.-])${own}${EDGE}(?! [\p{Lu}])`, 'gu');
    const isName = /^\p{Lu}/u.test(spelled) && !isSentenceWord(plain, spelled);
    for (const pattern of isName ? [...addressed, alone] : addressed) {
      for (const place of placesOf(plain, pattern, 'n')) {
        const before = `${clauseBefore(plain, place.at, 4)} `.toLowerCase();
        // A name after a title ("St. Marcus") refers to someone else.
        const isTitled = /\b(?:mr|mrs|ms|dr|st|prof|sr|jr|rev)\. ?$/i.test(plain.slice(0, place.at));
        if (!isTitled && !has(before, 'otherPerson')) yield place;
      }
    }
  }
}

/** Returns whether the name occurs as an ordinary word at the start of a sentence, such as "Will it rain?" */
function isSentenceWord(plain: string, name: string): boolean {
  if (!COMMON_NAMES.has(name.toLowerCase())) return false;
  return new RegExp(`(?:^|[.!?\\n][^\\S\\n]*)${escaped(name)} `, 'u').test(plain);
}

/** Finds an agent by role ("the security specialist") if no other agent has the same role. */
function byRole(input: RoutingInput, agent: NamedAgent): RuleMatch {
  const role = agent.role?.toLowerCase() ?? '';
  if (!/^[a-z][a-z -]{2,60}$/.test(role)) return {};
  if (input.named.filter((other) => other.role?.toLowerCase() === role).length > 1) return {};
  return findPattern(input.request, { ...PATTERNS_BY_RULE.role, stems: [role] }, escaped(role));
}

const COUNTED: ReadonlySet<Worker> = new Set<Worker>(['custom', 'team', 'research', 'builtin']);
const NUMBER_WORDS: readonly string[] = data.words.numbers.split(' ');

/** Returns the number of agents from `--count` or the request; null if neither specifies it. */
export function countOf(rule: Rule, hit: Hit, input: RoutingInput, warnings: string[]): number | null {
  if (input.count !== null) return input.count;
  if (!COUNTED.has(rule.gives.worker)) return null;
  const { text } = input.request;
  const wanted = numberIn(text);
  if (wanted !== undefined) {
    if (wanted > MAX_BRIEFS) warnings.push(`${wanted} agents requested; the limit is ${MAX_BRIEFS}.`);
    return Math.max(1, Math.min(wanted, MAX_BRIEFS));
  }
  if (rule.gives.worker !== 'custom' || !/(?:s|ones)$/i.test(hit.words)) return null;
  const perspectives = traitsIn('expertise', text).length;
  return perspectives > 1 ? perspectives : 3;
}

/** Returns the number in a phrase such as "five custom agents". */
function numberIn(text: string): number | undefined {
  const words = text.split(/[\s(]+/);
  for (const [index, word] of words.entries()) {
    const number = /^\d{1,6}$/.test(word) ? Number(word) : numberOf(word, words[index - 1], words[index + 1]);
    if (number === undefined) continue;
    for (const next of words.slice(index + 1, index + 5)) {
      if (has(next.replace(/(?<![.,;:!?)'"])[.,;:!?)'"]+$/, ''), 'countedNoun')) return number;
      if (/[.,;:!?]$/.test(next)) break;
    }
  }
  return undefined;
}

function numberOf(word: string, before: string | undefined, after: string | undefined): number | undefined {
  if (before === 'a' && word === 'dozen') return 12;
  if (before === 'a' && word === 'couple' && after === 'of') return 2;
  const at = NUMBER_WORDS.indexOf(word);
  return at === -1 ? undefined : at + 1;
}
