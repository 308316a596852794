import { join } from 'node:path';

import { BaseCommand } from '../lib/cli/base-command';
import { openSense } from '../lib/app/sense';
import { openSessions } from '../lib/app/sessions';
import { keepCreation, lineOf, marksOf, writeLine } from '../lib/cli/statusline';
import { exists } from '../lib/platform/files/folder';
import { dayBounds, dayOf } from '../lib/platform/time/time';
import { today } from '../lib/sense/read';

export default class Statusline extends BaseCommand {
  static override summary = 'Print one line about the sessions and the day.';
  static override description =
    "For the status line of an assistant, which gives its session on stdin, or of a shell: the session's phase and name, how many others wait for you, and today's time of creation.";
  static override examples = [
    '<%= config.bin %> statusline',
    { description: 'The same, for a script', command: '<%= config.bin %> statusline --json' },
  ];
  static override related = ['sessions', 'sense today'];

  async run(): Promise<undefined> {
    await this.parse(Statusline);
    const deps = await openSessions(this.context);
    writeLine(await lineOf(deps, await this.creation()), this.json);
    return undefined;
  }

  /** Reads the day, and keeps the figure for the next lines. */
  private async creation(): Promise<number | null> {
    const { area, clock } = this.context;
    if (!exists(area.sense.config)) return null;
    const { deps } = await openSense(this.context);
    const day = dayOf(clock.now(), deps.timezone);
    const log = join(area.sense.events, `${day}.jsonl`);
    // Before the day is read: what is written meanwhile makes the figure old.
    const marks = marksOf(area, log);
    const minutes = today(deps).record.creationMinutes;
    keepCreation(area, { ...dayBounds(day, deps.timezone), log, minutes }, marks);
    return minutes;
  }
}
