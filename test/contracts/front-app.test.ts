import { expect } from 'chai';

import { FRONT_APP_ADAPTERS } from '../../src/lib/sense/front-app';
import { frontAppContract, type FrontAppSituation } from './front-app';

const MISSING = '/nonexistent/steward';
const wayland = {
  WAYLAND_DISPLAY: MISSING,
  XDG_RUNTIME_DIR: MISSING,
  DBUS_SESSION_BUS_ADDRESS: `unix:path=${MISSING}`,
};

const DEAD: Record<string, FrontAppSituation> = {
  sway: {
    platform: 'linux',
    env: { ...wayland, SWAYSOCK: MISSING },
    answers: { swaymsg: { code: 1 } },
  },
  hyprland: {
    platform: 'linux',
    env: { ...wayland, HYPRLAND_INSTANCE_SIGNATURE: 'x' },
    answers: { hyprctl: { code: 1 } },
  },
  kwin: { platform: 'linux', env: { ...wayland, XDG_CURRENT_DESKTOP: 'KDE' } },
  gnome: { platform: 'linux', env: { ...wayland, XDG_CURRENT_DESKTOP: 'GNOME' } },
  wlroots: { platform: 'linux', env: wayland },
  i3: {
    platform: 'linux',
    env: { DISPLAY: ':59000', I3SOCK: MISSING },
    answers: { 'i3-msg': { code: 1 } },
  },
  x11: { platform: 'linux', env: { DISPLAY: ':59000' } },
  macos: {
    platform: 'darwin',
    env: {},
    answers: { '/usr/bin/lsappinfo': { code: 1 } },
  },
  windows: { platform: 'win32', env: {}, answers: { 'powershell.exe': { code: 1 } } },
};

/** The terminal adapter is for machines without a desktop; `real/terminal-time.test.ts` tests it. */
const DESKTOPS = FRONT_APP_ADAPTERS.filter(({ id }) => id !== 'terminal');

describe('contract of front-app adapters', () => {
  it('covers every adapter', () => {
    expect(DESKTOPS.map(({ id }) => id).sort()).to.deep.equal(Object.keys(DEAD).sort());
  });

  for (const adapter of DESKTOPS) {
    const dead = DEAD[adapter.id];
    if (dead !== undefined) frontAppContract(adapter, dead);
  }
});
