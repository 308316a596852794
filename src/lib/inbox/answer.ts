import type { Machine } from '../config/user-area';
import { StewardError } from '../errors';
import { forShell } from '../platform/process/spawn';
import { requestWords } from '../sessions/describe';
import { findRow } from './find';
import { clean, cleanLines, escapeHidden, truncated } from '../platform/terminal/terminal';
import { answerAsk, type Ask, type AskDecision, ended, type Question, type ShownAsk } from './asks';
import type { InboxRow, InboxWait } from './row';
import { waitOf } from './waits';

function shownAsk(ask: Ask): ShownAsk {
  const { id, kind, tool, questions, canAllow, canAllowSession, until } = ask;
  return {
    id,
    kind,
    canAllow,
    canAllowSession,
    until,
    tool: escapeHidden(tool),
    questions: questions.map(({ text, options, ...more }) => ({
      text: escapeHidden(text),
      options: options.map(escapeHidden),
      ...more,
    })),
    input: kind === 'permission' ? escapeHidden(ask.input) : null,
  };
}

/**
 * Returns rows for the questions of `ask_me`, and for what a session asks beside its first request.
 * @param names the sessions' names in the list, by slug
 */
export function askWaits(asks: readonly Ask[], names: ReadonlyMap<string, string>): InboxWait[] {
  const own = asks.filter((ask) => ask.slug === null || ask !== firstOf(asks, ask.slug));
  return own.map((ask) => {
    const { id, kind, slug, tool, at: since } = ask;
    const shown = shownAsk(ask);
    const why = requestWords(undefined, kind === 'ask' ? 'question' : tool) ?? '';
    const title =
      kind === 'permission' ? (names.get(slug ?? '') ?? slug) : clean(shown.questions[0]?.text ?? '');
    const place = slug === null ? {} : { slug, go: `steward go ${slug}` };
    const about = { id, name: id, kind: kind === 'ask' ? 'question' : kind } as const;
    return waitOf({ ...about, title, why, since, blocks: true, ask: shown, ...place });
  });
}

function firstOf(asks: readonly Ask[], wanted: string): Ask | undefined {
  return asks.find(({ slug }) => slug === wanted);
}

/** Adds what a session's assistant asks to the session's row, so that you can answer it there. */
export function withAsks(waits: readonly InboxWait[], asks: readonly Ask[]): InboxWait[] {
  return waits.map((wait) => {
    const ask = wait.slug === undefined ? undefined : firstOf(asks, wait.slug);
    return ask === undefined ? wait : { ...wait, ask: shownAsk(ask) };
  });
}

/** Returns what a row asks. Throws `conflict` if it can't be answered from elsewhere. */
export function askOf({ ask, name, go }: InboxRow): ShownAsk {
  if (ask !== undefined) return ask;
  throw new StewardError('conflict', `${name} can only be answered where it asks.`, {
    hint: go === null ? 'See where: steward inbox' : `Run \`${go}\`.`,
  });
}

/** Returns the row with an ask's id or with these words. Only the id that you saw allows a request. */
export function rowToAnswer(rows: readonly InboxRow[], words: string, behavior?: string): InboxRow {
  const asked = rows.find(({ ask }) => ask?.id === words);
  if (asked === undefined && /^q-\w{12}$/.test(words))
    throw ended('It was answered, or no longer waits for an answer.');
  const row = asked ?? findRow(rows, words);
  // What can't be allowed needs no id to be refused.
  if (behavior !== 'allow' || !askOf(row).canAllow || askOf(row).id === words) return row;
  throw new StewardError('usage', 'To allow a request, use the id that is shown with it.', {
    hint: `See it: steward answer ${forShell(row.name)}`,
  });
}

export interface GivenAnswer {
  /** The number or text of the answer; for several questions, one for each, separated by semicolons. */
  answer?: string | undefined;
  behavior?: AskDecision['behavior'] | undefined;
  forSession?: boolean | undefined;
}

