import { BaseCommand, integer, machine, of } from '../../lib/cli/base-command';
import { openMachines } from '../../lib/app/machines';
import { openSense } from '../../lib/app/sense';
import type { StewardError } from '../../lib/errors';
import { MAX_RECENT_DAYS, recent } from '../../lib/sense/read';
import { recordDocument, type RecordDocument } from '../../lib/time/record';
import { recentText } from '../../lib/sense/view-status';
import { definedOnly } from '../../lib/platform/files/json-object';

export default class SenseRecent extends BaseCommand {
  static override summary = 'Show recent records, one line per day';
  static override flags = {
    of: of('Days to show (default: the last 7 records)'),
    days: integer({ description: 'Number of records, 1 to 366.', hidden: true, exclusive: ['of'] }),
    machine,
  };
  static override examples = ['sense recent', 'sense recent --of "last 30 days" --json'];
  static override related = ['sense today', 'sense export'];

  async run(): Promise<RecordDocument[]> {
    const { flags } = await this.parse(SenseRecent);
    const sense = await openSense(this.context);
    const deps = await openMachines(this.context, sense.deps, flags.machine, this.say);
    const onDamaged = ({ message }: StewardError): void => this.say(message);
    const { from, to } = flags.of === undefined ? {} : await this.period(flags.of);
    const days = flags.days ?? (from === undefined ? 7 : MAX_RECENT_DAYS);
    const records = recent(deps, days, { ...definedOnly({ from, to }), onDamaged });
    return this.show(records.map(recordDocument), () =>
      records.length === 0 && flags.of !== undefined
        ? `No day of ${JSON.stringify(flags.of)} is recorded.`
        : recentText(records, this.terminal),
    );
  }
}
