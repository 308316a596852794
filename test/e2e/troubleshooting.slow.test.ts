import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { BIN, cleanEnv, emptyHome } from '../helpers/cli';
import { script } from '../helpers/speech';

const [, PAGE = ''] = readFileSync(join(__dirname, '..', '..', 'docs', 'setup.md'), 'utf8').split(
  '\n## Troubleshooting\n',
);

describe('the commands for troubleshooting', function () {
  this.timeout(180_000);
  const blocks = [...PAGE.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, text = '']) =>
    text.trim().split('\n'),
  );
  const inline = [...PAGE.matchAll(/`(steward [a-z][^`]*)`/g)].map(([, text = '']) => text);
  let home: ReturnType<typeof emptyHome>;
  before(() => {
    home = emptyHome();
    mkdirSync(join(home.path, '.claude'));
    mkdirSync(join(home.path, 'bin'));
    mkdirSync(join(home.path, 'src', 'site', '.git'), { recursive: true });
    writeFileSync(join(home.path, 'src', 'site', '.git', 'HEAD'), 'ref: refs/heads/main\n');
    script(join(home.path, 'bin', 'steward'), `exec '${process.execPath}' '${BIN}' "$@"`);
    // Nothing of this machine is registered, heard or opened.
    for (const name of ['crontab', 'systemctl', 'launchctl', 'xdg-open', 'espeak-ng', 'spd-say']) {
      script(join(home.path, 'bin', name), 'exit 1');
    }
  });
  after(() => home.remove());

  const run = (line: string): ReturnType<typeof spawnSync> =>
    spawnSync('sh', ['-c', line], {
      cwd: home.path,
      env: cleanEnv(home.path, { PATH: `${join(home.path, 'bin')}:${process.env['PATH'] ?? ''}` }),
      encoding: 'utf8',
      timeout: 60_000,
    });

  it('are present', () => {
    expect(blocks.length).to.be.greaterThan(20);
    expect(inline.length).to.be.greaterThan(10);
  });

  for (const line of new Set(blocks)) {
    it(line.replace(/\s+#.*$/, ''), () => {
      const { status, stderr } = run(line);
      // 3, 4 and 8: nothing is set up in this home. 1 and 2 would be ours.
      expect([0, 3, 4, 8], String(stderr)).to.include(status);
    });
  }

  for (const line of new Set(inline)) {
    it(`${line} (named)`, () => {
      // Some of these stay, or change the machine: the words and flags are looked at.
      const { status, stdout } = run(`${line} --help`);
      expect(status, line).to.equal(0);
      expect(String(stdout)).to.include(`steward ${line.split(' ')[1] ?? ''}`);
    });
  }
});
