import type { Context, Homograph } from './homograph';
import * as words from './homograph-live-words';

/**
 * "live" rhymes with "give" as a verb, which is what engines say; the respelling rhymes with "drive". Only what
 * is certainly said of a broadcast, of what is in operation or of a living thing is respelled: a verb that
 * was respelled would sound wrong, an adjective that was missed sounds as it did before.
 */
export const LIVE: Homograph = {
  word: 'live',
  respelling: 'lyve',
  contexts: () => (made ??= contexts()),
};

let made: readonly Context[] | undefined;

function contexts(): readonly Context[] {
  const { ADVERB, BROADCAST, COMPOUND, LIVING, MODIFIER, PERSON, PLACE, PLATFORM, THING, TIME, TRANSMIT } =
    words;
  // What many contexts share is compiled once.
  const [end] = behind(END);
  const [time, platform, place] = behind(`,? (?:${TIME})`, `,? (?:${PLATFORM})`, `,? (?:${PLACE})`);
  const tail = [end, time, platform, place];
  const [thing] = behind(`(?: (?:${MODIFIER}))* (?:${THING})(?![\\p{L}-])`);
  const [source] = behind(`,? from (?!${words.NO_ORIGIN})`);
  const adverbs = `(?: ${ADVERB})*`;
  const start = String.raw`^[\s"'(\[*>-]*`;
  return [
    // What the word is joined to.
    keep(undefined, ` and (?:let|learn|breathe|die|work|love|laugh|prosper|grow|thrive|play)\\b`),
    keep(
      undefined,
      ` in (?:nanny|maid|carer?|caretaker|partner|girlfriend|boyfriend|housekeeper|au pair|staff)\\b`,
    ),
    keep(undefined, `-(?:${words.NOT_HYPHENED})\\b`),
    respell(String.raw`(?:^|[^\p{L}])(?:go|non|pre|post|near|semi|half)-`),
    keep('-'),
    respell(undefined, String.raw`-\p{L}`),
    keep(`(?:^|[,"'(] ?|\\b(?:and|but) )long `),
    // "show to show", "drug free"
    keep(undefined, String.raw` (\p{L}+) (?:to|by|after) \1\b`),
    keep(undefined, String.raw` \p{L}+[- ]free\b`),

    // Somebody lives: "where they live shows a lot".
    keep(
      `\\b(?:${words.WHERE}) (?:[\\p{L}']+ ){0,3}(?:(?:${words.SUBJECT})|(?!(?:${words.NO_PLURAL}) )[\\p{L}]+s)${adverbs} `,
    ),
    respell(undefined, ` (?:${COMPOUND})\\b`),
    respell(`\\b(?:${words.HANDS_OVER}) (?:you|her) `, [thing]),
    keep(
      `(?<!\\b(?:is|are|was|were|am|aren't|isn't|to|see|watch|catch|join) )\\b(?:${words.SUBJECT})${adverbs} `,
      [thing],
    ),
    keep(String.raw`s that `, String.raw` (?:${words.ALSO_VERBS})\b`),

    // "It is live": a copula takes no verb, but in "all they do is live".
    keep(String.raw`\b(?:do|does|did|done|doing) (?:is|was) `),
    keep(String.raw`\b(?:all|what|thing) .*(?:want|wants|wanted|need|needs|can|could|ask|asks) (?:is|was) `),
    keep(String.raw`\b(?:motto|advice|rule|philosophy|mantra|creed|slogan) (?:is|was) `),
    keep(String.raw`\blet'?s(?: (?:all|both|just|not|never|always|simply|go on and))* `),
    respell(`(?:\\b(?:${words.COPULA})|\\p{L}'(?:m|re|s))${adverbs} `),
    respell(
      `(?:${start}|, |\\b(?:and|but|so|or|then|whether|how|why|when|what) )(?:is|are|was|were|am|isn't|aren't|wasn't|weren't) (?:it|this|that|these|those|they|we|you|i|he|she|everything|everyone|anything|anyone|(?:${words.DETERMINER}|this|that|all the)(?: (?:${words.AGE}))? [\\p{L}-]+)(?: (?:now|yet|already|still|really|actually|even|currently))* `,
    ),

    // "We go live at noon", and "go live with your mother".
    respell(
      `\\b(?:went|goes|going|gone|comes|came|coming|stays?|stayed|staying|remains?|remained|becomes?|became|becoming)${adverbs} `,
    ),
    respell(String.raw`\b(?:come|comes|came|coming) to (?:you|us|me|them|viewers) `),
    respell(`\\bgo${adverbs} `, [end, time, platform, ...behind(` (?:${words.LAUNCHED})`)]),
    keep(`\\bgo${adverbs} `, ` (?:${words.DWELLING})\\b`),
    respell(`\\bgo${adverbs} `),

    // "A live show", "live plants".
    keep(String.raw`\bof his `),
    respell(`\\b(?:${words.DETERMINER}) `),
    keep(String.raw`\bto `, ` (?:${LIVING})\\b`),
    respell(undefined, ` (?:${LIVING})(?![\\p{L}-])`),
    respell(undefined, [thing]),
    keep(`\\b(?:${words.SUBJECT})${adverbs} `),
    respell(undefined, ` (?:and|or|and/or) (?:${words.OR_ELSE})\\b`),
    respell(undefined, `, (?:${words.OR_ELSE})\\b`),
    respell(`\\b(?:${words.NAMES}) `),

    // "Live: the final", "Live on stage", "(live)".
    respell(String.raw`[(\[]`, [...behind(String.raw`[)\]]`), source, platform, time]),
    respell(`${start}(?:and )?(?:now,? )?`, [...behind(':'), source]),
    respell(`${start}(?:and )?(?:now,? )`, tail),
    keep(start, ` .*\\b(?:as if|as though|like)\\b`),
    respell(start, ` now(?:[:!]| (?:on|at|from)\\b|$)`),
    respell(start, ` (?:today|tomorrow)(?::| (?:at|on|from)\\b)`),
    respell(start, [
      platform,
      ...behind(` (?:tonight|(?:this|next) (?:${words.PERIOD})|${words.AT_TIME}|${words.STAGE})`),
    ]),
    respell(String.raw`\bnot yet `),
    respell(String.raw`\b(?:once|when|while|if|until|unless|whether|after) `, String.raw`(?:,|\s*$|[.!?])`),
    respell(`${start}(?:finally|officially|already|soon|almost|currently|back) `, [end, platform, time]),

    // "Streaming live on stage", "watch it live tonight", "push it live".
    respell(
      `\\b(?:${TRANSMIT})${adverbs} `,
      `(?! (?:longer|happier|better|healthier|happily|well|forever)\\b| on${END})`,
    ),
    respell(`\\b(?:${BROADCAST})${adverbs} `, tail),
    respell(
      `\\b(?:${BROADCAST}|${words.MOVE}) (?:(?!(?:${words.NOT_BETWEEN}) )[\\p{L}\\p{N}'.-]+ ){0,4}(?!(?:${PERSON}) )[\\p{L}\\p{N}'.-]+ `,
      [...behind(','), ...tail],
    ),
    respell(
      String.raw`\b(?:switch|switched|switching|promoted?|promoting|deploy|deployed|deploying|push|pushed|released?|copy|copied|published?|(?:from )?(?:test|testing|staging|dev|draft|beta)) to `,
      [end],
    ),
    respell(
      String.raw`\b(?:i|you|we|they|he|she|'ll|'d|to|let's|will|can|could|should|must) (?:do|did|doing|prefer|prefers|like|love|loved) (?:it|this|that|them|everything) `,
      tail,
    ),
    respell(String.raw`\b(?:sounds?|sounded|looks?|looked|even|much|far|is|are|was|were) (?:better|best) `, [
      end,
    ]),
    respell(String.raw`\b(?:up|merged|deployed|tested|published|shipped|released|green|out) and `, [end]),
    keep(`\\b(?:${words.HELPER})\\b.*`),
    respell(`\\b(?:${words.SHOWN}) `, [time, platform, place]),
  ];
}

