import data from '../../../templates/data/routing.json';
import { MAX_BRIEFS, traitsIn } from './brief';
import { asksPerson, needsLocal } from './check';
import type { AgentTypes, Asked, NamedAgent, Rule, Worker } from './routing';
import { escaped, firstMeant, has, look, LOOKS, placesOf, rx, type Finding, type Hit, type Place } from './routing-match'; // prettier-ignore
import { clauseBefore } from './text';

/** What the rules look for whose words alone do not decide, by the id of the rule. */
export const FINDERS: Readonly<Record<string, (asked: Asked) => Finding>> = {
  named: findNamed,
  'built-in': findType,
  declined: findDeclined,
  audit: findAudit,
  production: findProduction,
  code: findCode,
  parallel: findParallel,
  native: () => ({ hit: { words: '', at: 0, length: 0 } }),
};

export function unsuitableForManaged({ request: { text }, whole }: Asked): string | undefined {
  const short = /\b(\d{1,3}|a few|a couple of|several|five|ten|fifteen|twenty) ?-?min(?:ute)?s?\b/.exec(text);
  if (short !== null && !(Number(short[1]) >= 30))
    return 'Managed agents are not for work of less than 30 minutes, so it stays here.';
  if (has(text, 'interactive') || asksPerson(whole))
    return 'Managed agents are not for interactive work, so it stays here.';
  return has(text, 'localContext') || needsLocal(whole)
    ? 'Managed agents see none of your own files, context and skills, so it stays here.'
    : undefined;
}

/** Here what is taken back is what decides. */
function findDeclined({ request }: Asked): Finding {
  const hit = look(request, LOOKS.refusedAgents).refused ?? look(request, LOOKS.yourself).hit;
  return hit === undefined ? {} : { hit };
}

function findProduction(asked: Asked): Finding {
  const { request, effort, types } = asked;
  const names = [...new Set(['builder', escaped(types.builder)])].join('|');
  const byName = look(request, LOOKS.builder, `(?:${names})`);
  if (byName.hit !== undefined) return byName;
  const code = findCode(asked);
  if (code.hit === undefined) return byName;
  const said = look(request, LOOKS.production);
  if (said.hit !== undefined || effort === null || effort < 3) return said;
  return { hit: { ...code.hit, words: `effort E${effort}, ${code.hit.words}` } };
}

function findAudit({ request, effort }: Asked): Finding {
  const named = look(request, LOOKS.crossAudit);
  return named.hit !== undefined || effort === null || effort < 4 ? named : look(request, LOOKS.audit);
}

function findParallel({ request, count }: Asked): Finding {
  const found = look(request, LOOKS.parallel);
  if (found.hit !== undefined || count === null || count < 2) return found;
  return { hit: { words: `${count} agents`, at: 0, length: 0 } };
}

function findType({ request, types }: Asked): Finding {
  const { general, explore, plan, toolGuide, researchers } = types;
  const names = [general, explore, plan, toolGuide, ...researchers].map((name) =>
    escaped(name.toLowerCase()),
  );
  return look(request, LOOKS.type, `(?:${names.join('|')})`);
}

/** The type that the request names, as the configuration spells it. */
export function typeIn(types: AgentTypes, text: string): string {
  const said = text.toLowerCase();
  const all = [types.explore, types.plan, types.toolGuide, ...types.researchers, types.general];
  return all.find((name) => said.includes(name.toLowerCase())) ?? types.general;
}

/** What code is made of; one word or two. */
const OBJECTS = new Set(data.codeObjects);
const REACH = 100;

/** Does the request ask for code to be written or changed? */
function findCode({ request }: Pick<Asked, 'request'>): Finding {
  const { text } = request;
  if (has(text, 'noCode')) return {};
  const plainly = look(request, LOOKS.code);
  if (plainly.hit !== undefined) return plainly;
  const found = firstMeant(request, [...verbPlaces(text), ...brokenPlaces(text)]);
  return found.hit === undefined && plainly.refused !== undefined ? plainly : found;
}

/** "fix the failing test": a verb, and in the same sentence what code is made of. */
function* verbPlaces(text: string): Generator<Place> {
  for (const { at, length } of placesOf(text, rx(String.raw`{ASKS}(?<w>{VERB})\b`), 'w')) {
    const rest = text.slice(at + length, at + length + REACH);
    const object = objectIn(/^[^.;:!?\n]*/.exec(rest)?.[0] ?? '');
    if (object !== undefined) yield { at, length: length + object.at + object.length };
  }
}

