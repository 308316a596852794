import { BUS, keepBus, type Bus } from '../../platform/desktop/bus';
import type { Choice } from '../pushes';

export const TIMEOUT_MS = 5_000;
/** A banner shows a longer text only in part. */
const MAX_CHARS = 300;
const MAX_LINES = 8;
/** A desktop leaves out what it has no room for. */
const MAX_BUTTONS = 5;
export const NAME = 'org.freedesktop.Notifications';
const PRESSED = `type='signal',sender='${NAME}',interface='${NAME}',member='ActionInvoked'`;

/** Returns the choices that get a button: only those that refuse if the banner can't show the whole text. */
export function shownOnBanner(choices: readonly Choice[], text: string): readonly Choice[] {
  const isWhole = text.length <= MAX_CHARS && text.split('\n').length <= MAX_LINES;
  return isWhole && choices.length <= MAX_BUTTONS ? choices : choices.filter(({ isSafe }) => isSafe);
}

/** Keeps a connection for the banners with buttons, because a service tells only the sender what you pressed. */
export function bannerButtons() {
  let kept: Promise<Bus> | undefined;
  let pressed: string[] = [];
  const shown = new Set<string>();
  const end = (): void => {
    kept = undefined;
    shown.clear();
  };
  const connect = async (address: string): Promise<Bus> => {
    const bus = await keepBus({ address, timeoutMs: TIMEOUT_MS }, end);
    bus.onSignal(NAME, 'ActionInvoked', ([, token]) => pressed.push(String(token)));
    await bus.call({ ...BUS, member: 'AddMatch', signature: 's', body: [PRESSED] });
    return bus;
  };
  return {
    /** The banners whose buttons the service reports to this connection. */
    shown,
    bus: (address: string): Promise<Bus> => (kept ??= connect(address)),
    /** Returns the tokens of the buttons that you pressed since the last call. */
    take(): string[] {
      const tokens = pressed;
      pressed = [];
      return tokens;
    },
  };
}

export type BannerButtons = ReturnType<typeof bannerButtons>;
