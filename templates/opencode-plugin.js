// Written by "steward install hooks --assistant opencode", removed by "steward uninstall hooks".
// Notifies steward on this machine when a session starts, works, needs input or ends. OpenCode 1 calls `server`,
// OpenCode 2 calls `setup`. The plugin never throws, waits or prints, so it cannot disturb OpenCode.
import { spawn } from 'node:child_process';

const SHIM = '@SHIM@';
/** A hook takes long on a busy machine, and the state of a session is wrong without its event. */
const TIMEOUT_MS = 60_000;
/** How many events may be queued before those of tools are dropped: only they are many, and the others count. */
const MAX_QUEUE = 64;
const MAX_TEXT = 20_000;
const MAX_KNOWN = 1000;
const MAX_OPEN = 20;
/** How long pending calls may delay OpenCode's exit. */
const EXIT_MS = 1000;

/**
 * Whether this process is OpenCode 2's background service. The service handles several terminals, so its process
 * doesn't identify a session.
 */
const isShared = process.argv.includes('--service');
/** Ids of handled events, shared with other copies of this file in the same process. */
const seen = (globalThis[Symbol.for('steward.opencode')] ??= new Set());
/** Maps a subagent's session to its root session, also after the subagent's turn, because it can be resumed. */
const roots = new Map();
/** The subagents whose turn has not ended. */
const running = new Map();
const folders = new Map();
const replies = new Map();
const users = new Set();
/** The sessions whose turn has not ended, because OpenCode may report one end several times. */
const turns = new Set();
/** Maps each session to the error that OpenCode reported since it last worked. */
const errors = new Map();
/** Maps each session to its unanswered requests, oldest first. */
const asked = new Map();
/** Maps each session that has not ended to its folder. */
const open = new Map();

let queue = Promise.resolve();
let queued = 0;

/** Queues calls to the shim, so that events keep their order. */
function send(verb, event, id, fields = {}) {
  if (typeof id !== 'string') return;
  const session = roots.get(id) ?? id;
  if (verb !== 'stop') turns.add(session);
  else if (!turns.delete(session)) return;
  if (verb === 'session-end') open.delete(session);
  else remember(open, session, folders.get(session));
  const json = JSON.stringify({
    session_id: session,
    cwd: folders.get(session),
    hook_event_name: event,
    ...(session === id ? {} : { agent_id: id }),
    ...(isShared ? { shared_process: true } : {}),
    ...fields,
  });
  queued += 1;
  queue = queue.then(() => call(verb, json)).then(() => (queued -= 1));
}

function call(verb, json) {
  return new Promise((resolve) => {
    try {
      const isWindows = process.platform === 'win32';
      const child = spawn(isWindows ? `"${SHIM}"` : SHIM, [verb, 'opencode'], {
        stdio: ['pipe', 'ignore', 'ignore'],
        shell: isWindows,
        windowsHide: true,
        timeout: TIMEOUT_MS,
      });
      child.on('error', resolve);
      child.on('close', resolve);
      child.stdin.on('error', () => {});
      child.stdin.end(json);
    } catch {
      resolve();
    }
  });
}

function isNew(key) {
  if (seen.has(key)) return false;
  seen.add(key);
  if (seen.size > MAX_KNOWN) seen.delete(seen.values().next().value);
  return true;
}

function remember(map, key, value) {
  map.delete(key);
  map.set(key, value);
  if (map.size > MAX_KNOWN) map.delete(map.keys().next().value);
}

function created(id, parent, folder) {
  if (typeof id !== 'string') return;
  if (folder !== undefined) remember(folders, id, folder);
  if (parent === undefined) return send('session-start', 'SessionStart', id, { source: 'startup' });
  child(id, parent);
  started(id);
}

function child(id, parent) {
  if (typeof id === 'string' && typeof parent === 'string') remember(roots, id, roots.get(parent) ?? parent);
}

function started(id) {
  if (!running.has(id)) send('subagent-start', 'SubagentStart', id);
  remember(running, id, true);
}

/** Reports the end of a turn, which an error may have caused: OpenCode's error for an interruption, or another. */
function turnEnded(id, error) {
  if (roots.has(id)) {
    if (running.delete(id)) send('subagent-stop', 'SubagentStop', id);
    return;
  }
  if (error === undefined) send('stop', 'Stop', id, { last_assistant_message: replies.get(id) });
  else if (error.name === 'MessageAbortedError') send('stop', 'Interrupt', id);
  else send('stop', 'StopFailure', id, { error: keywordOf(error), last_assistant_message: textOf(error) });
  replies.delete(id);
}

/** Returns Claude Code's keyword for an error. */
function keywordOf({ name, data }) {
  const status = data?.statusCode;
  if (name === 'ProviderAuthError' || status === 401 || status === 403) return 'authentication_failed';
  if (name === 'MessageOutputLengthError') return 'max_output_tokens';
  if (status === 429) return 'rate_limit';
  return status >= 500 ? 'server_error' : 'unknown';
}

function textOf({ data, message = data?.message }) {
  return typeof message === 'string' ? message.slice(0, MAX_TEXT) : undefined;
}

function ask(id, data, event, fields) {
  const request = { id: data.id ?? data.form?.id, tool: fields.tool_name };
  remember(asked, id, [...(asked.get(id) ?? []), request].slice(-MAX_OPEN));
  send('notification', event, id, fields);
}

/** Ends the sessions in a folder, because OpenCode sends no session end when it exits. */
async function exited(folder) {
  for (const [id, place] of open)
    if (place === folder) send('session-end', 'SessionEnd', id, { reason: 'exit' });
  await Promise.race([queue, new Promise((resolve) => setTimeout(resolve, EXIT_MS).unref())]);
}

