import { BaseCommand, boolean, integer, text, word } from '../../lib/cli/base-command';
import { openNotify } from '../../lib/app/notify';
import { sendFromTerminal, type Sent } from '../../lib/cli/notify-send';
import { EVENT_NAMES, SOURCES } from '../../lib/notify/events';

export default class NotifySend extends BaseCommand {
  static override summary = 'Send a notification.';
  static override description =
    'By its event it is spoken, shown, pushed, or posted to a chat (`notify routes`). It is accepted at once and delivered in the background; a channel that is down is tried again for a day, and keeps nothing else waiting.';
  static override args = {
    message: word({
      description: 'What is said, at most 4,000 characters; without it, or with -, it is read from stdin.',
    }),
  };
  static override flags = {
    title: text({ helpValue: 'TEXT', description: 'Title of the notification.' }),
    event: text({ description: 'What happened.', options: EVENT_NAMES, default: 'taskComplete' }),
    priority: integer({ helpValue: 'N', description: '1 (lowest) to 5 (passes quiet hours).' }),
    voice: boolean({ description: 'Speak it, where the event is spoken.', allowNo: true, default: true }),
    'voice-id': text({ helpValue: 'ID', description: 'A voice of the speech provider.' }),
    source: text({ description: 'Who speaks; only da is heard.', options: [...SOURCES], default: 'da' }),
    phase: text({ helpValue: 'PHASE', description: "The session's phase that begins with it." }),
    slug: text({ helpValue: 'SLUG', description: 'The session that the phase is of.' }),
    duration: text({ helpValue: 'TIME', description: 'How long the task took, such as 7m.' }),
    dedupe: text({ helpValue: 'KEY', description: 'Messages of one key are one message that changes.' }),
    url: text({ helpValue: 'URL', description: 'An address that a click opens.' }),
    tag: text({
      helpValue: 'TAG',
      description: 'A tag for push and chat; may be given several times.',
      multiple: true,
    }),
    wait: boolean({ description: 'Wait until each channel has answered once, and say what it answered.' }),
    unanswered: text({ description: 'The id that a daemon gave no answer to.', hidden: true }),
    strict: boolean({ description: 'Wait, and fail when a channel did not take it.' }),
  };
  static override examples = [
    '<%= config.bin %> notify send "The build is done" --duration 7m',
    'make 2>&1 | tail -1 | <%= config.bin %> notify send --event error --wait',
  ];
  static override related = ['notify routes', 'notify test', 'notify history'];

  async run(): Promise<Sent> {
    const { args, flags } = await this.parse(NotifySend);
    const notify = await openNotify(this.context);
    const { sent, shown } = await sendFromTerminal(notify, args.message, flags, this.terminal, (text) =>
      this.say(text),
    );
    return this.show(sent, () => shown);
  }
}
