import { toIso, type Clock } from '../platform/time/clock';
import { appendLog } from '../platform/files/log';

export interface HookLine {
  hook: string;
  session: string | null;
  agent?: string;
  tool?: string;
  ok: boolean;
  /** Since the process began. */
  ms: number;
  /** The kind of what went wrong, and what the system called it; never a text of anybody's. */
  error?: string;
}

const LOG_ROTATE_BYTES = 4 * 1024 * 1024;

/** The line of `observability/hooks.jsonl` (service.md: Event log channel). */
export function logHook(deps: { clock: Clock; path: string }, line: HookLine): void {
  const nowMs = deps.clock.now();
  appendLog(deps.path, JSON.stringify({ ts: toIso(nowMs), ...line }), {
    rotateBytes: LOG_ROTATE_BYTES,
    nowMs,
  });
}
