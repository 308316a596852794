import { BaseCommand, boolean, text } from '../../lib/cli/base-command';
import { openNotify } from '../../lib/app/notify';
import { HANDLINGS, announceRequest, type Announced } from '../../lib/notify/announce';
import { sendNotification } from '../../lib/notify/send';

export default class NotifyAnnounce extends BaseCommand {
  static override hidden = true;
  static override summary = 'Print the announcement for a task';
  static override description =
    'The announcement starts with a verb that fits the request, or names the workflow and its skill. Conversations are not announced.';
  static override flags = {
    request: text({ helpValue: 'TEXT', description: 'The request as you wrote it', required: true }),
    kind: text({
      description: 'Mode in which the assistant handles the request',
      options: [...HANDLINGS],
      default: 'task',
    }),
    skill: text({ helpValue: 'NAME', description: 'The skill that handles the request' }),
    workflow: text({
      helpValue: 'NAME',
      description: "Name of a file in the skill's workflows folder, without the .md extension",
    }),
    skills: text({
      helpValue: 'DIR',
      description: "The skills folder (default: your assistant's)",
    }),
    send: boolean({ description: 'Also send the announcement as a notification' }),
  };
  static override examples = [
    'notify announce --request "fix the login bug in the auth service"',
    'notify announce --request "write the newsletter" --skill Writing --workflow Newsletter --send',
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
      this.say(`${line === null ? 'Nothing to announce' : 'No workflow named'}: ${reason}.`);
    return announced;
  }
}
