import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';

import { appFocusSource } from '../../src/lib/sense/app-focus';
import { readFrontApp } from '../../src/lib/sense/front-app';
import { sway } from '../../src/lib/sense/front-app/window-managers';
import { wlroots } from '../../src/lib/sense/front-app/wlroots';
import { SECRET, desktopKit, startSway, until, type DesktopKit } from '../helpers/desktop-kit';
import { requirePrograms } from '../helpers/real-part';

const PROGRAMS = { sway: 'sway', swaymsg: 'sway', foot: 'foot', Xwayland: 'xwayland', xterm: 'xterm' };

describe('front application of a real Wayland compositor', function () {
  this.timeout(180_000);
  let kit: DesktopKit;

  beforeEach(() => {
    kit = desktopKit();
  });

  afterEach(async () => {
    await kit.stop();
  });

  it('follows the focus by swaymsg and by the wlroots protocol, without titles', async function () {
    requirePrograms(this, PROGRAMS);
    const { start } = await startSway(kit);
    const desktop = kit.desktop();
    const foot = (name: string): void =>
      void start('foot', [`--app-id=${name}`, `--title=${SECRET} ${name}`, 'sleep', '600']);
    const inFront = async (name: string): Promise<void> => {
      for (const adapter of [sway, wlroots]) {
        const app = await until(`${name} is in front, by ${adapter.id}`, async () => {
          const found = await adapter.read(desktop);
          return found?.app === name && found;
        });
        expect(JSON.stringify(app)).to.not.include(SECRET);
      }
    };

    expect(await readFrontApp(desktop)).to.deep.equal({ state: 'none', via: 'sway' });
    expect(await wlroots.read(desktop)).to.equal(null);
    foot('qtest-alpha');
    await inFront('qtest-alpha');
    foot('qtest-beta');
    await inFront('qtest-beta');
    kit.tell('swaymsg', '[app_id="qtest-alpha"] focus');
    await inFront('qtest-alpha');
    kit.tell('swaymsg', '[app_id="qtest-beta"] floating enable, focus');
    await inFront('qtest-beta');
    start('xterm', ['-class', 'QXTest', '-name', 'qxtest', '-T', SECRET, '-e', 'sleep', '600']);
    await inFront('QXTest');

    const source = appFocusSource({
      desktop,
      config: { pollIntervalSec: 120, idleAfterSec: 300, countsAsActive: [], exclude: [] },
      machineId: 'abcdef012345',
      timezone: 'UTC',
    });
    // The first sample stands for no time.
    const { cursor } = await source.collect({ nowMs: 1_800_000_000_000, dayStartMs: 0, cursor: undefined });
    const sample = await source.collect({ nowMs: 1_800_000_120_000, dayStartMs: 0, cursor });
    expect(sample.events[0]).to.include({ app: 'QXTest' }).and.to.have.nested.property('detail.via', 'sway');
    expect(JSON.stringify(sample)).to.not.include(SECRET);
    // The compositor does know the title: the silence is ours.
    expect(kit.tell('swaymsg', '-r', '-t', 'get_tree')).to.include(SECRET);

    kit.tell('swaymsg', 'workspace empty');
    expect(await readFrontApp(desktop)).to.deep.equal({ state: 'none', via: 'sway' });
  });

  it('falls back to the wlroots protocol when swaymsg fails', async function () {
    requirePrograms(this, PROGRAMS);
    const { start } = await startSway(kit);
    start('foot', ['--app-id=qtest-alpha', 'sleep', '600']);
    await until(
      'the window is in front',
      async () => (await wlroots.read(kit.desktop()))?.app === 'qtest-alpha',
    );
    const sight = await readFrontApp(kit.desktop({ SWAYSOCK: join(kit.home, 'gone') }));
    expect(sight).to.include({ state: 'seen', via: 'wlroots' });
  });
});

describe('front application with faulty sockets', function () {
  this.timeout(180_000);
  let kit: DesktopKit;
  let server: Server;
  let path: string;
  const open = new Set<Socket>();

  beforeEach(() => {
    kit = desktopKit();
    path = join(kit.home, 'socket');
  });

  afterEach(async () => {
    for (const socket of open) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
    await kit.stop();
  });

  async function listen(onConnection: (socket: Socket) => void): Promise<void> {
    server = createServer((socket) => {
      open.add(socket);
      socket.on('error', () => socket.destroy());
      onConnection(socket);
    });
    await new Promise<void>((resolve) => server.listen(path, resolve));
  }

  const word = (...values: number[]): Buffer => Buffer.from(Uint32Array.from(values).buffer);

  it('reports a compositor without the protocol as unsupported', async () => {
    // The answer to a registry and a sync: no globals at all, and done.
    await listen((socket) => void socket.once('data', () => socket.write(word(3, (12 << 16) | 0, 0))));
    const sight = await readFrontApp({ ...kit.desktop(), env: { WAYLAND_DISPLAY: path } });
    expect(sight).to.include({ state: 'unsupported' });
    expect(sight).to.have.property('reason').that.includes('does not report which window has the focus');
  });

  it('names the missing extension under GNOME', async () => {
    await listen((socket) => void socket.once('data', () => socket.write(word(3, (12 << 16) | 0, 0))));
    const env = { WAYLAND_DISPLAY: path, XDG_CURRENT_DESKTOP: 'GNOME' };
    const sight = await readFrontApp({ ...kit.desktop(), env });
    expect(sight)
      .to.have.property('reason')
      .that.matches(/GNOME.*session bus/);
  });

  for (const [what, reply] of [
    ['hangs up', (socket: Socket) => socket.end()],
    ['sends noise', (socket: Socket) => socket.write(Buffer.alloc(64))],
    ['reports an error', (socket: Socket) => socket.write(word(1, 20 << 16, 2, 7, 0))],
    ['never ends', (socket: Socket) => socket.write(Buffer.alloc(6 * 1024 * 1024, word(99, 16 << 16, 1, 1)))],
    ['says nothing', () => undefined],
  ] as const) {
    it(`reports a Wayland display that ${what}, in time`, async () => {
      await listen((socket) => void socket.once('data', () => reply(socket)));
      const sight = await readFrontApp({ ...kit.desktop(), env: { WAYLAND_DISPLAY: path } });
      expect(sight).to.include({ state: 'error' });
      expect(sight).to.have.property('reason').that.includes('Wayland display');
    });
  }
});
