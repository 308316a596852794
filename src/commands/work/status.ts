import { BaseCommand } from '../../lib/cli/base-command';
import { openWork } from '../../lib/app/work';
import { workStatus, type WorkStatus } from '../../lib/work/status';
import { statusText } from '../../lib/work/view-results';

export default class WorkStatusCommand extends BaseCommand {
  static override summary = 'Show the status of work tracking';
  static override description = 'Uses local data only.';
  static override examples = ['work status', 'work status --json'];
  static override related = ['work verify', 'work board', 'config show'];

  async run(): Promise<WorkStatus> {
    const { deps, warnings, shown } = await openWork(this.context);
    for (const warning of warnings) this.say(warning);
    const status = workStatus(deps);
    return this.show(status, () => statusText(status, shown(this.terminal)));
  }
}
