import type { Context } from '../app/context';
import { openInbox } from '../app/inbox';
import { openMachines } from '../app/machines';
import { openSense } from '../app/sense';
import { openRunning, openSessions } from '../app/sessions';
import { openWork } from '../app/work';
import { inboxLines } from '../inbox/view';
import { readInstallManifest } from '../platform/files/install-manifest';
import { plural, wrap } from '../platform/terminal/format';
import type { Terminal } from '../platform/terminal/stdio';
import { cleanLine } from '../platform/terminal/terminal';
import { fit } from '../platform/terminal/text-width';
import { minutes } from '../platform/time/day-words';
import { today } from '../sense/read';
import { rowsOf } from '../sessions/rows';
import { isLive } from '../sessions/session';
import { withTurnSigns } from '../sessions/turn-signs';
import { sessionLines } from '../sessions/view';
import { boardView, readyItems } from '../work/board';
import { canTakeLabel } from '../work/label';
import { titleOf } from '../work/view';
import { overview, type StatusPart } from './status';

const MAX_WAITING = 4;
const MAX_ROWS = 6;
const MAX_LINES = 12;

/**
 * Returns what a bare `steward` shows, in at most 12 lines: the inbox, the sessions at work, today, the
 * next issue, and problems.
 */
export async function homeText(context: Context, terminal: Terminal): Promise<string> {
  const { area, clock } = context;
  const nowMs = clock.now();
  const sessions = await openSessions(context);
  const state = withTurnSigns(sessions, () => openRunning(context, sessions));
  const { rows, count } = await openInbox(context);
  const waiting = rows.slice(0, MAX_WAITING);
  const live = rowsOf(
    Object.values(state.sessions).filter((session) => isLive(session, nowMs)),
    { nowMs },
  );
  const working = live.filter(({ status }) => status !== 'waiting').slice(0, MAX_ROWS - waiting.length);
  const list = [
    ...(count === 0 ? [] : inboxLines(waiting, { ...terminal, nowMs })),
    ...(count > waiting.length ? [`${count - waiting.length} more: steward inbox`] : []),
    ...(working.length === 0 ? [] : sessionLines(working, { ...terminal, nowMs })),
  ];
  const hasJobs = readInstallManifest(area.installManifest).some(({ id }) => id.startsWith('schedule:'));
  const parts = (await overview(context, hasJobs)).parts.filter(
    ({ state }) => state === 'warning' || state === 'failed',
  );
  const problems = parts.filter(({ id }) => id !== 'inbox');
  const lines = [
    ...(list.length === 0 ? ['Nothing waits for you, and no sessions are running.'] : list),
    await todayLine(context),
    ...(await nextLine(context)),
  ];
  const text = lines.map((line, index) =>
    index < list.length ? line : fit(cleanLine(line, 400), terminal.columns).trimEnd(),
  );
  return [...text, ...problemLines(problems, MAX_LINES - text.length, terminal.columns)].join('\n');
}

/** Returns each problem in full; those without room are only named. */
function problemLines(problems: readonly StatusPart[], room: number, columns: number): string[] {
  const lines: string[] = [];
  for (const [index, { id, found, fix }] of problems.entries()) {
    const words = cleanLine(fix === null ? found : `${fix} (${found})`, 400);
    const more = wrap(words, columns, `${id}: `, '  ');
    const isLast = index === problems.length - 1;
    if (lines.length + more.length + (isLast ? 0 : 1) > room) {
      const named = problems.slice(index).map((part) => part.id);
      return [...lines, fit(`${named.join(', ')}: steward status`, columns)];
    }
    lines.push(...more);
  }
  return lines;
}

async function todayLine(context: Context): Promise<string> {
  const { deps } = await openSense(context);
  // The agents' time, and the names of goals, take longer than the rest.
  const { record } = today(await openMachines(context, { ...deps, goalTags: undefined, hasAgents: false }));
  const commits = record.commits.repos.reduce((sum, row) => sum + row.commits, 0);
  const time = `${minutes(record.totalMinutes)} tracked, ${minutes(record.creationMinutes)} creation`;
  return `today: ${time}, ${plural(commits, 'commit')}`;
}

async function nextLine(context: Context): Promise<string[]> {
  const { deps } = await openWork(context);
  const [next] = readyItems(boardView(deps).items, canTakeLabel(deps.daName));
  return next === undefined ? [] : [`next: #${next.number} ${titleOf(next)}`];
}
