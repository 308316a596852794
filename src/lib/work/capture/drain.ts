import { replaceFile } from '../../platform/files/atomic-file';
import {
  drain,
  keptIntentions,
  type DrainResult,
  type Intention,
  type Refusal,
  type SpoolDeps,
} from '../../sessions/spool';
import { capturePrompt, captureSession, type CaptureDeps } from './deliver';
import { readReasons } from './waiting';

/** Delivers what waits in the spool, and notes why what stays there waits. */
export async function drainCaptures(deps: CaptureDeps, spool: SpoolDeps): Promise<DrainResult> {
  const reasons = readReasons(deps.waiting);
  const before = JSON.stringify([...reasons]);
  const consumer =
    (deliver: typeof captureSession) =>
    async (intention: Intention): Promise<'done' | 'later' | Refusal> => {
      const { why, refused } = await deliver(deps, intention);
      if (why === undefined) reasons.delete(intention.id);
      else reasons.set(intention.id, why);
      if (refused !== undefined) return { refused };
      return why === undefined ? 'done' : 'later';
    };
  try {
    return await drain(spool, {
      'session-ended': consumer(captureSession),
      'prompt-matched': consumer(capturePrompt),
    });
  } finally {
    const kept = new Set(keptIntentions(spool.path).map(({ id }) => id));
    for (const id of reasons.keys()) if (!kept.has(id)) reasons.delete(id);
    if (JSON.stringify([...reasons]) !== before)
      replaceFile(deps.waiting, `${JSON.stringify({ version: 1, reasons: Object.fromEntries(reasons) })}\n`);
  }
}
