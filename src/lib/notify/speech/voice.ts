import type { StewardError } from '../../errors';
import type { Clock } from '../../platform/time/clock';
import {
  installHint,
  speechEngines,
  usableEngines,
  type ProviderSettings,
  type SpeechMachine,
} from './engines';
import { pronunciationFile } from './pronunciation';
import { speechQueue } from './queue';
import type { Speech } from './speech';
import { transform, type Transformed } from './transform';

export interface VoiceDeps {
  clock: Clock;
  machine: SpeechMachine;
  /** `auto`, `none` or an engine's id (`notify.voice.engine`). */
  engine: string;
  provider: ProviderSettings;
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
  /** The engines that may be tried now, in order; with none, what a person can do. */
  status: () => { engines: string[]; hint?: string };
}

/** Looking through the PATH for each text would take longer than all the rest where many come at once, ms. */
const LOOKED_MS = 1000;

/** Joins pronunciation, engines and queue (service.md: Voice). Reads and starts nothing yet. */
export function makeVoice(deps: VoiceDeps): Voice {
  const { clock, machine, engine: choice } = deps;
  const pronunciations = pronunciationFile(deps.pronunciations);
  const all = speechEngines(deps.provider);
  const usable = forAWhile(clock, () => usableEngines(all, choice, machine));
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
      spokenOf,
      noVoice: () =>
        `${choice === 'none' ? 'The voice is switched off' : 'Nothing here can speak'}. ${installHint(choice, machine.platform)}`,
    }),
    preview(text) {
      const { findTerms, problem } = pronunciations();
      return { ...transform(text, findTerms), ...(problem === undefined ? {} : { problem }) };
    },
    status() {
      const engines = usable().map(({ id }) => id);
      return { engines, ...(engines.length > 0 ? {} : { hint: installHint(choice, machine.platform) }) };
    },
  };
}

function forAWhile<T>({ monotonic }: Clock, make: () => T): () => T {
  let kept: { value: T; untilMs: number } | undefined;
  return () => {
    if (kept === undefined || monotonic() >= kept.untilMs) {
      kept = { value: make(), untilMs: monotonic() + LOOKED_MS };
    }
    return kept.value;
  };
}
