import { expect } from 'chai';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { bannerButtons } from '../../src/lib/notify/channels/banner-buttons';
import { showOverBus } from '../../src/lib/notify/channels/banners';
import type { Outcome, Parcel } from '../../src/lib/notify/channels/channel';
import { serve, desktopKit, startBus, type DesktopKit } from '../helpers/desktop-kit';
import { noPushes, parcel } from '../helpers/notify';
import { requirePrograms } from '../helpers/real-part';

const NAME = 'org.freedesktop.Notifications';

interface Asked {
  replaces: unknown;
  texts: unknown[];
  hints: Record<string, { signature: string; value: unknown }>;
}

/** The library returns `a{sv}` as pairs, and a variant as its types and values. */
function hintsOf(pairs: unknown): Asked['hints'] {
  return Object.fromEntries(
    (pairs as [string, [{ type: string }[], unknown[]]][]).map(([key, [types, values]]) => [
      key,
      { signature: types.map(({ type }) => type).join(''), value: values[0] },
    ]),
  );
}

describe('notify: banners over a real message bus', function () {
  this.timeout(60_000);
  let kit: DesktopKit;
  let asked: Asked[];
  const servers: { close: () => void }[] = [];

  beforeEach(async function () {
    requirePrograms(this, { 'dbus-daemon': 'dbus' });
    kit = desktopKit();
    asked = [];
    await startBus(kit);
  });
  afterEach(async () => {
    for (const server of servers.splice(0)) server.close();
    await kit?.stop();
  });

  /** A notification server that gives these ids, one after the other. */
  async function server(...ids: number[]): Promise<{ close: () => void }> {
    return served((body) => {
      const [, replaces, , title, text, , hints] = body;
      asked.push({ replaces, texts: [title, text], hints: hintsOf(hints) });
      return Number(replaces) || Number(ids.shift());
    });
  }
  async function served(notify: (body: unknown[]) => number): Promise<{ close: () => void }> {
    const answers = {
      [`/org/freedesktop/Notifications ${NAME}.Notify`]: (message: { body: unknown[] }) => ({
        signature: 'u',
        body: [notify(message.body)],
      }),
    };
    const made = await serve(kit.env['DBUS_SESSION_BUS_ADDRESS'] ?? '', NAME, answers);
    servers.push(made);
    return made;
  }
  const banners = (): string => join(kit.home, 'state', 'banners.json');
  const show = (more: Partial<Parcel> = {}, env = kit.env): Promise<Outcome> =>
    showOverBus({ env, banners: banners(), pushes: noPushes() }, parcel(more), bannerButtons());

  it('sends title, text, urgency by priority, and a sound unless silent', async () => {
    await server(1, 2, 3, 4);
    await show({ title: 'A < B', message: 'x & <b>\\n' });
    for (const more of [{ silent: true }, { priority: 5 }, { priority: 1 }]) await show(more);
    expect(asked[0]?.texts).to.deep.equal(['A < B', 'x &amp; &lt;b&gt;\\n']);
    expect(asked.map(({ hints }) => hints['urgency'])).to.deep.equal([1, 1, 2, 0].map((value) => ({ signature: 'y', value }))); // prettier-ignore
    expect(asked.map(({ hints }) => hints['suppress-sound']?.value)).to.deep.equal([undefined, true, undefined, undefined]); // prettier-ignore
    expect(asked.map(({ replaces }) => replaces)).to.deep.equal([0, 0, 0, 0]);
  });

  it('replaces a banner of the same key by the id from the server', async () => {
    await server(7, 8);
    for (const dedupe of ['build', 'build', 'tests', 'build', 'tests']) await show({ dedupe });
    expect(asked.map(({ replaces }) => replaces)).to.deep.equal([0, 7, 0, 7, 8]);
    expect(readFileSync(banners(), 'utf8')).to.not.match(/build|tests/);
  });

  it('shows a new banner after a server restart, since old ids belong to other banners', async () => {
    const first = await server(7);
    await show({ dedupe: 'build' });
    first.close();
    await server(9);
    await show({ dedupe: 'build' });
    await show({ dedupe: 'build' });
    expect(asked.map(({ replaces }) => replaces)).to.deep.equal([0, 0, 9]);
  });

  it('shows a new banner if the stored ids cannot be read', async () => {
    await server(7, 8, 9, 10);
    for (const damaged of ['{', '[]', '{"0123abcd":5}', '']) {
      await show({ dedupe: 'build' });
      writeFileSync(banners(), damaged);
    }
    expect(asked.map(({ replaces }) => replaces)).to.deep.equal([0, 0, 0, 0]);
  });

  it('stores the latest fifty ids', async () => {
    await server(...Array.from({ length: 61 }, (_, index) => index + 1));
    for (let n = 1; n <= 60; n += 1) await show({ dedupe: `key ${n}` });
    await show({ dedupe: 'key 60' });
    await show({ dedupe: 'key 1' });
    expect(asked.slice(-2).map(({ replaces }) => replaces)).to.deep.equal([60, 0]);
  });

  it("passes on the service's error", async () => {
    await served(() => {
      throw Object.assign(new Error('Created too many\u001b[31m notifications'), { type: `${NAME}.Error.ExcessNotificationGeneration` }); // prettier-ignore
    });
    expect(await show()).to.deep.equal({
      outcome: 'again',
      reason: 'The notification service returned an error: Created too many notifications',
      hint: "Restart the desktop's notification service.",
    });
  });

  it('reports a missing service only if it is missing', async () => {
    const none = 'No notification service on the message bus (D-Bus).';
    expect(await show()).to.include({ outcome: 'again', reason: none });
    expect(await show({ dedupe: 'build' })).to.include({ reason: none });
    expect(await show({}, {})).to.include({ reason: none });
  });

  it('reports a service that hangs', async () => {
    const hung = await served(() => 0);
    const child = kit.start(process.execPath, ['-e', `
      const bus = require('@homebridge/dbus-native').sessionBus({ busAddress: process.argv[1] });
      bus.requestName('${NAME}', 2, () => {
        bus.connection.removeAllListeners('message');
        process.send('up');
      });`, kit.env['DBUS_SESSION_BUS_ADDRESS'] ?? ''],
      { stdio: ['ignore', 'ignore', 'pipe', 'ipc'], cwd: process.cwd() }); // prettier-ignore
    hung.close();
    await new Promise((resolve) => child.once('message', resolve));
    expect(await show()).to.include({ reason: 'The notification service is not responding.' });
  });
});
