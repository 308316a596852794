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
 */
export async function modelServer(): Promise<{ url: string; close: () => void }> {
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      const path = request.url ?? '';
      if (request.method !== 'POST') response.end('{"object":"list","data":[]}');
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
