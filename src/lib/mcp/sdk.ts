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
): Promise<{ closed: Promise<void>; close: () => Promise<void> }> {
  const { name, version, instructions, tools } = input;
  const server = new Server({ name, version }, { capabilities: { tools: {} }, instructions });
  server.onerror = input.onError;
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
  const lines = input.lines((message) => {
    const answer = { jsonrpc: '2.0', id: null, error: { code: ErrorCode.InvalidRequest, message } };
    // JSON-RPC answers so; the library's type knows no such id.
    void transport.send(answer as unknown as JSONRPCMessage);
  });
  // The lines are bounded: past its own limit the library would end.
  const transport: StdioServerTransport = new StdioServerTransport(lines, undefined, {
    maxBufferSize: Infinity,
  });
  await server.connect(transport);
  return { closed, close: () => server.close() };
}

/** Checks inputs by a schema: what is wrong with one, undefined when nothing is. */
export function inputCheck(schema: object): (input: unknown) => string | undefined {
  const check = new AjvJsonSchemaValidator().getValidator(schema as JsonSchemaType);
  return (input) => {
    const found = check(input);
    return found.valid ? undefined : found.errorMessage;
  };
}
