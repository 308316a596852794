import type { Asked, NamedAgent } from './routing-types';
import { judge, look, type Finding, type Hit } from './routing-match';
import { escaped, rx } from './routing-words';
import { clauseBefore } from './text';

/** Somebody is spoken to, or work is handed over. */
const HANDS_OVER = String.raw`(?:ask|use|using|have|let|tell|get|launch|call|consult|ping|involve|need|want|summon|bring in|loop in|send|run|start|wake|with|via|by|through|from|(?:give|hand|delegate|assign|send|pass|leave|turn)(?: (?:it|this|that|them|the [a-z]+))?(?: over)? to)`;
/** A name behind one of these is somebody else's, or a topic. */
const OTHER_PERSON =
  /\b(?:about|named|called|user|users|customer|client|colleague|boss|friend|neighbou?r|brother|sister|uncle|aunt|cousin|mr|mrs|ms|dr|king|queen|saint|st|emperor|novel by|book by|song by|(?:e-?mail|mail|message|letter|note|reply|card|present|gift) (?:to|for|from)|birthday of)\.? $/i;
/** An abbreviated title, whose full stop would otherwise end the clause: "St. Marcus", "Dr. Will". */
const TITLED = /\b(?:mr|mrs|ms|dr|st|prof|sr|jr|rev)\. ?$/i;

/** The agents of the roster that the request names; the first of them is the hit (service.md: rule 4). */
export function findNamed(asked: Asked): Finding {
  const found = namedIn(asked);
  const hits = found.flatMap(({ finding }) => (finding.hit === undefined ? [] : [finding.hit]));
  const hit = hits.sort((a, b) => a.at - b.at)[0];
  const refused = found.find(({ finding }) => finding.refused !== undefined)?.finding.refused;
  return { ...(hit === undefined ? {} : { hit }), ...(refused === undefined ? {} : { refused }) };
}

/** The same agents, in the order in which they are named. */
export function namedAgents(asked: Asked): NamedAgent[] {
  return namedIn(asked)
    .flatMap(({ agent, finding }) => (finding.hit === undefined ? [] : [{ agent, at: finding.hit.at }]))
    .sort((a, b) => a.at - b.at)
    .map(({ agent }) => agent);
}

function namedIn(asked: Asked): { agent: NamedAgent; finding: Finding }[] {
  return asked.named.map((agent) => {
    const byName = findName(asked, agent);
    return { agent, finding: byName.hit === undefined ? { ...byRole(asked, agent), ...byName } : byName };
  });
}

/**
 * Names are compared in the text as it was written: many are words too (Will, Art, Rook). In any case where
 * somebody is spoken to ("ask will to"), else only as the roster spells them and not as part of a longer name.
 */
function findName({ request }: Asked, { name, slug }: NamedAgent): Finding {
  let refused: Hit | undefined;
  for (const spelled of new Set([name, slug])) {
    const own = escaped(spelled);
    const edge = String.raw`(?![\p{L}\p{N}_-])`;
    const patterns = [
      new RegExp(String.raw`(?<![\p{L}\p{N}_])@(?<n>${own})${edge}`, 'giu'),
      new RegExp(
        String.raw`(?<![\p{L}\p{N}_])${HANDS_OVER} (?:the agent |agent |our agent )?(?<n>${own})${edge}`,
        'giu',
      ),
      new RegExp(
        String.raw`(?:^|[.!?\n][^\S\n]*)(?:hey |hi |ok |okay )?(?<n>${own})(?=\s*[,:]| (?:should|must|please|can you|could you)\b)`,
        'giu',
      ),
      new RegExp(String.raw`(?<![\p{L}\p{N}_@.-])(?<n>${own})${edge}(?! [\p{Lu}])`, 'gu'),
    ];
    for (const [index, pattern] of patterns.entries()) {
      // As a word of its own, without being spoken to, it has to look like a name.
      if (index === 3 && (!/^\p{Lu}/u.test(spelled) || isSentenceWord(request.plain, spelled))) continue;
      const checked = firstCounting(request.plain, request.text, pattern);
      if (checked.hit !== undefined) return checked;
      refused ??= checked.refused;
    }
  }
  return refused === undefined ? {} : { refused };
}

function firstCounting(plain: string, text: string, pattern: RegExp): Finding {
  let refused: Hit | undefined;
  for (const found of plain.matchAll(pattern)) {
    const name = found.groups?.['n'] ?? '';
    const at = found.index + found[0].lastIndexOf(name);
    if (OTHER_PERSON.test(`${clauseBefore(plain, at, 4)} `) || TITLED.test(plain.slice(0, at))) continue;
    const finding = judge({ plain, text }, at, name.length);
    if (finding.hit !== undefined) return finding;
    refused ??= finding.refused;
  }
  return refused === undefined ? {} : { refused };
}

/** A name that is an English word says nothing at the beginning of a sentence: "Will it rain?" */
function isSentenceWord(plain: string, name: string): boolean {
  return (
    COMMON_WORDS.has(name.toLowerCase()) &&
    new RegExp(`(?:^|[.!?\\n][^\\S\\n]*)${escaped(name)} `, 'u').test(plain)
  );
}

const COMMON_WORDS = new Set(
  'will art rook may mark bill rose grace hope faith joy dawn june april august summer frank chase grant jack pat drew guy rich sue dean ray rob max miles iris ivy sage reed wade'.split(' '),
); // prettier-ignore

/** "the security specialist": a role that one agent alone of the roster has, and to whom something is handed. */
function byRole(asked: Asked, agent: NamedAgent): Finding {
  const role = agent.role?.toLowerCase() ?? '';
  if (!/^[a-z][a-z -]{2,60}$/.test(role)) return {};
  if (asked.named.filter((other) => other.role?.toLowerCase() === role).length > 1) return {};
  return look(asked.request, {
    stems: [role],
    any: () => [rx(String.raw`\b${HANDS_OVER} (?:the|our|my|your) (?<w>${escaped(role)})\b`)],
  });
}
