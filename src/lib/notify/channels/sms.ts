import { short } from '../text';
import { fault, type Channel, type ChannelDeps } from './channel';

const TIMEOUT_MS = 30_000;
const MAX_CHARS = 320;
/** Placeholder for the message text. If no argument contains the placeholder, the text is passed on stdin. */
const PLACEHOLDER = '{message}';

/** Sends messages through the configured SMS program, without a shell. */
export function smsChannel({ run, smsCommand }: Pick<ChannelDeps, 'run' | 'smsCommand'>): Channel {
  return {
    id: 'sms',
    off() {
      if (smsCommand().length > 0) return undefined;
      const hint = 'Set a program: `steward config set notify.smsCommand PROGRAM,ARGUMENT`.';
      return { reason: 'no SMS program is set', hint };
    },
    async send({ title, message }) {
      const [program = '', ...given] = smsCommand();
      const text = short(title === undefined ? message : `${title}: ${message}`, MAX_CHARS);
      const input = given.some((arg) => arg.includes(PLACEHOLDER)) ? '' : `${text}\n`;
      const args = given.map((arg) => filled(arg, text));
      try {
        const { code, timedOut } = await run(program, args, { timeoutMs: TIMEOUT_MS, input });
        if (code === 0) return { outcome: 'delivered' };
        const end = code === null ? 'was killed' : `failed with code ${code}`;
        const reason = `The SMS program ${timedOut ? 'timed out after 30 s' : end}.`;
        const hint = 'Run the command in notify.smsCommand by hand to see its error.';
        return { outcome: 'again', reason, hint };
      } catch (error) {
        return fault(error, ['not_found']);
      }
    },
  };
}

/**
 * Inserts the message. A leading space keeps a message that starts with a dash from being parsed as an
 * option.
 */
function filled(arg: string, text: string): string {
  const full = arg.split(PLACEHOLDER).join(text);
  return arg.startsWith(PLACEHOLDER) && full.startsWith('-') ? ` ${full}` : full;
}