/** "the build is broken, fix it": what code is made of, and then the verb. */
function* brokenPlaces(text: string): Generator<Place> {
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

/** The first thing in a text that code is made of. */
function objectIn(text: string): Place | undefined {
  const words = [...text.matchAll(/[a-z0-9_+#]+(?:-[a-z0-9_]+)*/g)];
  for (const [index, { 0: word, index: at }] of words.entries()) {
    const next = words[index + 1];
    const after = next?.[0] ?? '';
    if (OBJECTS.has(`${word} ${after}`)) return { at, length: (next?.index ?? 0) + after.length - at };
    const isObject = OBJECTS.has(word) || /^z[pc]_*$/.test(word);
    const isOther = (after === 'of' && words[index + 2]?.[0] === 'conduct') || /^words?$/.test(after);
    if (isObject && !isOther) return { at, length: word.length };
  }
  return undefined;
}

/** The agents of the roster that the request names; the first of them is the hit. */
function findNamed(asked: Asked): Finding {
  const found = asked.named.map((agent) => findAgent(asked, agent));
  const hits = found.flatMap(({ hit }) => (hit === undefined ? [] : [hit]));
  const hit = hits.sort((a, b) => a.at - b.at)[0];
  const refused = found.find((one) => one.refused !== undefined)?.refused;
  return { ...(hit === undefined ? {} : { hit }), ...(refused === undefined ? {} : { refused }) };
}

/** The same agents, in the order in which they are named. */
export function namedAgents(asked: Asked): NamedAgent[] {
  return asked.named
    .map((agent) => ({ agent, at: findAgent(asked, agent).hit?.at }))
    .filter(({ at }) => at !== undefined)
    .sort((a, b) => (a.at ?? 0) - (b.at ?? 0))
    .map(({ agent }) => agent);
}

function findAgent(asked: Asked, agent: NamedAgent): Finding {
  const byName = firstMeant(asked.request, namePlaces(asked.request.plain, agent));
  return byName.hit === undefined ? { ...byRole(asked, agent), ...byName } : byName;
}

const COMMON_NAMES = new Set(data.words.commonNames.split(' '));
const EDGE = String.raw`(?![\p{L}\p{N}_-])`;

/**
 * Names are looked for in the text as it was written: many are words too (Will, Art, Rook). In any case where
 * somebody is spoken to ("ask will to"), else only as the roster spells them and not as part of a longer name.
 */
function* namePlaces(plain: string, { name, slug }: NamedAgent): Generator<Place> {
  for (const spelled of new Set([name, slug])) {
    const own = `(?<n>${escaped(spelled)})`;
    const spokenTo = [
      String.raw`(?<![\p{L}\p{N}_])@${own}${EDGE}`,
      String.raw`(?<![\p{L}\p{N}_])${data.parts.HANDS_OVER} (?:the agent |agent |our agent )?${own}${EDGE}`,
      String.raw`(?:^|[.!?\n][^\S\n]*)(?:hey |hi |ok |okay )?${own}(?=\s*[,:]| (?:should|must|please|can you|could you)\b)`,
    ].map((source) => new RegExp(source, 'giu'));
    const alone = new RegExp(String.raw`(?<![\p{L}\p{N}_@.-])${own}${EDGE}(?! [\p{Lu}])`, 'gu');
    // As a word of its own, without being spoken to, it has to look like a name.
    const isName = /^\p{Lu}/u.test(spelled) && !isSentenceWord(plain, spelled);
    for (const pattern of isName ? [...spokenTo, alone] : spokenTo) {
      for (const place of placesOf(plain, pattern, 'n')) {
        const before = `${clauseBefore(plain, place.at, 4)} `.toLowerCase();
        // The full stop of "St. Marcus" would otherwise end the clause.
        const isTitled = /\b(?:mr|mrs|ms|dr|st|prof|sr|jr|rev)\. ?$/i.test(plain.slice(0, place.at));
        if (!isTitled && !has(before, 'otherPerson')) yield place;
      }
    }
  }
}

/** A name that is an English word says nothing at the beginning of a sentence: "Will it rain?" */
function isSentenceWord(plain: string, name: string): boolean {
  if (!COMMON_NAMES.has(name.toLowerCase())) return false;
  return new RegExp(`(?:^|[.!?\\n][^\\S\\n]*)${escaped(name)} `, 'u').test(plain);
}

/** "the security specialist": a role that one agent alone of the roster has, and to whom something is handed. */
function byRole(asked: Asked, agent: NamedAgent): Finding {
  const role = agent.role?.toLowerCase() ?? '';
  if (!/^[a-z][a-z -]{2,60}$/.test(role)) return {};
  if (asked.named.filter((other) => other.role?.toLowerCase() === role).length > 1) return {};
  return look(asked.request, { ...LOOKS.role, stems: [role] }, escaped(role));
}

const COUNTED: ReadonlySet<Worker> = new Set<Worker>(['custom', 'team', 'research', 'builtin']);
const NUMBER_WORDS: readonly string[] = data.words.numbers.split(' ');

/** How many agents: as `--count` says, else as the request does; null: one, and no number was given. */
export function countOf(rule: Rule, hit: Hit, asked: Asked, warnings: string[]): number | null {
  if (asked.count !== null) return asked.count;
  if (!COUNTED.has(rule.gives.worker)) return null;
  const { text } = asked.request;
  const said = numberIn(text);
  if (said !== undefined) {
    if (said > MAX_BRIEFS)
      warnings.push(`${said} agents are asked for; one request launches ${MAX_BRIEFS} at most.`);
    return Math.max(1, Math.min(said, MAX_BRIEFS));
  }
  if (rule.gives.worker !== 'custom' || !/(?:s|ones)$/i.test(hit.words)) return null;
  // One a perspective: those that the request names, else three.
  const perspectives = traitsIn('expertise', text).length;
  return perspectives > 1 ? perspectives : 3;
}

/** "five custom agents", "3 reviewers": a number, and whom it counts in the four words behind it. */
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
