/** What a person asks to be kept, in words of a prompt (service.md: Work capture rules, 2). */
export type CaptureKind = 'reminder' | 'research' | 'queue';

export interface PromptMatch {
  kind: CaptureKind;
  /** What it is about, without the words that ask for it. */
  text: string;
}

/** Longer than a person writes in one breath: pasted. */
const MAX_LINE = 300;
/** A prompt of more lines was pasted, or is a task of its own: what it asks for is said in its first line. */
const MAX_LINES = 8;
const MAX_MATCHES = 5;

const POLITE = '(?:(?:please|also|and|then)[ ,]+){0,2}';
const WHEN =
  '(?:today|tonight|tomorrow|later|next|this|on|at|in|by|every|before|after)(?: (?!to\\b)[^\\s]+){0,6}?';

/** Anchored at the line's beginning, imperative: a soft hint, a question or a mention is none of them. */
const PATTERNS: readonly { kind: CaptureKind; pattern: RegExp; text: (match: RegExpExecArray) => string }[] =
  [
    {
      kind: 'reminder',
      pattern: new RegExp(`^${POLITE}remind me (?:(${WHEN}),? )?to (\\S.*)$`, 'i'),
      text: ([, when, what]) => (when === undefined ? `${what}` : `${what} ${when}`),
    },
    {
      kind: 'reminder',
      pattern: new RegExp(
        `^${POLITE}(?:set|add|create) (?:a |me a )?reminder (?:(${WHEN}),? )?to (\\S.*)$`,
        'i',
      ),
      text: ([, when, what]) => (when === undefined ? `${what}` : `${what} ${when}`),
    },
    {
      kind: 'research',
      pattern: new RegExp(`^${POLITE}research (the \\S.*)$`, 'i'),
      text: ([, what]) => `${what}`,
    },
    {
      kind: 'queue',
      pattern: new RegExp(
        `^${POLITE}queue (?:up )?(\\S.*?) for (?:(\\S.*?) )?later(?:\\s*[:\\u2013\\u2014-]\\s*(\\S.*))?$`,
        'i',
      ),
      text: ([, what = '', whom, rest]) =>
        rest ??
        [
          /^(?:this|that|it)$/i.test(what) ? what.toLowerCase() : what,
          whom === undefined ? '' : `for ${whom}`,
        ].join(' '),
    },
  ];

/**
 * What a prompt asks to be kept; biased to precision. Code blocks, quotes, indented and pasted text are not read, and
 * nothing that ends in a question mark.
 */
export function matchPrompt(prompt: string): PromptMatch[] {
  const lines = plainLines(prompt);
  const own = lines.length > MAX_LINES ? lines.slice(0, 1) : lines;
  const matches: PromptMatch[] = [];
  for (const line of own) {
    const match = matchLine(line);
    if (match !== undefined && !matches.some(({ kind, text }) => kind === match.kind && text === match.text))
      matches.push(match);
  }
  return matches.slice(0, MAX_MATCHES);
}

function matchLine(line: string): PromptMatch | undefined {
  const said = line
    .trim()
    .replace(/\s+/g, ' ')
    .replace(/[\s.!;,]+$/, '');
  if (said.length > MAX_LINE || /\?["')\]]*$/.test(said)) return undefined;
  for (const { kind, pattern, text } of PATTERNS) {
    const found = pattern.exec(said);
    const about = found === null ? '' : text(found).trim();
    if (about.length > 1) return { kind, text: about };
  }
  return undefined;
}

/** Lines that a person wrote as they are: no fenced or indented code, no quotes, no marked-up or pasted blocks. */
function plainLines(prompt: string): string[] {
  const kept: string[] = [];
  let fence: string | undefined;
  let tag: string | undefined;
  for (const line of prompt.split(/\r\n|\r|\n/)) {
    const mark = /^\s*(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence !== undefined) {
      if (mark?.startsWith(fence) === true) fence = undefined;
    } else if (mark !== undefined) fence = mark;
    else if (tag !== undefined) {
      if (line.includes(`</${tag}>`)) tag = undefined;
    } else {
      const opened = /^\s*<([a-zA-Z][\w-]*)(?:\s[^>]*)?>/.exec(line)?.[1];
      if (opened !== undefined && !line.includes(`</${opened}>`)) tag = opened;
      else if (opened === undefined && line.trim() !== '' && !/^(?: {4}|\t| *>)/.test(line)) kept.push(line);
    }
  }
  return kept;
}
