import { join } from 'node:path';

import { createContext, type Context } from '../../src/lib/app/context';
import { openPushes } from '../../src/lib/app/pushes';
import { loadConfig } from '../../src/lib/config/load';
import { secret } from '../../src/lib/config/secret';
import { userArea } from '../../src/lib/config/user-area';
import type { Channel } from '../../src/lib/notify/channels/channel';
import { telegramChannel } from '../../src/lib/notify/channels/telegram';
import { systemClock } from '../../src/lib/platform/time/clock';
import { httpDeps } from './notify';

export const YOU = 4711;

/** A home folder whose requests are answered, also by the buttons of a Telegram server; for any of its processes. */
export function answersWorld(home: string, server: string): { context: Context; channel: Channel } {
  const env = { STEWARD_HOME: join(home, 'area'), XDG_STATE_HOME: join(home, 'state') };
  const area = userArea({ platform: 'linux', env, home });
  const context = {
    ...createContext(home),
    ...{ clock: systemClock(), area, machineId: '0123456789ab' },
    loadConfig: () => loadConfig({ area, env: {} }),
  } as Context;
  const { deps, telegram } = httpDeps(server);
  telegram.chatId = secret('notifications.telegram.chatId', String(YOU));
  const pushes = openPushes(context, true);
  return { context, channel: telegramChannel({ ...deps, pushes, clock: context.clock }) };
}
