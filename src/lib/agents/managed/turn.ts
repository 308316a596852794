import type { ErrorKind } from '../../errors';
import { isObject } from '../../platform/files/json-object';
import { parseIso } from '../../platform/time/clock';
import { type ManagedEvent, hasId, textOf } from './event';

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
  /** A message was sent whose place in the log nobody tells: a new turn begins here. */
  begin: () => void;
  /** An answer was sent for this tool use: it is not waited for any more. */
  answered: (id: string) => void;
  status: () => SessionStatus;
  /** What the session waits for; none unless it is idle for that reason. */
  pending: () => ToolUse[];
  /** The end of the turn, undefined while it goes on or waits for an answer. */
  outcome: () => Outcome | undefined;
  usage: () => Usage;
}

const OPEN = 'requires_action';
/** Nobody can answer what is not named: to wait for it would be to wait for ever. */
const NAMELESS: Outcome = {
  reason: OPEN,
  kind: 'conflict',
  message: 'The agent waits for an answer, and the service does not say to what',
};

export function openTurn(): Turn {
  const meter = usageMeter();
  const tools = new Map<string, ToolUse>();
  const answers = new Set<string>();
  let status: SessionStatus = 'unknown';
  /** Of the last idle, when nothing ran since. */
  let stop: { reason: string; ids: string[]; detail: string } | undefined;
  let failure: string | undefined;
  let interrupted = false;

  const newTurn = (): void => {
    stop = undefined;
    failure = undefined;
    interrupted = false;
  };

  const onStatus = (event: ManagedEvent): void => {
    switch (event.type) {
      case 'session.status_running':
        status = 'running';
        stop = undefined;
        // It works again after whatever went wrong.
        failure = undefined;
        break;
      case 'session.status_idle':
        status = 'idle';
        stop = stopOf(event);
        if (stop.reason !== OPEN) tools.clear();
        break;
      case 'session.status_rescheduled':
        status = 'rescheduling';
        stop = undefined;
        break;
      case 'session.status_terminated':
        status = 'terminated';
        break;
      case 'session.deleted':
        status = 'deleted';
        break;
      case 'session.error':
        failure = finalFailure(event) ?? failure;
        break;
    }
  };

  const onTool = (event: ManagedEvent): void => {
    switch (event.type) {
      case 'agent.tool_use':
      case 'agent.mcp_tool_use':
      case 'agent.custom_tool_use':
        if (hasId(event)) tools.set(event.id, toolOf(event));
        break;
      case 'agent.tool_result':
        tools.delete(textOf(event, 'tool_use_id') ?? '');
        break;
      case 'agent.mcp_tool_result':
        tools.delete(textOf(event, 'mcp_tool_use_id') ?? '');
        break;
      case 'user.tool_confirmation':
        answers.add(textOf(event, 'tool_use_id') ?? '');
        break;
      case 'user.custom_tool_result':
        answers.add(textOf(event, 'custom_tool_use_id') ?? '');
        break;
    }
  };

  return {
    add: (event) => {
      meter.add(event);
      if (event.type.startsWith('session.')) onStatus(event);
      else if (event.type === 'user.message') newTurn();
      else if (event.type === 'user.interrupt') interrupted = true;
      else onTool(event);
    },
    begin: newTurn,
    answered: (id) => answers.add(id),
    status: () => status,
    pending: () =>
      stop?.reason === OPEN
        ? stop.ids
            .filter((id) => !answers.has(id))
            .map((id) => tools.get(id) ?? { id, name: '', kind: 'tool', input: null })
        : [],
    outcome: () => {
      if (status === 'terminated' || status === 'deleted') return ended(status, failure);
      if (stop === undefined) return undefined;
      if (stop.reason === OPEN) return stop.ids.length === 0 ? NAMELESS : undefined;
      return outcomeOf(stop, failure, interrupted);
    },
    usage: () => meter.usage(),
  };
}

