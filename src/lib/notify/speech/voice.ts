import { StewardError } from '../../errors';
import { runStoppable } from '../../platform/process/own-process';
import type { Clock } from '../../platform/time/clock';
import {
  type ProviderSettings,
  type SpeechEngine,
  type SpeechMachine,
  installHint,
  speechEngines,
  usableEngines,
} from './engines';
import { type Speech, speechQueue } from './queue';
import { pronunciationFile } from './terms';
import { type Transformed, transform } from './transform';

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
  refresh?: (() => Promise<void> | undefined) | undefined;
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

/** Joins pronunciation, engines and queue. Reads and starts nothing yet. */
export function makeVoice(deps: VoiceDeps): Voice {
  const { clock, machine, refresh } = deps;
  const pronunciations = pronunciationFile(deps.pronunciations);
  const engines = usableNow(deps);
  const isOff = (): boolean => deps.settings().engine === 'none';
  const without = (): { reason: string; hint: string } => ({
    reason: isOff() ? 'The voice is switched off' : 'Nothing here can speak',
    hint: installHint(deps.settings().engine, machine.platform),
  });
  const preview: Voice['preview'] = (text) => {
    const { findTerms, problem } = pronunciations();
    return { ...transform(text, findTerms), ...(problem === undefined ? {} : { problem }) };
  };
  let told: StewardError | undefined;
  const spokenOf = (text: string): string => {
    const { spoken, problem } = preview(text);
    if (problem !== undefined && problem !== told) deps.onProblem(problem);
    told = problem;
    return spoken;
  };
  const noVoice = (): string => `${without().reason}. ${without().hint}`;
  return {
    speech: speechQueue({ clock, machine, engines, refresh, spokenOf, noVoice }),
    preview,
    status() {
      const ids = engines().map(({ id }) => id);
      return { engines: ids, ...(ids.length > 0 ? {} : without()) };
    },
    isOff,
  };
}

/** The engines that the current settings allow; changed settings make new ones at once. */
function usableNow({ clock, machine, settings }: VoiceDeps): () => SpeechEngine[] {
  let made: { of: VoiceSettings; all: SpeechEngine[]; usable: SpeechEngine[]; untilMs: number } | undefined;
  return () => {
    const of = settings();
    if (made === undefined || made.of !== of || clock.monotonic() >= made.untilMs) {
      const all = made?.of === of ? made.all : speechEngines(of.provider);
      const usable = usableEngines(all, of.engine, machine);
      made = { of, all, usable, untilMs: clock.monotonic() + LOOKED_MS };
    }
    return made.usable;
  };
}

export interface SpeakInput {
  text: string;
  voiceId?: string | undefined;
  /** Only say what would be spoken. */
  dryRun: boolean;
}

/** What was spoken, or would be: `engine` where it was. */
export type SpeakResult = Transformed & { engine?: string };

const MAX_CHARACTERS = 4000;

/**
 * Speaks one text now, or only shows it after the transforms. An empty or over-long text is `usage`; one that could not
 * be spoken `unavailable`, and `canceled` when it was interrupted.
 */
export async function speakNow(
  open: (onProblem: (problem: StewardError) => void) => Promise<Voice>,
  input: SpeakInput,
  onProblem: (problem: StewardError) => void,
): Promise<SpeakResult> {
  checkText(input.text);
  const voice = await open(onProblem);
  const { text, spoken, problem } = voice.preview(input.text);
  if (input.dryRun) {
    if (problem !== undefined) onProblem(problem);
    return { text, spoken };
  }
  let isInterrupted = false;
  const stop = (): void => {
    isInterrupted = true;
    void voice.speech.close(0);
  };
  const utterance = input.voiceId === undefined ? { text } : { text, voiceId: input.voiceId };
  const answer = await runStoppable(stop, () => voice.speech.say(utterance));
  if (answer.spoken)
    return { text, spoken, ...(answer.engine === undefined ? {} : { engine: answer.engine }) };
  if (isInterrupted) throw new StewardError('canceled', 'Interrupted.', { hint: 'Run the command again.' });
  throw new StewardError('unavailable', `It was not spoken. ${answer.reason ?? ''}`.trim(), {
    hint: 'Mend what is named, or see what would be said with --dry-run.',
  });
}

function checkText(text: string): void {
  if (text.trim() === '') {
    const hint = 'Give a text: steward notify speak "Done."';
    throw new StewardError('usage', 'The text is empty.', { hint });
  }
  const length = [...text].length;
  if (length <= MAX_CHARACTERS) return;
  const message = `The text has ${length} characters; at most ${MAX_CHARACTERS} are spoken.`;
  throw new StewardError('usage', message, { hint: 'Speak a summary of it.' });
}
