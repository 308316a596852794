import { hostname } from 'node:os';

import { cleanLine } from '../platform/terminal/terminal';
import { readState, stateFile } from './state';

export const MAX_NAME = 60;

/** Returns this machine's name. Defaults to the host name. */
export function machineName(area: { machine: string }): string {
  return (
    readState(stateFile(area)).name ?? (cleanLine(hostname().split('.')[0] ?? '', MAX_NAME) || 'machine')
  );
}
