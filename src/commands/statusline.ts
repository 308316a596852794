import { join } from 'node:path';

import { BaseCommand, text } from '../lib/cli/base-command';
import { openSense } from '../lib/app/sense';
import { openSessions } from '../lib/app/sessions';
import { keepDay, marksOf, printLine } from '../lib/cli/statusline';
import type { DayFigures } from '../lib/cli/statusline-text';
import { exists } from '../lib/platform/files/folder';
import { dayBounds, dayOf } from '../lib/platform/time/time';
import { today } from '../lib/sense/read';

export default class Statusline extends BaseCommand {
  static override summary = 'Print a status line for your assistant or shell';
  static override description =
    "Shows the model, context used and usage limits from the assistant's JSON on stdin, then the session's phase and name, the number of other sessions waiting for you, and today's creation time. On a narrow terminal, shows less.";
  static override flags = {
    then: text({
      description: "Run another status line with the same input, and print steward's line below its output.",
      helpValue: 'CMD',
    }),
  };
  static override examples = [
    '<%= config.bin %> statusline',
    {
      description: "Show steward's line below your own",
      command: '<%= config.bin %> statusline --then ~/.claude/statusline.sh',
    },
    { description: 'Print the same information as JSON', command: '<%= config.bin %> statusline --json' },
  ];
  static override related = ['install', 'sessions', 'sense today'];

  async run(): Promise<undefined> {
    const { flags } = await this.parse(Statusline);
    const deps = await openSessions(this.context);
    const day = await this.day();
    await printLine(this.context.area, deps, { json: this.json, then: flags.then }, day);
    return undefined;
  }

  /** Returns today's figures and caches them for later status lines. */
  private async day(): Promise<DayFigures> {
    const { area, clock } = this.context;
    if (!exists(area.sense.config)) return { creationMinutes: null };
    const { deps } = await openSense(this.context);
    const { config } = await this.context.loadConfig();
    const day = dayOf(clock.now(), deps.timezone);
    const log = join(area.sense.events, `${day}.jsonl`);
    // Read the file metadata before the figures, so that a concurrent write invalidates the cached figures.
    const marks = marksOf(area, log);
    const { totalMinutes, creationMinutes, ledger } = today(deps).record;
    const time = totalMinutes === 0 ? null : { totalMinutes, heldUpMinutes: ledger?.heldUpMinutes ?? 0 };
    const figures = {
      creationMinutes: totalMinutes === 0 ? null : creationMinutes,
      ...(config.sense.statusline ? { time } : {}),
    };
    keepDay(area, { ...dayBounds(day, deps.timezone), log, day: figures }, marks);
    return figures;
  }
}
