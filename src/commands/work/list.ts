import { BaseCommand, boolean, text } from '../../lib/cli/base-command';
import { openWork } from '../../lib/app/work';
import { checkFilter, currentBoard, filterItems, type BoardView, type Filter } from '../../lib/work/board';
import { listText } from '../../lib/work/view';

const filter = (description: string, helpValue: string) =>
  text({ helpGroup: 'FILTER', description, helpValue });

export default class WorkList extends BaseCommand {
  static override summary = 'List issues, most urgent first';
  static override description = 'Shows the issues that match all filters; without a filter, all open issues.';
  static override flags = {
    state: text({
      description: 'Which issues to list (open, closed or all).',
      options: ['open', 'closed', 'all'],
      default: 'open',
    }),
    lane: filter('Only issues in this lane, such as "In-Progress".', 'LANE'),
    status: filter('Only issues with this Status, such as "blocked".', 'STATUS'),
    type: filter('Only issues of this Type, such as "reminder".', 'TYPE'),
    priority: text({
      helpGroup: 'FILTER',
      description: 'Only issues with this Priority.',
      options: ['P0', 'P1', 'P2', 'P3'],
    }),
    property: filter('Only issues with this Property, such as "website".', 'PROPERTY'),
    agent: filter("Only issues with this agent's label.", 'NAME'),
    search: filter('Only issues with these words in the title.', 'WORDS'),
    refresh: boolean({ description: 'Fetch the issues now.' }),
  };
  static override examples = ['work list --status blocked', 'work list --agent kai --priority P1 --json'];
  static override related = ['work board', 'work ready', 'work show NUMBER'];

  async run(): Promise<BoardView> {
    const { flags } = await this.parse(WorkList);
    const { refresh, ...wanted } = flags;
    const work = await openWork(this.context);
    const board = await currentBoard(work.deps, { refresh });
    checkFilter(wanted as Filter, board);
    const items = filterItems(board.items, wanted as Filter);
    const options = work.shown(this.terminal);
    this.print(() => listText(board, items, options, 'No matching issues.'));
    const shown = new Set(items.map(({ number }) => number));
    const columns = Object.entries(board.columns).map(([lane, own]) => [
      lane,
      own.filter((n) => shown.has(n)),
    ]);
    return { ...board, columns: Object.fromEntries(columns) as BoardView['columns'], items };
  }
}
