import { BaseCommand, boolean, text } from '../../lib/cli/base-command';
import { openWork } from '../../lib/app/work';
import { checkFilter, currentBoard, filterItems, type BoardView, type Filter } from '../../lib/work/board';
import { listText } from '../../lib/work/view';

export default class WorkList extends BaseCommand {
  static override summary = 'List issues, most urgent first.';
  static override description = 'Every filter has to fit; without any it lists what is open.';
  static override flags = {
    state: text({ description: 'Which ones.', options: ['open', 'closed', 'all'], default: 'open' }),
    lane: text({ description: 'Only of this lane, such as In-Progress.', helpValue: 'LANE' }),
    status: text({ description: 'Only with this Status, such as blocked.', helpValue: 'STATUS' }),
    type: text({ description: 'Only of this Type, such as reminder.', helpValue: 'TYPE' }),
    priority: text({ description: 'Only of this Priority.', options: ['P0', 'P1', 'P2', 'P3'] }),
    property: text({ description: 'Only of this Property, such as website.', helpValue: 'PROPERTY' }),
    agent: text({ description: 'Only of this agent.', helpValue: 'NAME' }),
    search: text({ description: 'Only with these words in the title.', helpValue: 'WORDS' }),
    refresh: boolean({ description: 'Ask the service now.' }),
  };
  static override examples = [
    '<%= config.bin %> work list --status blocked',
    '<%= config.bin %> work list --agent kai --priority P1 --json',
  ];
  static override related = ['work board', 'work ready', 'work show NUMBER'];

  async run(): Promise<BoardView> {
    const { flags } = await this.parse(WorkList);
    const { refresh, ...filter } = flags;
    const work = await openWork(this.context);
    const board = await currentBoard(work.deps, { refresh });
    checkFilter(filter as Filter, board);
    const items = filterItems(board.items, filter as Filter);
    const options = work.shown(this.terminal);
    this.print(() => listText(board, items, options, 'No issue fits.'));
    const shown = new Set(items.map(({ number }) => number));
    const columns = Object.entries(board.columns).map(([lane, own]) => [
      lane,
      own.filter((n) => shown.has(n)),
    ]);
    return { ...board, columns: Object.fromEntries(columns) as BoardView['columns'], items };
  }
}
