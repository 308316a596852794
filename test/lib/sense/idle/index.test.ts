import { expect } from 'chai';

import { StewardError } from '../../../../src/lib/errors';
import { IDLE_ADAPTERS, readIdle, type Idle, type IdleAdapter } from '../../../../src/lib/sense/idle';
import { recordedDesktop } from '../../../helpers/fake-desktop';

const desktop = recordedDesktop('linux', {});

function adapter(id: string, answer: Idle | Error, here = true): IdleAdapter {
  return {
    id,
    detect: () => here,
    read: () => (answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer)),
  };
}

describe('sense/idle', () => {
  it('returns the first idle time, and the lock of any adapter', async () => {
    const reading = await readIdle(desktop, [
      adapter('a', { locked: false }),
      adapter('b', { idleMs: 10 }),
      adapter('c', { idleMs: 99, locked: true }),
      adapter('d', { locked: false }),
    ]);
    expect(reading).to.deep.equal({ idleMs: 10, locked: true, via: 'a+b+c+d' });
  });

  it('ignores adapters that are absent, fail or know nothing', async () => {
    const failing = new StewardError('unavailable', 'gone');
    const reading = await readIdle(desktop, [
      adapter('not-here', { idleMs: 1 }, false),
      adapter('broken', failing),
      adapter('silent', {}),
      adapter('b', { idleMs: 0 }),
    ]);
    expect(reading).to.deep.equal({ idleMs: 0, via: 'b' });
  });

  it('gives the reason when no adapter knows', async () => {
    const failing = adapter('broken', new StewardError('unavailable', 'The display is gone.'));
    expect(await readIdle(desktop, [failing, adapter('s', {})])).to.deep.equal({
      unknown: 'The display is gone.',
    });
    expect(await readIdle(desktop, []))
      .to.have.property('unknown')
      .that.includes('does not report');
  });

  it('throws bugs on', async () => {
    let caught: unknown;
    await readIdle(desktop, [adapter('bug', new TypeError('x'))]).catch((error: unknown) => (caught = error));
    expect(caught).to.be.instanceOf(TypeError);
  });

  it('asks the X server only in X11 sessions', () => {
    const asked = (env: NodeJS.ProcessEnv): string[] =>
      IDLE_ADAPTERS.filter(({ detect }) => detect({ ...desktop, env })).map(({ id }) => id);
    expect(asked({ DISPLAY: ':0' })).to.deep.equal(['x11', 'logind']);
    expect(asked({ DISPLAY: ':0', DBUS_SESSION_BUS_ADDRESS: 'unix:path=/x' })).to.deep.equal([
      'mutter',
      'x11',
      'screensaver',
      'logind',
    ]);
    expect(asked({ DISPLAY: ':0', WAYLAND_DISPLAY: 'wayland-0' })).to.deep.equal(['logind']);
  });
});
