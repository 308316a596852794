import { BaseCommand, boolean } from '../../lib/cli/base-command';
import { openWork } from '../../lib/app/work';
import { currentBoard, type BoardView } from '../../lib/work/board';
import { boardText } from '../../lib/work/view';

export default class WorkBoard extends BaseCommand {
  static override summary = 'Show the board: what waits, what runs, what is done.';
  static override description =
    'Asks the service at most once in a poll interval. Without a network it shows what was read before, and says so.';
  static override flags = {
    refresh: boolean({ description: 'Ask the service now.' }),
  };
  static override examples = [
    '<%= config.bin %> work board',
    {
      description: 'What is in review, for a script',
      command: '<%= config.bin %> work board --json | jq \'.columns["In-Review"]\'',
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
