import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { createConnection, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';

import { appFocusSource } from '../../src/lib/sense/app-focus';
import { readFrontApp } from '../../src/lib/sense/front-app';
import { x11 } from '../../src/lib/sense/front-app/x11';
import { readPlace } from '../../src/lib/sense/pane/place';
import type { SenseSource } from '../../src/lib/sense/source';
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
/** The first sample stands for no time, so a test takes two. */
const START_MS = 1_800_000_000_000;

describe('no window title crosses the wire', function () {
  this.timeout(180_000);
  let kit: DesktopKit;
  /** xtrace leaves it behind when it is ended. */
  let socket: string | undefined;
  let tap: Server | undefined;

  beforeEach(() => {
    kit = desktopKit();
  });

  afterEach(async () => {
    await kit.stop();
    tap?.close();
    tap = undefined;
    if (socket !== undefined) rmSync(socket, { force: true });
  });

  /** Writes all traffic to a log; gives the display to connect to, and the log so far. */
  function trace(): { display: string; log: () => string } {
    const path = join(kit.home, 'xtrace.log');
    const number = freeNumber();
    socket = `/tmp/.X11-unix/X${number}`;
    kit.start('xtrace', ['-n', '-k', '-d', kit.env['DISPLAY'] ?? '', '-D', `:${number}`, '-o', path]);
    return { display: `:${number}`, log: () => (existsSync(path) ? readFileSync(path, 'latin1') : '') };
  }

  /** A wire of our own: keeps every byte that the server sends. */
  async function wiretap(): Promise<{ display: string; received: () => string }> {
    const real = `/tmp/.X11-unix/X${kit.env['DISPLAY']?.slice(1)}`;
    const number = freeNumber();
    const chunks: Buffer[] = [];
    tap = createServer((client) => {
      const server = createConnection(real);
      server.on('data', (chunk: Buffer) => chunks.push(chunk));
      for (const [from, to] of [
        [client, server],
        [server, client],
      ] as const) {
        from.pipe(to);
        from.on('error', () => to.destroy());
      }
    });
    const listening = tap;
    await new Promise<void>((resolve) => listening.listen(`/tmp/.X11-unix/X${number}`, resolve));
    return { display: `:${number}`, received: () => Buffer.concat(chunks).toString('latin1') };
  }

  function freeNumber(): number {
    let number = 200 + (process.pid % 1000);
    while (existsSync(`/tmp/.X11-unix/X${number}`)) number += 1;
    return number;
  }

  async function startWindow(): Promise<void> {
    await startXvfb(kit);
    await startManager(kit, 'openbox');
    startXterm(kit, 'QAlpha');
    await until('the window is in front', async () => (await x11.read(kit.desktop()))?.app === 'QAlpha');
  }

  function sourceOn(display: string): SenseSource {
    const desktop = kit.desktop({ DISPLAY: display });
    const deps = { desktop, repos: [], sessionsOn: () => Promise.resolve([]) };
    return appFocusSource({
      desktop,
      place: (app, inputMs) => readPlace(deps, app, inputMs),
      config: { pollIntervalSec: 120, idleAfterSec: 300, countsAsActive: [], exclude: [] },
      machineId: 'abcdef012345',
      timezone: 'UTC',
    });
  }

  function activeWindow(): string {
    return /0x[0-9a-f]+/.exec(kit.tell('xprop', '-root', '_NET_ACTIVE_WINDOW'))?.[0] ?? '';
  }

  function askForTitle(display: string): void {
    expect(kit.tell('xprop', '-display', display, '-id', activeWindow(), 'WM_NAME')).to.include(SECRET);
  }

  it('asks an X server for three properties, and no traffic contains a title', async function () {
    const programs = {
      Xvfb: 'xvfb',
      xterm: 'xterm',
      xprop: 'x11-utils',
      openbox: 'openbox',
      xtrace: 'xtrace',
    };
    requirePrograms(this, programs);
    await startWindow();
    const { display, log } = trace();
    const source = sourceOn(display);
    const first = await until('xtrace takes us through', async () => {
      const found = await source.collect({ nowMs: START_MS, dayStartMs: 0, cursor: undefined });
      return found.state === 'ok' && found;
    });
    const sample = await source.collect({ nowMs: START_MS + 120_000, dayStartMs: 0, cursor: first.cursor });
    expect(sample.events[0]).to.include({ app: 'QAlpha' });
    expect(sample.events[0]?.detail).to.include({ otherFolder: true });
    expect(JSON.stringify(sample)).to.not.include(SECRET);

    await until('the log holds our requests', () => log().split('GetProperty ').length > 6);
    const ours = log();
    const named = [...ours.matchAll(/InternAtom[^\n]*name='([^']*)'/g)].map(([, name]) => name);
    expect([...new Set(named)].sort()).to.deep.equal(['WM_CLASS', '_NET_ACTIVE_WINDOW', '_NET_WM_PID']);
    expect(ours.match(/GetProperty /g), 'one request for each, in each sample').to.have.length(6);
    for (const word of [SECRET, 'WM_NAME', 'WM_ICON_NAME', 'ListProperties', 'QueryTree', 'GetImage']) {
      expect(ours.includes(word), word).to.equal(false);
    }

    // The same harness must show a title that somebody does ask for: otherwise its silence proves nothing.
    // (xtrace writes some strings as empty: asked again until it does not.)
    await until('the log shows the title that xprop asked for', () => {
      askForTitle(display);
      return log().includes(SECRET);
    });
  });

  it('reads no title through the input focus', async function () {
    requirePrograms(this, { Xvfb: 'xvfb', xterm: 'xterm', xtrace: 'xtrace', xdotool: 'xdotool' });
    await startXvfb(kit);
    startXterm(kit, 'QAlpha');
    await until('the window has the focus', async () => {
      spawnSync('xdotool', ['search', '--onlyvisible', '--class', 'QAlpha', 'windowfocus'], {
        env: { ...kit.env },
      });
      return (await x11.read(kit.desktop()))?.app === 'QAlpha';
    });
    const { display, log } = trace();
    await until('xtrace takes us through', async () => (await readFrontApp(kit.desktop({ DISPLAY: display }))).state === 'seen'); // prettier-ignore
    await until('the log holds our requests', () => log().includes('_NET_WM_PID'));
    const named = [...log().matchAll(/InternAtom[^\n]*name='([^']*)'/g)].map(([, name]) => name);
    expect([...new Set(named)].sort()).to.deep.equal(['WM_CLASS', '_NET_ACTIVE_WINDOW', '_NET_SUPPORTED', '_NET_WM_PID']); // prettier-ignore
    for (const word of [SECRET, 'WM_NAME', 'WM_ICON_NAME', 'ListProperties', 'GetImage']) {
      expect(log().includes(word), word).to.equal(false);
    }
  });

  it('watches one property of the root window, and no window', async function () {
    requirePrograms(this, {
      ...{ Xvfb: 'xvfb', xterm: 'xterm', xprop: 'x11-utils', openbox: 'openbox' },
      ...{ xtrace: 'xtrace', xdotool: 'xdotool' },
    });
    await startWindow();
    const { display, log } = trace();
    const ending = new AbortController();
    let changes = 0;
    const watched = await until('xtrace takes us through', async () => {
      const ended = x11.watch?.(kit.desktop({ DISPLAY: display }), () => (changes += 1), ending.signal);
      const isThere = await Promise.race([
        until('it watches', () => changes > 0, 5_000).catch(() => false),
        ended?.then(() => false, () => false),
      ]); // prettier-ignore
      return isThere && { ended };
    });
    kit.tell('xdotool', 'search', '--class', 'QAlpha', 'set_window', '--name', SECRET);
    const before = changes;
    startXterm(kit, 'QBeta');
    await until('the change is reported', () => changes > before);
    ending.abort();
    await watched.ended;
    const ours = log();
    const named = [...ours.matchAll(/InternAtom[^\n]*name='([^']*)'/g)].map(([, name]) => name);
    expect([...new Set(named)].sort()).to.deep.equal(['_NET_ACTIVE_WINDOW', '_NET_SUPPORTED']);
    const selected = [...ours.matchAll(/ChangeWindowAttributes[^\n]*window=(\S+)[^\n]*/g)];
    expect(selected.length).to.be.greaterThan(0);
    const root = /root=(0x[0-9a-f]+)/.exec(ours)?.[1] ?? '';
    for (const [line, window] of selected) expect(window, line).to.equal(root);
    for (const word of [SECRET, 'WM_NAME', 'ListProperties'])
      expect(ours.includes(word), word).to.equal(false);
  });

  it('receives no byte of a title from the server', async function () {
    requirePrograms(this, { Xvfb: 'xvfb', xterm: 'xterm', xprop: 'x11-utils', openbox: 'openbox' });
    await startWindow();
    const { display, received } = await wiretap();
    const source = sourceOn(display);
    const { cursor } = await source.collect({ nowMs: START_MS, dayStartMs: 0, cursor: undefined });
    const sample = await source.collect({ nowMs: START_MS + 120_000, dayStartMs: 0, cursor });
    expect(sample.events[0]).to.include({ app: 'QAlpha' });
    expect(received().includes('QAlpha')).to.equal(true);
    expect(received().includes(SECRET)).to.equal(false);
    // xprop is another process, that this one must serve meanwhile.
    kit.start('xprop', ['-display', display, '-id', activeWindow(), 'WM_NAME']);
    await until('the wire shows the title that xprop asked for', () => received().includes(SECRET));
  });
});
