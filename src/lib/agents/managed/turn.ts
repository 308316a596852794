import type { ErrorKind } from '../../errors';
import { isObject } from '../../platform/files/json-object';
import { usageMeter, type Usage } from './cost';
import { hasId, textOf, type ManagedEvent } from './event';

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
