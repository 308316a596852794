import { toStewardError } from '../errors';
import type { JobStatus } from './jobs';

export type ModuleState = 'ok' | 'off' | 'needs-you' | 'error';

/** How a part of the daemon is doing. */
export interface ModuleHealth {
  state: ModuleState;
  /** Why, in a sentence. */
  reason?: string;
  /** The command that mends it. */
  fix?: string;
}

/** A part of the daemon whose health is shown. A new one is one row in the table of modules. */
export interface Module {
  id: string;
  label: string;
  /** What it throws is its error. */
  health: () => ModuleHealth | Promise<ModuleHealth>;
}

/** A live assistant session, as the status page shows it. Times are ISO-8601 UTC. */
export interface LiveSession {
  slug: string;
  task: string | null;
  repo: string | null;
  phase: string;
  status: string;
  startedAt: string;
  updatedAt: string;
  /** It waits for the person. */
  waiting: boolean;
}

/** `GET /api/status` (decisions.md 8). */
export interface DaemonStatus {
  version: string;
  pid: number;
  uptimeSec: number;
  memoryMiB: number;
  /** ISO-8601 UTC. */
  startedAt: string;
  modules: ({ id: string; label: string } & ModuleHealth)[];
  sessions: LiveSession[];
  /** Notifications that are still to be delivered, and those that were given up. */
  outbox: { waiting: number; failed: number };
  /** What hooks have left to be done. */
  spool: { waiting: number; dead: number; oldest: string | null };
  jobs: JobStatus[];
}

/** Asks every module; one that throws is in error and stops no other. */
export function healthOf(modules: readonly Module[]): Promise<DaemonStatus['modules']> {
  return Promise.all(
    modules.map(async ({ id, label, health }) => {
      try {
        return { id, label, ...(await health()) };
      } catch (error) {
        const { message, hint } = toStewardError(error);
        return {
          id,
          label,
          state: 'error' as const,
          reason:
            hint === undefined ? message : `${/[.!?]$/.test(message) ? message : `${message}.`} ${hint}`,
        };
      }
    }),
  );
}
