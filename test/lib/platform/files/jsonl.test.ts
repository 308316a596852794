import { expect } from 'chai';
import fc from 'fast-check';
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';

import { toStewardError, type StewardError } from '../../../../src/lib/errors';
import {
  completeAppend,
  moveLines,
  planAppend,
  readLines,
  type Line,
} from '../../../../src/lib/platform/files/jsonl';
import { scratch } from '../../../helpers/scratch';
import { long } from '../../../helpers/long';

describe('platform/jsonl', () => {
  const box = scratch();
  const log = (): string => box.path('log');
  const text = (): string => readFileSync(log(), 'utf8');
  function lines(options: { from?: number; maxLineBytes?: number; tail?: boolean } = {}): Line[] {
    const found: Line[] = [];
    readLines(log(), options, (line) => found.push(line));
    return found;
  }
  const texts = (options = {}): (string | undefined)[] => lines(options).map((line) => line.text);
  const append = (path: string, added: readonly string[]): void =>
    completeAppend(path, planAppend(path, added));
  function failure(work: () => unknown): StewardError {
    try {
      work();
    } catch (error) {
      return toStewardError(error);
    }
    return expect.fail('it did not fail');
  }

  describe('readLines', () => {
    it('has nothing where there is no file', () => {
      expect(readLines(log(), {}, () => expect.fail())).to.equal(undefined);
    });

    it('gives whole lines with their places, and leaves a torn one', () => {
      writeFileSync(log(), 'a\n\nbö\nto');
      expect(lines()).to.deep.equal([
        { offset: 0, bytes: 1, text: 'a' },
        { offset: 2, bytes: 0, text: '' },
        { offset: 3, bytes: 3, text: 'bö' },
      ]);
      expect(readLines(log(), {}, () => undefined)).to.deep.equal({ size: 9, end: 7, torn: 2 });
    });

    it('gives what is behind the last line feed, too, where that is asked for', () => {
      writeFileSync(log(), 'a\nbö');
      expect(lines({ tail: true })).to.deep.equal([
        { offset: 0, bytes: 1, text: 'a' },
        { offset: 2, bytes: 3, text: 'bö' },
      ]);
      expect(readLines(log(), { tail: true }, () => {})).to.deep.equal({ size: 5, end: 2, torn: 3 });
      expect(texts({ tail: true, maxLineBytes: 2 })).to.deep.equal(['a', undefined]);
      writeFileSync(log(), 'a\n');
      expect(texts({ tail: true })).to.deep.equal(['a']);
      // Longer than a chunk that is read at once.
      const long = 'x'.repeat(300_000);
      writeFileSync(log(), `a\n${long}`);
      expect(texts({ tail: true, maxLineBytes: 400_000 })).to.deep.equal(['a', long]);
    });

    it('goes on where it ended', () => {
      writeFileSync(log(), 'a\nto');
      const end = readLines(log(), {}, () => undefined)?.end ?? -1;
      appendFileSync(log(), 'rn\nb\n');
      expect(texts({ from: end })).to.deep.equal(['torn', 'b']);
    });

    it('tells by the size that a file was cut', () => {
      writeFileSync(log(), 'a\n');
      expect(readLines(log(), { from: 10 }, () => expect.fail())).to.deep.equal({
        size: 2,
        end: 10,
        torn: 0,
      });
    });

    it('reads the lines of other systems, which JSON does not mind', () => {
      writeFileSync(log(), '{"a":1}\r\n{"a":2}\r\n');
      expect(texts().map((line) => JSON.parse(line ?? '') as unknown)).to.deep.equal([{ a: 1 }, { a: 2 }]);
    });

    it('gives no text of a line that is not UTF-8, or longer than the bound', () => {
      writeFileSync(
        log(),
        Buffer.concat([Buffer.from([0xff, 0xfe, 10]), Buffer.from('12345\n123456\nok\n')]),
      );
      expect(texts({ maxLineBytes: 5 })).to.deep.equal([undefined, '12345', undefined, 'ok']);
      expect(lines({ maxLineBytes: 5 }).map((line) => line.bytes)).to.deep.equal([2, 5, 6, 2]);
    });

    long('finds the same lines as a split of the text, wherever the chunks end', () => {
      const piece = fc.oneof(
        { weight: 5, arbitrary: fc.string({ unit: 'grapheme', maxLength: 30 }) },
        { weight: 1, arbitrary: fc.integer({ min: 100_000, max: 700_000 }).map((n) => 'é'.repeat(n / 2)) },
      );
      fc.assert(
        fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
          const whole = pieces.map((one) => one.replaceAll('\n', ''));
          writeFileSync(log(), `${whole.join('\n')}\ntail`);
          const got = texts({ maxLineBytes: 1_000_000 });
          expect(got.length).to.equal(Math.max(1, whole.length));
          expect(got.join('\n') === whole.join('\n')).to.equal(true);
        }),
        { numRuns: 60 },
      );
    });

    long('reads 100 MB about as fast as the disk gives them, and a line of 50 MB in bounded memory', () => {
      const line = Buffer.from(
        `${JSON.stringify({ ts: '2026-11-20T08:14:00.000Z', app: 'x'.repeat(160) })}\n`,
      );
      const block = Buffer.concat(Array.from({ length: Math.floor(1_000_000 / line.length) }, () => line));
      const fd = openSync(log(), 'w');
      let written = 0;
      for (let n = 0; n < 50; n += 1) written += writeSync(fd, block);
      const long = Buffer.alloc(1_000_000, 120);
      for (let n = 0; n < 50; n += 1) written += writeSync(fd, long);
      written += writeSync(fd, '\nto');
      closeSync(fd);

      const memory = process.memoryUsage().arrayBuffers;
      let most = 0;
      let count = 0;
      let bytes = 0;
      const began = process.cpuUsage();
      const end = readLines(log(), {}, (found) => {
        count += 1;
        bytes += found.bytes + 1;
        if (count % 10_000 === 0 || found.bytes > 1000)
          most = Math.max(most, process.memoryUsage().arrayBuffers - memory);
      });
      const { user, system } = process.cpuUsage(began);
      expect(end).to.deep.equal({ size: written, end: bytes, torn: 2 });
      expect(count).to.equal(50 * Math.floor(1_000_000 / line.length) + 1);
      expect(most).to.be.below(16_000_000);
      // Processor time; 0.15 s is usual. The bound notices another order of magnitude, not a slow machine.
      expect((user + system) / 1000).to.be.below(3000);
    }).timeout(60_000);
  });

  describe('a planned append', () => {
    it('makes the file, private, and adds to it', () => {
      append(log(), ['a', 'b']);
      append(log(), ['c']);
      append(log(), []);
      expect(text()).to.equal('a\nb\nc\n');
    });

    it('closes a torn line first', () => {
      writeFileSync(log(), 'a\n{"to');
      append(log(), ['b']);
      expect(texts()).to.deep.equal(['a', '{"to', 'b']);
    });

    it('takes no line that is two', () => {
      expect(failure(() => append(log(), ['a\nb'])).kind).to.equal('internal');
    });

    it('says which folder is missing', () => {
      const error = failure(() => append(box.path('no', 'log'), ['a']));
      expect(error.kind).to.equal('not_found');
      expect(error.message).to.include(box.path('no'));
    });

    it('refuses links, pipes and folders, and waits for none', function () {
      if (process.platform === 'win32') this.skip();
      writeFileSync(box.path('target'), 'kept\n');
      symlinkSync(box.path('target'), log());
      execFileSync('mkfifo', [box.path('pipe')]);
      mkdirSync(box.path('folder'));
      for (const path of [log(), box.path('pipe'), box.path('folder')]) {
        expect(failure(() => append(path, ['a'])).kind, path).to.equal('config');
        expect(failure(() => completeAppend(path, { offset: 0, text: 'a\n' })).kind, path).to.equal('config');
        expect(failure(() => readLines(path, {}, () => undefined)).kind, path).to.equal('config');
      }
      expect(readFileSync(box.path('target'), 'utf8')).to.equal('kept\n');
    });
  });

  describe('moveLines', () => {
    it('appends each line that a log lacks once, keeps what it has, and moves nothing the second time', () => {
      writeFileSync(log(), '{"n":1}\n{"n":2}\n{"n":2}\n');
      const from = box.path('from');
      for (let i = 0; i < 2; i += 1) {
        writeFileSync(from, '{"n":2}\n{"n":3}\n<<<<<<< HEAD\n{"n":3}\n');
        moveLines(from, log());
        expect(text()).to.equal('{"n":1}\n{"n":2}\n{"n":2}\n{"n":3}\n');
        expect(existsSync(from)).to.equal(false);
      }
    });
  });

  describe('completeAppend', () => {
    it('brings the lines in once, whatever part of them stands there', () => {
      const plan = { offset: 2, text: 'bc\nd\n' };
      for (let part = 0; part <= plan.text.length; part += 1) {
        writeFileSync(log(), `a\n${plan.text.slice(0, part)}`);
        completeAppend(log(), plan);
        completeAppend(log(), plan);
        expect(text(), `after ${part} bytes`).to.equal('a\nbc\nd\n');
      }
    });

    long('does so behind a torn line, and for any lines and any cut', () => {
      const line = fc
        .string({ unit: 'grapheme', minLength: 1 })
        .map((one) => `<${one.replaceAll('\n', '')}>`);
      fc.assert(
        fc.property(
          fc.array(line, { maxLength: 5 }),
          fc.constantFrom('', 'a\n', 'a\nto'),
          fc.nat(),
          (added, before, cut) => {
            writeFileSync(log(), before);
            const plan = planAppend(log(), added);
            const bytes = Buffer.from(plan.text);
            writeFileSync(
              log(),
              Buffer.concat([Buffer.from(before), bytes.subarray(0, cut % (bytes.length + 1))]),
            );
            completeAppend(log(), plan);
            const expected =
              added.length === 0
                ? before
                : before + (before.endsWith('to') ? '\n' : '') + added.join('\n') + '\n';
            expect(text()).to.equal(expected);
          },
        ),
        { numRuns: 200 },
      );
    });

    it('adds only the missing lines when somebody else has written in between', () => {
      writeFileSync(log(), 'a\n');
      const plan = planAppend(log(), ['one', 'two', 'three']);
      appendFileSync(log(), 'one\ntw\nother\n');
      completeAppend(log(), plan);
      expect(texts()).to.deep.equal(['a', 'one', 'tw', 'other', 'two', 'three']);
      completeAppend(log(), plan);
      expect(texts()).to.deep.equal(['a', 'one', 'tw', 'other', 'two', 'three']);
    });

    it('counts equal lines', () => {
      const plan = planAppend(log(), ['same', 'same', 'same']);
      writeFileSync(log(), 'other\nsame\n');
      completeAppend(log(), plan);
      expect(texts()).to.deep.equal(['other', 'same', 'same', 'same']);
    });

    it('finds lines that moved forward because the file was cut or rewritten', () => {
      writeFileSync(log(), 'first\nsecond\n');
      const plan = planAppend(log(), ['one', 'two']);
      writeFileSync(log(), 'one\n');
      completeAppend(log(), plan);
      expect(texts()).to.deep.equal(['one', 'two']);
      truncateSync(log(), 0);
      completeAppend(log(), plan);
      expect(texts()).to.deep.equal(['one', 'two']);
    });

    it('plans nothing for no lines', () => {
      writeFileSync(log(), 'to');
      expect(planAppend(log(), [])).to.deep.equal({ offset: 2, text: '' });
    });
  });
});
