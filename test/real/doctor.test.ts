import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import {
  desktopKit,
  startBus,
  startManager,
  startXterm,
  startXvfb,
  until,
  type DesktopKit,
} from '../helpers/desktop-kit';
import { patient, type Patient } from '../helpers/doctor';
import { requirePart, requirePrograms } from '../helpers/real-part';

describe('doctor in a real session', function () {
  this.timeout(120_000);
  let at: Patient;
  let kit: DesktopKit;
  beforeEach(() => {
    at = patient();
    kit = desktopKit();
  });
  afterEach(async () => {
    await kit.stop();
    at.remove();
  });

  it('reads the application in front and the idle time', async function () {
    requirePrograms(this, { Xvfb: 'xvfb', openbox: 'openbox', xterm: 'xterm', xprop: 'x11-utils' });
    await startXvfb(kit);
    await startManager(kit, 'openbox');
    at.env = { DISPLAY: kit.env['DISPLAY'] };
    await at.expectRow('sense.front', 'ok', /^no window or terminal has the focus \(x11\)$/);
    startXterm(kit, 'Painter');
    await until(
      'doctor sees it',
      async () => /^Painter, via x11$/.test((await at.rows('sense.front'))[0]?.found ?? ''),
      60_000,
    );
    await at.expectRow('sense.idle', 'ok', /s without input.*via x11/);
    at.write('.steward/sense/config.json', '{"exclude":["Painter"]}');
    await at.expectRow('sense.front', 'ok', /^an excluded application, via x11$/);
  });

  it('detects whether a notification service is running', async function () {
    requirePrograms(this, {
      Xvfb: 'xvfb',
      'dbus-daemon': 'dbus',
      dunst: 'dunst',
    });
    await at.expectRow('notify.desktop', 'off', /no desktop here/);
    await startXvfb(kit);
    await startBus(kit);
    const { DISPLAY, DBUS_SESSION_BUS_ADDRESS } = kit.env;
    at.env = { DISPLAY, DBUS_SESSION_BUS_ADDRESS };
    await at.expectRow('notify.desktop', 'warning', /notification service/);
    kit.start('dunst', ['-conf', '/dev/null']);
    await until('dunst is there', async () => (await at.rows('notify.desktop'))[0]?.state === 'ok', 60_000);
    at.env = { DISPLAY, DBUS_SESSION_BUS_ADDRESS: `unix:path=${at.path}/no-bus` };
    await at.expectRow('notify.desktop', 'off', /no desktop here/);
  });

  it('synthesizes with a real engine, silently', async function () {
    requirePrograms(this, { 'espeak-ng': 'espeak-ng', aplay: 'alsa-utils' });
    await at.expectRow(
      'notify.voice',
      'ok',
      /^espeak-ng produced \d\d+ KiB of audio in \d+ ms(?:; this machine has no sound device to play it)?$/,
    );
  });

  it('warns about a disk that is nearly full', async function () {
    const disk = mkdtempSync(join(tmpdir(), 'steward-disk-'));
    if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', disk]).status !== 0) {
      rmdirSync(disk);
      requirePart(this, false, 'no small file system could be mounted (run as root on Linux)');
    }
    try {
      await at.expectRow('machine.disk', 'ok', /GiB free|MiB free/);
      at.env = { STEWARD_HOME: disk };
      await at.expectRow('machine.disk', 'failed', new RegExp(`MiB free on the disk that contains ${disk}`));
    } finally {
      expect(spawnSync('umount', [disk]).status).to.equal(0);
      rmdirSync(disk);
    }
  });
});
