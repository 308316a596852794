import { setTimeout as delay } from 'node:timers/promises';

const DAY_MS = 86_400_000;
/** What the longest look at "today" takes on a slow machine, ms. */
const NEAR_MS = 90_000;

/** Returns a time zone in which the day has 17 hours left at least, for a test that may run for hours. */
export function zoneInTheMorning(): string {
  const ahead = 6 - new Date().getUTCHours();
  const hours = ahead < -12 ? ahead + 24 : ahead;
  // The sign is that of POSIX: hours behind UTC.
  return `Etc/GMT${hours > 0 ? '-' : '+'}${Math.abs(hours)}`;
}

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
