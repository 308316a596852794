import type { PathHost } from '../platform/files/paths';
import { sessionKey } from '../sessions/session-key';
import { ASSISTANTS } from './index';
import { orUndefined } from './registered';
import { readTranscripts, type TranscriptActivity } from './transcripts';

/** Calls `take` for each entry since `sinceMs` in the transcripts of all assistants, with the session's key. */
export function pastActivity(host: PathHost, sinceMs: number, take: (activity: TranscriptActivity) => void) {
  for (const { id, transcripts } of ASSISTANTS)
    readTranscripts(orUndefined(() => transcripts?.(host)) ?? [], sinceMs, (activity) =>
      take({ ...activity, session: sessionKey(id, activity.session) }),
    );
}