/** Returns what you decided. Throws `usage` if the answer doesn't fit the ask. */
export function decisionFor(
  { kind, questions, canAllow, canAllowSession, tool }: Omit<ShownAsk, 'id' | 'until' | 'input'>,
  { answer, behavior, forSession = false }: GivenAnswer,
): AskDecision {
  const isQuestion = kind === 'ask' || kind === 'question';
  if (behavior === 'deny')
    return { behavior, texts: answer === undefined ? [] : [answer], forSession: false };
  if (isQuestion && behavior === undefined && answer !== undefined)
    return { behavior: 'allow', texts: textsOf(questions, answer), forSession: false };
  if (isQuestion || behavior === undefined || answer !== undefined)
    throw new StewardError('usage', isQuestion ? 'A question needs an answer.' : 'Allow it or deny it.', {
      hint: isQuestion ? 'Give a number or a text, or --deny.' : 'Use --allow or --deny.',
    });
  if (!canAllow)
    throw new StewardError('conflict', `${escapeHidden(tool)} can't be allowed from elsewhere.`, {
      hint: `Deny it, or allow it where it asks. For its next request: steward config add notifications.answers.tools ${forShell(tool)}`,
    });
  if (forSession && !canAllowSession)
    throw new StewardError('usage', 'It can only be allowed once.', { hint: 'Omit --session.' });
  return { behavior, texts: [], forSession };
}

/** Replaces numbers by the options they stand for. */
function textsOf(questions: readonly Question[], answer: string): string[] {
  const parts = questions.length === 1 ? [answer] : answer.split(';');
  if (parts.length !== questions.length)
    throw new StewardError('usage', `${questions.length} questions need as many answers.`, {
      hint: 'Separate the answers by semicolons, in quotes: "1; 2"',
    });
  return parts.map((part, index) => {
    const text = cleanLines(part).trim();
    const { options = [], many = false } = questions[index] ?? {};
    if (text === '') throw new StewardError('usage', 'The answer is empty.', { hint: 'Give a number or a text.' }); // prettier-ignore
    if (options.length === 0 || !/^\d{1,2}(?:\s*,\s*\d{1,2})*$/.test(text)) return text;
    const chosen = text.split(',').map((number) => options[Number(number) - 1]);
    const isOne = many || chosen.length === 1;
    if (isOne && chosen.every((option) => option !== undefined)) return chosen.join(', ');
    const problem = isOne ? `Invalid number "${text}".` : `Only one answer fits, not "${text}".`;
    const hint = `Use a number from 1 to ${options.length}, or a text.`;
    throw new StewardError('usage', problem, { hint });
  });
}

/** Returns everything that is asked, with the numbers of the answers. */
function askedLines({ questions, input, tool }: ShownAsk): string[] {
  const asked = questions.flatMap(({ text, options, many = false }) => [
    many ? `${text} (one or several, such as 1,2)` : text,
    ...options.map((option, index) => `  ${index + 1}  ${option}`),
  ]);
  return [...(input === null ? [] : [`Allow ${tool}?`, `  ${input}`]), ...asked];
}

/** Returns everything that a row asks, and how to answer. */
export function askText(ask: ShownAsk): string {
  const { kind, id } = ask;
  const session = ask.canAllowSession ? ' [--session]' : '';
  const allow = ask.canAllow ? `--allow${session} or ` : '';
  const how = kind === 'ask' || kind === 'question' ? 'NUMBER, TEXT or ' : allow;
  return [...askedLines(ask), '', `To answer: steward answer ${id} ${how}--deny`].join('\n');
}

/** A longer text would not fit into one message of every service. */
const MAX_OFFER_BYTES = 3_000;
const MAX_LABEL = 60;

/** Returns what a message shows of an ask, and its buttons. Without the whole text, you can only refuse. */
export function offerOf(ask: Ask) {
  const shown = shownAsk(ask);
  const text = askedLines(shown).join('\n');
  const isWhole = Buffer.byteLength(text) <= MAX_OFFER_BYTES;
  const isQuestion = ask.kind === 'ask' || ask.kind === 'question';
  const [question, ...more] = shown.questions;
  const options = isQuestion && more.length === 0 ? (question?.options ?? []) : [];
  const allow = { behavior: 'allow' } as const;
  const choice = (label: string, given: GivenAnswer, isSafe = false) => ({ label, given, isSafe });
  const choices = [
    ...options.map((option, index) => choice(truncated(option, MAX_LABEL), { answer: String(index + 1) })),
    ...(ask.canAllow && !isQuestion ? [choice('Allow', allow)] : []),
    ...(ask.canAllowSession ? [choice('Allow for this session', { ...allow, forSession: true })] : []),
  ];
  return {
    text: isWhole ? text : truncated(text, MAX_OFFER_BYTES / 4),
    choices: [...(isWhole ? choices : []), choice('Deny', { behavior: 'deny' }, true)],
  };
}

/** Answers what a row asks. Throws `conflict` if it has been answered, or can't be answered from elsewhere. */
export async function giveAnswer(machine: Machine, row: InboxRow, given: GivenAnswer, from: string) {
  await answerAsk(machine, askOf(row).id, (ask) => decisionFor(ask, given), from);
}
