import { StewardError } from '../errors';
import { readText } from '../platform/files/atomic-file';
import { isObject, parseObject } from '../platform/files/json-object';
import { isSlug } from './slug';

/** The format of the state. A newer one is read by newer versions only. */
export const SESSIONS_VERSION = 1;
/** More than that is no state. */
export const MAX_STATE_BYTES = 64 * 1024 * 1024;

export const END = '\n}}\n';
/** How the first line ends. */
export const HEAD_END = '"sessions":{';

/**
 * The slug of the stored session with this id of the assistant's: what each hook needs of the file, so no more of it is
 * parsed. Undefined when there is none. A newer format is `config`.
 */
export function storedSlug(path: string, id: string): string | undefined {
  const text = readText(path, { maxBytes: MAX_STATE_BYTES });
  if (text === undefined) return undefined;
  const state = parseObject(textNaming(text, id) ?? text);
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
 * The state with that session alone whose line has a name in it (a slug, an id of the assistant's), or with none: a hook
 * that only wants its own parses none of the thousands of others. Undefined in another form, and where several have it. In the text and
 * not in its bytes, whose methods in Node's own code each run would compile.
 */
export function textNaming(text: string, name: string): string | undefined {
  const word = JSON.stringify(name);
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
