import { BaseCommand, boolean, integer, text, word } from '../../lib/cli/base-command';
import { openNotify } from '../../lib/app/notify';
import { sendFromTerminal, type SentNotification } from '../../lib/cli/notify-send';
import { EVENT_NAMES, SOURCES } from '../../lib/notify/events';

const SESSION = { helpGroup: 'SESSION' };
const DELIVERY = { helpGroup: 'DELIVERY' };

export default class NotifySend extends BaseCommand {
  static override summary = 'Send a notification';
  static override description =
    'The event kind determines the channels (see `notify routes`). Delivers in the background, and retries a failing channel for a day. On a terminal, shows the results that arrive within 0.3 s.';
  static override args = {
    message: word({
      description: 'The text, up to 4,000 characters (default: stdin)',
    }),
  };
  static override flags = {
    title: text({ helpValue: 'TEXT', description: 'The title' }),
    event: text({
      description: 'Event kind, which determines the channels',
      options: EVENT_NAMES,
      default: 'taskComplete',
    }),
    priority: integer({ helpValue: 'N', description: 'Priority, 1 (lowest) to 5 (ignores quiet hours)' }),
    voice: boolean({
      description: 'Speak the message if its event kind is routed to voice',
      allowNo: true,
      default: true,
    }),
    'voice-id': text({ helpValue: 'ID', description: 'A voice from the speech provider' }),
    source: text({
      ...SESSION,
      description: 'The sender; only messages from "da" are spoken',
      options: [...SOURCES],
      default: 'da',
    }),
    phase: text({ ...SESSION, helpValue: 'PHASE', description: 'New phase of the session' }),
    slug: text({ ...SESSION, helpValue: 'SLUG', description: 'Slug of the session (for --phase)' }),
    duration: text({ ...SESSION, helpValue: 'TIME', description: 'Duration of the task, such as 7m' }),
    dedupe: text({
      ...DELIVERY,
      helpValue: 'KEY',
      description: 'Replace earlier messages that have this key',
    }),
    url: text({ helpValue: 'URL', description: 'URL to open when clicked' }),
    tag: text({ helpValue: 'TAG', description: 'A tag for push and chat (repeatable)', multiple: true }),
    wait: boolean({ ...DELIVERY, description: "Wait for each channel's first result and show it" }),
    unanswered: text({
      description: 'Resend the message with this id, which the daemon has not confirmed',
      hidden: true,
    }),
    strict: boolean({ ...DELIVERY, description: 'Wait, and fail if a channel does not deliver the message' }),
  };
  static override examples = [
    'notify send "The build is done" --duration 7m',
    'make 2>&1 | tail -1 | <%= config.bin %> notify send --event error --wait',
  ];
  static override related = ['notify speak TEXT', 'notify routes', 'notify history'];

  async run(): Promise<SentNotification> {
    const { args, flags } = await this.parse(NotifySend);
    const notify = await openNotify(this.context);
    const terminal = { ...this.terminal, isTTY: this.terminal.isTTY && !this.json };
    const { sent, shown } = await sendFromTerminal(notify, args.message, flags, terminal, (text) =>
      this.say(text),
    );
    return this.show(sent, () => shown);
  }
}
