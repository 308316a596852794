import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';

import {
  cronMinutes,
  cronWord,
  cronBlocks,
  renderCron,
  withCron,
  withoutCron,
} from '../../../src/lib/schedule/cron';
import { JOBS, JOB_IDS, jobOf } from '../../../src/lib/schedule/job';
import { launchdLabel, parseLaunchd, renderLaunchd } from '../../../src/lib/schedule/launchd';
import { lastRunOf, nextRunOf, parseShow, renderSystemd } from '../../../src/lib/schedule/systemd';
import { parseTaskInfo, renderTask, taskBytes } from '../../../src/lib/schedule/task-scheduler';
import { expectGolden } from '../../helpers/golden';
import { requirePrograms } from '../../helpers/real-part';
import { ODD_PATHS, entryFor } from '../../helpers/schedule';
import { scratch } from '../../helpers/scratch';

const GOLDEN = join(__dirname, 'golden');
/** Text of one line, with what is special to any of the formats often in it. */
const line = fc
  .array(
    fc.oneof(
      fc.constantFrom(...'%\\\'"$`&<>#; {}*~é🦉'),
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 3 }),
    ),
    {
      maxLength: 24,
    },
  )
  .map((parts) => parts.join('').replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, ''));

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
  const box = scratch();

  before(function () {
    requirePrograms(this, { python3: 'python3' });
  });

  /** What Python's own reader of property lists finds in it. */
  function plist(text: string): Record<string, unknown> {
    writeFileSync(box.path('a.plist'), text);
    const script = 'import json, plistlib, sys; print(json.dumps(plistlib.load(open(sys.argv[1], "rb"))))';
    const { stdout, stderr } = spawnSync('python3', ['-c', script, box.path('a.plist')], {
      encoding: 'utf8',
    });
    expect(stderr).to.equal('');
    return JSON.parse(stdout) as Record<string, unknown>;
  }

  it('is a property list that says what is meant', () => {
    expect(plist(renderLaunchd(entryFor('sense')))).to.deep.equal({
      Label: 'local.steward.sense',
      ProgramArguments: ['/bin/sh', '/home/ada/.steward/bin/steward-job', 'sense'],
      EnvironmentVariables: { PATH: '/usr/local/bin:/usr/bin:/bin', STEWARD_HOME: '/home/ada/.steward' },
      StartInterval: 120,
      RunAtLoad: true,
      ThrottleInterval: 60,
      ProcessType: 'Background',
      LimitLoadToSessionType: 'Aqua',
      StandardErrorPath: '/home/ada/.steward/sense/logs/capture.log',
    });
    expect(plist(renderLaunchd(entryFor('daemon')))).to.deep.include({
      KeepAlive: { SuccessfulExit: false },
    });
    expect(plist(renderLaunchd(entryFor('insight')))).to.deep.include({
      StartCalendarInterval: { Minute: 5 },
    });
  });

  it('keeps every path as it is', () => {
    for (const launcher of ODD_PATHS) {
      const found = plist(renderLaunchd(entryFor('sense', { launcher, env: { PATH: launcher } })));
      expect(found['ProgramArguments']).to.deep.equal(['/bin/sh', launcher, 'sense']);
      expect(found['EnvironmentVariables']).to.deep.equal({ PATH: launcher });
    }
  });

  it('reads what launchctl prints', () => {
    const printed =
      'gui/501/local.steward.sense = {\n\tstate = not running\n\truns = 7\n\tlast exit code = 3\n}\n';
    expect(parseLaunchd(printed)).to.deep.equal({ lastExit: 3 });
    expect(parseLaunchd('\tlast exit code = (never exited)\n')).to.deep.equal({ lastExit: null });
    expect(launchdLabel('steward-0a1b2c3d-work')).to.equal('local.steward.0a1b2c3d.work');
  });
});