function stopOf(event: ManagedEvent): { reason: string; ids: string[]; detail: string } {
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

/** What went wrong for good; undefined of an error that the service tries again after. */
function finalFailure(event: ManagedEvent): string | undefined {
  const error = event['error'] ?? event;
  const told = isObject(error) ? error['retry_status'] : undefined;
  const retry = typeof told === 'string' ? told : textOf(told, 'type');
  return retry === 'exhausted' || retry === 'terminal' ? (textOf(error, 'message') ?? retry) : undefined;
}

function ended(status: string, failure: string | undefined): Outcome {
  const why = failure === undefined ? '' : `: ${failure}`;
  return { reason: status, kind: 'unavailable', message: `The session was ${status}${why}` };
}

function outcomeOf(
  stop: { reason: string; detail: string },
  failure: string | undefined,
  interrupted: boolean,
): Outcome {
  const { reason, detail } = stop;
  const more = failure ?? detail;
  const tail = more === '' ? '' : `: ${more}`;
  switch (reason) {
    case 'retries_exhausted':
      return { reason, kind: 'unavailable', message: `The service gave up after repeated errors${tail}` };
    case 'budget_reached':
      return { reason, kind: 'conflict', message: `The budget of the session is used up${tail}` };
    case 'refusal':
      return { reason, kind: 'conflict', message: `The model refused${tail}` };
  }
  if (interrupted) return { reason, kind: 'canceled', message: 'The agent was interrupted' };
  // Idle may follow an error that nothing came after.
  if (failure !== undefined)
    return { reason, kind: 'unavailable', message: `The turn ended in an error${tail}` };
  return { reason, kind: undefined, message: reason };
}

/** USD for each hour in which a session is running (service.md: Limits). */
const ACTIVE_HOUR_USD = 0.08;

/** USD for a million tokens; undefined where nobody said. */
export interface Prices {
  input: number | undefined;
  output: number | undefined;
}

/** What a session has used. Tokens that come from the cache, or go there, are kept apart and priced as input. */
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
export interface UsageMeter {
  add: (event: ManagedEvent) => void;
  usage: () => Usage;
}

export function usageMeter(): UsageMeter {
  const summed = { inputTokens: 0, outputTokens: 0, cacheTokens: 0 };
  let told: Usage | undefined;
  let runningSince: number | undefined;
  let seconds = 0;
  return {
    add: (event) => {
      if (event.type === 'session.usage') {
        told = usageOf(event['usage'], seconds);
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
          seconds += Math.max(0, at - runningSince) / 1000;
          runningSince = undefined;
        }
      }
    },
    usage: () => ({
      inputTokens: Math.max(summed.inputTokens, told?.inputTokens ?? 0),
      outputTokens: Math.max(summed.outputTokens, told?.outputTokens ?? 0),
      cacheTokens: Math.max(summed.cacheTokens, told?.cacheTokens ?? 0),
      activeSeconds: Math.max(seconds, told?.activeSeconds ?? 0),
      listCost: told?.listCost,
    }),
  };
}

/** Usage as the service writes it, in an event or on a session; `activeSeconds` where it does not tell them. */
export function usageOf(value: unknown, activeSeconds: number): Usage {
  const from = isObject(value) ? value : {};
  const creation = isObject(from['cache_creation']) ? from['cache_creation'] : {};
  return {
    inputTokens: count(from['input_tokens']),
    outputTokens: count(from['output_tokens']),
    cacheTokens:
      count(from['cache_read_input_tokens']) +
      count(from['cache_creation_input_tokens']) +
      count(creation['ephemeral_5m_input_tokens']) +
      count(creation['ephemeral_1h_input_tokens']),
    activeSeconds: from['active_seconds'] === undefined ? activeSeconds : count(from['active_seconds']),
    listCost: dollars(from['list_cost']),
  };
}

export function costOf(usage: Usage, prices: Prices): Cost {
  const activeUsd = (usage.activeSeconds / 3600) * ACTIVE_HOUR_USD;
  const input = priced(usage.inputTokens + usage.cacheTokens, prices.input);
  const output = priced(usage.outputTokens, prices.output);
  const tokenUsd = input === undefined || output === undefined ? undefined : input + output;
  return {
    ...usage,
    activeUsd,
    tokenUsd,
    totalUsd: usage.listCost ?? activeUsd + (input ?? 0) + (output ?? 0),
  };
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
  const amount = textOf(value, 'amount');
  if (amount === undefined || !/^\d{1,15}$/.test(amount) || textOf(value, 'currency') !== 'USD')
    return undefined;
  return Number(amount) / 100;
}
