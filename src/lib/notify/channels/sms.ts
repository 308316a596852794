import { short } from '../text';
import { fault, type Channel, type ChannelDeps } from './channel';

const TIMEOUT_MS = 30_000;
const MAX_CHARS = 320;
/** Within an argument it is replaced by the text; without it the text goes to stdin. */
const PLACE = '{message}';

/** The principal's own tool for short messages, never through a shell. */
export function smsChannel({ run, smsCommand }: Pick<ChannelDeps, 'run' | 'smsCommand'>): Channel {
  return {
    id: 'sms',
    off() {
      if (smsCommand().length > 0) return undefined;
      const hint =
        'Set a program and its arguments: `steward config set notify.smsCommand PROGRAM,ARGUMENT`.';
      return { reason: 'no command is set', hint };
    },
    async send({ title, message }) {
      const [program = '', ...given] = smsCommand();
      const text = short(title === undefined ? message : `${title}: ${message}`, MAX_CHARS);
      const input = given.some((arg) => arg.includes(PLACE)) ? '' : `${text}\n`;
      const args = given.map((arg) => filled(arg, text));
      try {
        const { code, timedOut } = await run(program, args, { timeoutMs: TIMEOUT_MS, input });
        if (code === 0) return { outcome: 'delivered' };
        const end = code === null ? 'was killed' : `ended with code ${code}`;
        const reason = `The command for short messages ${timedOut ? 'did not end in 30 s' : end}.`;
        return { outcome: 'again', reason, hint: 'Run the command of notify.smsCommand by hand.' };
      } catch (error) {
        return fault(error, ['not_found']);
      }
    },
  };
}

/** An argument that is the text alone, and begins with a dash, would be an option. */
function filled(arg: string, text: string): string {
  const full = arg.split(PLACE).join(text);
  return arg.startsWith(PLACE) && full.startsWith('-') ? ` ${full}` : full;
}
