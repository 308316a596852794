import { judge, look, type Finding, type Hit } from './routing-match';
import type { Asked } from './routing-types';
import { rx, W } from './routing-words';
import type { RequestText } from './text';

/** The verbs that ask for code where what they are said of is code. */
const VERB = String.raw`(?:implement|code|build|write|fix|refactor|rewrite|add|create|port|debug|optimi[sz]e|migrate|develop|program|patch|extend|make|rename|remove|delete|update|upgrade|test|convert|wire up|set up|hook up|bump|extract|inline|type-?check|speed up|replace|support|handle|generate|finish|repair|stabili[sz]e|harden|clean up)`;

/** What code is made of; one word or two. */
const OBJECTS = new Set(
  `functions | function | class | classes | method | endpoints | endpoint | apis | api | modules | module | scripts | script | parsers | parser | unit tests | unit test | tests | test | test suite | bugs | bug | components | component | features | feature | migrations | migration | cli | regex | regexp | regular expression | handlers | handler | hooks | hook | library | libraries | schemas | schema | apps | app | websites | website | web page | webpage | settings page | login page | login form | login | sign-in | signin | buttons | button | dropdown | modal | forms validation | form validation | validation | algorithm | code | codebase | makefile | dockerfile | docker | build | compiler | linter | linting | lint | type errors | typeerrors | type error | typeerror | types | type | exceptions | exception | crashes | crash | memory leaks | memory leak | race condition | deadlock | null pointer | stack trace | stacktrace | segfault | server | client | backend | frontend | database | query | queries | sql | cache | caching | queue | worker | cron job | webhooks | webhook | middleware | router | routing table | service | microservice | daemon | package | dependency | dependencies | crate | gem | repository | repo | branch | commit | pull request | merge conflict | ci | pipeline | workflow file | workflow | deployment script | deploy script | terraform | kubernetes | helm | typescript | javascript | python | rust | golang | java | c++ | ruby | swift | kotlin | react | vue | css | html | json | yaml | plugin | extension | bot | scraper | crawler | sync engine | engine | rate limiter | rate limiting | rate limit | pagination | logging | logger | retry | retries | oauth | authentication | auth | feature flags | feature flag | importer | exporter | wrapper | iterator | linked list | binary tree | binary search | hash map | hashmap | loop | variable | constant | unused imports | unused import | imports | import | program | software | firmware | game | compiler warnings | compiler warning | flags | flag`.split(
    ' | ',
  ),
);

/** Words that are not about code whatever else is said. */
const NO_CODE =
  /\b(?:poem|haiku|birthday card|novel|limerick|cover letter|sonnet|short story|fairy tale|blog post|song|lyrics|thank-you note)\b/;
const REACH = 100;
const MAX_HITS = 50;

/** Does the request ask for code to be written or changed (service.md: rule 5)? */
export function findCode({ request }: Pick<Asked, 'request'>): Finding {
  if (NO_CODE.test(request.text)) return {};
  const plainly = look(request, PLAINLY);
  if (plainly.hit !== undefined) return plainly;
  const found = first(request, [...verbHits(request), ...brokenHits(request)]);
  return found.hit === undefined && plainly.refused !== undefined ? plainly : found;
}

const PLAINLY = {
  stems: ['implement', 'refactor', 'debug', 'unit-test', 'type-check', 'typecheck', 'recompile'],
  any: () => [
    rx(
      String.raw`${W.ASKS}(?<w>(?:implement|refactor|debug|unit-test|type-?check|recompile)\b)(?! (?:a |the |our |new )?(?:policy|policies|law|laws|plan|strategy|diet|routine|habit|reform))`,
    ),
  ],
};

/** "fix the failing test": a verb, and in the same sentence what code is made of. */
function* verbHits({ text }: RequestText): Generator<Hit> {
  for (const found of text.matchAll(rx(String.raw`${W.ASKS}(?<w>${VERB})\b`))) {
    const verb = found.groups?.['w'] ?? '';
    const at = found.index + found[0].length - verb.length;
    const length = objectEnd(sentence(text.slice(at + verb.length, at + verb.length + REACH)));
    if (length !== undefined) yield { words: '', at, length: verb.length + length };
  }
}

/** "the build is broken, fix it": what code is made of, and then the verb. */
function* brokenHits({ text }: RequestText): Generator<Hit> {
  for (const found of text.matchAll(
    /\b(?:fix|repair|debug|mend|stabili[sz]e|patch) (?:it|this|that|them)\b/g,
  )) {
    const from = Math.max(0, found.index - REACH);
    const before = text.slice(from, found.index);
    const start = before.search(/(?<![^.;!?\n])[^.;!?\n]*$/);
    const at = objectStart(before.slice(start));
    if (at !== undefined)
      yield { words: '', at: from + start + at, length: found.index + found[0].length - (from + start + at) };
  }
}

function sentence(text: string): string {
  return /^[^.;:!?\n]*/.exec(text)?.[0] ?? '';
}

/** Where the first object of a text ends; undefined where there is none. */
function objectEnd(text: string): number | undefined {
  return objectsIn(text)[0]?.[1];
}

function objectStart(text: string): number | undefined {
  return objectsIn(text)[0]?.[0];
}

function objectsIn(text: string): [start: number, end: number][] {
  const words = [...text.matchAll(/[a-z0-9_+#]+(?:-[a-z0-9_]+)*/g)];
  return words.flatMap((word, index): [number, number][] => {
    const next = words[index + 1]?.[0] ?? '';
    if (OBJECTS.has(`${word[0]} ${next}`))
      return [[word.index, (words[index + 1]?.index ?? 0) + next.length]];
    const isObject = OBJECTS.has(word[0]) || /^z[pc]_*$/.test(word[0]);
    const isOther = next === 'of' && words[index + 2]?.[0] === 'conduct';
    return isObject && !isOther && !/^words?$/.test(next) ? [[word.index, word.index + word[0].length]] : [];
  });
}

function first(request: RequestText, hits: Iterable<Hit>): Finding {
  let refused: Hit | undefined;
  let tried = 0;
  for (const { at, length } of hits) {
    tried += 1;
    const judged = judge(request, at, length);
    if (judged.hit !== undefined) return judged;
    refused ??= judged.refused;
    if (tried === MAX_HITS) break;
  }
  return refused === undefined ? {} : { refused };
}
