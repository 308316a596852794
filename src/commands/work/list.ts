import { BaseCommand, boolean, text } from '../../lib/cli/base-command';
import { openWork } from '../../lib/app/work';
import { checkFilter, currentBoard, filterItems, type BoardView, type Filter } from '../../lib/work/board';
import { listText } from '../../lib/work/view';

export default class WorkList extends BaseCommand {
  static override summary = 'List issues, most urgent first';
  static override description = 'Shows the issues that match all filters; without a filter, all open issues.';
  static override flags = {
    state: text({
      description: 'Which issues to list (open, closed or all).',
      options: ['open', 'closed', 'all'],
      default: 'open',
    }),
    lane: text({
      helpGroup: 'FILTER',
      description: 'Only issues in this lane, such as "In-Progress".',
      helpValue: 'LANE',
    }),
    status: text({
      helpGroup: 'FILTER',
      description: 'Only issues with this Status, such as "blocked".',
      helpValue: 'STATUS',
    }),
    type: text({
      helpGroup: 'FILTER',
      description: 'Only issues of this Type, such as "reminder".',
      helpValue: 'TYPE',
    }),
    priority: text({
      helpGroup: 'FILTER',
      description: 'Only issues with this Priority.',
      options: ['P0', 'P1', 'P2', 'P3'],
    }),
    property: text({
      helpGroup: 'FILTER',
      description: 'Only issues with this Property, such as "website".',
      helpValue: 'PROPERTY',
    }),
    agent: text({
      helpGroup: 'FILTER',
      description: "Only issues with this agent's label.",
      helpValue: 'NAME',
    }),
    search: text({
      helpGroup: 'FILTER',
      description: 'Only issues with these words in the title.',
      helpValue: 'WORDS',
    }),
    refresh: boolean({ description: 'Fetch the issues now.' }),
  };
  static override examples = ['work list --status blocked', 'work list --agent kai --priority P1 --json'];
  static override related = ['work board', 'work ready', 'work show NUMBER'];

  async run(): Promise<BoardView> {
    const { flags } = await this.parse(WorkList);
    const { refresh, ...filter } = flags;
    const work = await openWork(this.context);
    const board = await currentBoard(work.deps, { refresh });
    checkFilter(filter as Filter, board);
    const items = filterItems(board.items, filter as Filter);
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
