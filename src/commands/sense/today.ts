import { BaseCommand } from '../../lib/cli/base-command';
import { openSense } from '../../lib/cli/sense-context';
import { waitingSessions } from '../../lib/cli/sessions-context';
import { toStewardError } from '../../lib/errors';
import { today } from '../../lib/sense/read';
import type { DailyRecord } from '../../lib/sense/record';
import { recordText } from '../../lib/sense/view';

export default class SenseToday extends BaseCommand {
  static override summary = "Show today's record so far.";
  static override description =
    'Time by application and hour, commits and sessions, from what was captured; and what could not be seen. Nothing is stored.';
  static override examples = [
    '<%= config.bin %> sense today',
    {
      description: 'Minutes of creation, for a script',
      command: '<%= config.bin %> sense today --json | jq .creationMinutes',
    },
  ];
  static override related = ['sense recent', 'sense status', 'sense classify explain APP'];

  async run(): Promise<DailyRecord> {
    await this.parse(SenseToday);
    const { deps } = await openSense(this.context);
    const { record, ...beside } = today(deps);
    const waiting = this.json
      ? 0
      : await waitingSessions(this.context).catch((error: unknown) => this.miss(error));
    this.print(() => recordText(record, { ...this.terminal, ...beside, waiting }));
    return record;
  }

  /** The day is shown even where the state of the sessions cannot be read. */
  private miss(error: unknown): number {
    this.say(toStewardError(error).message);
    return 0;
  }
}
