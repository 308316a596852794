import { expect } from 'chai';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

import { createContext, type Context } from '../../src/lib/app/context';
import { presenceOf } from '../../src/lib/app/surroundings';
import { loadConfig } from '../../src/lib/config/load';
import type { Session } from '../../src/lib/sessions/session';
import { testArea, type TestArea } from '../helpers/area';
import { desktopKit, startManager, startXvfb, until, type DesktopKit } from '../helpers/desktop-kit';
import { requirePrograms } from '../helpers/real-part';

describe('presence', function () {
  this.timeout(180_000);
  let area: TestArea;
  let kit: DesktopKit;
  let context: Context;
  beforeEach(() => {
    area = testArea();
    kit = desktopKit();
    context = {
      ...createContext(area.home),
      area: area.area,
      machineId: '0123456789ab',
      loadConfig: () => loadConfig({ area: area.area, env: {} }),
    } as Context;
  });
  afterEach(async () => {
    await kit.stop();
    area.remove();
  });

  it('depends on the terminal in front and on the input', async function () {
    requirePrograms(this, {
      Xvfb: 'xvfb',
      openbox: 'openbox',
      xterm: 'xterm',
      xclock: 'x11-apps',
      xprop: 'x11-utils',
      xdotool: 'xdotool',
    });
    await startXvfb(kit);
    await startManager(kit, 'openbox');
    const terminal = kit.start('xterm', ['-class', 'Mine', '-e', 'sleep', '600']);
    context = { ...context, desktop: kit.desktop() };
    const session = {
      machine: '0123456789ab',
      terminal: { tty: null, program: null, kittySocket: null, pid: terminal.pid, started: null },
    } as Session;
    const look = (): Promise<string> => presenceOf(context, session);
    expect(await look(), 'sense is not set up').to.equal('unknown');
    mkdirSync(dirname(area.area.sense.config), { recursive: true });
    writeFileSync(area.area.sense.config, '{}');
    kit.tell('xdotool', 'search', '--sync', '--onlyvisible', '--class', 'Mine');
    kit.tell('xdotool', 'mousemove', '10', '10', 'mousemove', '30', '30');
    await until('the terminal is in front', async () => (await look()) === 'front');
    expect(await presenceOf(context, undefined)).to.equal('desk');
    expect(await presenceOf(context, { ...session, machine: 'another' } as Session)).to.equal('desk');
    writeFileSync(area.area.sense.config, '{"enabled": false}');
    expect(await look()).to.equal('unknown');
  });
});
