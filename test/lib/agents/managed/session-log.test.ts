import { expect } from 'chai';
import { runInNewContext } from 'node:vm';
import { setFlagsFromString } from 'node:v8';
import { appendFileSync, readFileSync, statSync, writeFileSync } from 'node:fs';

import type { ManagedEvent } from '../../../../src/lib/agents/managed/event';
import { openSessionLog, type SessionLog } from '../../../../src/lib/agents/managed/session-log';
import type { ShownOutput } from '../../../../src/lib/platform/terminal/stdio';
import { scratch } from '../../../helpers/scratch';

describe('managed: the local log and what was shown of it', () => {
  const box = scratch();
  const render = (event: ManagedEvent): string => `${JSON.stringify(event)}\n`;
  const keyed = (...ids: string[]) => ids.map((id) => ({ key: id, event: { id, type: 'agent.message' } }));

  /** An output that is a file; it dies after `bytes`, as if the process were killed in the middle of a write. */
  function toFile(bytes = Number.POSITIVE_INFINITY): ShownOutput {
    const path = box.path('out');
    appendFileSync(path, '');
    let left = bytes;
    return {
      chunkBytes: 64,
      file: () => {
        const { dev, ino, size } = statSync(path);
        return { dev, ino, size };
      },
      write: (text) => {
        const whole = Buffer.from(text as string);
        appendFileSync(path, whole.subarray(0, left));
        left -= whole.length;
        return left < 0 ? Promise.reject(new Error('killed')) : Promise.resolve();
      },
    };
  }

  function toPipe(shown: string[]): ShownOutput {
    return {
      chunkBytes: 4096,
      file: () => undefined,
      write: (text) => {
        shown.push(String(text));
        return Promise.resolve();
      },
    };
  }

  const open = (output: ShownOutput): SessionLog =>
    openSessionLog(box.path('managed'), 'sesn_1', { output, render });
  const printed = (): string[] =>
    readFileSync(box.path('out'), 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => (JSON.parse(line) as { id: string }).id);

  it('stores and shows each event once, whoever offers it again', async () => {
    const log = open(toFile());
    log.append(keyed('a', 'b'));
    log.append(keyed('b', 'c', 'c', 'b'));
    await log.show();
    await log.show();
    expect(printed()).to.deep.equal(['a', 'b', 'c']);
    expect(log.count()).to.equal(3);
  });

  it('goes on at the byte where a killed process stopped writing to a file', async () => {
    const ids = ['a', 'b', 'c', 'd', 'e'];
    const whole = ids.map((id) => render({ id, type: 'agent.message' })).join('').length;
    for (let bytes = 0; bytes < whole; bytes += 1) {
      writeFileSync(box.path('out'), '');
      const session = `sesn_${bytes}`;
      const at = (output: ShownOutput): SessionLog =>
        openSessionLog(box.path('managed'), session, { output, render });
      const log = at(toFile(bytes));
      log.append(keyed(...ids));
      await log.show().then(
        () => expect.fail('it was to be killed'),
        () => undefined,
      );
      const next = at(toFile());
      await next.show();
      expect(printed(), `killed after ${bytes} bytes`).to.deep.equal(ids);
      expect(next.mayRepeat()).to.equal(false);
    }
  });

  it('shows again what a pipe may not have got, and says so', async () => {
    open({ ...toPipe([]), write: () => Promise.reject(new Error('killed')) });
    const log = open({ ...toPipe([]), write: () => Promise.reject(new Error('killed')) });
    log.append(keyed('a', 'b'));
    await log.show().catch(() => undefined);
    const shown: string[] = [];
    const next = open(toPipe(shown));
    await next.show();
    expect(shown.join('')).to.equal(
      keyed('a', 'b')
        .map(({ event }) => render(event))
        .join(''),
    );
    expect(next.mayRepeat()).to.equal(true);
  });

  it('takes a torn last line for nothing, and the event that comes again for the first', async () => {
    const log = open(toFile());
    log.append(keyed('a'));
    await log.show();
    appendFileSync(box.path('managed', 'sesn_1.jsonl'), '{"id":"b","type":"agent.mes');
    const next = open(toFile());
    expect(next.has('b')).to.equal(false);
    next.append(keyed('b', 'c'));
    await next.show();
    next.append(keyed('d'));
    await next.show();
    expect(printed()).to.deep.equal(['a', 'b', 'c', 'd']);
  });

  it('shows all of a log whose mark cannot be, and loses nothing behind it', async () => {
    const mark = box.path('managed', 'sesn_1.shown');
    const log = open(toFile());
    log.append(keyed('a', 'b'));
    await log.show();
    log.close();
    for (const text of ['{"upTo":"x","to":-5,"out":7}', '{"upTo":9999}', '{"upTo":-1,"to":3}', '[]', '{']) {
      writeFileSync(box.path('out'), '');
      writeFileSync(mark, text);
      const next = open(toFile());
      await next.show();
      expect(printed(), text).to.deep.equal(['a', 'b']);
      next.close();
    }
    // Without knowing where its output was, it may show them again, and says so.
    writeFileSync(mark, '{"upTo":0,"to":20,"out":7}');
    const next = open(toFile());
    await next.show();
    expect(next.mayRepeat()).to.equal(true);
    next.append(keyed('c'));
    await next.show();
    expect(printed()).to.deep.equal(['a', 'b', 'a', 'b', 'c']);
  });

  it('shows all of it again after a rewind', async () => {
    const log = open(toFile());
    log.append(keyed('a', 'b'));
    await log.show();
    log.rewind();
    await log.show();
    expect(printed()).to.deep.equal(['a', 'b', 'a', 'b']);
  });

  it('needs at most 150 bytes of memory for an event that it has shown', async function () {
    this.timeout(120_000);
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const log = open({ chunkBytes: 4096, file: () => undefined, write: () => Promise.resolve() });
    const shown = async (from: number, to: number): Promise<void> => {
      for (let start = from; start < to; start += 1000) {
        const ids = Array.from({ length: 1000 }, (_, at) => `sevt_01${String(start + at).padStart(22, '0')}`);
        log.append(keyed(...ids));
        await log.show();
      }
    };
    await shown(0, 1000);
    collect();
    const before = process.memoryUsage().heapUsed;
    await shown(1000, 61_000);
    collect();
    expect((process.memoryUsage().heapUsed - before) / 60_000).to.be.at.most(150);
    expect(log.count()).to.equal(61_000);
  });
});
