import { BaseCommand } from '../../lib/cli/base-command';
import { openWork } from '../../lib/app/work';
import { verify } from '../../lib/work/privacy';
import { workStatus, type WorkStatus } from '../../lib/work/status';

export default class WorkVerify extends BaseCommand {
  static override summary = 'Check that the work repository is private';
  static override description =
    'steward also checks the repository every twelve hours and before each write. If the repository is not private, work tracking turns off.';
  static override examples = ['work verify', 'work verify --json'];
  static override related = ['work status', 'work setup OWNER/REPO'];

  async run(): Promise<WorkStatus['privacy'] & { repo: string }> {
    const { deps } = await openWork(this.context);
    const { repo } = await verify(deps);
    return this.show({ repo, ...workStatus(deps).privacy }, () => `${repo} is private.`);
  }
}
