import { chmodSync, writeFileSync } from 'node:fs';

import type { SpeechMachine, SpeechOrder } from '../../src/lib/notify/speech/engines/engine';
import type { ChannelDeps } from '../../src/lib/notify/channels/channel';
import type { Speech } from '../../src/lib/notify/speech/queue';
import { run } from '../../src/lib/platform/process/process';
import type { TakeTurn } from '../../src/lib/platform/process/turn';

/** A machine on which these programs are, by the path of each; they are really run. */
export function machineWith(
  programs: Readonly<Record<string, string>>,
  platform: NodeJS.Platform = 'linux',
): SpeechMachine {
  return { platform, find: (name) => programs[name], run, takeTurn: alone };
}

/** There is no other process. */
export const alone: TakeTurn = (_waiter, work) => work();

/** A small shell script that stands for a program. */
export function script(path: string, lines: string): string {
  writeFileSync(path, `#!/bin/sh\n${lines}\n`);
  chmodSync(path, 0o755);
  return path;
}

/** An order for a text, with plenty of time. */
export function orderOf(text: string, more: Partial<SpeechOrder> = {}): SpeechOrder {
  return { text, remainingMs: () => 20_000, signal: new AbortController().signal, ...more };
}

/** A voice that is switched on and speaks as it is told. */
export function voiceThat(say: Speech['say']): ChannelDeps['voice'] {
  return { speech: { say }, isOff: () => false, status: () => ({ engines: ['test'] }) };
}

/** The voice of a machine that has none: it says so of every text. */
export function noVoice(): ChannelDeps['voice'] {
  return voiceThat(() => Promise.resolve({ spoken: false, reason: 'no speech engine is set up' }));
}
