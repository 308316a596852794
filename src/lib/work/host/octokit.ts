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
  /** Writes are let through at once, up to so many in a minute (facts of the service: 80 creations a minute). */
  writesPerMinute: number;
  /** What is waited for at most when the service asks to wait, ms. */
  maxWaitMs: number;
  /** A second, ms; less for tests of what waits. */
  secondMs: number;
}

/** The client library, a bundle of its own: loaded by the runs that talk to the service only. */
export function makeOctokit(options: OctokitOptions) {
  const Client = Octokit.plugin(paginateRest, retry, throttling);
  const mayWait = (seconds: number, _options: object, _octokit: object, retryCount: number): boolean =>
    retryCount < 1 && seconds * options.secondMs <= options.maxWaitMs;
  // The plugin's own groups keep one write a second, even of the first ones: a claim would take three.
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
    log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    // 500 is also what the library calls a network that is away: a person does not wait for that twice.
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

function quiet(): void {
  // What goes wrong is thrown, and said once by the edge.
}
