import { minutes } from '../platform/time/minutes';
import { clean } from '../platform/terminal/terminal';
import { fit } from '../platform/terminal/text-width';
import { phase } from './phases';
import { statusOf, type Session, type SessionsState } from './session';

export interface StatusLine {
  phase: Session['phase'] | null;
  session: string | null;
  /** Other sessions that wait for a person. */
  waiting: number;
  /** Minutes of creation today; null where sense captures nothing. */
  creationMinutes: number | null;
}

const MAX_NAME = 32;

/** The facts of the status line: of the session that the assistant names, else of the one that spoke last. */
export function statusLine(
  state: SessionsState,
  given: { session: string | undefined; creationMinutes: number | null; nowMs: number },
): StatusLine {
  const live = Object.values(state.sessions)
    .map((session) => ({ session, status: statusOf(session, given.nowMs) }))
    .filter(({ status }) => status === 'working' || status === 'waiting')
    .sort((a, b) => Date.parse(b.session.updatedAt) - Date.parse(a.session.updatedAt));
  const own =
    given.session === undefined
      ? live[0]
      : live.find(({ session }) => session.sessionIds.includes(given.session as string));
  return {
    phase: own?.session.phase ?? null,
    session: own === undefined ? null : (own.session.task ?? own.session.repo ?? own.session.slug),
    waiting: live.filter((one) => one !== own && one.status === 'waiting').length,
    creationMinutes: given.creationMinutes,
  };
}

/** `▶ Execute · fix the login · 2 waiting · 1 h 10 m` */
export function statusLineText(line: StatusLine): string {
  const row = line.phase === null ? undefined : phase(line.phase);
  const parts = [
    row === undefined ? 'no session' : `${row.icon} ${row.label}`,
    ...(line.session === null ? [] : [fit(clean(line.session), MAX_NAME)]),
    ...(line.waiting === 0 ? [] : [`${line.waiting} waiting`]),
    ...(line.creationMinutes === null ? [] : [minutes(line.creationMinutes)]),
  ];
  return parts.join(' · ');
}
