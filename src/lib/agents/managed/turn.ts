import type { ErrorKind } from '../../errors';
import { isObject } from '../../platform/files/json-object';
import { parseIso } from '../../platform/time/clock';
import { hasId, targetOf, textField, type ManagedEvent } from './event';

export interface ToolUse {
  id: string;
  name: string;
  /**
   * `custom` means that the client runs the tool and sends the result; `tool` means that the tool only needs
   * permission.
   */
  kind: 'tool' | 'custom';
  input: unknown;
}

/** How a turn ended. `kind` is undefined on success. */
export interface TurnOutcome {
  reason: string;
  kind: ErrorKind | undefined;
  message: string;
}

type Stop = ReturnType<typeof stopOf>;

const OPEN = 'requires_action';

/**
 * Returns a session's state, which is computed from its log. Unknown events are ignored. Any stop reason except
 * `requires_action` ends the turn.
 */
export function newTurn() {
  return {
    status: 'unknown' as 'unknown' | 'running' | 'idle' | 'rescheduling' | 'terminated' | 'deleted',
    tools: new Map<string, ToolUse>(),
    answered: new Set<string>(),
    /** Why the session is idle; undefined while the session is running. */
    stop: undefined as Stop | undefined,
    failure: undefined as string | undefined,
    isInterrupted: false,
    meter: newMeter(),
  };
}

export type Turn = ReturnType<typeof newTurn>;

/** Starts a turn for a message that the log doesn't contain yet. */
export function beginTurn(turn: Turn): void {
  Object.assign(turn, { stop: undefined, failure: undefined, isInterrupted: false });
}

export function addEvent(turn: Turn, event: ManagedEvent): void {
  addUsage(turn.meter, event);
  switch (event.type) {
    case 'user.message':
      beginTurn(turn);
      break;
    case 'user.interrupt':
      turn.isInterrupted = true;
      break;
    case 'session.status_running':
      Object.assign(turn, { status: 'running', stop: undefined, failure: undefined });
      break;
    case 'session.status_idle':
      turn.status = 'idle';
      turn.stop = stopOf(event);
      if (turn.stop.reason !== OPEN) turn.tools.clear();
      break;
    case 'session.status_rescheduled':
      Object.assign(turn, { status: 'rescheduling', stop: undefined });
      break;
    case 'session.status_terminated':
    case 'session.deleted':
      turn.status = event.type === 'session.deleted' ? 'deleted' : 'terminated';
      break;
    case 'session.error':
      turn.failure = finalFailure(event) ?? turn.failure;
      break;
    case 'agent.tool_use':
    case 'agent.mcp_tool_use':
    case 'agent.custom_tool_use':
      if (hasId(event)) turn.tools.set(event.id, toolOf(event));
      break;
    case 'agent.tool_result':
    case 'agent.mcp_tool_result':
      turn.tools.delete(textField(event, 'tool_use_id') ?? textField(event, 'mcp_tool_use_id') ?? '');
      break;
    case 'user.tool_confirmation':
    case 'user.custom_tool_result':
      turn.answered.add(targetOf(event) ?? '');
      break;
  }
}

export function pendingTools({ stop, answered, tools }: Turn): ToolUse[] {
  const ids = stop?.reason === OPEN ? stop.ids.filter((id) => !answered.has(id)) : [];
  return ids.map((id) => tools.get(id) ?? { id, name: '', kind: 'tool', input: null });
}

function stopOf(event: ManagedEvent) {
  const value = event['stop_reason'];
  const reason = typeof value === 'string' ? value : (textField(value, 'type') ?? 'end_turn');
  const ids = isObject(value) && Array.isArray(value['event_ids']) ? value['event_ids'] : [];
  return {
    reason,
    ids: ids.filter((id): id is string => typeof id === 'string'),
    detail: textField(event['stop_details'], 'explanation') ?? '',
  };
}

function toolOf(event: ManagedEvent & { id: string }): ToolUse {
  const server = textField(event, 'mcp_server_name');
  const name = textField(event, 'name') ?? '';
  return {
    id: event.id,
    name: server === undefined ? name : `${server}.${name}`,
    kind: event.type === 'agent.custom_tool_use' ? 'custom' : 'tool',
    input: event['input'] ?? null,
  };
}

/** Returns the turn's error, or undefined if the service is retrying. */
function finalFailure(event: ManagedEvent): string | undefined {
  const error = event['error'] ?? event;
  const value = isObject(error) ? error['retry_status'] : undefined;
  const retry = typeof value === 'string' ? value : textField(value, 'type');
  return retry === 'exhausted' || retry === 'terminal' ? (textField(error, 'message') ?? retry) : undefined;
}

