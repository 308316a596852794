import { join } from 'node:path';

import { zonedNow } from '../lib/app/context';
import { openOtherCount } from '../lib/app/inbox';
import { openSense } from '../lib/app/sense';
import { openSessions } from '../lib/app/sessions';
import { openUsage } from '../lib/app/usage';
import { BaseCommand, text } from '../lib/cli/base-command';
import { type Figures, keepFigures, marksOf, printLine } from '../lib/cli/statusline';
import { BARS, type DayFigures } from '../lib/cli/statusline-text';
import { inboxFiles } from '../lib/daemon/inbox-files';
import { dayBounds, dayOf } from '../lib/platform/time/time';
import { today } from '../lib/sense/read';

export default class Statusline extends BaseCommand {
  static override summary = 'Print a status line for your assistant or shell';
  static override description =
    "Shows the model, context used and usage limits from the assistant's JSON on stdin, then the session's phase and name, the number of rows in the inbox, and the time today. On a narrow terminal, shows less.";
  static override flags = {
    then: text({
      description: "Run another status line with the same input, and print steward's line below its output.",
      helpValue: 'CMD',
      exclusive: ['json'],
    }),
    format: text({
      description: 'Print a line in the format of a bar.',
      options: [...BARS],
      exclusive: ['then', 'json'],
    }),
  };
  static override examples = [
    'statusline',
    {
      description: "Show steward's line below your own",
      command: 'statusline --then ~/.claude/statusline.sh',
    },
    { description: 'Print the same information as JSON', command: 'statusline --json' },
  ];
  static override related = ['install', 'sessions', 'sense today'];

  async run(): Promise<undefined> {
    const { flags } = await this.parse(Statusline);
    const deps = await openSessions(this.context);
    const figures = await this.figures();
    await printLine(
      this.context.area,
      deps,
      { json: this.json, then: flags.then, bar: flags.format },
      figures,
    );
    return undefined;
  }

  /** Returns the figures beside the sessions, and keeps them for later status lines. */
  private async figures(): Promise<Figures> {
    const { area } = this.context;
    const { nowMs, zone } = await zonedNow(this.context);
    const day = dayOf(nowMs, zone);
    const log = join(area.sense.events, `${day}.jsonl`);
    const files = [...inboxFiles(area), area.limits, area.sense.setUp, area.sense.classify, log];
    // Read the file metadata before the figures, so that a concurrent write invalidates the kept figures.
    const marks = marksOf(files);
    const { untilMs, ...others } = await openOtherCount(this.context);
    const spending = await (await openUsage(this.context)).spending();
    const figures = { day: await this.day(), ...others, ...spending };
    const { startMs, endMs } = dayBounds(day, zone);
    keepFigures(area, { startMs, endMs: Math.min(endMs, untilMs), files, marks, figures });
    return figures;
  }

  private async day(): Promise<DayFigures> {
    if (!this.context.area.sense.isSetUp) return { creationMinutes: null, time: null };
    const { deps } = await openSense(this.context);
    const { totalMinutes, creationMinutes, ledger } = today(deps).record;
    const time = totalMinutes === 0 ? null : { totalMinutes, heldUpMinutes: ledger.heldUpMinutes };
    return { creationMinutes: time && creationMinutes, time };
  }
}
