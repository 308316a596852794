import { expect } from 'chai';

import { defaultConfig } from '../../../src/lib/config/load';
import { runChecks } from '../../../src/lib/doctor/run';
import { toIso } from '../../../src/lib/platform/time/clock';
import { SENSE_CHECKS, type SenseChecked } from '../../../src/lib/sense/checks';
import { recordedDesktop } from '../../helpers/fake-desktop';
import { senseBox, type SenseBox } from '../../helpers/sense';

describe('sense: checks of doctor', () => {
  let box: SenseBox;
  beforeEach(() => {
    box = senseBox();
  });
  afterEach(() => box.remove());

  async function check(id: string, given: Partial<SenseChecked> = {}, exclude: string[] = []) {
    const at = {
      clock: box.deps.clock,
      area: box.area,
      desktop: recordedDesktop('linux', {}),
      capturedBy: () => Promise.resolve('systemd'),
      ...given,
    };
    const config = defaultConfig(box.area);
    const checks = SENSE_CHECKS.filter((row) => row.id === id);
    const sense = { ...config.sense, exclude };
    const rows = await runChecks(checks, at as unknown as SenseChecked, { ...config, sense });
    return rows.map(({ row: { state, found, fix } }) => ({ state, found, fix }));
  }
  const wordsOf = async (...args: Parameters<typeof check>): Promise<string> =>
    (await check(...args)).map(({ state, found }) => `${state}: ${found}`).join('\n');

  const env = { WAYLAND_DISPLAY: 'w', HYPRLAND_INSTANCE_SIGNATURE: 'a' };
  const hyprland = (stdout: string) => ({ desktop: recordedDesktop('linux', { hyprctl: stdout }, env) });

  it('names the front application, if it is not excluded', async () => {
    const ghostty = hyprland('{"class":"Ghostty","pid":7}');
    expect(await wordsOf('sense.front', ghostty)).to.equal('ok: Ghostty, via hyprland');
    expect(await wordsOf('sense.front', ghostty, ['ghostty'])).to.equal(
      'ok: an excluded application, via hyprland',
    );
    expect(await wordsOf('sense.front', hyprland('{}'))).to.equal(
      'ok: no window or terminal has the focus (hyprland)',
    );
    expect(await wordsOf('sense.front', hyprland('noise'))).to.match(/^failed: hyprctl returned invalid/);
  });

  it('accepts a desktop that is invisible here but was captured', async () => {
    expect(await wordsOf('sense.front')).to.match(/^warning: No desktop session/);
    const { state } = box.store.readState();
    const at = toIso(box.deps.clock.now());
    box.store.prepare();
    box.store.writeState({
      ...state,
      lastCaptureTs: at,
      sources: { appFocus: { state: 'ok', at, lastEventTs: null } },
    });
    expect(await wordsOf('sense.front')).to.match(
      /^ok: not visible from this session, but the capture at .* succeeded$/,
    );
  });

  it('reads idle time and lock', async () => {
    const windows = (stdout: string) => ({ desktop: recordedDesktop('win32', { 'powershell.exe': stdout }) });
    if (process.platform !== 'win32') {
      expect(await wordsOf('sense.idle', windows('{"idleMs":3900,"locked":false}'))).to.equal(
        'ok: 3 s without input, not locked, via windows',
      );
      expect(await wordsOf('sense.idle', windows('{"locked":true}'))).to.equal(
        'ok: idle time unknown, locked, via windows',
      );
    }
    const blind = { desktop: recordedDesktop('freebsd', {}) };
    expect(await wordsOf('sense.idle', blind)).to.match(/^off: not checked/);
    const unknown = { desktop: recordedDesktop('freebsd', { hyprctl: '{}' }, env) };
    expect(await wordsOf('sense.idle', unknown)).to.match(
      /^warning: unknown, so idle time counts as active: /,
    );
  });

  it('warns about missed and unscheduled captures', async () => {
    expect(await wordsOf('sense.capture')).to.equal('off: not set up; nothing is captured');
    box.write('sense/config.json', '{}');
    const of = async (agoSec: number | undefined, by: string | undefined): Promise<string> => {
      const lastCaptureTs = agoSec === undefined ? null : toIso(box.deps.clock.now() - agoSec * 1000);
      box.store.prepare();
      box.store.writeState({ ...box.store.readState().state, lastCaptureTs });
      return wordsOf('sense.capture', { capturedBy: () => Promise.resolve(by) });
    };
    expect(await of(100, 'systemd')).to.match(/^ok: last capture at .*, by systemd$/);
    expect(await of(359, 'systemd')).to.match(/^ok/);
    expect(await of(360, 'systemd')).to.match(/^warning: .*3 captures missed since/);
    expect(await of(100, undefined)).to.match(/^warning: .*no captures are scheduled/);
    expect(await of(undefined, 'cron')).to.equal(
      'warning: no capture yet, although cron is set to run captures',
    );
  });

  it('offers koffi where PowerShell takes seconds', async () => {
    const answer = '{"pid": 7, "path": "C:\\\\Code.exe", "description": "Code"}';
    const desktop = recordedDesktop('win32', { 'powershell.exe': answer });
    expect(await check('sense.front', { desktop })).to.deep.equal([
      { state: 'ok', found: 'Code, via windows', fix: null },
      {
        state: 'off',
        found: 'each capture takes about two seconds, because it starts PowerShell twice',
        fix: 'npm install --global koffi@3',
      },
    ]);
  });
});