describe('schedule: systemd', () => {
  const box = scratch();

  it('is accepted without a word, whatever the path', function () {
    requirePrograms(this, { 'systemd-analyze': 'systemd' });
    for (const [index, launcher] of ['/bin/x', ...ODD_PATHS].entries()) {
      for (const id of JOB_IDS) {
        const entry = entryFor(id, { launcher, env: { PATH: launcher }, name: `steward-${index}-${id}` });
        const units = Object.entries(renderSystemd(entry)).map(([name, text]) => {
          writeFileSync(box.path(name), text);
          return box.path(name);
        });
        const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--user', ...units], {
          encoding: 'utf8',
          env: { ...process.env, HOME: box.path(), XDG_RUNTIME_DIR: box.path() },
        });
        expect({ status, stderr }, `${id} ${launcher}`).to.deep.equal({ status: 0, stderr: '' });
      }
    }
  }).timeout(120_000);

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
  /** What the shell gets from a cron that removes the backslash before a percent sign, and from one that leaves it. */
  const crons: readonly ((command: string) => string)[] = [
    (command) => cut(command),
    (command) => cut(command).replaceAll('\\%', '%'),
    (command) => cut(command).replace(/\\([%\\])/g, '$1'),
  ];

  /** A percent sign that no backslash stands before ends the command. */
  function cut(command: string): string {
    const end = /(?<!\\)(?:\\\\)*%/.exec(command);
    expect(end, command).to.equal(null);
    return command;
  }

  it('gives the shell the path as it is, by whichever cron', () => {
    const check = (path: string): void => {
      for (const cron of crons) {
        const command = `printf '<%s>' ${cronWord(path)}`.replace('%s', '\\%s');
        const shown = cron(command).replace('\\%s', '%s');
        const { stdout } = spawnSync('/bin/sh', ['-c', shown], { encoding: 'utf8' });
        expect(stdout, shown).to.equal(`<${path}>`);
      }
    };
    ODD_PATHS.forEach(check);
    fc.assert(
      fc.property(
        line.filter((text) => text !== ''),
        check,
      ),
      { numRuns: 60 },
    );
  }).timeout(60_000);

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
  const box = scratch();
  /** The elements of the schema (1.2) that are used: a typing error is refused by Windows as a whole. */
  const KNOWN =
    'Task RegistrationInfo Author Description Triggers TimeTrigger LogonTrigger Repetition Interval StopAtDurationEnd StartBoundary Enabled UserId Principals Principal LogonType RunLevel Settings MultipleInstancesPolicy DisallowStartIfOnBatteries StopIfGoingOnBatteries StartWhenAvailable RestartOnFailure Count ExecutionTimeLimit Priority Actions Exec Command Arguments WorkingDirectory'.split(
      ' ',
    );
  /** The schema takes these in this order only. */
  const ORDER = {
    Exec: ['Command', 'Arguments', 'WorkingDirectory'],
    Principal: ['UserId', 'LogonType', 'RunLevel'],
    Task: ['RegistrationInfo', 'Triggers', 'Principals', 'Settings', 'Actions'],
    TimeTrigger: ['Repetition', 'StartBoundary', 'Enabled'],
  };

  interface Element {
    tag: string;
    text: string;
    children: Element[];
  }

  function parse(xml: string): Element {
    writeFileSync(box.path('task.xml'), taskBytes(xml));
    const script = `import json, sys, xml.etree.ElementTree as E
def f(e): return {"tag": e.tag.split("}")[1], "text": (e.text or "").strip(), "children": [f(c) for c in e]}
print(json.dumps(f(E.parse(sys.argv[1]).getroot())))`;
    const { stdout, stderr } = spawnSync('python3', ['-c', script, box.path('task.xml')], {
      encoding: 'utf8',
    });
    expect(stderr).to.equal('');
    return JSON.parse(stdout) as Element;
  }

  const all = (element: Element): Element[] => [element, ...element.children.flatMap(all)];
  const textOf = (element: Element, tag: string) => all(element).find((one) => one.tag === tag)?.text;

  it('is XML of the schema in UTF-16, with every path as it is', function () {
    requirePrograms(this, { python3: 'python3' });
    for (const id of JOB_IDS) {
      for (const folder of ['C:\\Users\\Zoë & "Söhne" <x>\\100%', "D:\\it's\\größe 🦉"]) {
        const root = parse(
          renderTask(entryFor(id, { launcher: `${folder}\\steward-job.cmd` }), 'PC\\Zoë & Co'),
        );
        expect(all(root).map(({ tag }) => tag)).to.satisfy((tags: string[]) =>
          tags.every((tag) => KNOWN.includes(tag)),
        );
        for (const [tag, order] of Object.entries(ORDER)) {
          for (const { children } of all(root).filter((one) => one.tag === tag))
            expect(children.map((child) => child.tag)).to.deep.equal(order);
        }
        expect(textOf(root, 'WorkingDirectory')).to.equal(folder);
        expect(textOf(root, 'Arguments')).to.equal(`--headless cmd.exe /d /c .\\steward-job.cmd ${id}`);
        expect(textOf(root, 'UserId')).to.equal('PC\\Zoë & Co');
      }
    }
  });

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