/** Reports the user's answer as a tool event, so that the session no longer counts as waiting. */
function answered(id, data) {
  const requests = asked.get(id) ?? [];
  const request = requests.find((known) => known.id === data.requestID) ?? requests[0];
  if (request === undefined) return;
  send('tool', 'PostToolUse', id, { tool_name: request.tool });
  asked.set(
    id,
    requests.filter((known) => known !== request),
  );
}

function prompted(id, text) {
  if (roots.has(id)) return started(id);
  if (typeof text === 'string' && text.trim() !== '')
    send('prompt', 'UserPromptSubmit', id, { prompt: text.slice(0, MAX_TEXT) });
}

function replied(id, text) {
  if (typeof text === 'string' && text !== '') remember(replies, id, text.slice(0, MAX_TEXT));
}

function tool(event, id, name, input) {
  const path = input?.filePath ?? input?.path;
  if (name === 'task') child(input?.task_id, id);
  if (queued >= MAX_QUEUE) return;
  send('tool', event, id, {
    tool_name: name,
    ...(typeof path === 'string' ? { tool_input: { file_path: path } } : {}),
  });
}

/** Handles an event. OpenCode 1 sends `properties`; OpenCode 2 sends `data`. */
function onEvent(event, folder) {
  const data = event.data ?? event.properties ?? {};
  const id = data.sessionID ?? data.info?.id ?? data.form?.sessionID;
  const place = event.location?.directory ?? data.info?.directory ?? folder;
  if (typeof id === 'string' && place !== undefined && !folders.has(id)) remember(folders, id, place);
  const on = EVENTS[event.type];
  if (on !== undefined) on(id, data, place);
}

const EVENTS = {
  'session.created': (id, data, place) => created(id, data.parentID ?? data.info?.parentID, place),
  'session.updated': (id, { info }) => child(id, info?.parentID),
  'session.error': (id, { error }) => remember(errors, id, error),
  // After an error, OpenCode 1 may compact the session and continue.
  'session.status': (id, { status }) => status?.type === 'busy' && errors.delete(id),
  'session.idle': (id) => turnEnded(id, errors.get(id)),
  'session.execution.succeeded': (id) => turnEnded(id),
  'session.execution.failed': (id, { error }) => turnEnded(id, error ?? {}),
  'session.execution.interrupted': (id) => turnEnded(id, { name: 'MessageAbortedError' }),
  'session.deleted': (id) => {
    if (!roots.has(id)) send('session-end', 'SessionEnd', id, { reason: 'deleted' });
  },
  'permission.asked': (id, data) =>
    ask(id, data, 'PermissionRequest', { tool_name: data.permission ?? data.action }),
  'question.asked': (id, data) => ask(id, data, 'Notification', { notification_type: 'elicitation_dialog' }),
  'form.created': (id, data) => ask(id, data, 'Notification', { notification_type: 'elicitation_dialog' }),
  'permission.replied': answered,
  'question.replied': answered,
  'question.rejected': answered,
  'form.replied': answered,
  'form.cancelled': answered,
  'message.updated': (_, { info }) => {
    if (info?.role === 'user') users.add(info.id);
  },
  'message.part.updated': (_, { part }) => {
    if (part?.type === 'text' && !users.has(part.messageID)) replied(part.sessionID, part.text);
  },
  'session.text.ended': (id, data) => replied(id, data.text),
  'session.inbox.enqueued': (id, { item }) => {
    if (item?.type === 'user') prompted(id, item.payload?.text);
  },
};

/** Runs a handler and ignores its errors, so that they don't reach OpenCode. */
function safely(work) {
  try {
    work();
  } catch {
    // Continue with the next event.
  }
}

async function server(input) {
  const folder = input?.directory;
  return {
    dispose: () => exited(folder),
    event: async ({ event }) => safely(() => onEvent(event, folder)),
    'chat.message': async ({ sessionID }, { parts }) =>
      safely(() => {
        if (!folders.has(sessionID)) remember(folders, sessionID, folder);
        const texts = parts.filter((part) => part.type === 'text' && part.synthetic !== true);
        prompted(sessionID, texts.map(({ text }) => text).join('\n'));
      }),
    'tool.execute.before': async ({ tool: name, sessionID }, output) =>
      safely(() => tool('PreToolUse', sessionID, name, output?.args)),
    'tool.execute.after': async ({ tool: name, sessionID, args }) =>
      safely(() => tool('PostToolUse', sessionID, name, args)),
  };
}

/** OpenCode 1 also calls this function, but without an event stream. */
async function setup(ctx) {
  if (typeof ctx?.event?.subscribe !== 'function') return undefined;
  const folder = ctx.location?.directory;
  const stop = new AbortController();
  void (async () => {
    try {
      for await (const event of ctx.event.subscribe({ signal: stop.signal })) {
        if (event.id === undefined || isNew(event.id)) safely(() => onEvent(event, folder));
      }
    } catch {
      // The stream fails when OpenCode exits.
    }
  })();
  await hookTool(ctx, 'execute.before', () => 'PreToolUse');
  await hookTool(ctx, 'execute.after', ({ status }) =>
    status === 'error' ? 'PostToolUseFailure' : 'PostToolUse',
  );
  return () => stop.abort();
}

async function hookTool(ctx, name, eventOf) {
  try {
    await ctx.tool.hook(name, (call) => {
      if (call.id === undefined || isNew(`${name} ${call.id}`))
        safely(() => tool(eventOf(call), call.sessionID, call.tool, call.input));
    });
  } catch {
    // Without tool events, steward records only the turns of a session.
  }
}

export default { id: 'steward', server, setup };
