import type { StewardError } from '../../errors';
import type { Clock } from '../../platform/time/clock';
import {
  installHint,
  speechEngines,
  usableEngines,
  type ProviderSettings,
  type SpeechEngine,
  type SpeechMachine,
} from './engines';
import { pronunciationFile } from './terms';
import { speechQueue, type Speech } from './queue';
import { transform, type Transformed } from './transform';

export interface VoiceSettings {
  /** `auto`, `none` or an engine's id (`notify.voice.engine`). */
  engine: string;
  provider: ProviderSettings;
}

export interface VoiceDeps {
  clock: Clock;
  machine: SpeechMachine;
  /** The current settings; the same object until they change. */
  settings: () => VoiceSettings;
  /** Reads changed settings, before each text; left out where they cannot change. */
  refresh?: () => Promise<void> | undefined;
  /** The principal's pronunciation file; it need not be there. */
  pronunciations: string;
  /** Told once of each problem with that file, when a text is spoken. */
  onProblem: (problem: StewardError) => void;
}

/** The voice with all its parts. The daemon keeps one; a command makes one for its text. */
export interface Voice {
  speech: Speech;
  /** What would be said, and what is wrong with the pronunciation file, if anything. */
  preview: (text: string) => Transformed & { problem?: StewardError };
  /** The engines that may be tried now, in order; with none, why, and what a person can do. */
  status: () => { engines: string[]; reason?: string; hint?: string };
  /** Is the voice switched off (`notify.voice.engine` is `none`)? */
  isOff: () => boolean;
}

/** Looking through the PATH for each text would take longer than all the rest where many come at once, ms. */
const LOOKED_MS = 1000;

/** Joins pronunciation, engines and queue (service.md: Voice). Reads and starts nothing yet. */
export function makeVoice(deps: VoiceDeps): Voice {
  const { clock, machine } = deps;
  const pronunciations = pronunciationFile(deps.pronunciations);
  const usable = usableNow(deps);
  const isOff = (): boolean => deps.settings().engine === 'none';
  const without = (): { reason: string; hint: string } => ({
    reason: isOff() ? 'The voice is switched off' : 'Nothing here can speak',
    hint: installHint(deps.settings().engine, machine.platform),
  });
  let told: StewardError | undefined;
  const spokenOf = (text: string): string => {
    const { findTerms, problem } = pronunciations();
    if (problem !== undefined && problem !== told) deps.onProblem(problem);
    told = problem;
    return transform(text, findTerms).spoken;
  };
  return {
    speech: speechQueue({
      clock,
      machine,
      engines: usable,
      ...(deps.refresh === undefined ? {} : { refresh: deps.refresh }),
      spokenOf,
      noVoice: () => `${without().reason}. ${without().hint}`,
    }),
    preview(text) {
      const { findTerms, problem } = pronunciations();
      return { ...transform(text, findTerms), ...(problem === undefined ? {} : { problem }) };
    },
    status() {
      const engines = usable().map(({ id }) => id);
      return { engines, ...(engines.length > 0 ? {} : without()) };
    },
    isOff,
  };
}

/** The engines that the current settings allow; changed settings make new ones at once. */
function usableNow({ clock, machine, settings }: VoiceDeps): () => SpeechEngine[] {
  let made: { of: VoiceSettings; all: SpeechEngine[] } | undefined;
  let kept: { of: SpeechEngine[]; usable: SpeechEngine[]; untilMs: number } | undefined;
  return () => {
    const current = settings();
    if (made?.of !== current) made = { of: current, all: speechEngines(current.provider) };
    const { all } = made;
    if (kept?.of !== all || clock.monotonic() >= kept.untilMs) {
      const usable = usableEngines(all, current.engine, machine);
      kept = { of: all, usable, untilMs: clock.monotonic() + LOOKED_MS };
    }
    return kept.usable;
  };
}
