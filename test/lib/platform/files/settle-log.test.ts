import { readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';

import { expect } from 'chai';

import { readLines } from '../../../../src/lib/platform/files/jsonl';
import { blankMarkers, readLinesOnce, settleCopies } from '../../../../src/lib/platform/files/settle-log';
import { scratch } from '../../../helpers/scratch';

describe('conflict copies of a log', () => {
  const dir = scratch();
  const line = (n: number): string => `{"n":${n}}`;
  const write = (name: string, ...lines: string[]): void =>
    writeFileSync(dir.path(name), lines.map((text) => `${text}\n`).join(''));
  const linesOf = (read: typeof readLines, name: string): string[] => {
    const lines: string[] = [];
    read(dir.path(name), { tail: true }, ({ text }) => text !== '' && lines.push(text ?? ''));
    return lines;
  };
  const COPIES = [
    'log.sync-conflict-20261120-101112-ABCDEFG.jsonl',
    "log (desk's conflicted copy 2026-11-20).jsonl",
    'log.sync-conflict-20261121-101112-ABCDEFG.sync-conflict-20261122-101112-HIJKLMN.jsonl',
  ] as const;

  beforeEach(() => {
    write('log.jsonl', line(1), line(2), line(2));
    write(COPIES[0], line(1), line(3));
    write(COPIES[1], line(3), line(4));
    write(COPIES[2], line(5), '<<<<<<< HEAD');
    write('other.jsonl', line(9));
  });

  it('are read with the log: each line once, and lines that the log repeats as often as it does', () => {
    const all = [1, 2, 2, 3, 4, 5].map(line);
    expect(linesOf(readLinesOnce, 'log.jsonl').sort()).to.deep.equal(all);
    expect(linesOf(readLinesOnce, 'other.jsonl')).to.deep.equal([line(9)]);
  });

  it('are merged into the log, whose lines keep their places, and removed', () => {
    const before = readFileSync(dir.path('log.jsonl'), 'utf8');
    expect(settleCopies(dir.path('log.jsonl'))).to.equal(3);
    expect(readFileSync(dir.path('log.jsonl'), 'utf8').startsWith(before)).to.equal(true);
    expect(linesOf(readLines, 'log.jsonl').sort()).to.deep.equal([1, 2, 2, 3, 4, 5].map(line));
    expect(readdirSync(dir.path()).sort()).to.deep.equal(['log.jsonl', 'other.jsonl']);
    expect(settleCopies(dir.path('log.jsonl'))).to.equal(0);
  });

  it('add nothing the second time if a crash kept the copies', () => {
    const copy = readFileSync(dir.path(COPIES[1]), 'utf8');
    settleCopies(dir.path('log.jsonl'));
    writeFileSync(dir.path(COPIES[1]), copy);
    expect(settleCopies(dir.path('log.jsonl'))).to.equal(0);
    expect(linesOf(readLines, 'log.jsonl')).to.have.length(6);
  });

  it('go to another log if theirs is over', () => {
    expect(settleCopies(dir.path('log.jsonl'), dir.path('other.jsonl'))).to.equal(3);
    expect(linesOf(readLines, 'other.jsonl').sort()).to.deep.equal([3, 4, 5, 9].map(line));
  });

  it("of git's markers: both sides stay once, and no line moves", () => {
    const lines = [line(1), '<<<<<<< HEAD', line(2), '=======', line(2), line(3), '>>>>>>> desk', line(4)];
    write('log.jsonl', ...lines);
    const { size } = statSync(dir.path('log.jsonl'));
    const offset = readFileSync(dir.path('log.jsonl'), 'utf8').indexOf(line(4));
    expect(blankMarkers(dir.path('log.jsonl'))).to.equal(3);
    expect(linesOf(readLines, 'log.jsonl')).to.deep.equal([1, 2, 3, 4].map(line));
    expect(statSync(dir.path('log.jsonl')).size).to.equal(size);
    expect(readFileSync(dir.path('log.jsonl'), 'utf8').indexOf(line(4))).to.equal(offset);
    expect(blankMarkers(dir.path('log.jsonl'))).to.equal(0);
  });
});
