import { BaseCommand, ofOr, word } from '../../../lib/cli/base-command';
import { setClassification } from '../../../lib/app/sense';
import { APP_KINDS, type AppKind } from '../../../lib/time/classify';
import type { Classified } from '../../../lib/sense/classify-file';
import { classifiedText } from '../../../lib/sense/view-status';

export default class SenseClassifySet extends BaseCommand {
  static override summary = 'Classify an application as creation, consumption or neutral';
  static override description =
    'Writes a rule to sense/classify.yaml, preserving comments. The rule applies from today; --of also rebuilds past records that still have an event log.';
  static override args = {
    app: word({ required: true, description: 'Name from "steward sense today", or "site:NAME".' }),
    kind: word({ required: true, options: [...APP_KINDS], description: 'Classification.' }),
  };
  static override flags = {
    of: ofOr('today', 'Rebuild the records of these days, which end today'),
  };
  static override examples = [
    'sense classify set Firefox creation',
    'sense classify set Firefox creation --of "last 2 weeks"',
  ];
  static override related = ['sense classify explain APP', 'sense today'];

  async run(): Promise<Classified> {
    const { args, flags } = await this.parse(SenseClassifySet);
    const { from } = await this.latest(flags.of);
    const result = await setClassification(this.context, args.app, args.kind as AppKind, from);
    return this.show(result, () => classifiedText(result));
  }
}
