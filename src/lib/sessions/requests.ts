import { definedOnly, objectsIn, textOf } from '../platform/files/json-object';
import type { WorkEvent } from './work-events';

/** A request of the assistant that you have not answered, as far as its events show. */
export type OpenRequest = ReturnType<typeof parseRequests>[number];

const MAX_OPEN = 20;
/** Tools that an agent starts within this time of a request may run at the same time as the requested tool. */
const PARALLEL_MS = 10_000;

/** Returns the open requests after an event, oldest first. */
export function requestsAfter(open: readonly OpenRequest[], event: WorkEvent): OpenRequest[] {
  const agent = event.agent ?? null;
  switch (event.type) {
    case 'session-start':
      // Compaction happens during a turn, so the turn's requests stay open.
      return event.reason === 'compact' ? [...open] : [];
    case 'prompt':
      // You can type a prompt only if no request hides the input.
      return [];
    case 'session-end':
      return [];
    case 'stop':
      return open.filter((request) => request.agent !== null);
    case 'subagent-stop':
      return open.filter((request) => request.agent !== agent || agent === null);
    case 'notification':
      return isReminder(open, event) || !isWaiting(event.reason) ? [...open] : afterRequest(open, event);
    case 'tool-before':
    case 'tool-after':
    case 'tool-failed':
      return afterTool(open, event);
    default:
      return [...open];
  }
}

/** Returns whether a notification only repeats an open request: of any tool, or of the tool that asks. */
export function isReminder(open: readonly OpenRequest[], { reason, tool, agent }: WorkEvent): boolean {
  if (tool === undefined) return open.length > 0 && REPEATED.includes(reason ?? '');
  return open.some(
    (asked) => ASKING.includes(asked.reason) && asked.tool === tool && asked.agent === (agent ?? null),
  );
}

const REPEATED: readonly string[] = ['permission_prompt', 'elicitation_dialog'];
const ASKING: readonly (string | null)[] = ['question', 'plan'];

function afterRequest(open: readonly OpenRequest[], event: WorkEvent): OpenRequest[] {
  const { agent = null, reason = null, tool = null, ts } = event;
  // An idle main agent has no request open.
  if (reason === 'idle_prompt' && agent === null) return open.filter((request) => request.agent !== null);
  return [...open, { agent, reason, tool, at: ts }].slice(-MAX_OPEN);
}

/**
 * A tool that has run answers its agent's oldest request for that tool. A tool that starts later than parallel
 * tools shows that you answered all of the agent's requests, perhaps with no.
 */
function afterTool(open: readonly OpenRequest[], event: WorkEvent): OpenRequest[] {
  const { agent = null, tool = null } = event;
  const isStart = event.type === 'tool-before';
  const parallelFrom = Date.parse(event.ts) - PARALLEL_MS;
  const own = open.find((request) => request.agent === agent && request.tool === tool);
  const others = open.filter((request) => {
    if (request.agent !== agent) return true;
    if (request.call !== undefined) return isStart || request.call !== event.call;
    if (request.tool === null) return false;
    return isStart ? Date.parse(request.at) >= parallelFrom : request !== own;
  });
  return isStart && event.asks !== undefined ? [...others, questionOf(event)].slice(-MAX_OPEN) : others;
}

function questionOf({ agent, tool, call, asks, ts }: WorkEvent): OpenRequest {
  const request: OpenRequest = { agent: agent ?? null, reason: asks ?? null, tool: tool ?? null, at: ts };
  if (call !== undefined) request.call = call;
  return request;
}

/**
 * Notification types that need no answer. Notifications from older versions of the assistants have no type
 * and are assumed to need an answer.
 */
const NOTICES: readonly string[] = [
  ...['auth_success', 'elicitation_complete', 'elicitation_response'],
  // Codex asks its own reviewer instead of you.
  ...['auto_review', 'guardian_subagent'],
  ...['agent_completed', 'agent_idle', 'shell_completed', 'shell_detached_completed'],
];

export function isWaiting(reason: string | undefined): boolean {
  return reason === undefined || !NOTICES.includes(reason);
}

/** Parses the open requests of a stored session, skipping invalid ones. */
export function parseRequests(value: unknown) {
  return objectsIn(value)
    .slice(-MAX_OPEN)
    .flatMap(({ agent, reason, tool, call, at }) => {
      if (typeof at !== 'string' || Number.isNaN(Date.parse(at))) return [];
      const request = {
        /** The subagent that made the request; null for the main agent. */
        agent: textOf(agent) ?? null,
        /** The assistant's keyword for the request, such as `permission_prompt`, or null. */
        reason: textOf(reason) ?? null,
        /** The tool that the agent asks to run; null if the request doesn't name one. */
        tool: textOf(tool) ?? null,
        at,
      };
      /** The id of the tool call that asks; only its end answers such a request. */
      return [{ ...request, ...definedOnly({ call: textOf(call) }) }];
    });
}
