import { createServer, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

/** The tokens of each answer, and what an assistant reports of a turn of two answers. */
const USED = { input: 1000, cached: 400, output: 50 };
export const TURN_USAGE = { input: 1200, output: 100, cacheRead: 800, cacheWrite: 0 };

interface Tool {
  name?: string;
  function?: { name?: string };
}

/** A part of a prompt. */
interface Part {
  type: string;
  text?: string;
}

/**
 * A model on loopback that answers as Anthropic's API, as OpenAI's chat completions and as OpenAI's responses. It does
 * what the last prompt says: see `CALLS`, `SLOW` and `REFUSED`. Otherwise it says "Done.".
 */
export async function modelServer(): Promise<{
  url: string;
  /** Keeps its answers back until the returned function is called. */
  hold: () => () => void;
  close: () => void;
}> {
  let held = Promise.resolve();
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', async () => {
      const path = request.url ?? '';
      await held;
      if (request.method !== 'POST') response.end('{"object":"list","data":[]}');
      else if (path.includes('/count_tokens')) response.end('{"input_tokens":10}');
      else if (path.includes('/messages')) answerMessages(response, body);
      else if (path.endsWith('/responses')) answerResponses(response, body);
      else answerChat(response, body);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    hold() {
      let release = (): void => undefined;
      held = new Promise((done) => (release = done));
      return release;
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

const COMMAND = 'touch made-by-model';
/** A command that Claude Code's mode `auto` asks the model about. */
const UNKNOWN_COMMAND = 'sh -c true';
/** How the model allows it. */
const ALLOWED = '<block>no';
const CHOICE = {
  question: 'Which one?',
  header: 'Choice',
  multiSelect: false,
  options: [
    { label: 'First', description: 'The first' },
    { label: 'Second', description: 'The second' },
  ],
};

/** The same question as a form. */
const FORM = {
  properties: { choice: { type: 'string', enum: CHOICE.options.map(({ label }) => label) } },
  required: ['choice'],
};

/** For each word of a prompt, the tools of the assistants for it: the model calls the one that it is offered. */
const CALLS: Readonly<Record<string, readonly (readonly [tool: string, input: object])[]>> = {
  'RUN-IT': [
    ['Bash', { command: COMMAND, description: 'Make a file' }],
    ['bash', { command: COMMAND, description: 'Make a file' }],
    ['run_shell_command', { command: COMMAND, description: 'Make a file', is_background: false }],
    [
      'exec_command',
      { cmd: COMMAND, sandbox_permissions: 'require_escalated', justification: 'Make a file?' },
    ],
    ['shell_command', { command: COMMAND }],
    ['shell', { command: COMMAND }],
  ],
  'CHECK-IT': [['Bash', { command: UNKNOWN_COMMAND, description: 'Do nothing' }]],
  'ASK-ME': [
    ['AskUserQuestion', { questions: [CHOICE] }],
    ['ask_user_question', { questions: [CHOICE] }],
    ['ask_user', { message: CHOICE.question, requestedSchema: FORM }],
    ['question', { questions: [CHOICE] }],
    ['request_user_input', { questions: [{ id: 'choice', ...CHOICE }] }],
  ],
  'PLAN-IT': [
    ['ExitPlanMode', { plan: 'Do one thing.' }],
    ['exit_plan_mode', { plan: 'Do one thing.', summary: 'Do one thing.' }],
    ['plan_exit', {}],
  ],
};
/** Tools of Qwen Code that the model calls without a description. */
const FOUND_LATER = ['ask_user_question', 'exit_plan_mode'];
/** The model never answers this prompt. */
const SLOW = 'WAIT-LONG';
/** The service refuses these prompts, with this status. */
const REFUSED: Readonly<Record<string, number>> = { 'HIT-LIMIT': 429, 'LOSE-KEY': 401 };

type Answer = 'never' | { status: number } | { tool: string; input: object } | undefined;

/** What the model does about a prompt: undefined if it only says "Done.". */
function answerTo(prompt: string, tools: readonly Tool[]): Answer {
  // Requests without tools are the assistant's own, such as for a title.
  if (tools.length === 0) return undefined;
  // After a refusal, an assistant may send the prompt before as a part of the same message.
  const words = [SLOW, ...Object.keys({ ...REFUSED, ...CALLS })].filter((word) => prompt.includes(word));
  const word = words.sort((a, b) => prompt.lastIndexOf(b) - prompt.lastIndexOf(a))[0] ?? '';
  if (word === SLOW) return 'never';
  const status = REFUSED[word];
  if (status !== undefined) return { status };
  const offered = tools.map((tool) => tool.name ?? tool.function?.name);
  const names = offered.includes('tool_search') ? [...offered, ...FOUND_LATER] : offered;
  const call = CALLS[word]?.find(([tool]) => names.includes(tool));
  return call === undefined ? undefined : { tool: call[0], input: call[1] };
}

function textOf(content: string | readonly Part[] | null | undefined): string {
  return typeof content === 'string' ? content : (content ?? []).map(({ text }) => text ?? '').join('\n');
}

function refuse(response: ServerResponse, status: number): void {
  const error =
    status === 429
      ? {
          type: 'rate_limit_error',
          code: 'rate_limit_exceeded',
          message: 'This request would exceed your limit; resets 11:59pm.',
        }
      : { type: 'authentication_error', code: 'invalid_api_key', message: 'This key is not valid.' };
  response.writeHead(status, { 'content-type': 'application/json', 'x-should-retry': 'false' });
  response.end(JSON.stringify({ type: 'error', error }));
}

interface Chat {
  model?: string;
  stream?: boolean;
  tools?: Tool[];
  messages: { role: string; content?: string | Part[] | null }[];
}

function answerChat(response: ServerResponse, body: string): void {
  const { model, stream, tools = [], messages } = JSON.parse(body) as Chat;
  const last = messages.at(-1);
  const answer = answerTo(last?.role === 'user' ? textOf(last.content) : '', tools);
  if (answer === 'never') return;
  if (answer !== undefined && 'status' in answer) return refuse(response, answer.status);
  const call = answer && {
    id: `call_${messages.length}`,
    type: 'function',
    function: { name: answer.tool, arguments: JSON.stringify(answer.input) },
  };
  const message =
    call === undefined
      ? { role: 'assistant', content: 'Done.' }
      : { role: 'assistant', content: null, tool_calls: [{ index: 0, ...call }] };
  const finish_reason = call === undefined ? 'stop' : 'tool_calls';
  const usage = {
    prompt_tokens: USED.input,
    completion_tokens: USED.output,
    total_tokens: USED.input + USED.output,
    prompt_tokens_details: { cached_tokens: USED.cached },
  };
  const head = { id: `chat_${messages.length}`, created: 1, model };
  if (stream !== true) {
    const choices = [{ index: 0, message, finish_reason }];
    response.end(JSON.stringify({ ...head, object: 'chat.completion', choices, usage }));
    return;
  }
  const chunk = (more: object): string =>
    `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', ...more })}\n\n`;
  response.setHeader('content-type', 'text/event-stream');
  response.write(chunk({ choices: [{ index: 0, delta: message, finish_reason: null }] }));
  response.write(chunk({ choices: [{ index: 0, delta: {}, finish_reason }] }));
  response.end(`${chunk({ choices: [], usage })}data: [DONE]\n\n`);
}

interface Responses {
  /** Codex's own reviewer wants a decision as JSON. */
  text?: { format?: object };
  tools?: Tool[];
  input: { type?: string; role?: string; content?: string | Part[] }[];
}

function answerResponses(response: ServerResponse, body: string): void {
  const { text, tools = [], input } = JSON.parse(body) as Responses;
  const isReview = text?.format !== undefined;
  const last = input.at(-1);
  const answer = answerTo(last?.role === 'user' && !isReview ? textOf(last.content) : '', tools);
  if (answer === 'never') return;
  if (answer !== undefined && 'status' in answer) return refuse(response, answer.status);
  const item =
    answer === undefined
      ? {
          type: 'message',
          role: 'assistant',
          id: `m${input.length}`,
          content: [{ type: 'output_text', text: isReview ? '{"outcome":"allow"}' : 'Done.' }],
        }
      : {
          type: 'function_call',
          id: `f${input.length}`,
          call_id: `call_${input.length}`,
          name: answer.tool,
          arguments: JSON.stringify(answer.input),
        };
  const usage = {
    input_tokens: USED.input,
    input_tokens_details: { cached_tokens: USED.cached },
    output_tokens: USED.output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: USED.input + USED.output,
  };
  const event = (type: string, more: object): string =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
  const id = `r${input.length}`;
  response.setHeader('content-type', 'text/event-stream');
  response.write(event('response.created', { response: { id } }));
  response.write(event('response.output_item.done', { item }));
  response.end(event('response.completed', { response: { id, usage } }));
}

interface Messages {
  model: string;
  stream?: boolean;
  stop_sequences?: string[];
  tools?: Tool[];
  messages: { role: string; content: string | Part[] }[];
}

function answerMessages(response: ServerResponse, body: string): void {
  const { model, stream, stop_sequences = [], tools = [], messages } = JSON.parse(body) as Messages;
  const content = messages.findLast(({ role }) => role === 'user')?.content ?? '';
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  const typed = parts.slice(parts.findLastIndex(({ type }) => type === 'tool_result') + 1);
  const call = answerTo(textOf(typed), tools);
  if (call === 'never') return;
  if (call !== undefined && 'status' in call) return refuse(response, call.status);
  const usage = { input_tokens: USED.input, output_tokens: USED.output };
  const stop_reason = call === undefined ? 'end_turn' : 'tool_use';
  const block =
    call === undefined
      ? { type: 'text', text: stop_sequences.includes('</block>') ? ALLOWED : 'Done.' }
      : { type: 'tool_use', id: `toolu_${messages.length}`, name: call.tool, input: call.input };
  const message = {
    id: `msg_${messages.length}`,
    type: 'message',
    role: 'assistant',
    model,
    stop_sequence: null,
  };
  if (stream !== true) {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ ...message, content: [block], stop_reason, usage }));
    return;
  }
  const event = (type: string, more: object): string =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
  const delta =
    call === undefined
      ? { type: 'text_delta', text: 'Done.' }
      : { type: 'input_json_delta', partial_json: JSON.stringify(call.input) };
  const empty = call === undefined ? { ...block, text: '' } : { ...block, input: {} };
  response.setHeader('content-type', 'text/event-stream');
  response.write(event('message_start', { message: { ...message, content: [], stop_reason: null, usage } }));
  response.write(event('content_block_start', { index: 0, content_block: empty }));
  response.write(event('content_block_delta', { index: 0, delta }));
  response.write(event('content_block_stop', { index: 0 }));
  response.write(event('message_delta', { delta: { stop_reason, stop_sequence: null }, usage }));
  response.end(event('message_stop', {}));
}