/** Behind the word: the end of what is said. */
const END = String.raw`\s*(?:$|[.!?;:)\]"…]|[-–—])`;

function respell(before?: string, after?: string | readonly RegExp[]): Context {
  return context('respell', before, after);
}

function keep(before?: string, after?: string | readonly RegExp[]): Context {
  return context('keep', before, after);
}

function context(then: Context['then'], before?: string, after?: string | readonly RegExp[]): Context {
  return {
    then,
    ...(before === undefined ? {} : { before: pattern(`(?:${before})$`) }),
    ...(after === undefined ? {} : { after: typeof after === 'string' ? behind(after) : after }),
  };
}

function behind<const T extends readonly string[]>(...sources: T): { [K in keyof T]: RegExp } {
  return sources.map((source) => pattern(`^(?:${source})`)) as { [K in keyof T]: RegExp };
}

/** Letters in lower case, and some signs among them: the engine compiles Unicode's own classes ten times slower. */
const LETTERS = 'a-z\u00b5-\u1fff\u2c00-\ud7ff';

/** In these sources \p{L} stands alone, or first in its class. */
function pattern(source: string): RegExp {
  const inClasses = source.replace(
    /\[(\^?)\\p\{L\}(\\p\{N\})?/g,
    (_, not: string, digits?: string) => `[${not}${LETTERS}${digits === undefined ? '' : '0-9'}`,
  );
  return new RegExp(inClasses.replaceAll('\\p{L}', `[${LETTERS}]`));
}
