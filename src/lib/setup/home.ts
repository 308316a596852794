import type { Context } from '../app/context';
import { openMachines } from '../app/machines';
import { openSense } from '../app/sense';
import { openSessions } from '../app/sessions';
import { openWork } from '../app/work';
import { plural, toAscii } from '../platform/terminal/format';
import type { Terminal } from '../platform/terminal/stdio';
import { cleanLine } from '../platform/terminal/terminal';
import { fit } from '../platform/terminal/text-width';
import { minutes } from '../platform/time/day-words';
import { today } from '../sense/read';
import { sessionsReport } from '../sessions/rows';
import { spoolStatus } from '../sessions/spool';
import { sessionsNow } from '../sessions/turn-signs';
import { sessionsText } from '../sessions/view';
import { boardView, readyItems } from '../work/board';
import { canTakeLabel } from '../work/label';
import { titleOf } from '../work/view';
import { overview } from './status';

const MAX_SESSIONS = 6;
const MAX_PROBLEMS = 3;

/** Returns what a bare `steward` shows, in at most 12 lines: sessions, today, the next issue, and problems. */
export async function homeText(context: Context, terminal: Terminal): Promise<string> {
  const { clock, area } = context;
  const nowMs = clock.now();
  const report = sessionsReport(sessionsNow(await openSessions(context)), spoolStatus(area.spool), {
    nowMs,
    all: false,
  });
  const sessions = { ...report, sessions: report.sessions.slice(0, MAX_SESSIONS) };
  const more = report.sessions.length - sessions.sessions.length;
  const parts = (await overview(context)).parts.filter(
    ({ state }) => state === 'warning' || state === 'failed',
  );
  // The sessions above show who is waiting.
  const problems = parts.filter(({ id }) => id !== 'sessions').slice(0, MAX_PROBLEMS);
  const lines = [
    ...(report.sessions.length === 0
      ? ['No sessions are running.']
      : sessionsText(sessions, { ...terminal, nowMs })
          .trimEnd()
          .split('\n')
          .slice(0, MAX_SESSIONS)),
    ...(more > 0 ? [`${more} more: steward sessions`] : []),
    await todayLine(context),
    ...(await nextLine(context)),
    ...problems.map(({ id, found, fix }) => `${id}: ${fix === null ? found : `${fix} (${found})`}`),
  ];
  const text = lines.map((line, index) =>
    index < sessions.sessions.length ? line : fit(cleanLine(line, 400), terminal.columns).trimEnd(),
  );
  return terminal.unicode ? text.join('\n') : toAscii(text.join('\n'));
}

async function todayLine(context: Context): Promise<string> {
  const { deps } = await openSense(context);
  const { record } = today(await openMachines(context, deps));
  const commits = record.commits.repos.reduce((sum, row) => sum + row.commits, 0);
  const time = `${minutes(record.totalMinutes)} tracked, ${minutes(record.creationMinutes)} creation`;
  return `today: ${time}, ${plural(commits, 'commit')}`;
}

async function nextLine(context: Context): Promise<string[]> {
  const { deps } = await openWork(context);
  const [next] = readyItems(boardView(deps).items, canTakeLabel(deps.daName));
  return next === undefined ? [] : [`next: #${next.number} ${titleOf(next)}`];
}
