import type { Readable } from 'node:stream';

import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import {
  CallToolRequestSchema,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
  type CallToolResult,
  type JSONRPCMessage,
  type Tool,
} from '@modelcontextprotocol/sdk/types.js';
import type { JsonSchemaType } from '@modelcontextprotocol/sdk/validation';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';

export interface ServeInput {
  name: string;
  version: string;
  instructions: string;
  tools: Tool[];
  /** Undefined: there is no such tool. */
  call: (tool: string, input: unknown) => Promise<CallToolResult> | undefined;
  onError: (error: Error) => void;
  /** What comes in, line by line. `refuse` answers a line that cannot be read, whose id nobody knows therefore. */
  lines: (refuse: (message: string) => void) => Readable;
}

/**
 * Serves tools on stdin and stdout; resolves when the connection is closed. The vendor's library, a bundle of its own.
 * Its lower half is used: the schemas of the inputs are ours, and so are the words of a refusal.
 */
export async function connectStdio(
  input: ServeInput,
): Promise<{ closed: Promise<void>; finish: () => void }> {
  const { name, version, instructions, tools } = input;
  const server = new Server({ name, version }, { capabilities: { tools: {} }, instructions });
  server.onerror = (error) => {
    if (error instanceof SyntaxError) refuse(ErrorCode.ParseError, 'The line is not JSON.');
    else if (error.name === 'ZodError')
      refuse(ErrorCode.InvalidRequest, 'The line is not a message of JSON-RPC 2.0.');
    input.onError(error);
  };
  const closed = new Promise<void>((resolve) => {
    server.onclose = resolve;
  });
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
    const answer = input.call(params.name, params.arguments ?? {});
    if (answer === undefined) {
      throw new McpError(ErrorCode.InvalidParams, `There is no tool ${JSON.stringify(params.name)}.`);
    }
    return answer;
  });
  const refuse = (code: ErrorCode, message: string): void => {
    const answer = { jsonrpc: '2.0', id: null, error: { code, message } };
    // JSON-RPC answers so; the library's type knows no such id.
    void transport.send(answer as unknown as JSONRPCMessage);
  };
  const lines = input.lines((message) => refuse(ErrorCode.InvalidRequest, message));
  // The lines are bounded: past its own limit the library would end.
  const transport: StdioServerTransport = new StdioServerTransport(lines, undefined, {
    maxBufferSize: Infinity,
  });
  await server.connect(transport);
  return { closed, finish: finishing(server, transport) };
}

/**
 * Counts the requests that have no answer yet. The returned function closes the server as soon as there are none: the
 * library itself would drop the answers.
 */
function finishing(server: Server, transport: StdioServerTransport): () => void {
  const asked = new Set<unknown>();
  let isLast = false;
  const closeWhenDone = (): void => {
    if (isLast && asked.size === 0) void server.close();
  };
  const receive = transport.onmessage;
  transport.onmessage = (message) => {
    if ('method' in message && 'id' in message) asked.add(message.id);
    // A request that is canceled gets no answer.
    if ('method' in message && message.method === 'notifications/cancelled')
      asked.delete(message.params?.['requestId']);
    receive?.(message);
  };
  const send = transport.send.bind(transport);
  transport.send = async (message) => {
    await send(message);
    if (!('method' in message)) asked.delete(message.id);
    closeWhenDone();
  };
  return () => {
    isLast = true;
    closeWhenDone();
  };
}

/** Checks inputs by a schema: what is wrong with one, undefined when nothing is. */
export function inputCheck(schema: object): (input: unknown) => string | undefined {
  const check = new AjvJsonSchemaValidator().getValidator(schema as JsonSchemaType);
  return (input) => {
    const found = check(input);
    return found.valid ? undefined : found.errorMessage;
  };
}
