import { expect } from 'chai';
import { readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { toStewardError, type StewardError } from '../../src/lib/errors';
import { replaceFile } from '../../src/lib/platform/files/atomic-file';
import { completeAppend, planAppend } from '../../src/lib/platform/files/jsonl';
import { smallDisk, type SmallDisk } from '../helpers/small-disk';

/** A real file system of 1 MiB that gets full. */
describe('real: a full disk', function () {
  this.timeout(180_000);
  let disk: SmallDisk | undefined;

  before(function () {
    disk = smallDisk(this, '1m');
  });

  after(() => disk?.remove());

  const path = (name: string): string => join(disk?.path ?? expect.fail('no disk'), name);
  const lines = Array.from({ length: 200 }, (_, n) => `${n}:${'x'.repeat(500)}`);
  const text = lines.map((line) => `${line}\n`).join('');

  beforeEach(() => {
    for (const name of readdirSync(path('.'))) rmSync(path(name));
  });

  const fill = (leftBytes: number): void => disk?.fill(leftBytes);

  function failure(work: () => void): StewardError {
    try {
      work();
    } catch (error) {
      return toStewardError(error);
    }
    return expect.fail('the disk was not full');
  }

  function expectFull(error: StewardError, name: string): void {
    expect(error.kind).to.equal('unavailable');
    expect(error.message).to.equal(`The disk is full: ${path(name)}`);
    expect(error.hint).to.include('Free some space');
  }

  for (const left of [0, 8192, 65536]) {
    it(`keeps the old file and leaves no temp file, with ${left} bytes left`, () => {
      replaceFile(path('file'), 'old');
      fill(left);
      expectFull(
        failure(() => replaceFile(path('file'), text)),
        'file',
      );
      expect(readFileSync(path('file'), 'utf8')).to.equal('old');
      expect(readdirSync(path('.')).sort()).to.deep.equal(['ballast', 'file']);
    });

    it(`completes a planned append exactly once after space is freed, with ${left} bytes left before`, () => {
      writeFileSync(path('log'), 'a\n');
      const plan = planAppend(path('log'), lines);
      fill(left);
      for (let attempt = 0; attempt < 3; attempt += 1) {
        expectFull(
          failure(() => completeAppend(path('log'), plan)),
          'log',
        );
      }
      expect(`a\n${text}`.startsWith(readFileSync(path('log'), 'utf8'))).to.equal(true);
      rmSync(path('ballast'));
      completeAppend(path('log'), plan);
      completeAppend(path('log'), plan);
      expect(readFileSync(path('log'), 'utf8')).to.equal(`a\n${text}`);
    });
  }
});
