import type { Run } from '../platform/process/process';

/** What bringing a terminal to the front needs of the machine. */
export interface GoDeps {
  run: Run;
  env: NodeJS.ProcessEnv;
  machineId: string;
  nowMs: number;
}
