import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { expect } from 'chai';

import { conflictCopies } from '../../../../src/lib/platform/files/conflict-copies';

describe('copies of a sync tool', () => {
  let root: string;
  beforeEach(() => (root = mkdtempSync(join(tmpdir(), 'steward-conflicts-'))));
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  const write = (...names: string[]): void => {
    for (const name of names) {
      mkdirSync(dirname(join(root, name)), { recursive: true });
      writeFileSync(join(root, name), '');
    }
  };

  const pathsOf = (found: readonly { path: string }[]): string[] => found.map(({ path }) => path);

  it('are found by the names that each tool gives', () => {
    const copies = [
      'state.sync-conflict-20261120-101112-ABCDEFG.json',
      "state (desk's conflicted copy 2026-11-20).json",
      'state (conflicted copy 2026-11-20 101112).json',
      'state_conflict-20261120-101112.json',
      'state (Case Conflict).json',
      'state.json.Conflict',
      'state (SFConflict me@example.org 2026-11-20-10-11-12).json',
      'state (1).json',
      'state 2.json',
      'state-DESKTOP-AB12.json',
      'events/2026-11-20.sync-conflict-20261120-101112-ABCDEFG.jsonl',
    ];
    write('state.json', ...copies);
    expect(pathsOf(conflictCopies(root)).sort()).to.deep.equal(copies.sort());
    const originals = conflictCopies(root).map(({ original }) => original);
    expect([...new Set(originals)].sort()).to.deep.equal(['events/2026-11-20.jsonl', 'state.json']);
    expect(pathsOf(conflictCopies(root, 0))).to.have.members(copies.filter((name) => !name.includes('/')));
  });

  it('are no other files, and none where there is no folder', () => {
    write(
      'daily/2026-11-20.json',
      'daily/2026-11-20.md',
      'resolve-conflict.md',
      'other (1).json',
      'quarantine/2026-11-20.jsonl',
      'spool/20261120T081500123Z-0123456789ab.turn-ended.json',
    );
    expect(conflictCopies(root)).to.deep.equal([]);
    expect(conflictCopies(join(root, 'none'))).to.deep.equal([]);
  });
});
