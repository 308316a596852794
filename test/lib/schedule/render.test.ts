import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';

import { cronMinutes, cronBlocks, renderCron, withCron, withoutCron } from '../../../src/lib/schedule/cron';
import { JOBS, JOB_IDS, jobOf } from '../../../src/lib/schedule/job';
import { launchdLabel, parseLaunchd, renderLaunchd } from '../../../src/lib/schedule/launchd';
import { lastRunOf, nextRunOf, parseShow, renderSystemd } from '../../../src/lib/schedule/systemd';
import { parseTaskInfo, renderTask } from '../../../src/lib/schedule/task-scheduler';
import { expectGolden } from '../../helpers/golden';
import { ODD_PATHS, entryFor, lineText as line } from '../../helpers/schedule';

const GOLDEN = join(__dirname, 'golden');
describe('schedule: what is written for each scheduler', () => {
  for (const id of JOB_IDS) {
    it(`is the golden file of ${id} in each of the four`, () => {
      const entry = entryFor(id);
      expectGolden(join(GOLDEN, `${id}.plist`), renderLaunchd(entry));
      for (const [file, text] of Object.entries(renderSystemd(entry))) expectGolden(join(GOLDEN, file), text);
      expectGolden(join(GOLDEN, `${id}.crontab`), renderCron(entry));
      const launcher = 'C:\\Users\\Zoë & Söhne\\.steward\\bin\\steward-job.cmd';
      const task = renderTask({ ...entry, launcher }, 'PC\\Zoë');
      expectGolden(join(GOLDEN, `${id}.task.xml`), task.replaceAll('\r\n', '\n'));
    });
  }

  it('has the interval that is configured, and an hour as specified', () => {
    const entry = entryFor('sense', { job: jobOf('sense', { pollIntervalSec: 300 }) });
    expect(renderLaunchd(entry)).to.match(/<key>StartInterval<\/key>\s*<integer>300</);
    expect(renderSystemd(entry)['steward-sense.timer']).to.include('\nOnUnitActiveSec=300\n');
    expect(renderCron(entry)).to.include('\n*/5 * * * * ');
    expect(renderTask(entry, 'u')).to.include('<Interval>PT5M</Interval>');
    expect(renderLaunchd(entryFor('work'))).to.match(/<key>StartInterval<\/key>\s*<integer>3600</);
    expect(renderLaunchd(entryFor('work'))).to.match(/<key>ThrottleInterval<\/key>\s*<integer>60</);
  });
});

describe('schedule: launchd', () => {
  it('reads what launchctl prints', () => {
    const printed =
      'gui/501/local.steward.sense = {\n\tstate = not running\n\truns = 7\n\tlast exit code = 3\n}\n';
    expect(parseLaunchd(printed)).to.deep.equal({ lastExit: 3 });
    expect(parseLaunchd('\tlast exit code = (never exited)\n')).to.deep.equal({ lastExit: null });
    expect(launchdLabel('steward-0a1b2c3d-work')).to.equal('local.steward.0a1b2c3d.work');
  });
});

describe('schedule: systemd', () => {
  /** A word in quotes as systemd reads it, by systemd.unit(5) and systemd.service(5); what has a meaning of its own is refused. */
  function unitWord(quoted: string, isCommand: boolean): string {
    const inner = /^"((?:[^"\\]|\\.)*)"$/su.exec(quoted)?.[1];
    expect(inner, quoted).to.not.equal(undefined);
    const plain = (inner ?? '').replace(/%%|%/g, (found) => {
      expect(found, `a specifier in ${quoted}`).to.equal('%%');
      return '%';
    });
    const unquoted = plain.replace(/\\(.)/gsu, (_, char: string) => {
      expect(char, `an escape in ${quoted}`).to.match(/^["\\]$/);
      return char;
    });
    return isCommand
      ? unquoted.replace(/\$\$|\$/g, (found) => {
          expect(found, `a variable in ${quoted}`).to.equal('$$');
          return '$';
        })
      : unquoted;
  }

  it('keeps every path as it is', () => {
    const check = (path: string): void => {
      const entry = entryFor('sense', { launcher: path, env: { PATH: path } });
      const service = renderSystemd(entry)['steward-sense.service'] ?? '';
      const command = /^ExecStart=\/bin\/sh (.*) sense$/mu.exec(service)?.[1] ?? '';
      expect(unitWord(command, true)).to.equal(path);
      const variable = /^Environment=(.*)$/mu.exec(service)?.[1] ?? '';
      expect(unitWord(variable, false)).to.equal(`PATH=${path}`);
    };
    ODD_PATHS.forEach(check);
    fc.assert(fc.property(line, check));
  });

  it('reads what systemctl shows', () => {
    const shown = parseShow(
      'MainPID=0\nExecMainStartTimestamp=@1795260345\nExecMainExitTimestamp=@1795260347\nExecMainStatus=3\nActiveState=failed\nPath=a=b\n',
    );
    expect(shown['Path']).to.equal('a=b');
    expect(lastRunOf(shown)).to.deep.equal({ lastRun: '2026-11-21T11:25:47.000Z', lastExit: 3 });
    expect(lastRunOf(parseShow('MainPID=0\nExecMainStartTimestamp=\nExecMainStatus=0\n'))).to.deep.equal({
      lastRun: null,
      lastExit: null,
    });
    const running =
      'MainPID=9\nActiveState=activating\nExecMainStartTimestamp=@1795260345\nExecMainExitTimestamp=\nExecMainStatus=0\n';
    expect(lastRunOf(parseShow(running))).to.deep.equal({
      lastRun: '2026-11-21T11:25:45.000Z',
      lastExit: null,
    });
    const timers = '[{"next":1795260343374358,"unit":"steward-sense.timer"},{"next":0,"unit":"b.timer"}]';
    expect(nextRunOf(timers, 'steward-sense.timer')).to.equal('2026-11-21T11:25:43.374Z');
    expect(nextRunOf(timers, 'b.timer')).to.equal(null);
    expect(nextRunOf('NEXT LEFT\n', 'b.timer')).to.equal(null);
  });
});

