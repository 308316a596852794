import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { expect } from 'chai';
import fc from 'fast-check';

import { cronWord } from '../../src/lib/schedule/cron';
import { JOB_IDS } from '../../src/lib/schedule/job';
import { renderLaunchd } from '../../src/lib/schedule/launchd';
import { renderSystemd } from '../../src/lib/schedule/systemd';
import { renderTask, taskBytes } from '../../src/lib/schedule/task-scheduler';
import { requirePrograms } from '../helpers/real-part';
import { ODD_PATHS, entryFor, lineText as line } from '../helpers/schedule';
import { scratch } from '../helpers/scratch';

describe('schedule: launchd files, by a reader of property lists', () => {
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

  it('are property lists with the intended values', () => {
    expect(plist(renderLaunchd(entryFor('tick'), process.cwd()))).to.deep.equal({
      Label: 'local.steward.tick',
      ProgramArguments: ['/bin/sh', '/home/ada/.steward/bin/steward-job', 'tick'],
      EnvironmentVariables: { PATH: '/usr/local/bin:/usr/bin:/bin', STEWARD_HOME: '/home/ada/.steward' },
      StartInterval: 120,
      RunAtLoad: true,
      ThrottleInterval: 60,
      ProcessType: 'Background',
      LimitLoadToSessionType: 'Aqua',
      StandardErrorPath: '/home/ada/.steward/sense/logs/tick.log',
    });
    expect(plist(renderLaunchd(entryFor('daemon'), process.cwd()))).to.deep.include({
      KeepAlive: { SuccessfulExit: false },
    });
  });

  it('preserve every path', () => {
    for (const launcher of ODD_PATHS) {
      const found = plist(
        renderLaunchd(entryFor('tick', { launcher, env: { PATH: launcher } }), process.cwd()),
      );
      expect(found['ProgramArguments']).to.deep.equal(['/bin/sh', launcher, 'tick']);
      expect(found['EnvironmentVariables']).to.deep.equal({ PATH: launcher });
    }
  });
});

describe('schedule: systemd units, by systemd-analyze', () => {
  const box = scratch();

  it('are accepted without a warning, whatever the path', function () {
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
});

describe('schedule: crontab lines, by a shell', () => {
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

  it('pass every path to the shell unchanged, with each kind of cron', () => {
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
});

describe('schedule: tasks, by a reader of XML', () => {
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

  it('are valid XML in UTF-16, and preserve every path', function () {
    requirePrograms(this, { python3: 'python3' });
    for (const id of JOB_IDS) {
      for (const folder of ['C:\\Users\\Zoë & "Söhne" <x>\\100%', "D:\\it's\\größe 🦉"]) {
        const root = parse(
          renderTask(entryFor(id, { launcher: `${folder}\\steward-job.cmd` }), 'PC\\Zoë & Co', process.cwd()),
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
});
