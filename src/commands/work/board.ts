import { boolean } from '@oclif/core/flags';

import { BaseCommand } from '../../lib/cli/base-command';
import { boardMarks, keepBoardSettings } from '../../lib/app/board-settings';
import { currentBoard, currentSummary, openWork } from '../../lib/app/work';
import type { BoardView } from '../../lib/work/board';
import type { BoardSummary } from '../../lib/work/board-summary';
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

  async run(): Promise<BoardView | BoardSummary> {
    const { flags } = await this.parse(WorkBoard);
    // Before the configuration is read: what is written meanwhile makes what is kept old.
    const marks = boardMarks(this.context.area);
    const work = await openWork(this.context);
    if (this.json) return currentBoard(work, flags);
    const board = await currentSummary(work, flags);
    const { config, workRepo } = work.deps;
    keepBoardSettings(this.context.area, marks, { work: config, workRepo: workRepo() });
    const { timezone } = work.user;
    this.print(() => boardText(board, { ...this.terminal, timezone, nowMs: work.deps.clock.now() }));
    return board;
  }
}
