import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

import { BIN } from '../helpers/cli';
import { systemdHome } from '../helpers/systemd';

describe('crash: schedule: jobs in a real systemd user manager', () => {
  const at = systemdHome();

  it('are complete after an install was killed around each call to systemd', async () => {
    const programs = join(at.root, 'programs');
    const count = join(at.root, 'count');
    mkdirSync(programs);
    // Kills who asks for the change of this number, before it or behind it.
    writeFileSync(
      join(programs, 'systemctl'),
      `#!/bin/sh
case "$2" in is-*|show|list-timers) exec /usr/bin/systemctl "$@" ;; esac
n=$(($(cat '${count}') + 1))
echo $n >'${count}'
[ "$KILL" != "$n-before" ] || { kill -9 $PPID; exit 1; }
/usr/bin/systemctl "$@"
code=$?
[ "$KILL" != "$n-after" ] || kill -9 $PPID
exit $code
`,
      { mode: 0o755 },
    );
    const kill = async (point: string, ...args: string[]) => {
      writeFileSync(count, '0');
      await at.exec(process.execPath, [BIN, ...args], {
        PATH: `${programs}:${at.env['PATH'] ?? ''}`,
        KILL: point,
      });
      return Number(readFileSync(count, 'utf8'));
    };
    const shown = async (): Promise<unknown> => {
      const ask = async (...args: string[]) =>
        (await at.exec('systemctl', ['--user', ...args, 'steward-tick.timer'])).stdout.trim();
      const times = await ask('show', '--property=LoadState,TimersMonotonic');
      return {
        times: [...(times ?? '').matchAll(/LoadState=\w+|OnUnitActiveUSec=\w+/g)].map(String).sort(),
        state: [await ask('is-active'), await ask('is-enabled')],
        files: Object.keys(at.outside()),
      };
    };
    const install = (seconds: string) =>
      at
        .steward('config', 'set', 'sense.pollIntervalSec', seconds)
        .then(() => at.steward('sense', 'install'));
    const uninstall = () => at.steward('sense', 'install', '--uninstall');
    await uninstall();
    const gone = await shown();
    await install('300');
    const installed = await shown();
    expect(installed).to.deep.include({ times: ['LoadState=loaded', 'OnUnitActiveUSec=5min'] });
    for (const [args, first] of [
      [['sense', 'install'], '120'],
      [['sense', 'install', '--uninstall'], '300'],
    ] as const) {
      await install(first);
      await at.steward('config', 'set', 'sense.pollIntervalSec', '300');
      const words = await kill('never', ...args);
      expect(words).to.be.greaterThan(2);
      for (let word = 1; word <= words; word += 1)
        for (const side of ['before', 'after']) {
          // By turns, as each of them takes a while here; test/lib/schedule/killed.test.ts has all of them.
          const [then, expected] =
            (side === 'after') === (word % 2 === 0) ? [() => install('300'), installed] : [uninstall, gone];
          await install(first);
          await at.steward('config', 'set', 'sense.pollIntervalSec', '300');
          await kill(`${word}-${side}`, ...args);
          await then();
          expect(await shown(), `${args.join(' ')}, killed ${side} word ${word}`).to.deep.equal(expected);
        }
    }
    await uninstall();
    await at.steward('config', 'set', 'sense.pollIntervalSec', '120');
  }).timeout(600_000);
});
