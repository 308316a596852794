import { textOf } from '../platform/files/json-object';
import { isLive } from '../sessions/session';
import { rowsOf } from '../sessions/rows';
import { runningSessions } from '../sessions/state';
import type { OfferedWord, WordKind } from '../shell/completion';
import { openIssues } from '../work/cache';
import { typeOf } from '../work/label';
import type { InboxRow } from '../inbox/row';
import { readObject } from '../platform/files/object-file';
import type { Context } from '../app/context';
import { openInbox } from '../app/inbox';
import { openSessions } from '../app/sessions';

/** Returns the sessions, issues or rows of the inbox that completion offers. Reads local files only. */
export async function completionWords(context: Context, kind: WordKind): Promise<OfferedWord[]> {
  if (kind === 'sessions') return sessionWords(context);
  if (kind === 'rows' || kind === 'questions' || kind === 'ended') return rowWords(context, kind);
  // Not through the configuration: loading YAML takes 18 ms, and a key stroke waits.
  const { cache, repo: chosen } = context.area.work;
  const repo = textOf(readObject(chosen)?.['repo']);
  return (repo === undefined ? [] : openIssues(cache, repo))
    .filter(({ labels }) => kind === 'issues' || typeOf(labels) === 'reminder')
    .map(({ number, title }) => ({ word: String(number), about: title }));
}

async function sessionWords(context: Context): Promise<OfferedWord[]> {
  const deps = await openSessions(context);
  const nowMs = deps.clock.now();
  const live = Object.values(runningSessions(deps).sessions).filter((session) => isLive(session, nowMs));
  return rowsOf(live, { nowMs }).map(({ name, slug, waitingFor, activity, status }) => ({
    word: SAFE_NAME.test(name) ? name : slug,
    about: waitingFor ?? activity ?? status,
  }));
}

async function rowWords(context: Context, kind: 'rows' | 'questions' | 'ended'): Promise<OfferedWord[]> {
  const { rows } = await openInbox(context);
  const isMeant = ({ ask, canEnd }: InboxRow): boolean =>
    kind === 'rows' || (kind === 'ended' ? canEnd : ask !== undefined);
  return rows.filter(isMeant).flatMap(({ id, name, why, title }) => {
    const word = [name, id].map((text) => text.replace(/^#/, '')).find((text) => SAFE_NAME.test(text));
    return word === undefined ? [] : { word, about: [why, title ?? []].flat().join(': ') };
  });
}

/** Names without characters that separate words in bash, even when they are quoted. */
const SAFE_NAME = /^[\p{L}\p{N}][\p{L}\p{M}\p{N} ._·/()+#-]{0,79}$/u;
