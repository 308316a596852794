import { Octokit } from '@octokit/core';
import { paginateRest } from '@octokit/plugin-paginate-rest';
import { retry } from '@octokit/plugin-retry';
import { throttling } from '@octokit/plugin-throttling';
import Bottleneck from 'bottleneck/light.js';

import type { BoundFetch } from '../../platform/net/fetch';

interface OctokitOptions {
  baseUrl: string;
  token: string;
  fetch: BoundFetch;
  userAgent: string;
  writesPerMinute: number;
  maxWaitMs: number;
  /** Milliseconds to wait per second of retry delay. Tests use a smaller value. */
  secondMs: number;
}

/** Creates the client. Callers import this module on demand, because Octokit is large. */
export function makeOctokit(options: OctokitOptions) {
  const Client = Octokit.plugin(paginateRest, retry, throttling);
  const mayWait = (seconds: number, _options: object, _octokit: object, retryCount: number): boolean =>
    retryCount < 1 && seconds * options.secondMs <= options.maxWaitMs;
  // The plugin's default group allows only one write per second, so a claim would take three seconds.
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
    // Octokit reports a network failure as status 500. A retry would only delay the error.
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
  // Log nothing. Octokit also throws its errors, and the command reports them.
}
