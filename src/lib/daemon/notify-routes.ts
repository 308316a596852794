import * as v from 'valibot';

import { readEntries, retry, type HistoryDeps, type HistoryEntry } from '../notify/history';
import type { OutboxDeps } from '../notify/outbox';
import { mute, muteState, unmute, type MuteDeps, type MuteState } from '../notify/routing';
import type { Voice } from '../notify/speech/voice';
import { parseDuration } from '../platform/time/day-words';
import type { Route } from './route';
import { writeRoute } from './write-route';

/** Response to `GET /api/notify`: the voice, the mute, and the latest notifications, newest first. */
export interface NotifyReport {
  voice: 'on' | 'off';
  muted: MuteState;
  history: HistoryEntry[];
}

const SHOWN = 30;
const WORD = v.pipe(v.string(), v.maxLength(100));

/** Each route runs the same function as the corresponding command. */
export function historyRoutes(
  deps: MuteDeps & OutboxDeps & HistoryDeps & { voice: Pick<Voice, 'isOff'> },
): Route[] {
  return [
    {
      method: 'GET',
      path: '/api/notify',
      isLive: true,
      run: (): NotifyReport => ({
        voice: deps.voice.isOff() ? 'off' : 'on',
        muted: muteState(deps),
        history: readEntries(deps, SHOWN),
      }),
    },
    writeRoute('/api/notify/retry', { id: WORD }, ({ id }) => ({
      id,
      channels: retry(deps, id).map(({ channel }) => channel),
    })),
    writeRoute('/api/notify/mute', { duration: v.optional(WORD) }, ({ duration }) =>
      mute(deps, duration === undefined ? undefined : parseDuration(duration)),
    ),
    writeRoute('/api/notify/unmute', {}, () => ({ muted: false, was: unmute(deps).muted })),
  ];
}
