import { BaseCommand, word } from '../../lib/cli/base-command';
import { openSense } from '../../lib/app/sense';
import { recordDocument, type RecordDocument } from '../../lib/time/record';
import { rollup } from '../../lib/sense/roll';
import { recordText } from '../../lib/sense/view';

export default class SenseRollup extends BaseCommand {
  static override summary = "Build and store a day's record";
  static override description =
    "Captures build each day's record automatically after the day ends. Today's record is not final and is replaced tomorrow.";
  static override args = {
    date: word({
      description: 'Day, such as 2026-11-20 or "yesterday" (default: today).',
    }),
  };
  static override examples = ['sense rollup', 'sense rollup yesterday'];
  static override related = ['sense recent', 'sense export'];

  async run(): Promise<RecordDocument> {
    const { args } = await this.parse(SenseRollup);
    const { deps, locked, readDay } = await openSense(this.context);
    const day = args.date === undefined ? undefined : await readDay(args.date);
    const record = await locked(() => rollup(deps, day));
    return this.show(recordDocument(record), () =>
      recordText(record, { ...this.terminal, notSeen: { idleMinutes: 0, sources: [] } }),
    );
  }
}
