import { BaseCommand, boolean } from '../../lib/cli/base-command';
import { openWork } from '../../lib/app/work';
import { currentBoard, type BoardView } from '../../lib/work/board';
import { boardText } from '../../lib/work/view';

export default class WorkBoard extends BaseCommand {
  static override summary = 'Show the board: queued, blocked, in progress, in review, done';
  static override description =
    'Fetches the issues at most once per poll interval. Offline, shows the cached board and its age.';
  static override flags = {
    refresh: boolean({ description: 'Fetch the issues now.' }),
  };
  static override examples = [
    'work board',
    {
      description: 'List the issues in review, for a script',
      command: 'work board --json | jq \'.columns["In-Review"]\'',
    },
  ];
  static override related = ['work list', 'work ready', 'work show NUMBER'];

  async run(): Promise<BoardView> {
    const { flags } = await this.parse(WorkBoard);
    const work = await openWork(this.context);
    const board = await currentBoard(work.deps, flags);
    return this.show(board, () => boardText(board, work.shown(this.terminal)));
  }
}
