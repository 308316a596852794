import { markOfTarget } from '../platform/files/stat';
import { orElse } from '../errors';
import { toIso } from '../platform/time/clock';
import { isLive, type Session, type SessionsState } from './session';
import { leave } from './spool';
import { currentSessions, type SessionsDeps } from './state';
import { readIdleMs, readTurnSigns, runningFileOf, type TurnSigns } from './turn-log';
import { appendWorkEvent, INTERRUPTED, QUESTION_TOOL, type WorkEvent } from './work-events';

/** The size and time of each log when it was last read. */
export type SeenLogs = Map<string, string>;

/** Returns all sessions, including what only the assistants' logs say. */
export function sessionsNow(deps: SessionsDeps): SessionsState {
  return withTurnSigns(deps, () => currentSessions(deps));
}

/**
 * Reads sessions, after adding to the event log what the assistants' logs say about the current turns. An
 * event log that can't be written doesn't prevent reading.
 * @param seen the logs that have been read; only changed logs are read again
 */
export function withTurnSigns(deps: SessionsDeps, read: () => SessionsState, seen: SeenLogs = new Map()) {
  const state = read();
  return orElse(state, () => (noteTurnSigns(deps, state, seen) ? read() : state));
}

/** Returns whether the logs of a session's assistant can say something new. */
export function hasTurn(deps: SessionsDeps, session: Session): session is Session & { transcript: string } {
  if (session.transcript === undefined || session.machine !== deps.machineId) return false;
  return (session.activity === 'working' || session.requests.length > 0) && isLive(session, deps.clock.now());
}

/** Appends what no hook reported to the event log. Returns whether it appended an event. */
function noteTurnSigns(deps: SessionsDeps, state: SessionsState, seen: SeenLogs): boolean {
  const events = Object.values(state.sessions).flatMap((session) => {
    if (!hasTurn(deps, session)) return [];
    const { transcript } = session;
    const running = runningFile(session, transcript);
    const marks = [transcript, ...(running === undefined ? [] : [running])].map((path) => markOfTarget(path));
    const mark = [...marks, session.updatedAt].join(' ');
    if (seen.get(transcript) === mark) return [];
    seen.set(transcript, mark);
    const signs = readTurnSigns(transcript);
    if (running !== undefined) signs.idleMs = readIdleMs(running, session.sessionIds.at(-1) ?? '');
    return missedEvents(session, signs);
  });
  for (const event of events) {
    appendWorkEvent(deps.area.workEvents, event);
    queueAlert(deps, event);
  }
  return events.length > 0;
}

/** Queues what the event's hook would have queued: a turn that an error ended, or a question. */
function queueAlert(deps: SessionsDeps, { type, session, slug, reason, asks, ts }: WorkEvent): void {
  const about = { session, slug, transcript: null };
  if (asks !== undefined) leave(deps, { kind: 'attention', ...about, asked: ts });
  else if (type === 'stop' && reason !== INTERRUPTED)
    leave(deps, { kind: 'turn-ended', ...about, ended: { line: null, isError: true } });
}

function runningFile({ assistant, process }: Session, transcript: string): string | undefined {
  const pid = assistant === undefined ? process?.pid : undefined;
  return pid === undefined ? undefined : runningFileOf(transcript, pid);
}

/** Returns the events that a session's hooks did not report. */
function missedEvents(session: Session, signs: TurnSigns): WorkEvent[] {
  const { questions } = signs;
  const turnMs = Date.parse(session.turnAt ?? session.startedAt);
  const ended = endOf(signs, turnMs);
  const make = (
    ms: number,
    event: Pick<WorkEvent, 'type' | 'reason' | 'tool' | 'asks' | 'call'>,
  ): WorkEvent => ({
    ts: toIso(ms),
    session: session.sessionIds.at(-1) ?? '',
    slug: session.slug,
    repo: session.repo,
    ...(session.assistant === undefined ? {} : { assistant: session.assistant }),
    ...event,
  });
  const isBusy = session.activity === 'working' || session.requests.some(({ agent }) => agent === null);
  if (isBusy && ended !== undefined) return [make(ended.ms, { type: 'stop', reason: ended.reason })];
  const known = session.requests.filter(({ tool }) => tool === QUESTION_TOOL);
  const opened = questions.filter(
    ({ call, ms }) => ms >= turnMs && !known.some((open) => open.call === call),
  );
  const closed = known.filter(({ call }) => !questions.some((question) => question.call === call));
  return [
    ...opened.map(({ call, ms }) =>
      make(ms, { type: 'tool-before', tool: QUESTION_TOOL, asks: 'question', call }),
    ),
    ...closed.map(({ call, at }) =>
      make(Math.max(Date.parse(at), Date.parse(session.updatedAt)), {
        type: 'tool-after',
        tool: QUESTION_TOOL,
        ...(call === undefined ? {} : { call }),
      }),
    ),
  ];
}

/** Returns how the turn that started at `turnMs` ended; undefined if it has not ended. */
function endOf({ ended, idleMs }: TurnSigns, turnMs: number): TurnSigns['ended'] {
  if (ended !== undefined && ended.ms >= turnMs) return ended;
  return idleMs !== undefined && idleMs >= turnMs ? { ms: idleMs, reason: INTERRUPTED } : undefined;
}
