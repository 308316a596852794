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

interface ServeInput {
  name: string;
  version: string;
  instructions: string;
  tools: Tool[];
  /** Calls a tool; returns undefined if there is no tool with this name. */
  call: (tool: string, input: unknown) => Promise<CallToolResult> | undefined;
  onError: (error: Error) => void;
  /**
   * Returns the input as a stream of messages, one per line. `refuse` responds with an error that has no
   * request id.
   */
  lines: (refuse: (message: string) => void) => Readable;
}

/** Serves tools over stdin and stdout. `closed` resolves when the connection ends. */
export async function connectStdio(input: ServeInput) {
  const { name, version, instructions, tools } = input;
  const server = new Server({ name, version }, { capabilities: { tools: {} }, instructions });
  server.onerror = (error) => {
    if (error instanceof SyntaxError) refuse(ErrorCode.ParseError, 'The line is not JSON.');
    else if (error.name === 'ZodError')
      refuse(ErrorCode.InvalidRequest, 'The line is not a JSON-RPC 2.0 message.');
    input.onError(error);
  };
  const closed = new Promise<void>((resolve) => {
    server.onclose = resolve;
  });
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
    const answer = input.call(params.name, params.arguments ?? {});
    if (answer !== undefined) return answer;
    throw new McpError(ErrorCode.InvalidParams, `Unknown tool ${JSON.stringify(params.name)}.`);
  });
  const refuse = (code: ErrorCode, message: string): void => {
    const answer = { jsonrpc: '2.0', id: null, error: { code, message } };
    // JSON-RPC allows a null id in error responses, but the library's type doesn't.
    void transport.send(answer as unknown as JSONRPCMessage);
  };
  const lines = input.lines((message) => refuse(ErrorCode.InvalidRequest, message));
  // Disable the library's buffer limit, which would close the connection. steward limits the line length
  // itself.
  const transport: StdioServerTransport = new StdioServerTransport(lines, undefined, {
    maxBufferSize: Infinity,
  });
  await server.connect(transport);
  return { closed, finish: closeWhenAnswered(server, transport) };
}

/**
 * Returns a function that closes the server once every request has a response. Closing the server earlier
 * would drop pending responses.
 */
function closeWhenAnswered(server: Server, transport: StdioServerTransport): () => void {
  const pending = new Set<unknown>();
  let isFinishing = false;
  const closeIfDone = (): void => {
    if (isFinishing && pending.size === 0) void server.close();
  };
  const receive = transport.onmessage;
  transport.onmessage = (message) => {
    if ('method' in message && 'id' in message) pending.add(message.id);
    if ('method' in message && message.method === 'notifications/cancelled')
      pending.delete(message.params?.['requestId']);
    receive?.(message);
  };
  const send = transport.send.bind(transport);
  transport.send = async (message) => {
    await send(message);
    if (!('method' in message)) pending.delete(message.id);
    closeIfDone();
  };
  return () => {
    isFinishing = true;
    closeIfDone();
  };
}

/** Validates an input against a schema. Returns an error message, or undefined if the input is valid. */
export function inputCheck(schema: object, input: unknown): string | undefined {
  const result = new AjvJsonSchemaValidator().getValidator(schema as JsonSchemaType)(input);
  return result.valid ? undefined : result.errorMessage;
}
