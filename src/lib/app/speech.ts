import { join } from 'node:path';

import type { LiveConfig } from '../config/live';
import { voiceSettings } from '../config/voice';
import type { StewardError } from '../errors';
import { makeVoice, type Voice, type VoiceDeps } from '../notify/speech/voice';
import { machineStatePath } from '../platform/files/paths';
import { findProgram } from '../platform/process/spawn';
import { turnsIn } from '../platform/process/turn';
import type { Context } from './context';

type OnProblem = (problem: StewardError) => void;

/** @param onProblem called for an invalid pronunciation file */
export async function openVoice(context: Context, onProblem: OnProblem): Promise<Voice> {
  const { config } = await context.loadConfig();
  return voiceOf(context, { current: () => config }, onProblem);
}

/** The configuration of a voice. If `refresh` is set, the voice follows changes to the configuration. */
type VoiceConfig = Pick<LiveConfig, 'current'> & Partial<Pick<LiveConfig, 'refresh'>>;

/** Returns a voice that loads nothing until it is used. */
export function voiceOf(context: Context, config: VoiceConfig, onProblem: OnProblem): Voice {
  return makeVoice({ ...speechSettings(context, config), onProblem });
}

export function speechSettings(
  context: Context,
  { current, refresh }: VoiceConfig,
): Omit<VoiceDeps, 'onProblem'> {
  const { area, clock, desktop, run } = context;
  return {
    clock,
    machine: {
      platform: desktop.platform,
      find: (name) => findProgram(name),
      run,
      // User areas share one audio output, so only one of them speaks at a time.
      takeTurn: turnsIn(join(machineStatePath(), 'speech'), () => {
        return { clock, machineId: context.machineId };
      }),
    },
    settings: voiceSettings(current),
    refresh,
    pronunciations: area.pronunciations,
  };
}
