import { Octokit } from '@octokit/core';
import { paginateRest } from '@octokit/plugin-paginate-rest';
import { retry } from '@octokit/plugin-retry';
import { throttling } from '@octokit/plugin-throttling';
import Bottleneck from 'bottleneck/light.js';

import type { BoundFetch } from '../../platform/net/fetch';

export interface OctokitOptions {
  baseUrl: string;
  token: string;
  fetch: BoundFetch;
  userAgent: string;
  writesPerMinute: number;
  /** The longest wait that a rate limit may impose, ms. */
  maxWaitMs: number;
  /** A second, ms; shorter in tests of waits. */
  secondMs: number;
}

/** Creates the client. Imported only when a command talks to GitHub, since it is large. */
export function makeOctokit(options: OctokitOptions) {
  const Client = Octokit.plugin(paginateRest, retry, throttling);
  const mayWait = (seconds: number, _options: object, _octokit: object, retryCount: number): boolean =>
    retryCount < 1 && seconds * options.secondMs <= options.maxWaitMs;
  // The plugin's own groups allow one write a second from the start: a claim would take three.
  const writes = new Bottleneck.Group({
    maxConcurrent: 1,
    reservoir: options.writesPerMinute,
    reservoirRefreshAmount: options.writesPerMinute,
    reservoirRefreshInterval: 60_000,
  });
  return new Client({
    auth: options.token,
    baseUrl: options.baseUrl,
    userAgent: options.userAgent,
    request: { fetch: options.fetch },
    log: { debug: ignore, info: ignore, warn: ignore, error: ignore },
    // Octokit reports a missing network as 500; retries would only delay the error.
    retry: {
      retries: 1,
      doNotRetry: [400, 401, 403, 404, 410, 422, 429, 451, 500],
      retryAfterBaseValue: options.secondMs,
    },
    throttle: {
      write: writes,
      notifications: new Bottleneck.Group({ maxConcurrent: 1 }),
      retryAfterBaseValue: options.secondMs,
      onRateLimit: mayWait,
      onSecondaryRateLimit: mayWait,
    },
  });
}

export type Client = ReturnType<typeof makeOctokit>;

function ignore(): void {
  // Errors are thrown and reported once, by the command.
}
