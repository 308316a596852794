import { BaseCommand, boolean, limit } from '../../lib/cli/base-command';
import { openWork } from '../../lib/app/work';
import { currentBoard, readyItems, type Item } from '../../lib/work/board';
import { canTakeLabel } from '../../lib/work/label';
import { listText } from '../../lib/work/view';

export default class WorkReady extends BaseCommand {
  static override summary = 'List the issues that an agent can take next';
  static override description =
    'Lists ready and queued issues by priority and age; issues labeled for your assistant come first. Omits reminders, which are personal.';
  static override flags = {
    limit: limit('Maximum number of issues.', 20),
    refresh: boolean({ description: 'Fetch the issues now.' }),
  };
  static override examples = [
    'work ready',
    {
      description: 'Claim the first issue',
      command:
        "<%= config.bin %> work claim $(<%= config.bin %> work ready --json | jq '.[0].number') --agent kai",
    },
  ];
  static override related = ['work claim NUMBER --agent NAME', 'work board'];

  async run(): Promise<Item[]> {
    const { flags } = await this.parse(WorkReady);
    const work = await openWork(this.context);
    const board = await currentBoard(work.deps, flags);
    const ready = readyItems(board.items, canTakeLabel(work.deps.daName));
    const items = ready.slice(0, flags.limit);
    const options = work.shown(this.terminal);
    this.print(() => listText(board, items, options, 'No issues are ready.'));
    this.sayIfCut(ready, flags.limit);
    return items;
  }
}
