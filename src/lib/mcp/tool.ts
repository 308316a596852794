import { EVENT_NAMES, SOURCES } from '../notify/events';
import { PRIORITIES, STATUSES } from '../work/label';
import type { Context } from '../app/context';

/** What a tool takes, as JSON Schema. */
export interface InputSchema {
  [key: string]: unknown;
  type: 'object';
  properties: Record<string, object>;
  required: string[];
  additionalProperties: false;
}

/** A tool of the MCP server: a command's library call, its input checked by the schema before. */
export interface McpTool {
  name: string;
  description: string;
  /** It changes or sends something: offered with `--write` only. */
  writes: boolean;
  input: InputSchema;
  run: (context: Context, input: Record<string, unknown>) => Promise<unknown>;
}

/** A schema; a `!` behind a name says that it is required. */
export function inputOf(fields: Readonly<Record<string, object>>): InputSchema {
  const properties = Object.entries(fields).map(([name, schema]) => [name.replace(/!$/, ''), schema]);
  return {
    type: 'object',
    properties: Object.fromEntries(properties) as Record<string, object>,
    required: Object.keys(fields)
      .filter((name) => name.endsWith('!'))
      .map((name) => name.slice(0, -1)),
    additionalProperties: false,
  };
}

export const text = (description: string, maxLength = 1000): object => ({
  ...{ type: 'string', minLength: 1, maxLength, description },
});
export const whole = (description: string, minimum: number, maximum: number): object => ({
  ...{ type: 'integer', minimum, maximum, description },
});
export const oneOf = (description: string, values: readonly string[]): object => ({
  ...{ type: 'string', enum: [...values], description },
});
export const flag = (description: string): object => ({ type: 'boolean', description });

export const issueNumber = whole('Number of the issue.', 1, 999_999_999);
export const priority = oneOf('P0 is the most urgent.', PRIORITIES);
export const status = oneOf('Status of an issue.', STATUSES);
export const event = oneOf('What happened; it decides who is told.', EVENT_NAMES);
export const source = oneOf('Who speaks; only da is heard.', SOURCES);
