import { Ajv2020 } from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Seen } from './github';

interface Operation {
  query: Record<string, object>;
  body?: { properties?: Record<string, object> };
  /** Examples of good answers that the service has published. */
  answers: unknown[];
}

/** What GitHub has published of the operations that are used here. */
const FILE = join(__dirname, '..', 'fixtures', 'github-openapi.json');

export interface GitHubSchema {
  /** What of a request is not as published; empty when all is. */
  faultsOf: (request: Pick<Seen, 'method' | 'path' | 'body'>) => string[];
  operations: Readonly<Record<string, Operation>>;
}

export function githubSchema(): GitHubSchema {
  const { operations } = JSON.parse(readFileSync(FILE, 'utf8')) as {
    operations: Record<string, Operation>;
  };
  // A query is text: `100` is the number.
  const ajv = new Ajv2020({ strict: false, coerceTypes: true });
  addFormats.default(ajv);
  const wrong = (what: string, schema: object, value: unknown): string[] =>
    ajv.validate(schema, value) ? [] : [`${what} ${ajv.errorsText()}`];
  return {
    operations,
    faultsOf({ method, path, body }) {
      const url = new URL(path, 'http://host');
      const name = Object.keys(operations).find((one) => patternOf(one).test(`${method} ${url.pathname}`));
      if (name === undefined) return [`${method} ${url.pathname} is no operation`];
      const { query, body: schema } = operations[name]!;
      const asked = [...url.searchParams].flatMap(([key, value]) =>
        query[key] === undefined ? [`${name} takes no ${key}`] : wrong(`${name}?${key}`, query[key], value),
      );
      if (body === '' || body === '{}') return asked;
      if (schema === undefined) return [...asked, `${name} takes no body`];
      const sent = JSON.parse(body) as Record<string, unknown>;
      const known = Object.keys(schema.properties ?? { labels: {} });
      const unknown = Object.keys(sent).filter((key) => !known.includes(key));
      return [...asked, ...unknown.map((key) => `${name} takes no ${key}`), ...wrong(name, schema, sent)];
    },
  };
}

function patternOf(operation: string): RegExp {
  return new RegExp(`^${operation.replace(/\{\w+\}/g, '[^/]+')}$`);
}
