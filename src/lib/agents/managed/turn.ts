import type { ErrorKind } from '../../errors';
import { isObject } from '../../platform/files/json-object';
import { parseIso } from '../../platform/time/clock';
import { hasId, targetOf, textOf, type ManagedEvent } from './event';

/** A tool that the agent wants to use. */
export interface ToolUse {
  id: string;
  name: string;
  /** `custom`: the client runs it and sends the result; else it only has to be allowed. */
  kind: 'tool' | 'custom';
  input: unknown;
}

export type SessionStatus = 'unknown' | 'running' | 'idle' | 'rescheduling' | 'terminated' | 'deleted';

/** How a turn ended; `kind` undefined is success. */
export interface Outcome {
  reason: string;
  kind: ErrorKind | undefined;
  message: string;
}

/**
 * Where a session stands, folded from its log in order. Every union of the API is open: an unknown event changes
 * nothing, and an unknown stop reason ends the turn, since only `requires_action` leaves it open.
 */
export interface Turn {
  add: (event: ManagedEvent) => void;
  /** A message was sent whose place in the log is unknown: a new turn begins here. */
  begin: () => void;
  /** An answer was sent for this tool use. */
  answered: (id: string) => void;
  status: () => SessionStatus;
  /** What the session waits for; none unless it is idle for that reason. */
  pending: () => ToolUse[];
  /** The end of the turn, undefined while it goes on or waits for an answer. */
  outcome: () => Outcome | undefined;
  usage: () => Usage;
}

interface Stop {
  reason: string;
  ids: string[];
  detail: string;
}

interface State {
  tools: Map<string, ToolUse>;
  answers: Set<string>;
  status: SessionStatus;
  /** Of the last idle, if nothing ran since. */
  stop: Stop | undefined;
  failure: string | undefined;
  interrupted: boolean;
}

const OPEN = 'requires_action';

export function openTurn(): Turn {
  const meter = usageMeter();
  const turn: State = {
    tools: new Map(),
    answers: new Set(),
    status: 'unknown',
    stop: undefined,
    failure: undefined,
    interrupted: false,
  };
  const begin = (): void => {
    Object.assign(turn, { stop: undefined, failure: undefined, interrupted: false });
  };
  return {
    add: (event) => {
      meter.add(event);
      if (event.type.startsWith('session.')) onStatus(turn, event);
      else if (event.type === 'user.message') begin();
      else if (event.type === 'user.interrupt') turn.interrupted = true;
      else onTool(turn, event);
    },
    begin,
    answered: (id) => turn.answers.add(id),
    status: () => turn.status,
    pending: () => {
      const { stop, answers, tools } = turn;
      const waiting = stop?.reason === OPEN ? stop.ids.filter((id) => !answers.has(id)) : [];
      return waiting.map((id) => tools.get(id) ?? { id, name: '', kind: 'tool', input: null });
    },
    outcome: () => outcomeOf(turn),
    usage: () => meter.usage(),
  };
}

function onStatus(turn: State, event: ManagedEvent): void {
  switch (event.type) {
    case 'session.status_running':
      // It works again after whatever went wrong.
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
      turn.status = 'terminated';
      break;
    case 'session.deleted':
      turn.status = 'deleted';
      break;
    case 'session.error':
      turn.failure = finalFailure(event) ?? turn.failure;
      break;
  }
}

function onTool({ tools, answers }: State, event: ManagedEvent): void {
  switch (event.type) {
    case 'agent.tool_use':
    case 'agent.mcp_tool_use':
    case 'agent.custom_tool_use':
      if (hasId(event)) tools.set(event.id, toolOf(event));
      break;
    case 'agent.tool_result':
    case 'agent.mcp_tool_result':
      tools.delete(textOf(event, 'tool_use_id') ?? textOf(event, 'mcp_tool_use_id') ?? '');
      break;
    case 'user.tool_confirmation':
    case 'user.custom_tool_result':
      answers.add(targetOf(event) ?? '');
      break;
  }
}

function stopOf(event: ManagedEvent): Stop {
  const told = event['stop_reason'];
  const reason = typeof told === 'string' ? told : (textOf(told, 'type') ?? 'end_turn');
  const ids = isObject(told) && Array.isArray(told['event_ids']) ? told['event_ids'] : [];
  return {
    reason,
    ids: ids.filter((id): id is string => typeof id === 'string'),
    detail: textOf(event['stop_details'], 'explanation') ?? '',
  };
}

function toolOf(event: ManagedEvent & { id: string }): ToolUse {
  const server = textOf(event, 'mcp_server_name');
  const name = textOf(event, 'name') ?? '';
  return {
    id: event.id,
    name: server === undefined ? name : `${server}.${name}`,
    kind: event.type === 'agent.custom_tool_use' ? 'custom' : 'tool',
    input: event['input'] ?? null,
  };
}

/** What went wrong for good; undefined of an error that the service retries after. */
function finalFailure(event: ManagedEvent): string | undefined {
  const error = event['error'] ?? event;
  const told = isObject(error) ? error['retry_status'] : undefined;
  const retry = typeof told === 'string' ? told : textOf(told, 'type');
  return retry === 'exhausted' || retry === 'terminal' ? (textOf(error, 'message') ?? retry) : undefined;
}

