import { appendFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Budget } from '../../src/lib/config/model-prices';
import { budgetStates } from '../../src/lib/usage/budgets';
import { collectUsage } from '../../src/lib/usage/collect';
import { announceLimits } from '../../src/lib/usage/limits';
import { usageBox } from './usage';

/** Reads the logs below a folder once, and writes the keys of the alerts about budgets to `sent`. */
export async function announceOnce(folder: string, budgets: readonly Budget[]): Promise<void> {
  const { deps } = usageBox(folder);
  await collectUsage(deps);
  const prices = { 'test-model': { input: 10, output: 0 } };
  const states = await budgetStates({ ...deps, budgets, prices, sessions: () => Promise.resolve(new Map()) });
  const alerts = { ...deps, nowMs: deps.clock.now(), localTime: String, budgets: states };
  await announceLimits(alerts, ({ dedupe }) =>
    Promise.resolve(appendFileSync(join(folder, 'sent'), `${dedupe}\n`)),
  );
}
