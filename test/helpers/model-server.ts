import { createServer, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

/** The tokens of each answer, and what an assistant reports of a turn of two answers. */
const USED = { input: 1000, cached: 400, output: 50 };
export const TURN_USAGE = { input: 1200, output: 100, cacheRead: 800, cacheWrite: 0 };

interface Asked {
  model?: string;
  stream?: boolean;
  tools?: { name?: string; function?: { name?: string } }[];
}

/**
 * A model on loopback that answers as an OpenAI-compatible API. It calls the shell tool once and then says "Done.".
 * As Anthropic's API, it does what the last prompt says: see `MARKERS`.
 */
export async function modelServer(): Promise<{ url: string; close: () => void }> {
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      const path = request.url ?? '';
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
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

const SHELLS = ['bash', 'run_shell_command', 'exec_command', 'shell', 'shell_command'];
const ARGUMENTS = JSON.stringify({ command: 'echo hi', cmd: 'echo hi', description: 'Say hi' });

/** Returns the name of the shell tool, unless it was called already or there is none. */
function toolIn(body: string): { asked: Asked; tool: string | undefined } {
  const asked = JSON.parse(body) as Asked;
  const names = (asked.tools ?? []).map((tool) => tool.name ?? tool.function?.name);
  const wasCalled = /"role":\s*"tool"|function_call_output/.test(body);
  return { asked, tool: wasCalled ? undefined : SHELLS.find((name) => names.includes(name)) };
}

function answerChat(response: ServerResponse, body: string): void {
  const { asked, tool } = toolIn(body);
  const call = { id: 'call_1', type: 'function', function: { name: tool, arguments: ARGUMENTS } };
  const message =
    tool === undefined
      ? { role: 'assistant', content: 'Done.' }
      : { role: 'assistant', content: null, tool_calls: [{ index: 0, ...call }] };
  const finish_reason = tool === undefined ? 'stop' : 'tool_calls';
  const usage = {
    prompt_tokens: USED.input,
    completion_tokens: USED.output,
    total_tokens: USED.input + USED.output,
    prompt_tokens_details: { cached_tokens: USED.cached },
  };
  const head = { id: 'c1', created: 1, model: asked.model };
  if (asked.stream !== true) {
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

function answerResponses(response: ServerResponse, body: string): void {
  const { tool } = toolIn(body);
  const item =
    tool === undefined
      ? { type: 'message', role: 'assistant', id: 'm1', content: [{ type: 'output_text', text: 'Done.' }] }
      : { type: 'function_call', id: 'f1', call_id: 'call_1', name: tool, arguments: ARGUMENTS };
  const usage = {
    input_tokens: USED.input,
    input_tokens_details: { cached_tokens: USED.cached },
    output_tokens: USED.output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: USED.input + USED.output,
  };
  const event = (type: string, more: object): string =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
  response.setHeader('content-type', 'text/event-stream');
  response.write(event('response.created', { response: { id: 'r1' } }));
  response.write(event('response.output_item.done', { item }));
  response.end(event('response.completed', { response: { id: 'r1', usage } }));
}

/** Words of a prompt, and the tool that the model calls for them. */
const MARKERS: readonly { word: string; tool: string; input: object }[] = [
  { word: 'RUN-IT', tool: 'Bash', input: { command: 'touch made-by-model', description: 'Make a file' } },
  {
    word: 'ASK-ME',
    tool: 'AskUserQuestion',
    input: {
      questions: [
        {
          question: 'Which one?',
          header: 'Choice',
          multiSelect: false,
          options: [
            { label: 'First', description: 'The first' },
            { label: 'Second', description: 'The second' },
          ],
        },
      ],
    },
  },
  { word: 'PLAN-IT', tool: 'ExitPlanMode', input: { plan: 'Do one thing.' } },
];
/** The model never answers this prompt. */
const SLOW = 'WAIT-LONG';
/** The service refuses this prompt for its limit. */
const LIMIT = 'HIT-LIMIT';

interface Messages {
  model: string;
  stream?: boolean;
  tools?: { name: string }[];
  messages: { role: string; content: string | { type: string; text?: string }[] }[];
}

function answerMessages(response: ServerResponse, body: string): void {
  const { model, stream, tools = [], messages } = JSON.parse(body) as Messages;
  const content = messages.findLast(({ role }) => role === 'user')?.content ?? '';
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  const typed = parts.slice(parts.findLastIndex(({ type }) => type === 'tool_result') + 1);
  const text = typed.map((part) => part.text ?? '').join('\n');
  // Requests without tools are the assistant's own, such as for a title.
  const isOwn = tools.length === 0;
  // After a refusal, the assistant sends the prompt before as a part of the same message.
  const words = [SLOW, LIMIT, ...MARKERS.map(({ word }) => word)].filter((word) => text.includes(word));
  const marker = words.sort((a, b) => text.lastIndexOf(b) - text.lastIndexOf(a))[0];
  if (!isOwn && marker === SLOW) return;
  if (!isOwn && marker === LIMIT) {
    const error = {
      type: 'rate_limit_error',
      message: 'This request would exceed your limit; resets 11:59pm.',
    };
    response.writeHead(429, { 'content-type': 'application/json', 'x-should-retry': 'false' });
    response.end(JSON.stringify({ type: 'error', error }));
    return;
  }
  const call = MARKERS.find(({ word, tool }) => marker === word && tools.some(({ name }) => name === tool));
  const usage = { input_tokens: USED.input, output_tokens: USED.output };
  const stop_reason = call === undefined ? 'end_turn' : 'tool_use';
  const block =
    call === undefined
      ? { type: 'text', text: 'Done.' }
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
