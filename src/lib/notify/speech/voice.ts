import { StewardError } from '../../errors';
import { runStoppable } from '../../platform/process/own-process';
import type { Clock } from '../../platform/time/clock';
import type { SpeechEngine, SpeechMachine } from './engines/engine';
import { PLAYER_HINT } from './engines/players';
import { providerEngine, type ProviderSettings } from './engines/provider';
import { systemEngines } from './engines/system';
import { pronunciationFile, transform, type Transformed } from './pronunciation';
import { speechQueue } from './queue';

export interface VoiceSettings {
  /** An engine id, or `auto` or `none`. */
  engine: string;
  provider: ProviderSettings;
}

export interface VoiceDeps {
  clock: Clock;
  machine: SpeechMachine;
  /** Returns the current settings. The object stays the same until the settings change. */
  settings: () => VoiceSettings;
  refresh?: (() => Promise<void> | undefined) | undefined;
  pronunciations: string;
  /** Called once per problem with the pronunciation file. */
  onProblem: (problem: StewardError) => void;
}

/** Returns all engines in order of preference: the provider, then the system's engines. */
export function speechEngines(provider: ProviderSettings): SpeechEngine[] {
  return [providerEngine(provider), ...systemEngines()];
}

/** How long to cache the detected engines, in ms. Searching the PATH is slow. */
const DETECT_MS = 1000;

/** Creates a voice, which reads no files and starts no programs until its first use. */
export function makeVoice(deps: VoiceDeps) {
  const { clock, machine, refresh } = deps;
  const pronunciations = pronunciationFile(deps.pronunciations);
  const engines = detectedEngines(deps);
  const isOff = (): boolean => deps.settings().engine === 'none';
  /** Returns the text as it would be spoken, and any problem with the pronunciation file. */
  const preview = (text: string): Transformed & { problem?: StewardError } => {
    const { findTerms, problem } = pronunciations();
    return { ...transform(text, findTerms), ...(problem === undefined ? {} : { problem }) };
  };
  let reported: StewardError | undefined;
  const spokenOf = (text: string): string => {
    const { spoken, problem } = preview(text);
    if (problem !== undefined && problem !== reported) deps.onProblem(problem);
    reported = problem;
    return spoken;
  };
  /** Returns the usable engines in order. If text can't be spoken, `reason` and `hint` explain why. */
  const status = (): { engines: string[]; reason?: string; hint?: string } => {
    const { usable, allowed } = engines();
    const ids = usable.map(({ id }) => id);
    const lacksPlayer = (engine: SpeechEngine): boolean => engine.lacksPlayer?.(machine) === true;
    if (usable.length > 0 ? lacksPlayer(usable[0] as SpeechEngine) : allowed.some(lacksPlayer)) {
      return { engines: ids, reason: 'No audio player found', hint: PLAYER_HINT };
    }
    if (usable.length > 0) return { engines: ids };
    const reason = isOff() ? 'The voice is off' : 'No speech engine found';
    return { engines: ids, reason, hint: installHint(deps.settings().engine, machine.platform) };
  };
  const noVoice = (): string => {
    const { reason = '', hint = '' } = status();
    return `${reason}. ${hint}`;
  };
  return {
    speech: speechQueue({ clock, machine, engines: () => engines().usable, refresh, spokenOf, noVoice }),
    preview,
    status,
    isOff,
  };
}

export type Voice = ReturnType<typeof makeVoice>;

interface Detected {
  allowed: readonly SpeechEngine[];
  usable: readonly SpeechEngine[];
}

/** Detects the engines, at most once per second unless the settings have changed. */
function detectedEngines({ clock, machine, settings }: VoiceDeps): () => Detected {
  let detected: (Detected & { of: VoiceSettings; untilMs: number }) | undefined;
  return () => {
    const of = settings();
    if (detected === undefined || detected.of !== of || clock.monotonic() >= detected.untilMs) {
      const allowed =
        detected?.of === of
          ? detected.allowed
          : speechEngines(of.provider).filter(({ id }) => of.engine === 'auto' || of.engine === id);
      const usable = allowed.filter(({ detect }) => detect(machine));
      detected = { of, allowed, usable, untilMs: clock.monotonic() + DETECT_MS };
    }
    return detected;
  };
}

function installHint(choice: string, platform: NodeJS.Platform): string {
  if (choice === 'none') return 'Switch it on with `steward config set notify.voice.engine auto`.';
  if (choice === 'provider') return 'Set notify.voice.provider.apiKey to env:NAME or file:PATH.';
  if (choice !== 'auto') return `Install ${choice}, or run \`steward config set notify.voice.engine auto\`.`;
  if (platform === 'darwin') return 'Check that `say hello` works in a terminal.';
  if (platform === 'win32') return 'Check that powershell.exe is on the PATH.';
  return 'Install an engine and a player (Debian: apt-get install espeak-ng alsa-utils).';
}

interface SpeakInput {
  text: string;
  voiceId?: string | undefined;
  dryRun: boolean;
}

/** `engine` is set only if the text was spoken. */
export type SpeakResult = Transformed & { engine?: string };

const MAX_CHARACTERS = 4000;

/**
 * Speaks text immediately or, with `dryRun`, only transforms it. Throws `usage` if the text is empty or too
 * long, `unavailable` if it can't be spoken, and `canceled` if interrupted.
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
  if (isInterrupted) throw new StewardError('canceled', 'Interrupted.', { hint: 'Rerun the command.' });
  throw new StewardError('unavailable', `Could not speak the text. ${answer.reason ?? ''}`.trim(), {
    hint: 'Check the voice with `steward doctor notify`.',
  });
}

function checkText(text: string): void {
  if (text.trim() === '') {
    const hint = 'Pass the text to speak: steward notify speak "Done."';
    throw new StewardError('usage', 'The text is empty.', { hint });
  }
  const length = [...text].length;
  if (length <= MAX_CHARACTERS) return;
  const message = `The text has ${length} characters; the limit is ${MAX_CHARACTERS}.`;
  throw new StewardError('usage', message, { hint: 'Speak a summary instead.' });
}
