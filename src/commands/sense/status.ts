import { BaseCommand } from '../../lib/cli/base-command';
import { currentScheduler } from '../../lib/app/schedule';
import { openSense } from '../../lib/app/sense';
import { status, type SenseStatus } from '../../lib/sense/read';
import { statusText } from '../../lib/sense/view-status';

export default class SenseStatusCommand extends BaseCommand {
  static override summary = 'Show the capture settings and state';
  static override examples = ['sense status', 'sense status --json'];
  static override related = ['sense sources', 'sense capture', 'config show'];

  async run(): Promise<SenseStatus> {
    const { deps, warnings } = await openSense(this.context);
    for (const warning of warnings) this.say(warning);
    const result = status(deps, await currentScheduler(this.context));
    return this.show(result, () =>
      statusText(result, { ...this.terminal, timezone: deps.timezone, now: deps.clock.now() }),
    );
  }
}
