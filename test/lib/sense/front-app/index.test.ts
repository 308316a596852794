import { expect } from 'chai';

import { StewardError } from '../../../../src/lib/errors';
import { FRONT_APP_ADAPTERS, readFrontApp } from '../../../../src/lib/sense/front-app';
import type { Desktop, FrontApp, FrontAppAdapter } from '../../../../src/lib/sense/front-app/adapter';
import { terminal } from '../../../../src/lib/sense/front-app/terminal';
import { recordedDesktop } from '../../../helpers/fake-desktop';

const desktop = recordedDesktop('linux', {});
const missing = new StewardError('not_found', 'The extension is missing.', { hint: 'Install it.' });
const broken = new StewardError('unavailable', 'The socket is dead.', { hint: 'Log in again.' });

function adapter(id: string, answer: FrontApp | null | Error): FrontAppAdapter {
  return {
    id,
    detect: () => true,
    read: () => (answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer)),
  };
}

function detected(env: NodeJS.ProcessEnv, platform: NodeJS.Platform = 'linux'): string[] {
  return FRONT_APP_ADAPTERS.filter(({ detect }) => detect({ ...desktop, platform, env })).map(({ id }) => id);
}

describe('sense/front-app', () => {
  it('returns the first answer and its adapter', async () => {
    const app = { app: 'A' };
    expect(await readFrontApp(desktop, [adapter('x', broken), adapter('y', app)])).to.deep.equal({
      state: 'seen',
      app,
      via: 'y',
    });
    expect(await readFrontApp(desktop, [adapter('z', null), adapter('y', app)])).to.deep.equal({
      state: 'none',
      via: 'z',
    });
  });

  it('distinguishes a missing part from a failure, and gives the first reason', async () => {
    expect(await readFrontApp(desktop, [adapter('x', missing)])).to.deep.equal({
      state: 'unsupported',
      reason: 'The extension is missing. Install it.',
    });
    expect(await readFrontApp(desktop, [adapter('x', missing), adapter('y', broken)])).to.deep.equal({
      state: 'error',
      reason: 'The socket is dead. Log in again.',
    });
  });

  it('throws bugs on', async () => {
    let caught: unknown;
    await readFrontApp(desktop, [adapter('x', new TypeError('bug'))]).catch(
      (error: unknown) => (caught = error),
    );
    expect(caught).to.be.instanceOf(TypeError);
  });

  it('explains why nothing is captured under cron and ssh', async () => {
    const reading = await readFrontApp({ ...desktop, env: { HOME: '/home/a', PATH: '/usr/bin:/bin' } });
    expect(reading).to.include({ state: 'unsupported' });
    expect(reading)
      .to.have.property('reason')
      .that.matches(/DISPLAY nor WAYLAND_DISPLAY.*graphical session.*cron/);
  });

  it('explains an incomplete Wayland environment', async () => {
    for (const env of [{ WAYLAND_DISPLAY: 'wayland-0' }, { DISPLAY: ':0', XDG_SESSION_TYPE: 'wayland' }]) {
      const reading = await readFrontApp({ ...desktop, env });
      expect(reading).to.include({ state: 'unsupported' });
      expect(reading).to.have.property('reason').that.includes('WAYLAND_DISPLAY and XDG_RUNTIME_DIR');
    }
  });

  it('reports a display that is gone', async () => {
    const reading = await readFrontApp({ ...desktop, env: { DISPLAY: ':59000' } });
    expect(reading).to.include({ state: 'error' });
    expect(reading)
      .to.have.property('reason')
      .that.matches(/^The X display :59000 is not responding.*XAUTHORITY/);
    const odd = await readFrontApp({ ...desktop, env: { DISPLAY: 'nonsense' } });
    expect(odd).to.include({ state: 'error' });
  });

  it('reports a window manager that is gone', async () => {
    const env = {
      WAYLAND_DISPLAY: 'wayland-0',
      XDG_RUNTIME_DIR: '/nonexistent',
      SWAYSOCK: '/nonexistent/sway',
    };
    const gone = recordedDesktop('linux', { swaymsg: { code: 1 } }, env);
    const reading = await readFrontApp(gone);
    expect(reading).to.include({ state: 'error' });
    expect(reading)
      .to.have.property('reason')
      .that.matches(/^swaymsg cannot reach sway\. Run/);
  });

  it('detects each desktop by its environment', () => {
    const wayland = { WAYLAND_DISPLAY: 'wayland-0', XDG_RUNTIME_DIR: '/run/user/1', DISPLAY: ':0' };
    expect(detected({ DISPLAY: ':0' })).to.deep.equal(['x11']);
    expect(detected({ DISPLAY: ':0', XDG_CURRENT_DESKTOP: 'KDE' })).to.deep.equal(['x11']);
    expect(detected({ DISPLAY: ':0', I3SOCK: '/i3' })).to.deep.equal(['i3', 'x11']);
    expect(detected({ ...wayland, SWAYSOCK: '/sway', I3SOCK: '/sway' })).to.deep.equal(['sway', 'wlroots']);
    expect(detected({ ...wayland, XDG_CURRENT_DESKTOP: 'KDE' })).to.deep.equal(['kwin', 'wlroots']);
    expect(detected({ ...wayland, XDG_CURRENT_DESKTOP: 'ubuntu:GNOME' })).to.deep.equal(['gnome', 'wlroots']);
    expect(detected({ ...wayland, HYPRLAND_INSTANCE_SIGNATURE: 'a' })).to.deep.equal(['hyprland', 'wlroots']);
    expect(detected({}, 'darwin')).to.deep.equal(['macos']);
    expect(detected({}, 'win32')).to.deep.equal(['windows']);
    expect(detected({ DISPLAY: '', WAYLAND_DISPLAY: '', SWAYSOCK: '' })).to.deep.equal([]);
  });

  it('never asks XWayland, which does not know Wayland windows', () => {
    expect(detected({ DISPLAY: ':0', XDG_SESSION_TYPE: 'wayland' })).to.deep.equal([]);
  });
});

describe('sense: terminals without a desktop', () => {
  const input = { atMs: 0, tty: '/dev/pts/1', pane: '/dev/pts/2', pid: 1 };
  const server: Desktop = {
    ...recordedDesktop('linux', {}, { XDG_RUNTIME_DIR: '/nonexistent' }),
    terminals: () => Promise.resolve(input),
  };

  it('are seen only on Linux, and not where a desktop is', () => {
    expect(terminal.detect({ ...server, env: { DISPLAY: ':0' } })).to.equal(false);
    expect(terminal.detect({ ...server, env: { WAYLAND_DISPLAY: 'wayland-0' } })).to.equal(false);
    expect(terminal.detect({ ...server, platform: 'darwin' })).to.equal(false);
    expect(terminal.detect({ ...server, platform: 'win32' })).to.equal(false);
  });

  it('give the pane shown in tmux, and nothing if none is open', async () => {
    expect(await terminal.read(server)).to.deep.equal({ app: 'tmux', pid: 1, tty: '/dev/pts/2' });
    expect(await terminal.read({ ...server, terminals: () => Promise.resolve(undefined) })).to.equal(null);
  });
});
