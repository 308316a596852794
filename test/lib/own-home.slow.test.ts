import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect } from 'chai';

import { scratch } from '../helpers/scratch';

const REPO = resolve(__dirname, '..', '..');
const MOCHA = resolve(REPO, 'node_modules/mocha/bin/mocha.js');

/** Leaves files where steward and its tests write if nobody names another place. */
const TEST = `
import { mkdirSync, mkdtempSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';

it('leaves files', () => {
  for (const name of ['.local/state/steward', '.cache/steward', '.steward'])
    mkdirSync(homedir() + '/' + name, { recursive: true });
  mkdtempSync(tmpdir() + '/steward-');
});
`;

describe('the home and the temporary folder of the tests', () => {
  const { path } = scratch();

  it('are their own, and gone at the end', () => {
    const [home, temp] = [path('home'), path('t')];
    for (const folder of [home, temp]) mkdirSync(folder);
    writeFileSync(path('leaves.test.ts'), TEST);
    const env = {
      PATH: process.env['PATH'],
      HOME: home,
      USERPROFILE: home,
      TMPDIR: temp,
      TEMP: temp,
      TMP: temp,
    };
    const run = spawnSync(process.execPath, [MOCHA, path('leaves.test.ts')], {
      cwd: REPO,
      env,
      encoding: 'utf8',
    });
    expect(run.status, run.stdout + run.stderr).to.equal(0);
    expect(readdirSync(home)).to.deep.equal([]);
    // What tsx has compiled is kept, so that the next run is quick.
    expect(readdirSync(temp).filter((name) => !name.startsWith('tsx-'))).to.deep.equal([]);
  });
});
