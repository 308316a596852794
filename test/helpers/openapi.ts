import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import { parse } from 'yaml';

import type { Reply } from './daemon';

const FILE = join(__dirname, '..', '..', 'docs', 'openapi.yaml');

interface MediaType {
  schema: object;
}
interface Response {
  $ref?: string;
  content?: Record<string, MediaType>;
  headers?: Record<string, unknown>;
}
export interface Operation {
  operationId: string;
  'x-local-only'?: boolean;
  /** Only the browser extension may ask. */
  'x-extension-only'?: boolean;
  /** The response does not end; its test is http-stream.test.ts. */
  'x-endless'?: boolean;
  security?: object[];
  requestBody?: { content: Record<string, MediaType> };
  responses: Record<string, Response>;
}
interface Document {
  info: { version: string };
  paths: Record<string, Record<string, Operation>>;
  components: { responses: Record<string, Response> };
}

export interface Api {
  document: Document;
  /** `POST /notify` to its operation. */
  operations: Map<string, Operation>;
  /** What is wrong with an answer to an operation; empty when it is as the document says. */
  faultsOf: (operation: string, reply: Reply) => string[];
  /** What is wrong with a body that is sent. */
  bodyFaults: (operation: string, body: unknown) => string[];
}

/** The OpenAPI document, with a validator that holds answers against it. */
export function readApi(): Api {
  const document = parse(readFileSync(FILE, 'utf8')) as Document;
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema({ ...document, $id: 'api' });
  const compiled = new Map<string, ValidateFunction>();
  const validator = (pointer: string): ValidateFunction => {
    const known = compiled.get(pointer) ?? ajv.compile({ $ref: `api#${pointer}` });
    compiled.set(pointer, known);
    return known;
  };
  const operations = new Map(
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation]),
    ),
  );
  const check = (pointer: string, value: unknown): string[] => {
    const validate = validator(pointer);
    if (validate(value)) return [];
    return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath || '/'} ${message}`);
  };
  return {
    document,
    operations,
    faultsOf(name, reply) {
      const operation = operations.get(name);
      if (operation === undefined) return [`${name} is not in the document`];
      const [method = '', path = ''] = name.split(' ');
      const found = operation.responses[String(reply.status)];
      if (found === undefined) return [`${name} may not answer ${reply.status}`];
      const at =
        found.$ref === undefined
          ? pointer('paths', path, method.toLowerCase(), 'responses', String(reply.status))
          : found.$ref.slice(1);
      const { content, headers } =
        found.$ref === undefined ? found : document.components.responses[found.$ref.split('/').at(-1) ?? '']!;
      const lacking = Object.keys(headers ?? {}).filter(
        (key) => reply.headers[key.toLowerCase()] === undefined,
      );
      const faults = lacking.map((key) => `the header ${key} is missing`);
      if (content === undefined) return reply.text === '' ? faults : [...faults, 'there is a body'];
      const type = String(reply.headers['content-type'] ?? '').split(';')[0] ?? '';
      if (content[type] === undefined) return [...faults, `its type is ${type}`];
      const value: unknown = type === 'application/json' ? JSON.parse(reply.text) : reply.text;
      return [...faults, ...check(`${at}${pointer('content', type, 'schema')}`, value)];
    },
    bodyFaults: (name, body) => {
      const [method = '', path = ''] = name.split(' ');
      const place = [
        'paths',
        path,
        method.toLowerCase(),
        'requestBody',
        'content',
        'application/json',
        'schema',
      ];
      return check(pointer(...place), body);
    },
  };
}

/** A JSON pointer, as it stands in a reference. */
function pointer(...parts: string[]): string {
  return parts
    .map((part) => `/${encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))}`)
    .join('');
}
