import { openTime } from '../lib/app/time';
import { BaseCommand, boolean, machine, ofOr, text } from '../lib/cli/base-command';
import { writeAllOut } from '../lib/platform/terminal/stdio';
import { plural } from '../lib/platform/terminal/format';
import { ics, timeCsv, timewarrior } from '../lib/time/ledger/exports';
import { TIME_KEYS, type TimeKey, type TimeReport } from '../lib/time/ledger/rows';
import { timeText } from '../lib/time/ledger/view';

/** Declare each conflict on only one of the two flags; otherwise, the conflict is reported twice. */
const format = (description: string, exclusive: string[]) =>
  boolean({ helpGroup: 'FORMAT', description, exclusive });

export default class Time extends BaseCommand {
  static override summary = "Show where your time and your agents' time went";
  static override description =
    'Your own time adds up to the tracked time; agents\' times overlap. "Held up" means that an agent waited for you while you were at your desk.';
  static override flags = {
    of: ofOr('today', 'Days to show'),
    by: text({ description: 'How to group the rows.', options: [...TIME_KEYS], default: 'repo' }),
    csv: format('Print CSV.', ['timewarrior', 'ics', 'json']),
    timewarrior: format('Print your intervals in Timewarrior format.', ['ics', 'json']),
    ics: format('Print your intervals as an iCalendar file.', ['json']),
    machine,
  };
  static override examples = [
    'time --of week',
    'time --of October --by goal',
    'time --of week --by issue --csv > week.csv',
  ];
  static override related = ['sense today', 'week', 'goals'];

  async run(): Promise<TimeReport | undefined> {
    const { flags } = await this.parse(Time);
    const by = flags.by as TimeKey;
    const time = await openTime(this.context, await this.period(flags.of), { by, machine: flags.machine });
    const { report, beside, notes } = time;
    for (const note of notes) this.say(note);
    if (flags.csv) {
      await writeAllOut(timeCsv(report));
      return undefined;
    }
    if (flags.timewarrior || flags.ics) {
      const { intervals, skipped } = time.intervals();
      if (skipped.length > 0) this.say(`Skipped ${plural(skipped.length, 'day')}: only totals are left.`);
      await writeAllOut(flags.ics ? ics(intervals) : timewarrior(intervals));
      return undefined;
    }
    return this.show(report, () => timeText(report, beside, this.terminal));
  }
}
