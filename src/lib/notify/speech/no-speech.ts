import type { Speech } from './speech';

/** The voice of a machine that has none: it says so of every text. */
export function noSpeech(): Speech {
  return {
    say: () => Promise.resolve({ spoken: false, reason: 'no speech engine is set up' }),
    close: () => Promise.resolve(),
  };
}
