import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';

import { cronMinutes, cronBlocks, renderCron, withCron, withoutCron } from '../../../src/lib/schedule/cron';
import { JOB_IDS, tickJob } from '../../../src/lib/schedule/job';
import { launchdLabel, renderLaunchd } from '../../../src/lib/schedule/launchd';
import { renderSystemd } from '../../../src/lib/schedule/systemd';
import { renderTask } from '../../../src/lib/schedule/task-scheduler';
import { expectGolden } from '../../helpers/golden';
import { ODD_PATHS, entryFor, lineText as line } from '../../helpers/schedule';

const GOLDEN = join(__dirname, 'golden');
describe('schedule: what is written for each scheduler', () => {
  for (const id of JOB_IDS) {
    it(`is the golden file of ${id} in each of the four`, () => {
      const entry = entryFor(id);
      expectGolden(join(GOLDEN, `${id}.plist`), renderLaunchd(entry, process.cwd()));
      for (const [file, text] of Object.entries(renderSystemd(entry))) expectGolden(join(GOLDEN, file), text);
      expectGolden(join(GOLDEN, `${id}.crontab`), renderCron(entry));
      const launcher = 'C:\\Users\\Zoë & Söhne\\.steward\\bin\\steward-job.cmd';
      const task = renderTask({ ...entry, launcher }, 'PC\\Zoë', process.cwd());
      expectGolden(join(GOLDEN, `${id}.task.xml`), task.replaceAll('\r\n', '\n'));
    });
  }

  it('has the interval that is configured, and the time between restarts', () => {
    const entry = entryFor('tick', { job: tickJob({ pollIntervalSec: 300 }) });
    expect(renderLaunchd(entry, process.cwd())).to.match(/<key>StartInterval<\/key>\s*<integer>300</);
    expect(renderSystemd(entry)['steward-tick.timer']).to.include('\nOnUnitActiveSec=300\n');
    expect(renderCron(entry)).to.include('\n*/5 * * * * ');
    expect(renderTask(entry, 'u', process.cwd())).to.include('<Interval>PT5M</Interval>');
    expect(renderLaunchd(entryFor('tick'), process.cwd())).to.match(
      /<key>ThrottleInterval<\/key>\s*<integer>60</,
    );
  });
});

describe('schedule: launchd', () => {
  it('gives each entry a label of its own', () => {
    expect(launchdLabel('steward-0a1b2c3d-tick')).to.equal('local.steward.0a1b2c3d.tick');
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
      const entry = entryFor('tick', { launcher: path, env: { PATH: path } });
      const service = renderSystemd(entry)['steward-tick.service'] ?? '';
      const command = /^ExecStart=\/bin\/sh (.*) tick$/mu.exec(service)?.[1] ?? '';
      expect(unitWord(command, true)).to.equal(path);
      const variable = /^Environment=(.*)$/mu.exec(service)?.[1] ?? '';
      expect(unitWord(variable, false)).to.equal(`PATH=${path}`);
    };
    ODD_PATHS.forEach(check);
    fc.assert(fc.property(line, check));
  });
});

describe('schedule: cron', () => {
  it('leaves every byte of the others in place, wherever the block stands', () => {
    const crontab = fc
      .array(line, { maxLength: 6 })
      .map((lines) => lines.map((text) => `${text}\n`).join(''))
      .filter((text) => !text.includes('# >>> steward'));
    const block = renderCron(entryFor('tick'));
    fc.assert(
      fc.property(crontab, crontab, (before, after) => {
        const added = withCron(before, 'steward-tick', block);
        expect(added).to.equal(before + block);
        expect(withCron(added + after, 'steward-tick', block)).to.equal(added + after);
        expect(cronBlocks(added, 'steward-tick')).to.deep.equal([block]);
        expect(withoutCron(added + after, 'steward-tick')).to.equal(before + after);
        // One that somebody has copied is there once again, or not at all.
        const twice = added + after + block + after;
        expect(cronBlocks(twice, 'steward-tick')).to.have.length(2);
        expect(withCron(twice, 'steward-tick', block)).to.equal(added + after + after);
        expect(withoutCron(twice, 'steward-tick')).to.equal(before + after + after);
      }),
    );
  });

  it('knows each job of each user area apart, and replaces a block that has changed in its place', () => {
    const one = renderCron(entryFor('tick'));
    const two = renderCron(entryFor('tick', { name: 'steward-0a1b2c3d-tick' }));
    const both = withCron(withCron('MAILTO=me\n', 'steward-tick', one), 'steward-0a1b2c3d-tick', two);
    expect(both).to.equal(`MAILTO=me\n${one}${two}`);
    const job = tickJob({ pollIntervalSec: 600 });
    const changed = renderCron(entryFor('tick', { job }));
    expect(withCron(both, 'steward-tick', changed)).to.equal(`MAILTO=me\n${changed}${two}`);
    expect(withoutCron(withoutCron(both, 'steward-tick'), 'steward-0a1b2c3d-tick')).to.equal('MAILTO=me\n');
    expect(cronBlocks(both, 'steward-daemon')).to.deep.equal([]);
  });

  it('takes back a block that lost its command, and leaves one whose end somebody has removed', () => {
    const [begin = '', , end = ''] = renderCron(entryFor('tick')).split('\n');
    expect(withoutCron(`a\n${begin}\n${end}\nb\n`, 'steward-tick')).to.equal('a\nb\n');
    expect(withoutCron(`a\n${begin}\nb\nc\nd\ne\n`, 'steward-tick')).to.equal(`a\n${begin}\nb\nc\nd\ne\n`);
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
    expect(() => renderCron(entryFor('tick', { launcher }))).to.throw(/too long for a crontab/);
  });
});

describe('schedule: Task Scheduler', () => {
  it('repeats every minute at most', () => {
    const job = tickJob({ pollIntervalSec: 10 });
    expect(renderTask(entryFor('tick', { job }), 'u', process.cwd())).to.include('<Interval>PT1M</Interval>');
  });
});
