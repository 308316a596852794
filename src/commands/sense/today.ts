import { BaseCommand, machine, text } from '../../lib/cli/base-command';
import { openMachines } from '../../lib/app/machines';
import { openSense } from '../../lib/app/sense';
import { openInbox } from '../../lib/app/inbox';
import { toStewardError } from '../../lib/errors';
import { dayView, today } from '../../lib/sense/read';
import { recordDocument, type RecordDocument } from '../../lib/time/record';
import { recordText } from '../../lib/sense/view';

export default class SenseToday extends BaseCommand {
  static override summary = 'Show the record of today or another day';
  static override description =
    'Shows time by application and hour, commits, sessions, and untracked time. Stores nothing.';
  static override flags = {
    of: text({ description: 'Day, such as 2026-11-20 or "yesterday" (default: today).', helpValue: 'DAY' }),
    machine,
  };
  static override examples = [
    'sense today',
    'sense today --of yesterday',
    {
      description: 'Print the creation minutes, for a script',
      command: 'sense today --json | jq .creationMinutes',
    },
  ];
  static override related = ['sense recent', 'sense status', 'sense classify explain APP'];

  async run(): Promise<RecordDocument> {
    const { flags } = await this.parse(SenseToday);
    const sense = await openSense(this.context);
    const deps = await openMachines(this.context, sense.deps, flags.machine, this.say);
    const { record, ...beside } =
      flags.of === undefined ? today(deps) : dayView(deps, await sense.readDay(flags.of));
    const waiting =
      this.json || record.final || deps.machines?.()?.hasOwn === false
        ? 0
        : await openInbox(this.context).then(
            ({ count }) => count,
            (error: unknown) => this.reportProblem(error),
          );
    return this.show(recordDocument(record), () =>
      recordText(record, { ...this.terminal, ...beside, waiting }),
    );
  }

  /** Prints the error and falls back to nothing waiting. */
  private reportProblem(error: unknown): number {
    this.say(toStewardError(error).message);
    return 0;
  }
}
