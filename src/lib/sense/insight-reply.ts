import { isObject, parseObject } from '../platform/files/json-object';
import { cleanLine } from '../platform/terminal/terminal';

/** One kind of content of a day; the shares of a read add up to 1 (decisions.md 3: Insight). */
export interface ContentType {
  label: string;
  /** From 0.01 to 1, in hundredths. */
  share: number;
  /** What of the data shows it; may be empty. */
  evidence: string;
}

export interface InsightText {
  /** At most 320 characters. */
  narrative: string;
  /** The largest share first; never empty. */
  contentTypes: ContentType[];
}

/** What the assistant wrote on its standard output: a read, or why it is none. */
export type Reply =
  /** `model` is the one that ran, where the reply tells. */
  | { text: InsightText; model: string | null }
  /** `refused`: the assistant itself said that it failed, and why. */
  | { reason: string; refused: boolean };

type Answer = { text: InsightText } | { reason: string };

export const MAX_NARRATIVE = 320;
const MAX_LABEL = 40;
const MAX_EVIDENCE = 160;
const MAX_TYPES = 8;
const MAX_MODEL = 100;
const MAX_REASON = 200;

/**
 * Reads a reply strictly: one JSON object, bare, in one code fence, or as the `result` of the assistant's own
 * JSON output. What is missing or of another type is a reason; what is merely out of form (shares in per cent,
 * texts too long, one label twice) is brought into it. Text comes out cleaned.
 */
export function parseReply(stdout: string): Reply {
  const outer = parseObject(stdout.trim());
  if (outer === undefined || outer['type'] !== 'result') return replyOf(readAnswer(stdout), null);
  if (outer['is_error'] === true) return { reason: failureOf(outer), refused: true };
  const { result } = outer;
  if (typeof result !== 'string') return { reason: 'the assistant gave no answer', refused: false };
  return replyOf(readAnswer(result), modelOf(outer['modelUsage']));
}

function replyOf(answer: Answer, model: string | null): Reply {
  return 'text' in answer ? { ...answer, model } : { ...answer, refused: false };
}

/** Why the assistant itself says that it failed: "Not logged in · Please run /login". */
function failureOf(outer: Record<string, unknown>): string {
  const words = [outer['result'], outer['subtype']].find((word) => typeof word === 'string' && word !== '');
  return words === undefined
    ? 'the assistant reported an error'
    : `the assistant says: ${cleanLine(words as string, MAX_REASON)}`;
}

/** The one that wrote most: the assistant may use a second one beside it. */
function modelOf(usage: unknown): string | null {
  if (!isObject(usage)) return null;
  const written = (value: unknown): number =>
    isObject(value) && typeof value['outputTokens'] === 'number' ? value['outputTokens'] : 0;
  const [most] = Object.entries(usage).sort(([, a], [, b]) => written(b) - written(a));
  return most === undefined ? null : cleanLine(most[0], MAX_MODEL);
}

function readAnswer(text: string): Answer {
  const body = text.trim();
  if (body === '') return { reason: 'the reply was empty' };
  const answer = parseObject(body) ?? parseObject(inFence(body) ?? '');
  if (answer === undefined) return { reason: 'the reply was not one JSON object' };
  const narrative = answer['narrative'];
  if (typeof narrative !== 'string') return { reason: 'the reply has no narrative' };
  const types = readTypes(answer['contentTypes']);
  if (typeof types === 'string') return { reason: types };
  const line = cleanLine(narrative, MAX_NARRATIVE);
  if (line === '') return { reason: 'the narrative of the reply is empty' };
  return { text: { narrative: line, contentTypes: types } };
}

/** What stands in the text's only code fence. */
function inFence(text: string): string | undefined {
  const fences = [...text.matchAll(/^```[a-z]*[ \t]*\r?\n([\s\S]*?)\r?\n```[ \t]*$/gim)];
  return fences.length === 1 ? fences[0]?.[1] : undefined;
}

function readTypes(value: unknown): ContentType[] | string {
  if (!Array.isArray(value)) return 'the reply has no contentTypes';
  const entries: ContentType[] = [];
  for (const entry of value as unknown[]) {
    if (!isObject(entry)) return 'an entry of contentTypes is no object';
    const { label, share, evidence } = entry;
    if (typeof label !== 'string') return 'an entry of contentTypes has no label';
    const name = cleanLine(label, MAX_LABEL);
    if (typeof share !== 'number' || !Number.isFinite(share) || share < 0) {
      return `the share of "${name}" is not a number from 0`;
    }
    if (evidence !== undefined && typeof evidence !== 'string')
      return `the evidence of "${name}" is not text`;
    if (name !== '') entries.push({ label: name, share, evidence: cleanLine(evidence ?? '', MAX_EVIDENCE) });
  }
  const types = normalizeShares(entries);
  return types.length === 0 ? 'the reply names no content type' : types;
}

/**
 * Entries of one label joined, the largest first, what is beyond the eighth as "other", and the shares as
 * hundredths that add up to 1 exactly, by largest remainder. Weights of any scale will do; what rounds to
 * nothing is left out.
 */
export function normalizeShares(entries: readonly ContentType[]): ContentType[] {
  const largest = Math.max(0, ...entries.map(({ share }) => share));
  if (!(largest > 0)) return [];
  // Scaled first: the sum of huge weights is beyond all numbers.
  const rows = bounded(joined(entries.map((entry) => ({ ...entry, share: entry.share / largest }))));
  const total = rows.reduce((sum, { share }) => sum + share, 0);
  const exact = rows.map(({ share }) => (share / total) * HUNDRED);
  const whole = exact.map(Math.floor);
  const byRemainder = exact
    .map((value, index) => ({ index, rest: value - Math.floor(value) }))
    .sort((a, b) => b.rest - a.rest || a.index - b.index);
  const missing = HUNDRED - whole.reduce((sum, n) => sum + n, 0);
  for (const { index } of byRemainder.slice(0, missing)) whole[index] = (whole[index] ?? 0) + 1;
  return sorted(rows.map((row, index) => ({ ...row, share: (whole[index] ?? 0) / HUNDRED }))).filter(
    ({ share }) => share > 0,
  );
}

const HUNDRED = 100;

function joined(entries: readonly ContentType[]): ContentType[] {
  const rows = new Map<string, ContentType>();
  for (const entry of entries) {
    const key = entry.label.toLowerCase();
    const known = rows.get(key);
    if (known === undefined) rows.set(key, { ...entry });
    else {
      known.share += entry.share;
      if (known.evidence === '') known.evidence = entry.evidence;
    }
  }
  return sorted([...rows.values()]);
}

function bounded(rows: readonly ContentType[]): ContentType[] {
  if (rows.length <= MAX_TYPES) return [...rows];
  const rest = rows.slice(MAX_TYPES - 1).reduce((sum, { share }) => sum + share, 0);
  return joined([...rows.slice(0, MAX_TYPES - 1), { label: 'other', share: rest, evidence: '' }]);
}

function sorted(rows: readonly ContentType[]): ContentType[] {
  return [...rows].sort((a, b) => b.share - a.share || (a.label < b.label ? -1 : 1));
}
