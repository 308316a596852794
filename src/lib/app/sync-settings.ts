import { hostname } from 'node:os';
import { join } from 'node:path';

import { changeConfig } from '../config/write';
import { cleanLine } from '../platform/terminal/terminal';
import { readState } from '../sync/state';
import type { Context } from './context';

export const MAX_NAME = 60;

export function stateFile({ machine }: Pick<Context['area'], 'machine'>): string {
  return join(machine, 'sync.json');
}

/** Changes settings under `sync`. A value of undefined removes the setting. */
export async function changeSync(
  context: Context,
  settings: Partial<Record<'folder' | 'details' | 'engine' | 'repo', string | boolean | undefined>>,
): Promise<void> {
  const changes = Object.entries(settings).map(([name, value]) => ({ key: `sync.${name}`, to: () => value }));
  await changeConfig(context, changes);
}

/** Returns this machine's name. Defaults to the host name. */
export function machineName(area: Pick<Context['area'], 'machine'>): string {
  return (
    readState(stateFile(area)).name ?? (cleanLine(hostname().split('.')[0] ?? '', MAX_NAME) || 'machine')
  );
}
