import { StewardError } from '../errors';
import { readText } from '../platform/atomic-file';
import { isObject, parseObject } from '../platform/json-object';
import { isSlug } from './slug';

/** The format of the state. A newer one is read by newer versions only. */
export const SESSIONS_VERSION = 1;
/** More than that is no state. */
export const MAX_STATE_BYTES = 64 * 1024 * 1024;

export const LF = 10;
export const SEPARATOR = Buffer.from(',\n');
export const END = '\n}}\n';
/** How the first line ends. */
const HEAD_END = '"sessions":{';

/**
 * The slug of the stored session with this id of the assistant's: what each hook needs of the file, so no more of it is
 * parsed. Undefined when there is none. A newer format is `config`.
 */
export function storedSlug(path: string, id: string): string | undefined {
  const text = readText(path, { maxBytes: MAX_STATE_BYTES });
  if (text === undefined) return undefined;
  const state = parseObject(ownLine(text, JSON.stringify(id)) ?? text);
  const sessions = state?.['sessions'];
  if (typeof state?.['version'] !== 'number' || !isObject(sessions)) return undefined;
  refuseNewer(state['version'], path);
  return Object.keys(sessions).find((slug) => {
    const found = sessions[slug];
    const ids = isObject(found) ? found['sessionIds'] : undefined;
    return isSlug(slug) && Array.isArray(ids) && ids.includes(id);
  });
}

/**
 * The state with the one line alone that has a word in it, or with none; undefined in another form, and where several
 * have it. In the text and not in its bytes, whose methods in Node's own code each run would compile.
 */
function ownLine(text: string, word: string): string | undefined {
  const first = text.indexOf('\n');
  const head = text.slice(0, first);
  if (!head.endsWith(HEAD_END) || !text.endsWith(END)) return undefined;
  const at = text.indexOf(word, first);
  if (at === -1) return `${head}}}`;
  const from = text.lastIndexOf('\n', at) + 1;
  const to = text.indexOf('\n', at);
  if (text.includes(word, to)) return undefined;
  const line = text.slice(from, to);
  return `${head}${line.endsWith(',') ? line.slice(0, -1) : line}}}`;
}

/** What a newer steward wrote is `config`. */
export function refuseNewer(version: number, path: string): void {
  if (version <= SESSIONS_VERSION) return;
  throw new StewardError('config', `${path} was written by a newer steward (format ${version}).`, {
    hint: 'Upgrade steward; this version leaves the file alone.',
  });
}

/**
 * The text with those sessions only whose lines have a name in them (a slug, an id of the assistant's); the others are
 * not even decoded: a hook that only wants its own reads a file of thousands. Undefined as for `startOf`.
 */
export function textNaming(bytes: Buffer, name: string): string | undefined {
  const start = startOf(bytes);
  if (start === undefined) return undefined;
  const { awake } = woken(bytes.subarray(Buffer.byteLength(start) + 1, bytes.length - END.length), [
    JSON.stringify(name),
  ]);
  return `${start}${awake.join(',')}}}`;
}

/** The first line, up to where the sessions begin; undefined for another form. */
export function startOf(bytes: Buffer): string | undefined {
  const start = bytes.toString('utf8', 0, Math.max(0, bytes.indexOf(LF)));
  const tail = bytes.toString('latin1', Math.max(0, bytes.length - END.length));
  return start.endsWith(HEAD_END) && tail === END ? start : undefined;
}

/** Takes the lines that have one of the texts in them out of a block. */
export function woken(block: Buffer, wanted: readonly string[]): { asleep: Buffer[]; awake: string[] } {
  const spans = wanted
    .flatMap((name) => placesOf(block, name))
    .map((at) => lineAround(block, at))
    .sort((a, b) => a.from - b.from);
  const asleep: Buffer[] = [];
  const awake: string[] = [];
  let kept = 0;
  for (const { from, to } of spans) {
    // Two names in one line.
    if (from < kept) continue;
    if (from > kept) asleep.push(block.subarray(kept, from - SEPARATOR.length));
    awake.push(block.toString('utf8', from, to));
    kept = to + SEPARATOR.length;
  }
  if (kept < block.length) asleep.push(block.subarray(kept));
  return { asleep, awake };
}

export function placesOf(bytes: Buffer, text: string): number[] {
  const places: number[] = [];
  for (let at = bytes.indexOf(text); at !== -1; at = bytes.indexOf(text, at + 1)) places.push(at);
  return places;
}

/** The line around a place, without its separator. */
function lineAround(bytes: Buffer, at: number): { from: number; to: number } {
  const feed = bytes.indexOf(LF, at);
  const last = feed === -1 ? bytes.length : feed - 1;
  return { from: bytes.lastIndexOf(LF, at) + 1, to: last };
}
