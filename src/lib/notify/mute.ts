import { dirname } from 'node:path';

import { readText, replaceFile } from '../platform/files/atomic-file';
import { parseIso, toIso, type Clock } from '../platform/time/clock';
import { ensureFolder, exists, removeFile } from '../platform/files/folder';
import { parseObject } from '../platform/files/json-object';

export interface MuteDeps {
  clock: Clock;
  /** `state/mute.json` */
  mute: string;
}

export interface MuteState {
  muted: boolean;
  /** Until when, ISO-8601 UTC; null: until it is taken back (or not muted). */
  until: string | null;
}

const VERSION = 1;

/** Mutes the voice, and the sound of banners, for so long; without a time until `unmute`. */
export function mute(deps: MuteDeps, forMs: number | undefined): MuteState {
  const until = forMs === undefined ? null : toIso(deps.clock.now() + forMs);
  ensureFolder(dirname(deps.mute));
  replaceFile(deps.mute, `${JSON.stringify({ version: VERSION, until })}\n`);
  return { muted: true, until };
}

/** Takes a mute back. Returns what was before. */
export function unmute(deps: MuteDeps): MuteState {
  const before = muteState(deps);
  removeFile(deps.mute);
  return before;
}

export function muteState(deps: MuteDeps): MuteState {
  // Asked at each notification: as a rule there is none.
  const text = exists(deps.mute) ? readText(deps.mute, { maxBytes: 4096 }) : undefined;
  if (text === undefined) return { muted: false, until: null };
  const until = parseObject(text)?.['until'];
  const untilMs = typeof until === 'string' ? parseIso(until) : undefined;
  // A file that cannot be read was written to mute: silence disturbs nobody, and `unmute` removes it.
  if (untilMs === undefined) return { muted: true, until: null };
  const muted = untilMs > deps.clock.now();
  return { muted, until: muted ? toIso(untilMs) : null };
}
