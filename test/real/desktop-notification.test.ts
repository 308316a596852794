import { expect } from 'chai';
import { spawnSync, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { desktopChannel } from '../../src/lib/notify/channels/desktop';
import type { Channel, Parcel } from '../../src/lib/notify/channels/channel';
import { run } from '../../src/lib/platform/process/process';
import { HOSTILE } from '../contracts/channel';
import { desktopKit, startBus, startXvfb, until, type DesktopKit } from '../helpers/desktop-kit';
import { noPushes, parcel } from '../helpers/notify';
import { requirePrograms } from '../helpers/real-part';

interface Shown {
  summary: string;
  body: string;
  appname: string;
}

describe('a real notification service (dunst)', function () {
  this.timeout(180_000);
  let kit: DesktopKit;
  let channel: Channel;
  let dunst: ChildProcess;
  const startDunst = async (): Promise<void> => {
    dunst = kit.start('dunst', ['-conf', '/dev/null']);
    await until('dunst answers', () => spawnSync('dunstctl', ['count'], { env: { ...kit.env } }).status === 0, 30_000); // prettier-ignore
  };

  before(async function () {
    requirePrograms(this, {
      Xvfb: 'xvfb',
      'dbus-daemon': 'dbus',
      dunst: 'dunst',
      dunstctl: 'dunst',
    });
    kit = desktopKit();
    await startXvfb(kit);
    await startBus(kit);
    await startDunst();
    channel = desktopChannel({
      platform: 'linux',
      run,
      env: kit.env,
      banners: join(kit.home, 'banners.json'),
      pushes: noPushes(),
    });
  });

  after(async () => {
    await kit?.stop();
  });

  let seen = 0;
  /** What stands on the screen is moved to the history, and read there: what is new in it. */
  const shown = (): Shown[] => {
    kit.tell('dunstctl', 'close-all');
    const history = JSON.parse(kit.tell('dunstctl', 'history')) as {
      data: Record<string, { data: unknown }>[][];
    };
    const all = history.data[0] ?? [];
    const fresh = all.filter((one) => Number(one['id']?.data) > seen);
    seen = Math.max(seen, ...all.map((one) => Number(one['id']?.data)));
    return fresh.map((one) => ({
      summary: String(one['summary']?.data),
      body: String(one['body']?.data),
      appname: String(one['appname']?.data),
    }));
  };
  const show = async (more: Partial<Parcel>): Promise<void> => {
    expect(await channel.send(parcel(more), () => undefined)).to.deep.equal({ outcome: 'delivered' });
  };

  it('shows title and text', async () => {
    await show({ title: 'Build', message: 'Fertig: 日本語 😀', priority: 5 });
    expect(shown()).to.deep.equal([{ summary: 'Build', body: 'Fertig: 日本語 😀', appname: 'steward' }]);
  });

  it('uses the title of the event for a message without one', async () => {
    await show({ event: 'error', message: 'x' });
    expect(shown()[0]).to.include({ summary: 'Error' });
  });

  it('shows hostile titles and bodies literally: no options, markup or commands', async () => {
    for (const text of HOSTILE) {
      await show({ title: text, message: text });
      const [{ summary, body } = { summary: '', body: '' }] = shown();
      expect(summary, 'title').to.equal(text.replace(/\s+/g, ' '));
      const plain = body.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
      expect(plain, 'body').to.equal(text);
    }
    expect(existsSync('/tmp/owned')).to.equal(false);
  });

  it('replaces a banner of the same key', async () => {
    await show({ message: '10 %', dedupe: 'build' });
    await show({ message: '20 %', dedupe: 'build' });
    await show({ message: 'other', dedupe: 'other' });
    expect(
      shown()
        .map(({ body }) => body)
        .sort(),
    ).to.deep.equal(['20 %', 'other']);
  });

  it('shows a new banner after a service restart, and replaces that one', async () => {
    await show({ message: 'before', dedupe: 'restart' });
    await kit.end(dunst);
    await startDunst();
    seen = 0;
    await show({ message: 'somebody else', title: 'other' });
    await show({ message: '30 %', dedupe: 'restart' });
    await show({ message: '40 %', dedupe: 'restart' });
    expect(shown().map(({ body }) => body).sort()).to.deep.equal(['40 %', 'somebody else']); // prettier-ignore
  });

  it('reports a missing message bus', async () => {
    const env = { ...kit.env, DBUS_SESSION_BUS_ADDRESS: `unix:path=${join(kit.home, 'none')}` };
    const lost = desktopChannel({
      platform: 'linux',
      run,
      env,
      banners: join(kit.home, 'banners.json'),
      pushes: noPushes(),
    });
    expect(await lost.send(parcel(), () => undefined))
      .to.include({ outcome: 'again' })
      .and.property('reason')
      .to.match(/^D-Bus is not responding: .* does not exist/);
  });
});
