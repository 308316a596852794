import { join } from 'node:path';

import { BaseCommand, text } from '../lib/cli/base-command';
import { openSense } from '../lib/app/sense';
import { openSessions } from '../lib/app/sessions';
import { keepCreation, marksOf, printLine } from '../lib/cli/statusline';
import { exists } from '../lib/platform/files/folder';
import { dayBounds, dayOf } from '../lib/platform/time/time';
import { today } from '../lib/sense/read';

export default class Statusline extends BaseCommand {
  static override summary = 'Print a status line for your assistant or shell';
  static override description =
    "Shows the model, used context and usage limits from the JSON that the assistant pipes in, followed by steward's part: the session's phase and name, how many others wait for you, and today's creation time. A narrow terminal shows less.";
  static override flags = {
    then: text({
      description: "Run another status line with the same input, and print steward's part below it.",
      helpValue: 'CMD',
    }),
  };
  static override examples = [
    '<%= config.bin %> statusline',
    {
      description: 'Below your own status line',
      command: '<%= config.bin %> statusline --then ~/.claude/statusline.sh',
    },
    { description: 'Print the same information as JSON', command: '<%= config.bin %> statusline --json' },
  ];
  static override related = ['hooks install', 'sessions', 'sense today'];

  async run(): Promise<undefined> {
    const { flags } = await this.parse(Statusline);
    const deps = await openSessions(this.context);
    const creation = await this.creation();
    await printLine(this.context.area, deps, { json: this.json, then: flags.then }, creation);
    return undefined;
  }

  /**
   * Returns today's creation minutes (null if no time is recorded) and caches them for later status lines.
   */
  private async creation(): Promise<number | null> {
    const { area, clock } = this.context;
    if (!exists(area.sense.config)) return null;
    const { deps } = await openSense(this.context);
    const day = dayOf(clock.now(), deps.timezone);
    const log = join(area.sense.events, `${day}.jsonl`);
    // Computed before the day is read, so that a concurrent write invalidates the cache.
    const marks = marksOf(area, log);
    const { totalMinutes, creationMinutes } = today(deps).record;
    const minutes = totalMinutes === 0 ? null : creationMinutes;
    keepCreation(area, { ...dayBounds(day, deps.timezone), log, minutes }, marks);
    return minutes;
  }
}
