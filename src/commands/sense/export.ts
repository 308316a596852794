import { StewardError } from '../../lib/errors';
import { BaseCommand, of, text } from '../../lib/cli/base-command';
import { openSense } from '../../lib/app/sense';
import { writeAllOut } from '../../lib/platform/terminal/stdio';
import { exportEvents, exportRecords } from '../../lib/sense/export';
import { eventsBetween, recordsBetween } from '../../lib/sense/read';

export default class SenseExport extends BaseCommand {
  static override summary = 'Export records or events to stdout as JSON or CSV';
  static override description =
    'Exports the days recorded on this machine; today is recorded when it is over. "days" has one row per day, "apps" has one per day and application, and "events" has one per event that is still in a log. In CSV, values that a spreadsheet would interpret as formulas are prefixed with an apostrophe.';
  static override flags = {
    what: text({ description: 'Data to export.', options: ['days', 'apps', 'events'], default: 'days' }),
    format: text({ description: 'Output format.', options: ['json', 'csv'], default: 'json' }),
    of: of('Days to export (default: all)'),
  };
  static override examples = [
    'sense export --what apps --format csv > apps.csv',
    'sense export --of 2026-11-01..2026-11-30',
  ];
  static override related = ['sense recent', 'sense purge'];

  async run(): Promise<undefined> {
    const { flags } = await this.parse(SenseExport);
    const format = flags.format === 'csv' ? 'csv' : 'json';
    if (this.json && format === 'csv')
      throw new StewardError('usage', '--json cannot be combined with --format csv.', {
        hint: 'Omit --json or --format csv.',
      });
    const { deps } = await openSense(this.context);
    const range = flags.of === undefined ? {} : await this.period(flags.of);
    const onDamaged = ({ message }: StewardError): void => this.say(message);
    const pieces =
      flags.what === 'events'
        ? exportEvents(eventsBetween(deps, range), format)
        : exportRecords(
            recordsBetween(deps, range, onDamaged),
            format,
            flags.what === 'apps' ? 'apps' : 'days',
          );
    await writeAllOut(pieces);
    return undefined;
  }
}
