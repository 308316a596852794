import { expect } from 'chai';
import { renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';

import { StewardError } from '../../../../src/lib/errors';
import {
  cachedLoader,
  fileMemory,
  refreshCached,
  type Cached,
} from '../../../../src/lib/platform/files/file-cache';
import { scratch } from '../../../helpers/scratch';

describe('what is remembered of files', () => {
  const box = scratch();
  const clock = { now: () => Date.now() };
  const OLD = new Date('2026-01-01T00:00:00Z');
  const file = (): string => box.path('a');
  const write = (text: string): void => {
    writeFileSync(file(), text);
    utimesSync(file(), OLD, OLD);
  };

  it('is made again when a file comes, grows, is replaced or goes, and not otherwise', () => {
    let made = 0;
    let kept: Cached<number> | undefined;
    const value = (): number => {
      kept = refreshCached(clock, kept, [file(), box.path('b')], () => ++made);
      return kept.value;
    };
    expect([value(), value()]).to.deep.equal([1, 1]);
    write('one');
    expect([value(), value()]).to.deep.equal([2, 2]);
    write('longer');
    expect([value(), value()]).to.deep.equal([3, 3]);
    writeFileSync(box.path('new'), 'longer');
    utimesSync(box.path('new'), OLD, OLD);
    renameSync(box.path('new'), file());
    expect([value(), value()]).to.deep.equal([4, 4]);
    rmSync(file());
    expect([value(), value()]).to.deep.equal([5, 5]);
  });

  it('is not trusted while its files are as young as the tick of a clock', () => {
    let made = 0;
    let nowMs = Date.parse('2026-11-20T12:00:00Z');
    let kept: Cached<number> | undefined;
    const value = (): number => {
      kept = refreshCached({ now: () => nowMs }, kept, [file()], () => ++made);
      return kept.value;
    };
    writeFileSync(file(), 'x');
    utimesSync(file(), new Date(nowMs), new Date(nowMs));
    expect([value(), value()]).to.deep.equal([1, 2]);
    nowMs += 200;
    expect([value(), value()]).to.deep.equal([3, 3]);
  });

  it('is kept for other processes of the same version once its files rest, by the one that stores it', () => {
    let made = 0;
    const kept = (version: string, writes: boolean): number =>
      fileMemory(clock, 1, { folder: box.path('kept'), version, writes: () => writes }).get(
        'day names',
        [file()],
        () => ++made,
      );
    writeFileSync(file(), 'young');
    expect([kept('1', true), kept('1', true)]).to.deep.equal([1, 2]);
    write('old');
    expect([kept('1', false), kept('1', true), kept('1', false)]).to.deep.equal([3, 4, 4]);
    expect([kept('2', true), kept('2', false)]).to.deep.equal([5, 5]);
    writeFileSync(box.path('kept', 'day.json'), '{"made":');
    expect(kept('2', true)).to.equal(6);
    write('another');
    expect([kept('2', true), kept('2', true)]).to.deep.equal([7, 7]);
  });

  it('is shared by callers at once, and not loaded again when it is there', async () => {
    let made = 0;
    const get = cachedLoader(clock, [file()], () => Promise.resolve(++made));
    write('x');
    expect(await Promise.all([get(), get(), get()])).to.deep.equal([1, 1, 1]);
    expect(await get()).to.equal(1);
    write('other');
    expect(await get()).to.equal(2);
  });

  it('keeps a config error until a file changes, and no other error', async () => {
    let made = 0;
    let kind: 'config' | 'unavailable' = 'config';
    const get = cachedLoader(clock, [file()], () => Promise.reject(new StewardError(kind, `try ${++made}`)));
    const outcome = async (): Promise<string> => {
      try {
        return String(await get());
      } catch (error) {
        return (error as Error).message;
      }
    };
    write('x');
    expect([await outcome(), await outcome()]).to.deep.equal(['try 1', 'try 1']);
    kind = 'unavailable';
    write('other');
    expect([await outcome(), await outcome()]).to.deep.equal(['try 2', 'try 3']);
  });
});
