import { BaseCommand, machine, integer } from '../../lib/cli/base-command';
import { openMachines } from '../../lib/app/machines';
import { openSense } from '../../lib/app/sense';
import type { StewardError } from '../../lib/errors';
import { recent } from '../../lib/sense/read';
import { recordDocument, type RecordDocument } from '../../lib/time/record';
import { recentText } from '../../lib/sense/view-status';

export default class SenseRecent extends BaseCommand {
  static override summary = 'Show recent records, one line per day';
  static override flags = {
    days: integer({ description: 'Number of days, 1 to 366.', default: 7, helpValue: 'N' }),
    machine,
  };
  static override examples = [
    '<%= config.bin %> sense recent',
    '<%= config.bin %> sense recent --days 30 --json',
  ];
  static override related = ['sense today', 'sense export'];

  async run(): Promise<RecordDocument[]> {
    const { flags } = await this.parse(SenseRecent);
    const sense = await openSense(this.context);
    const deps = await openMachines(this.context, sense.deps, flags.machine, (text) => this.say(text));
    const onDamaged = ({ message }: StewardError): void => this.say(message);
    const records = recent(deps, flags.days, { onDamaged, hasLedger: this.json });
    return this.show(records.map(recordDocument), () => recentText(records, this.terminal));
  }
}
