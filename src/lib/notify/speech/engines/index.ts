import type { SpeechEngine, SpeechMachine } from './engine';
import { providerEngine, type ProviderSettings } from './provider';
import { espeakEngine, festivalEngine, fliteEngine, sapiEngine, sayEngine, spdEngine } from './system';

export type { SpeechEngine, SpeechMachine } from './engine';
export { players } from './players';
export type { ProviderSettings } from './provider';

/** The engines in the order to try: the configured provider, then the system's own. */
export function speechEngines(provider: ProviderSettings): SpeechEngine[] {
  return [
    providerEngine(provider),
    sayEngine(),
    sapiEngine(),
    espeakEngine(),
    fliteEngine(),
    festivalEngine(),
    spdEngine(),
  ];
}

/** `auto`: all that this machine has; `none`: no voice; an id: that one alone. */
export function usableEngines(
  engines: readonly SpeechEngine[],
  choice: string,
  machine: SpeechMachine,
): SpeechEngine[] {
  return engines.filter(({ id, detect }) => (choice === 'auto' || choice === id) && detect(machine));
}

/** What to do where nothing can speak, for a person. */
export function installHint(choice: string, platform: NodeJS.Platform): string {
  if (choice === 'none') return 'Run `steward config set notify.voice.engine auto` to have a voice.';
  if (choice === 'provider') {
    return 'Set notify.voice.provider.apiKey (env:NAME or file:PATH), and have a player such as aplay.';
  }
  if (choice !== 'auto') return `Install ${choice}, or run \`steward config set notify.voice.engine auto\`.`;
  if (platform === 'darwin') return 'Check that `say hello` works in a terminal.';
  if (platform === 'win32') return 'Check that powershell.exe is on the PATH.';
  return 'Install an engine and a player, on Debian: apt-get install espeak-ng alsa-utils.';
}
