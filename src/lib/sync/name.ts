import { hostname } from 'node:os';
import { join } from 'node:path';

import { cleanLine } from '../platform/terminal/terminal';
import { readState } from './state';

export const MAX_NAME = 60;

/** @param machine the folder of what this machine alone stores */
export function stateFile({ machine }: { machine: string }): string {
  return join(machine, 'sync.json');
}

/** Returns this machine's name. Defaults to the host name. */
export function machineName(area: { machine: string }): string {
  return (
    readState(stateFile(area)).name ?? (cleanLine(hostname().split('.')[0] ?? '', MAX_NAME) || 'machine')
  );
}
