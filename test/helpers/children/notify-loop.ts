// notify-loop FOLDER URL: sends numbered notifications and delivers them, again and again; says each id that was
// accepted, at once.
import { writeSync } from 'node:fs';

import { defaultConfig } from '../../../src/lib/config/load';
import { secret } from '../../../src/lib/config/secret';
import { userArea } from '../../../src/lib/config/user-area';
import { acceptNotification } from '../../../src/lib/notify/accept';
import { pushChannel } from '../../../src/lib/notify/channels/push';
import { deliverWaiting } from '../../../src/lib/notify/deliver';
import { systemClock } from '../../../src/lib/platform/time/clock';
import { noPushes } from '../notify';
import { loadHttp } from '../../../src/lib/platform/net/origin-client';

const folder = process.argv[2] ?? '';
const server = process.argv[3] ?? '';
const area = userArea({
  platform: 'linux',
  env: { STEWARD_HOME: folder, XDG_STATE_HOME: `${folder}/m` },
  home: folder,
});
const clock = systemClock();
let loading: ReturnType<typeof loadHttp> | undefined;
const push = pushChannel({
  clock,
  http: () => (loading ??= loadHttp()),
  settings: () => ({
    ...defaultConfig(area, folder).settings.notifications,
    push: {
      enabled: true,
      topic: secret('notifications.push.topic', 'steward-kill'),
      token: secret('notifications.push.token', ''),
      server,
      detail: 'full',
    },
  }),
  secret: (from) => from.stored() || undefined,
  pushes: noPushes(),
});
const deps = {
  clock,
  machineId: '0123456789ab',
  outbox: area.outbox,
  history: area.notifyLog,
  mute: area.mute,
  locks: area.machine,
  settings: () => ({
    routing: {
      taskComplete: [],
      longTask: [],
      backgroundAgent: ['push' as const],
      error: [],
      security: [],
      attention: [],
      reminder: [],
      limit: [],
    },
    spoken: [],
    longTaskMinutes: 5,
    breakMinutes: 20,
    quietHours: undefined,
    zone: 'UTC',
  }),
  cronVoice: false,
  maySpeak: () => false,
  channels: [push],
  random: Math.random,
  report: (error: unknown) => {
    throw error;
  },
};

async function main(): Promise<void> {
  for (let round = 0; ; round += 1) {
    if (process.argv[4] !== 'drain') {
      const { id } = await acceptNotification(deps, { message: 'x', event: 'backgroundAgent' });
      writeSync(1, `${id}\n`);
    }
    await deliverWaiting(deps, { patienceMs: process.argv[4] === 'drain' ? 60_000 : 0, longestMs: 60_000 });
    if (process.argv[4] === 'drain') return;
  }
}

void main();
