import { isSite } from '../platform/net/site';
import { minutes, palette, table, wrap } from '../platform/terminal/format';
import type { Terminal } from '../platform/terminal/stdio';
import { cleanLine } from '../platform/terminal/terminal';
import { GOAL_RULES, type Goal } from './record';

/** Your time (`minutes`) and your agents' time for a goal's id. */
interface Time {
  key: string;
  minutes: number;
  working: number;
}

export type GoalTime = ReturnType<typeof goalTimes>[number];

export function goalTimes(goals: readonly Goal[], times: readonly Time[]) {
  return goals.map((goal) => {
    const { minutes = 0, working = 0 } = times.find(({ key }) => key === goal.id) ?? {};
    return { ...goal, minutes, working };
  });
}

/** Formats the output of `steward goals`. */
export function goalsText(goals: readonly GoalTime[], path: string, terminal: Terminal): string {
  const rows = goals.flatMap(({ id, text, target, ...goal }) => [
    [id, cleanLine(text, 200), minutes(goal.minutes), `agents ${minutes(goal.working)}`],
    ...[...GOAL_RULES.map((key) => [key, goal[key]?.join(', ')]), ['target', target]]
      .filter(([, value]) => typeof value === 'string')
      .map(([name, value]) => ['', `  ${cleanLine(`${name}: ${value}`, 200)}`]),
  ]);
  const columns = [{}, { max: Math.max(20, terminal.columns - 34) }, { align: 'right' as const }];
  const list = goals.length === 0 ? 'No goals yet.' : table(rows, columns);
  const add = 'Add a goal: steward goals add "Write the book" --repo ~/book --target "10 h a week"';
  const sites = goals.flatMap((goal) => goal.sites ?? []).filter((name) => !isSite(name.toLowerCase()));
  const invalid = sites.map((name) => `Invalid site "${cleanLine(name, 100)}". Use a name such as docs.rs.`);
  const notes = [...invalid, `Goals are in ${path}.`, add].flatMap((note) => wrap(note, terminal.columns));
  return [list, '', ...notes.map(palette(terminal).neutral)].join('\n');
}
