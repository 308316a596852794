import { readFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

import { appFocusSource } from '../../src/lib/sense/app-focus';
import { x11 } from '../../src/lib/sense/front-app/x11';
import {
  SECRET,
  desktopKit,
  startManager,
  startXterm,
  startXvfb,
  until,
  type DesktopKit,
} from '../helpers/desktop-kit';
import { requirePrograms } from '../helpers/real-part';

/**
 * A window's title may be anything that a person works on. xtrace stands between us and the X server and
 * writes down every request and every answer: what is not in its log was never asked for.
 */
describe('no window title crosses the wire', () => {
  let kit: DesktopKit;

  beforeEach(() => {
    kit = desktopKit();
  });

  afterEach(async () => {
    await kit.stop();
  });

  /** Writes all traffic to a log; gives the display to connect to, and the log so far. */
  async function trace(): Promise<{ display: string; log: () => string }> {
    const path = join(kit.home, 'xtrace.log');
    const number = Number(kit.env['DISPLAY']?.slice(1)) + 200;
    kit.start('xtrace', ['-n', '-k', '-d', kit.env['DISPLAY'] ?? '', '-D', `:${number}`, '-o', path]);
    await until('xtrace listens', () => existsSync(`/tmp/.X11-unix/X${number}`));
    return { display: `:${number}`, log: () => (existsSync(path) ? readFileSync(path, 'latin1') : '') };
  }

  it('asks an X server for three properties, and the log of all traffic holds no title', async function () {
    const programs = {
      Xvfb: 'xvfb',
      xterm: 'xterm',
      xprop: 'x11-utils',
      openbox: 'openbox',
      xtrace: 'xtrace',
    };
    requirePrograms(this, programs);
    await startXvfb(kit);
    await startManager(kit, 'openbox');
    startXterm(kit, 'QAlpha');
    await until('the window is in front', async () => (await x11.read(kit.desktop()))?.app === 'QAlpha');
    const { display, log } = await trace();

    const source = appFocusSource({
      desktop: kit.desktop({ DISPLAY: display }),
      config: { pollIntervalSec: 120, idleAfterSec: 300, countsAsActive: [], exclude: [] },
      machineId: 'abcdef012345',
    });
    const sample = await source.collect({ nowMs: 1_800_000_000_000, dayStartMs: 0, cursor: undefined });
    expect(sample.events[0]).to.include({ app: 'QAlpha' });
    expect(JSON.stringify(sample)).to.not.include(SECRET);

    await until('the log holds our requests', () => log().includes('_NET_WM_PID'));
    const ours = log();
    const named = [...ours.matchAll(/InternAtom[^\n]*name='([^']*)'/g)].map(([, name]) => name);
    expect([...new Set(named)].sort()).to.deep.equal(['WM_CLASS', '_NET_ACTIVE_WINDOW', '_NET_WM_PID']);
    expect(ours.match(/GetProperty /g), 'one request for each').to.have.length(3);
    for (const word of [SECRET, 'WM_NAME', 'WM_ICON_NAME', 'ListProperties', 'QueryTree', 'GetImage']) {
      expect(ours.includes(word), word).to.equal(false);
    }

    // The same harness must show a title that somebody does ask for: otherwise its silence proves nothing.
    const window = /0x[0-9a-f]+/.exec(kit.tell('xprop', '-root', '_NET_ACTIVE_WINDOW'))?.[0] ?? '';
    kit.tell('xprop', '-display', display, '-id', window, 'WM_NAME');
    await until('the log shows the title that xprop asked for', () => log().includes(SECRET));
  });
});
