import type { Random } from '../random';

export type LogEvent = Record<string, unknown> & { type: string; id: string };

interface Waits {
  kind: 'tool' | 'custom';
  name: string;
  count: number;
  /** Of each use; a command with its number when left out. */
  input?: unknown;
}

/** What the agent does with a message: events, and the tools that it waits for. */
export type Step =
  | { emit: Record<string, unknown> & { type: string } }
  | { waitFor: Waits }
  | { stop: string; error?: string };

export type Script = (message: string, random: Random) => Step[];

export interface FakeSession {
  id: string;
  agent: string;
  environment: string;
  metadata: unknown;
  created: string;
  archived: string | null;
  status: string;
  log: LogEvent[];
  /** When GET begins to show each event, ms. */
  visibleAt: number[];
  listeners: Set<(event: LogEvent) => void>;
  /** Every body that asked to send a message, landed or not. */
  pending: Set<string>;
  queue: LogEvent[];
  busy: boolean;
  interrupted: boolean;
  usage: Record<string, unknown>;
}

export interface SessionHost {
  random: Random;
  script: Script;
  /** How much later than the stream GET shows an event, ms. */
  lagMs: (event: LogEvent) => number;
  /** The pause between two events of the agent. */
  pauseMs: () => number;
  /** May an echo of an interrupt lack its id? */
  emptyIds: boolean;
}

let counter = 0;

export function newId(prefix: string): string {
  counter += 1;
  return `${prefix}_${counter.toString(36).padStart(6, '0')}`;
}

export function newSession(agent: string, environment: string, metadata: unknown): FakeSession {
  return {
    id: newId('sesn'),
    agent,
    environment,
    metadata,
    created: new Date().toISOString(),
    archived: null,
    status: 'idle',
    log: [],
    visibleAt: [],
    listeners: new Set(),
    pending: new Set(),
    queue: [],
    busy: false,
    interrupted: false,
    usage: {},
  };
}

export function append(
  host: SessionHost,
  session: FakeSession,
  event: Record<string, unknown> & { type: string },
  id = newId('sevt'),
): LogEvent {
  const stored: LogEvent = { id, processed_at: new Date().toISOString(), ...event };
  session.log.push(stored);
  const last = session.visibleAt.at(-1) ?? 0;
  session.visibleAt.push(Math.max(last, Date.now() + host.lagMs(stored)));
  for (const listener of [...session.listeners]) listener(stored);
  return stored;
}

/** Takes what a client sends; a text is the reason of a 400. */
export function receive(
  host: SessionHost,
  session: FakeSession,
  events: readonly Record<string, unknown>[],
): LogEvent[] | string {
  if (session.archived !== null) return 'the session is archived';
  for (const event of events) {
    if (event['type'] === 'user.message' && session.pending.size > 0) {
      return 'waiting for responses to tool uses';
    }
    const target = targetOf(event);
    if (target !== undefined && !session.pending.has(target)) return `nothing waits for ${target}`;
  }
  return events.map((event) => take(host, session, event as Record<string, unknown> & { type: string }));
}

function take(
  host: SessionHost,
  session: FakeSession,
  event: Record<string, unknown> & { type: string },
): LogEvent {
  if (event.type === 'user.interrupt') {
    const echo = append(host, session, event, host.emptyIds && host.random.chance(0.5) ? '' : undefined);
    if (session.status === 'running' || session.pending.size > 0) session.interrupted = true;
    if (session.pending.size > 0) {
      session.pending.clear();
      resume(session);
    }
    return echo;
  }
  const stored = append(host, session, { ...event, processed_at: null });
  if (event.type === 'user.message') {
    session.queue.push(stored);
    void work(host, session);
    return stored;
  }
  echoAgain(session, stored);
  session.pending.delete(targetOf(event) ?? '');
  if (session.pending.size === 0) resume(session);
  else idle(host, session, { type: 'requires_action', event_ids: [...session.pending] });
  return stored;
}

/** Own events come twice with one id: first unprocessed, then processed. */
function echoAgain(session: FakeSession, stored: LogEvent): void {
  stored['processed_at'] = new Date().toISOString();
  for (const listener of [...session.listeners]) listener(stored);
}

function targetOf(event: Record<string, unknown>): string | undefined {
  const target = event['tool_use_id'] ?? event['custom_tool_use_id'];
  return typeof target === 'string' ? target : undefined;
}

const resumers = new WeakMap<FakeSession, () => void>();

function resume(session: FakeSession): void {
  resumers.get(session)?.();
}

function idle(host: SessionHost, session: FakeSession, stopReason: Record<string, unknown>): void {
  session.status = 'idle';
  append(host, session, { type: 'session.status_idle', stop_reason: stopReason, stop_details: null });
}

function running(host: SessionHost, session: FakeSession): void {
  session.status = 'running';
  append(host, session, { type: 'session.status_running' });
}

/** Works off the queue, a turn a message; one at a time. */
async function work(host: SessionHost, session: FakeSession): Promise<void> {
  if (session.busy) return;
  session.busy = true;
  for (let message = session.queue.shift(); message !== undefined; message = session.queue.shift()) {
    running(host, session);
    echoAgain(session, message);
    const [block] = message['content'] as { text: string }[];
    let stop: Record<string, unknown> = { type: 'end_turn' };
    for (const step of host.script(block?.text ?? '', host.random)) {
      await new Promise((resolve) => setTimeout(resolve, host.pauseMs()));
      if (session.interrupted) break;
      if ('emit' in step) append(host, session, step.emit);
      else if ('waitFor' in step) await waitFor(host, session, step.waitFor);
      else {
        if (step.error !== undefined) {
          const error = { type: 'unknown_error', message: 'it broke', retry_status: { type: step.error } };
          append(host, session, { type: 'session.error', error });
        }
        stop = { type: step.stop };
      }
    }
    session.interrupted = false;
    if (stop['type'] === 'terminated') {
      session.status = 'terminated';
      append(host, session, { type: 'session.status_terminated' });
    } else idle(host, session, stop);
  }
  session.busy = false;
}

async function waitFor(
  host: SessionHost,
  session: FakeSession,
  { kind, name, count, input }: Waits,
): Promise<void> {
  const type = kind === 'custom' ? 'agent.custom_tool_use' : 'agent.tool_use';
  for (let use = 0; use < count; use += 1) {
    const { id } = append(host, session, { type, name, input: input ?? { command: `step ${use}` } });
    session.pending.add(id);
  }
  const answered = new Promise<void>((resolve) => resumers.set(session, resolve));
  idle(host, session, { type: 'requires_action', event_ids: [...session.pending] });
  await answered;
  if (!session.interrupted) running(host, session);
}
