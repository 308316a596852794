import { expect } from 'chai';

import { FRONT_APP_ADAPTERS } from '../../src/lib/sense/front-app';
import { frontAppContract, type FrontAppSituation } from './front-app';

const NOBODY = '/nonexistent/steward';
const wayland = {
  WAYLAND_DISPLAY: NOBODY,
  XDG_RUNTIME_DIR: NOBODY,
  DBUS_SESSION_BUS_ADDRESS: `unix:path=${NOBODY}`,
};

const DEAD: Record<string, FrontAppSituation> = {
  sway: { platform: 'linux', env: { ...wayland, SWAYSOCK: NOBODY } },
  hyprland: {
    platform: 'linux',
    env: { ...wayland, HYPRLAND_INSTANCE_SIGNATURE: 'x' },
    answers: { hyprctl: { code: 1 } },
  },
  kwin: { platform: 'linux', env: { ...wayland, XDG_CURRENT_DESKTOP: 'KDE' } },
  gnome: { platform: 'linux', env: { ...wayland, XDG_CURRENT_DESKTOP: 'GNOME' } },
  wlroots: { platform: 'linux', env: wayland },
  i3: { platform: 'linux', env: { DISPLAY: ':59000', I3SOCK: NOBODY } },
  x11: { platform: 'linux', env: { DISPLAY: ':59000' } },
  macos: {
    platform: 'darwin',
    env: {},
    answers: { '/usr/bin/lsappinfo': { code: 1 }, '/usr/bin/osascript': { code: 1 } },
  },
  windows: { platform: 'win32', env: {}, answers: { 'powershell.exe': { code: 1 } } },
};

describe('the contract of front-app adapters', () => {
  it('is kept by every adapter of the family', () => {
    expect(FRONT_APP_ADAPTERS.map(({ id }) => id).sort()).to.deep.equal(Object.keys(DEAD).sort());
  });

  for (const adapter of FRONT_APP_ADAPTERS) {
    const dead = DEAD[adapter.id];
    if (dead !== undefined) frontAppContract(adapter, dead);
  }
});
