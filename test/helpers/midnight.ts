import { setTimeout as delay } from 'node:timers/promises';

const DAY_MS = 86_400_000;
/** What the longest look at "today" takes on a slow machine, ms. */
const NEAR_MS = 90_000;

/**
 * Before each test: what is started for real has the real clock, in UTC, and "today" of its beginning is to be that of
 * its end. So in the last minutes of a day the tests stand still until the next has begun.
 */
export const mochaHooks = {
  beforeEach: [
    async function (this: Mocha.Context): Promise<void> {
      const left = DAY_MS - (Date.now() % DAY_MS);
      if (left > NEAR_MS) return;
      this.timeout(2 * NEAR_MS);
      await delay(left);
    },
  ],
};
