import { hostname } from 'node:os';
import { join } from 'node:path';

import { cleanLine } from '../platform/terminal/terminal';
import { readState } from '../sync/state';
import type { Context } from './context';

export const MAX_NAME = 60;

export function stateFile({ machine }: Pick<Context['area'], 'machine'>): string {
  return join(machine, 'sync.json');
}

/** Returns this machine's name. Defaults to the host name. */
export function machineName(area: Pick<Context['area'], 'machine'>): string {
  return (
    readState(stateFile(area)).name ?? (cleanLine(hostname().split('.')[0] ?? '', MAX_NAME) || 'machine')
  );
}
