import { expect } from 'chai';
import { join } from 'node:path';

import { secret } from '../../src/lib/config/secret';
import { allChannels } from '../../src/lib/notify/channels';
import type { Channel } from '../../src/lib/notify/channels/channel';
import { chatChannel } from '../../src/lib/notify/channels/chat';
import { desktopChannel } from '../../src/lib/notify/channels/desktop';
import { pushChannel } from '../../src/lib/notify/channels/push';
import { smsChannel } from '../../src/lib/notify/channels/sms';
import { telegramChannel } from '../../src/lib/notify/channels/telegram';
import { voiceChannel } from '../../src/lib/notify/channels/voice';
import { run } from '../../src/lib/platform/process/process';
import { serve, desktopKit, startBus, type DesktopKit } from '../helpers/desktop-kit';
import { recordedDesktop, type Answers } from '../helpers/fake-desktop';
import { NINE, httpDeps, noPushes } from '../helpers/notify';
import { requirePrograms } from '../helpers/real-part';
import { noVoice, voiceThat } from '../helpers/speech';
import { notifyServer, ntfyOk, type NotifyServer } from '../helpers/notify-server';
import { channelContract } from '../contracts/channel';

const clock = { now: () => NINE, monotonic: () => 0 };

describe('the contract of channels', () => {
  let server: NotifyServer;
  beforeEach(async () => {
    server = await notifyServer(ntfyOk);
  });
  afterEach(() => server.close());

  /** A port that nobody listens on. */
  const DEAD = 'http://127.0.0.1:1';

  it('is fulfilled by every channel', () => {
    const machine = { platform: 'linux', run, env: {}, banners: '', smsCommand: () => [] } as const;
    const all = allChannels({ ...httpDeps(DEAD).deps, ...machine, voice: noVoice(), muted: () => false });
    expect(all.map(({ id }) => id)).to.deep.equal([
      'voice',
      'desktop',
      'terminal',
      'push',
      'chat',
      'telegram',
      'sms',
    ]);
  });

  channelContract('voice', () => ({
    alive: voiceChannel({
      clock,
      voice: voiceThat(() => Promise.resolve({ spoken: true, engine: 'test' })),
      muted: () => false,
    }),
    dead: voiceChannel({ clock, voice: noVoice(), muted: () => false }),
    off: undefined,
  }));

  for (const platform of ['darwin', 'win32'] as const) {
    const desktop = (answers: Answers): Channel =>
      desktopChannel({
        platform,
        run: recordedDesktop(platform, answers).run,
        env: {},
        banners: '',
        pushes: noPushes(),
      });
    channelContract('desktop', () => ({
      alive: desktop({
        '/usr/bin/osascript': { code: 0 },
        'powershell.exe': { code: 0, stdout: '{"shown":true}' },
      }),
      dead: desktop({ '/usr/bin/osascript': { code: 1 }, 'powershell.exe': { code: 1 } }),
      off: undefined,
    }));
  }

  describe('with a message bus', () => {
    let kit: DesktopKit;
    before(async function () {
      requirePrograms(this, { 'dbus-daemon': 'dbus' });
      kit = desktopKit();
      await startBus(kit);
      const notify = '/org/freedesktop/Notifications org.freedesktop.Notifications.Notify';
      const answers = { [notify]: () => ({ signature: 'u', body: [1] }) };
      service = await serve(
        kit.env['DBUS_SESSION_BUS_ADDRESS'] ?? '',
        'org.freedesktop.Notifications',
        answers,
      );
    });
    let service: { close: () => void } | undefined;
    after(async () => {
      service?.close();
      await kit?.stop();
    });
    const desktop = (env: NodeJS.ProcessEnv): Channel =>
      desktopChannel({
        platform: 'linux',
        run,
        env,
        banners: join(kit.home, 'banners.json'),
        pushes: noPushes(),
      });
    channelContract('desktop', () => ({
      alive: desktop({ ...kit.env, DISPLAY: ':0' }),
      dead: desktop({}),
      off: undefined,
    }));
  });

  channelContract('push', () => {
    const off = httpDeps(DEAD);
    off.push.topic = secret('notifications.push.topic', '');
    return {
      alive: pushChannel(httpDeps(server.url).deps),
      dead: pushChannel(httpDeps(DEAD).deps),
      off: pushChannel(off.deps),
    };
  });

  for (const path of ['/hook', '/api/webhooks/123/abc', '/services/T1/B2/x3']) {
    channelContract('chat', () => {
      const off = httpDeps(DEAD);
      off.chat.webhook = secret('notifications.chat.webhook', '');
      return {
        alive: chatChannel(httpDeps(`${server.url}${path}`).deps),
        dead: chatChannel(httpDeps(`${DEAD}${path}`).deps),
        off: chatChannel(off.deps),
      };
    });
  }

  channelContract('telegram', () => {
    const off = httpDeps(DEAD);
    off.telegram.chatId = secret('notifications.telegram.chatId', '');
    return {
      alive: telegramChannel(httpDeps(server.url).deps),
      dead: telegramChannel(httpDeps(DEAD).deps),
      off: telegramChannel(off.deps),
    };
  });

  channelContract('sms', () => ({
    alive: smsChannel({
      run,
      smsCommand: () => [process.execPath, '-e', 'process.exit(0)', '--', '{message}'],
    }),
    dead: smsChannel({ run, smsCommand: () => [process.execPath, '-e', 'process.exit(3)'] }),
    off: smsChannel({ run, smsCommand: () => [] }),
  }));
});