const ENDS: Readonly<Record<string, readonly [ErrorKind, string]>> = {
  retries_exhausted: ['unavailable', 'The service gave up after repeated errors'],
  budget_reached: ['conflict', 'The session has reached its budget'],
  refusal: ['conflict', 'The model refused the request'],
};

/** Returns how the turn ended, or undefined if the turn is running or waiting for a response. */
export function outcomeOf({ status, stop, failure, isInterrupted }: Turn): TurnOutcome | undefined {
  const outcome = (kind: ErrorKind, text: string, detail?: string): TurnOutcome => ({
    reason: stop?.reason ?? status,
    kind,
    message: detail === undefined || detail === '' ? text : `${text}: ${detail}`,
  });
  if (status === 'terminated' || status === 'deleted')
    return { ...outcome('unavailable', `The session was ${status}`, failure), reason: status };
  if (stop === undefined) return undefined;
  if (stop.reason === OPEN) {
    // The client can't respond without a tool-use id, so end the turn instead of waiting forever.
    return stop.ids.length === 0
      ? outcome(
          'conflict',
          'The agent is waiting for an answer, but the service did not identify the question',
        )
      : undefined;
  }
  const end = Object.hasOwn(ENDS, stop.reason) ? ENDS[stop.reason] : undefined;
  if (end !== undefined) return outcome(end[0], end[1], failure ?? stop.detail);
  if (isInterrupted) return outcome('canceled', 'The agent was interrupted');
  if (failure !== undefined) return outcome('unavailable', 'The turn ended with an error', failure);
  return { reason: stop.reason, kind: undefined, message: stop.reason };
}

const ACTIVE_HOUR_USD = 0.08;
const TOKENS = ['inputTokens', 'outputTokens', 'cacheTokens'] as const;

/** A session's usage. Cache tokens are counted separately. */
type ManagedUsage = ReturnType<typeof usageOf>;

export type Cost = ReturnType<typeof costOf>;

export function newMeter() {
  return { summed: usageOf({}, 0), reported: usageOf({}, 0), runningSince: undefined as number | undefined };
}

/** Usage summed from events, and the usage last reported by the service. */
type Meter = ReturnType<typeof newMeter>;

export function addUsage(meter: Meter, event: ManagedEvent): void {
  const { summed, runningSince } = meter;
  if (event.type === 'session.usage') {
    meter.reported = usageOf(event['usage'], summed.activeSeconds);
  } else if (event.type === 'span.model_request_end') {
    const used = usageOf(event['model_usage'], 0);
    for (const kind of TOKENS) summed[kind] += used[kind];
  } else if (event.type.startsWith('session.status_')) {
    const at = parseIso(textField(event, 'processed_at') ?? '');
    if (at === undefined) return;
    if (event.type === 'session.status_running') meter.runningSince = runningSince ?? at;
    else if (runningSince !== undefined) {
      summed.activeSeconds += Math.max(0, at - runningSince) / 1000;
      meter.runningSince = undefined;
    }
  }
}

export function totalUsage({ summed, reported }: Meter): ManagedUsage {
  const total = { ...reported };
  for (const kind of [...TOKENS, 'activeSeconds'] as const)
    total[kind] = Math.max(summed[kind], reported[kind]);
  return total;
}

/** Parses usage from an event or session. Falls back to `activeSeconds` if the active time is missing. */
export function usageOf(value: unknown, activeSeconds: number) {
  const from = isObject(value) ? value : {};
  const creation = isObject(from['cache_creation']) ? from['cache_creation'] : {};
  const cached = [
    from['cache_read_input_tokens'],
    from['cache_creation_input_tokens'],
    creation['ephemeral_5m_input_tokens'],
    creation['ephemeral_1h_input_tokens'],
  ];
  return {
    inputTokens: count(from['input_tokens']),
    outputTokens: count(from['output_tokens']),
    cacheTokens: cached.reduce<number>((sum, tokens) => sum + count(tokens), 0),
    activeSeconds: from['active_seconds'] === undefined ? activeSeconds : count(from['active_seconds']),
    /** The service's own total in USD, if it reports one. */
    listCost: dollars(from['list_cost']),
  };
}

export function costOf(usage: ManagedUsage) {
  const activeUsd = (usage.activeSeconds / 3600) * ACTIVE_HOUR_USD;
  // Falls back to the cost of the active time.
  return { ...usage, activeUsd, totalUsd: usage.listCost ?? activeUsd };
}

function count(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0;
}

function dollars(value: unknown): number | undefined {
  const amount = textField(value, 'amount') ?? '';
  const isUsd = /^\d{1,15}$/.test(amount) && textField(value, 'currency') === 'USD';
  return isUsd ? Number(amount) / 100 : undefined;
}