const ENDS: Readonly<Record<string, readonly [ErrorKind, string]>> = {
  retries_exhausted: ['unavailable', 'The service gave up after repeated errors'],
  budget_reached: ['conflict', 'The budget of the session is used up'],
  refusal: ['conflict', 'The model refused'],
};

function outcomeOf({ status, stop, failure, interrupted }: State): Outcome | undefined {
  const told = (kind: ErrorKind, text: string, detail?: string): Outcome => ({
    reason: stop?.reason ?? status,
    kind,
    message: detail === undefined || detail === '' ? text : `${text}: ${detail}`,
  });
  if (status === 'terminated' || status === 'deleted')
    return { ...told('unavailable', `The session was ${status}`, failure), reason: status };
  if (stop === undefined) return undefined;
  if (stop.reason === OPEN) {
    // What is not named cannot be answered: waiting for it would never end.
    return stop.ids.length === 0
      ? told('conflict', 'The agent waits for an answer, and the service does not say to what')
      : undefined;
  }
  const end = Object.hasOwn(ENDS, stop.reason) ? ENDS[stop.reason] : undefined;
  if (end !== undefined) return told(end[0], end[1], failure ?? stop.detail);
  if (interrupted) return told('canceled', 'The agent was interrupted');
  // Idle may follow an error that nothing came after.
  if (failure !== undefined) return told('unavailable', 'The turn ended in an error', failure);
  return { reason: stop.reason, kind: undefined, message: stop.reason };
}

/** USD for each hour in which a session is running. */
const ACTIVE_HOUR_USD = 0.08;

/** USD for a million tokens; undefined where none is configured. */
export interface Prices {
  input: number | undefined;
  output: number | undefined;
}

/** What a session has used. Tokens from or to the cache are kept apart and priced as input. */
export interface Usage {
  inputTokens: number;
  outputTokens: number;
  cacheTokens: number;
  activeSeconds: number;
  /** USD of everything, as the service counts it; undefined where it does not tell. */
  listCost: number | undefined;
}

export interface Cost extends Usage {
  activeUsd: number;
  /** USD; undefined while tokens are used whose price is not known. */
  tokenUsd: number | undefined;
  /** The best figure there is: what the service counts, else active time and the tokens with a price. */
  totalUsd: number;
}

/** Adds up usage, event by event in the order of the log. */
export function usageMeter(): { add: (event: ManagedEvent) => void; usage: () => Usage } {
  const summed = { inputTokens: 0, outputTokens: 0, cacheTokens: 0, activeSeconds: 0 };
  let told = usageOf({}, 0);
  let runningSince: number | undefined;
  return {
    add: (event) => {
      if (event.type === 'session.usage') {
        told = usageOf(event['usage'], summed.activeSeconds);
      } else if (event.type === 'span.model_request_end') {
        const used = usageOf(event['model_usage'], 0);
        summed.inputTokens += used.inputTokens;
        summed.outputTokens += used.outputTokens;
        summed.cacheTokens += used.cacheTokens;
      } else if (event.type.startsWith('session.status_')) {
        const at = parseIso(textOf(event, 'processed_at') ?? '');
        if (at === undefined) return;
        if (event.type === 'session.status_running') runningSince ??= at;
        else if (runningSince !== undefined) {
          summed.activeSeconds += Math.max(0, at - runningSince) / 1000;
          runningSince = undefined;
        }
      }
    },
    usage: () => ({
      inputTokens: Math.max(summed.inputTokens, told.inputTokens),
      outputTokens: Math.max(summed.outputTokens, told.outputTokens),
      cacheTokens: Math.max(summed.cacheTokens, told.cacheTokens),
      activeSeconds: Math.max(summed.activeSeconds, told.activeSeconds),
      listCost: told.listCost,
    }),
  };
}

/** Usage as the service writes it, in an event or on a session; `activeSeconds` where it does not tell them. */
export function usageOf(value: unknown, activeSeconds: number): Usage {
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
    listCost: dollars(from['list_cost']),
  };
}

export function costOf(usage: Usage, prices: Prices): Cost {
  const activeUsd = (usage.activeSeconds / 3600) * ACTIVE_HOUR_USD;
  const input = priced(usage.inputTokens + usage.cacheTokens, prices.input);
  const output = priced(usage.outputTokens, prices.output);
  const tokenUsd = input === undefined || output === undefined ? undefined : input + output;
  const totalUsd = usage.listCost ?? activeUsd + (input ?? 0) + (output ?? 0);
  return { ...usage, activeUsd, tokenUsd, totalUsd };
}

function priced(tokens: number, perMillion: number | undefined): number | undefined {
  if (tokens === 0) return 0;
  return perMillion === undefined ? undefined : (tokens / 1_000_000) * perMillion;
}

function count(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0;
}

/** `{amount: "250", currency: "USD"}` is 2.50: the amount is in the smallest unit, as a text. */
function dollars(value: unknown): number | undefined {
  const amount = textOf(value, 'amount') ?? '';
  const isUsd = /^\d{1,15}$/.test(amount) && textOf(value, 'currency') === 'USD';
  return isUsd ? Number(amount) / 100 : undefined;
}