describe('schedule: cron', () => {
  it('leaves every byte of the others in place, wherever the block stands', () => {
    const crontab = fc
      .array(line, { maxLength: 6 })
      .map((lines) => lines.map((text) => `${text}\n`).join(''))
      .filter((text) => !text.includes('# >>> steward'));
    const block = renderCron(entryFor('sense'));
    fc.assert(
      fc.property(crontab, crontab, (before, after) => {
        const added = withCron(before, 'steward-sense', block);
        expect(added).to.equal(before + block);
        expect(withCron(added + after, 'steward-sense', block)).to.equal(added + after);
        expect(cronBlocks(added, 'steward-sense')).to.deep.equal([block]);
        expect(withoutCron(added + after, 'steward-sense')).to.equal(before + after);
        // One that somebody has copied is there once again, or not at all.
        const twice = added + after + block + after;
        expect(cronBlocks(twice, 'steward-sense')).to.have.length(2);
        expect(withCron(twice, 'steward-sense', block)).to.equal(added + after + after);
        expect(withoutCron(twice, 'steward-sense')).to.equal(before + after + after);
      }),
    );
  });

  it('knows each job of each user area apart, and replaces a block that has changed in its place', () => {
    const one = renderCron(entryFor('sense'));
    const two = renderCron(entryFor('sense', { name: 'steward-0a1b2c3d-sense' }));
    const both = withCron(withCron('MAILTO=me\n', 'steward-sense', one), 'steward-0a1b2c3d-sense', two);
    expect(both).to.equal(`MAILTO=me\n${one}${two}`);
    const job = jobOf('sense', { pollIntervalSec: 600 });
    const changed = renderCron(entryFor('sense', { job }));
    expect(withCron(both, 'steward-sense', changed)).to.equal(`MAILTO=me\n${changed}${two}`);
    expect(withoutCron(withoutCron(both, 'steward-sense'), 'steward-0a1b2c3d-sense')).to.equal('MAILTO=me\n');
    expect(cronBlocks(both, 'steward-work')).to.deep.equal([]);
  });

  it('takes back a block that lost its command, and leaves one whose end somebody has removed', () => {
    const [begin = '', , end = ''] = renderCron(entryFor('sense')).split('\n');
    expect(withoutCron(`a\n${begin}\n${end}\nb\n`, 'steward-sense')).to.equal('a\nb\n');
    expect(withoutCron(`a\n${begin}\nb\nc\nd\ne\n`, 'steward-sense')).to.equal(`a\n${begin}\nb\nc\nd\ne\n`);
  });

  it('has no gap at the full hour', () => {
    expect([10, 59, 60, 90, 120, 420, 600, 2700, 3599, 3600].map(cronMinutes)).to.deep.equal([
      1, 1, 1, 1, 2, 6, 10, 30, 30, 60,
    ]);
    fc.assert(
      fc.property(fc.integer({ min: 10, max: 3600 }), (sec) => {
        expect(60 % cronMinutes(sec)).to.equal(0);
        expect(cronMinutes(sec) * 60).to.be.at.most(Math.max(60, sec));
      }),
    );
  });

  it('refuses a path that is too long for a crontab', () => {
    const launcher = `/${'long/'.repeat(250)}steward-job`;
    expect(() => renderCron(entryFor('sense', { launcher }))).to.throw(/too long for a crontab/);
  });
});

describe('schedule: Task Scheduler', () => {
  it('reads what PowerShell says of a task', () => {
    const info = { lastRun: '2026-11-20T08:14:00Z', nextRun: '2026-11-20T08:16:00Z', lastResult: 7 };
    expect(parseTaskInfo(JSON.stringify(info))).to.deep.equal({
      lastRun: '2026-11-20T08:14:00.000Z',
      nextRun: '2026-11-20T08:16:00.000Z',
      lastExit: 7,
      disabled: false,
    });
    expect(parseTaskInfo(JSON.stringify({ ...info, state: 'Disabled' }))).to.include({ disabled: true });
    const never = { lastRun: '1999-11-30T00:00:00Z', nextRun: null, lastResult: 267011 };
    expect(parseTaskInfo(JSON.stringify(never))).to.deep.equal({
      lastRun: null,
      nextRun: null,
      lastExit: null,
      disabled: false,
    });
    expect(parseTaskInfo('')).to.deep.equal({
      lastRun: null,
      nextRun: null,
      lastExit: null,
      disabled: false,
    });
  });

  it('repeats every minute at most', () => {
    const job = { ...JOBS.sense, when: { kind: 'interval' as const, everySec: 10 } };
    expect(renderTask(entryFor('sense', { job }), 'u')).to.include('<Interval>PT1M</Interval>');
  });
});
