import { BaseCommand, text, word } from '../../lib/cli/base-command';
import { unlessInterrupted } from '../../lib/cli/interrupt';
import { openWork } from '../../lib/app/work';
import { addInterrupted, createOrQueue, newIssue, type Added, type Queued } from '../../lib/work/add';
import { STATUSES } from '../../lib/work/label';
import { addedText } from '../../lib/work/view-results';

const LABEL = { helpGroup: 'LABEL' };

export default class WorkAdd extends BaseCommand {
  static override summary = 'Add an issue';
  static override description =
    "Creates exactly one issue, even if GitHub's response is lost. Omits and reports labels that do not exist in the repository. If GitHub does not confirm the issue, it stays queued and steward creates it later.";
  static override args = {
    title: word({ required: true, description: 'The task, in a few words.' }),
  };
  static override flags = {
    body: text({ description: 'The details, in Markdown.', helpValue: 'TEXT' }),
    type: text({ ...LABEL, description: 'Type label.', default: 'feature', helpValue: 'TYPE' }),
    status: text({ ...LABEL, description: 'Status label.', options: [...STATUSES], default: 'queued' }),
    priority: text({ ...LABEL, description: 'Priority; P0 comes first.', options: ['P0', 'P1', 'P2', 'P3'] }),
    property: text({ ...LABEL, description: 'Property label, such as "website".', helpValue: 'PROPERTY' }),
    label: text({
      ...LABEL,
      description: 'Additional label; repeatable.',
      multiple: true,
      helpValue: 'NAME',
    }),
  };
  static override examples = [
    'work add "Write the release notes" --priority P1',
    'work add "Search is slow" --type problem --property website --status ready',
  ];
  static override related = ['work remind TEXT', 'work board', 'work ready'];

  async run(): Promise<Added | Queued> {
    const { args, flags } = await this.parse(WorkAdd);
    const { deps, shown } = await openWork(this.context);
    const { label: labels = [], ...values } = flags;
    const wanted = newIssue({ title: args.title, labels, ...values });
    const added = await unlessInterrupted(createOrQueue(deps, wanted), addInterrupted);
    const lines = addedText(added, shown(this.terminal), this.say);
    return this.show(added, () => lines);
  }
}
