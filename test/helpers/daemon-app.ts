import { daemonApp, type AppDeps } from '../../src/lib/daemon/app';
import { policyFor } from '../../src/lib/daemon/guards';
import type { Route } from '../../src/lib/daemon/route';
import type { ErrorBody, StewardError } from '../../src/lib/errors';
import type { HttpAnswer, RequestHead } from '../../src/lib/platform/net/http-application';

/** The head of a request, as a server gives it. */
export function headOf(
  target: string,
  headers: Record<string, string> = { host: 'localhost' },
  more: Partial<RequestHead> = {},
): RequestHead {
  return {
    method: 'GET',
    target,
    headers,
    rawHeaders: Object.entries(headers).flat(),
    isLocal: false,
    isOtherUser: () => false,
    ...more,
  };
}

export interface TestApp {
  faults: StewardError[];
  /** As a server does it: admitted, then answered. */
  ask: (
    target: string,
    options?: { headers?: Record<string, string>; body?: string | Buffer } & Partial<
      Pick<RequestHead, 'method' | 'isLocal' | 'isOtherUser'>
    >,
  ) => Promise<TestAnswer>;
}

export interface TestAnswer {
  status: number;
  header: (name: string) => string | undefined;
  body: string;
  json: () => unknown;
  error: () => ErrorBody['error'];
}

export function testApp(routes: readonly Route[], more: Partial<AppDeps> = {}): TestApp {
  const faults: StewardError[] = [];
  const app = daemonApp({
    routes,
    policy: policyFor('127.0.0.1'),
    gate: { isRequired: false, hasKey: () => false, hasPageSecret: () => false },
    otherUsers: false,
    onFault: (_, error) => faults.push(error),
    ...more,
  });
  return {
    faults,
    async ask(target, { headers = {}, body = '', ...rest } = {}) {
      const head = headOf(target, { host: 'localhost', ...headers }, rest);
      return shown((await app.admit(head)) ?? (await app.answer(head, Buffer.from(body))));
    },
  };
}

function shown({ status, headers, body }: HttpAnswer): TestAnswer {
  const text = body.toString();
  return {
    status,
    header: (name) => {
      const at = headers.indexOf(name);
      return at === -1 ? undefined : headers[at + 1];
    },
    body: text,
    json: () => JSON.parse(text) as unknown,
    error: () => (JSON.parse(text) as ErrorBody).error,
  };
}
