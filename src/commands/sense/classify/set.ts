import { BaseCommand, text, word } from '../../../lib/cli/base-command';
import { openSense, setClassification } from '../../../lib/app/sense';
import { APP_KINDS, type AppKind } from '../../../lib/time/classify';
import type { Classified } from '../../../lib/sense/classify-file';
import { classifiedText } from '../../../lib/sense/view-status';

export default class SenseClassifySet extends BaseCommand {
  static override summary = 'Classify an application as creation, consumption or neutral';
  static override description =
    'Writes a rule to sense/classify.yaml, preserving comments. The rule applies from today; --since also rebuilds earlier records that still have an event log.';
  static override args = {
    app: word({ required: true, description: 'Application name, as shown by "steward sense today".' }),
    kind: word({ required: true, options: [...APP_KINDS], description: 'Classification.' }),
  };
  static override flags = {
    since: text({ description: 'Also rebuild records from this day on.', helpValue: 'DAY' }),
  };
  static override examples = [
    '<%= config.bin %> sense classify set Firefox creation',
    '<%= config.bin %> sense classify set Firefox creation --since "2 weeks ago"',
  ];
  static override related = ['sense classify explain APP', 'sense today'];

  async run(): Promise<Classified> {
    const { args, flags } = await this.parse(SenseClassifySet);
    const { readDay } = await openSense(this.context);
    const since = flags.since === undefined ? undefined : await readDay(flags.since);
    const result = await setClassification(this.context, args.app, args.kind as AppKind, since);
    return this.show(result, () => classifiedText(result));
  }
}
