import { expect } from 'chai';
import fs, { appendFileSync, readFileSync, writeFileSync } from 'node:fs';

import {
  appendLog,
  asLogCursor,
  LOG_START,
  readLog,
  rotateRead,
  rotatedName,
  type LogCursor,
} from '../../../../src/lib/platform/files/journal';
import { parseObject } from '../../../../src/lib/platform/files/json-object';
import { scratch } from '../../../helpers/scratch';

describe('a journal', () => {
  const folder = scratch();
  const path = (): string => folder.path('j.jsonl');
  const append = (n: number, rotateBytes?: number): number =>
    appendLog(
      path(),
      JSON.stringify({ n }),
      rotateBytes === undefined ? undefined : { rotateBytes, nowMs: Date.now() },
    );
  const unread = (cursor: LogCursor): { got: number[]; next: LogCursor } => {
    const got: number[] = [];
    const next = readLog(path(), cursor, (text = '') => {
      const n = parseObject(text)?.['n'];
      if (typeof n === 'number') got.push(n);
    });
    return { got, next };
  };

  it('gives each entry once, from the cursor on, and skips lines that are none', () => {
    append(1);
    appendFileSync(path(), 'nonsense\n');
    append(2);
    const first = unread(LOG_START);
    expect(first.got).to.deep.equal([1, 2]);
    append(3);
    const stored = asLogCursor(JSON.parse(JSON.stringify(first.next))) ?? LOG_START;
    const second = unread(stored);
    expect(second.got).to.deep.equal([3]);
    expect(unread(second.next).got).to.deep.equal([]);
  });

  it('gives no empty line, which a writer leaves that saw half of another line', () => {
    writeFileSync(path(), '{"n":1}\n\n{"n":2}\n');
    const texts: unknown[] = [];
    readLog(path(), LOG_START, (text) => texts.push(text));
    expect(texts).to.deep.equal(['{"n":1}', '{"n":2}']);
  });

  it('reads what a late writer brought into the rotated file', () => {
    append(1);
    const { next } = unread(LOG_START);
    rotateRead(path(), 0);
    appendFileSync(rotatedName(path()), '{"n":2}\n');
    append(3);
    const second = unread(next);
    expect(second.got).to.deep.equal([2, 3]);
    appendFileSync(rotatedName(path()), '{"n":4}\n');
    expect(unread(second.next).got).to.deep.equal([4]);
  });

  it('reads a file that was cut or replaced from its start', () => {
    for (const n of [1, 2, 3]) append(n);
    const { next } = unread(LOG_START);
    writeFileSync(path(), '{"n":9}\n');
    expect(unread(next).got).to.deep.equal([9]);
  });

  it('rotates at its size', () => {
    for (const n of [1, 2, 3]) append(n, 10);
    expect(readFileSync(rotatedName(path()), 'utf8')).to.equal('{"n":1}\n{"n":2}\n');
    expect(readFileSync(path(), 'utf8')).to.equal('{"n":3}\n');
  });

  it('loses no entry of a writer that stalls over two rotations', () => {
    append(1);
    let { next } = unread(LOG_START);
    const { fstatSync } = fs;
    // Between the opening of the file and the writing.
    fs.fstatSync = ((fd: number) => {
      fs.fstatSync = fstatSync;
      for (const n of [2, 3]) {
        rotateRead(path(), 0);
        append(n);
        next = unread(next).next;
      }
      return fstatSync(fd);
    }) as typeof fs.fstatSync;
    try {
      append(4);
    } finally {
      fs.fstatSync = fstatSync;
    }
    expect(unread(next).got).to.deep.equal([4]);
  });
});
