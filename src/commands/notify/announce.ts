import { BaseCommand, boolean, text } from '../../lib/cli/base-command';
import { openNotify } from '../../lib/app/notify';
import { HANDLINGS, announceRequest, type Announced } from '../../lib/notify/announce';
import { sendNotification } from '../../lib/notify/send';

export default class NotifyAnnounce extends BaseCommand {
  static override summary = 'Say in a few words what is begun for a request.';
  static override description =
    'The line opens with a verb that fits the request; for a workflow that exists it names workflow and skill. Conversations, and what is done directly, get no line.';
  static override flags = {
    request: text({ helpValue: 'TEXT', description: "The principal's words.", required: true }),
    kind: text({ description: 'How it is handled.', options: [...HANDLINGS], default: 'task' }),
    skill: text({ helpValue: 'NAME', description: 'The skill that handles it.' }),
    workflow: text({
      helpValue: 'NAME',
      description: 'The workflow of the skill: a file of its workflows folder, without .md.',
    }),
    skills: text({
      helpValue: 'DIR',
      description: "The folder of the skills; your assistant's own by default.",
    }),
    send: boolean({ description: 'Send the line as a notification, too.' }),
  };
  static override examples = [
    '<%= config.bin %> notify announce --request "fix the login bug in the auth service"',
    '<%= config.bin %> notify announce --request "write the newsletter" --skill Writing --workflow Newsletter --send',
  ];
  static override related = ['notify send', 'notify routes'];

  async run(): Promise<Announced> {
    const { flags } = await this.parse(NotifyAnnounce);
    const notify = await openNotify(this.context);
    const announced = await announceRequest(
      { ...notify, send: (body) => sendNotification(notify, body) },
      flags,
    );
    const { line, reason } = announced;
    if (line !== null) this.print(() => line);
    if (reason !== null)
      this.say(`${line === null ? 'Nothing to announce' : 'No workflow is named'}: ${reason}.`);
    return announced;
  }
}
