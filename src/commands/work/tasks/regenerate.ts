import { BaseCommand, boolean } from '../../../lib/cli/base-command';
import { openWork } from '../../../lib/app/work';
import { regenerateTaskList, type TaskListResult } from '../../../lib/work/task-list';
import { taskListText } from '../../../lib/work/view-results';

export default class WorkTasksRegenerate extends BaseCommand {
  static override summary = 'Regenerate TASKLIST.md from all issues';
  static override description =
    'The same issues produce the same file. If a push fails, the local file is still updated; the exit code is 4 (credential) or 8 (unavailable).';
  static override flags = {
    'commit-push': boolean({
      description: 'If the file changed, commit and push it to the work repository.',
    }),
  };
  static override examples = ['work tasks regenerate', 'work tasks regenerate --commit-push'];
  static override related = ['work board', 'work list'];

  async run(): Promise<TaskListResult> {
    const { flags } = await this.parse(WorkTasksRegenerate);
    const { deps } = await openWork(this.context);
    const { result, trouble } = await regenerateTaskList(deps, { push: flags['commit-push'] });
    if (result.reason !== null && trouble === undefined) this.say(result.reason);
    this.print(() => taskListText(result));
    if (trouble !== undefined) throw trouble;
    return result;
  }
}
