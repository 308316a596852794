import { toStewardError } from '../../errors';
import type { Run } from '../../platform/process/process';
import { short } from '../text';
import type { Channel } from './channel';

export interface SmsDeps {
  run: Run;
  /** A program and its arguments; empty: none. `{message}` within an argument is replaced by the text. */
  command: () => readonly string[];
}

const TIMEOUT_MS = 30_000;
const MAX_CHARS = 320;
const PLACE = '{message}';

/** The principal's own tool for short messages (service.md: rule 8), never through a shell. */
export function smsChannel(deps: SmsDeps): Channel {
  return {
    id: 'sms',
    off() {
      if (deps.command().length > 0) return undefined;
      const hint =
        'Set a program and its arguments: `steward config set notify.smsCommand PROGRAM,ARGUMENT`.';
      return { reason: 'no command is set', hint };
    },
    prepare: () => Promise.resolve(),
    async send(parcel) {
      const [program = '', ...given] = deps.command();
      const text = short(
        parcel.title === undefined ? parcel.message : `${parcel.title}: ${parcel.message}`,
        MAX_CHARS,
      );
      const named = given.some((arg) => arg.includes(PLACE));
      try {
        const { code, timedOut } = await deps.run(
          program,
          given.map((arg) => filled(arg, text)),
          { timeoutMs: TIMEOUT_MS, input: named ? '' : `${text}\n` },
        );
        if (code === 0) return { outcome: 'delivered' };
        const how = timedOut
          ? 'did not end in 30 s'
          : code === null
            ? 'was killed'
            : `ended with code ${code}`;
        const hint = 'Run the command of notify.smsCommand by hand.';
        return { outcome: 'again', reason: `The command for short messages ${how}.`, hint };
      } catch (error) {
        const { kind, message, hint = 'Try again.' } = toStewardError(error);
        return kind === 'not_found'
          ? { outcome: 'failed', reason: message, hint }
          : { outcome: 'again', reason: message, hint };
      }
    },
  };
}

/** An argument that is the text alone, and begins with a dash, would be an option. */
function filled(arg: string, text: string): string {
  const full = arg.split(PLACE).join(text);
  return arg.startsWith(PLACE) && full.startsWith('-') ? ` ${full}` : full;
}
