import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, rmdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { toStewardError, type StewardError } from '../../src/lib/errors';
import { replaceFile } from '../../src/lib/platform/atomic-file';
import { appendLines, completeAppend, planAppend } from '../../src/lib/platform/jsonl';

/** A real file system of 1 MiB that gets full. */
describe('real: a full disk', () => {
  let disk: string | undefined;

  before(function () {
    const folder = mkdtempSync(join(tmpdir(), 'steward-disk-'));
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder], {
      encoding: 'utf8',
    });
    if (mounted.status === 0) {
      disk = folder;
      return;
    }
    rmdirSync(folder);
    const why = mounted.error?.message ?? mounted.stderr.trim();
    const message = `no small file system could be mounted (run as root on Linux): ${why}`;
    if ((process.env['CI'] ?? '') !== '') throw new Error(message);
    console.log(`      skipped: ${message}`);
    this.skip();
  });

  after(() => {
    if (disk === undefined) return;
    expect(spawnSync('umount', [disk]).status).to.equal(0);
    rmdirSync(disk);
  });

  const path = (name: string): string => join(disk ?? expect.fail('no disk'), name);
  const lines = Array.from({ length: 200 }, (_, n) => `${n}:${'x'.repeat(500)}`);
  const text = lines.map((line) => `${line}\n`).join('');

  beforeEach(() => {
    for (const name of readdirSync(path('.'))) rmSync(path(name));
  });

  /** Takes all space but `leftBytes`. */
  function fill(leftBytes: number): void {
    writeFileSync(path('ballast'), '');
    try {
      for (;;) writeFileSync(path('ballast'), Buffer.alloc(4096), { flag: 'a' });
    } catch (error) {
      expect(error).to.have.property('code', 'ENOSPC');
    }
    const size = readFileSync(path('ballast')).length;
    writeFileSync(path('ballast'), Buffer.alloc(size - leftBytes));
  }

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
    it(`keeps the old file, and no temp file, with ${left} bytes left`, () => {
      replaceFile(path('file'), 'old');
      fill(left);
      expectFull(
        failure(() => replaceFile(path('file'), text)),
        'file',
      );
      expect(readFileSync(path('file'), 'utf8')).to.equal('old');
      expect(readdirSync(path('.')).sort()).to.deep.equal(['ballast', 'file']);
    });

    it(`appends all lines or none, with ${left} bytes left`, () => {
      appendLines(path('log'), ['a']);
      fill(left);
      expectFull(
        failure(() => appendLines(path('log'), lines)),
        'log',
      );
      expect(readFileSync(path('log'), 'utf8')).to.equal('a\n');
      rmSync(path('ballast'));
      appendLines(path('log'), lines);
      expect(readFileSync(path('log'), 'utf8')).to.equal(`a\n${text}`);
    });

    it(`completes a planned append exactly once after space was freed, with ${left} bytes left before`, () => {
      appendLines(path('log'), ['a']);
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
