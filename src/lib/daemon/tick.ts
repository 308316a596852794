import { throwIfBug } from '../errors';
import type { DaemonJob } from './jobs';

export interface TickStep {
  id: string;
  ok: boolean;
  /** Why the step failed or had nothing to do. */
  reason?: string;
}

export interface Ticked {
  /** Whether the daemon is running, so that there was nothing to do. */
  daemon: boolean;
  steps: TickStep[];
}

/** Runs each job once. A failure doesn't stop the others. */
export async function runTick(jobs: readonly Pick<DaemonJob, 'id' | 'run'>[]): Promise<TickStep[]> {
  const steps: TickStep[] = [];
  for (const { id, run } of jobs) {
    try {
      const reason = await run();
      steps.push({ id, ok: true, ...(reason === undefined ? {} : { reason }) });
    } catch (error) {
      steps.push({ id, ok: false, reason: throwIfBug(error).message });
    }
  }
  return steps;
}
