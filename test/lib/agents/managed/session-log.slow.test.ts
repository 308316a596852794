import { expect } from 'chai';
import { runInNewContext } from 'node:vm';
import { setFlagsFromString } from 'node:v8';
import { appendFileSync, readFileSync, statSync, writeFileSync } from 'node:fs';

import type { ManagedEvent } from '../../../../src/lib/agents/managed/event';
import { openSessionLog, type SessionLog } from '../../../../src/lib/agents/managed/session-log';
import type { ShownOutput } from '../../../../src/lib/platform/terminal/stdio';
import { scratch } from '../../../helpers/scratch';

describe('managed: local log', () => {
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

  it('stores and shows each event once, even if it is offered again', async () => {
    const log = open(toFile());
    log.append(keyed('a', 'b'));
    log.append(keyed('b', 'c', 'c', 'b'));
    await log.show();
    await log.show();
    expect(printed()).to.deep.equal(['a', 'b', 'c']);
    expect(log.count()).to.equal(3);
  });

  it('continues at the byte where a killed process stopped', async () => {
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

  it('repeats what a pipe may have missed, and reports it', async () => {
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

  it('ignores a torn last line', async () => {
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

  it('shows everything again if the mark is invalid', async () => {
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

  it('shows everything again after a rewind', async () => {
    const log = open(toFile());
    log.append(keyed('a', 'b'));
    await log.show();
    log.rewind();
    await log.show();
    expect(printed()).to.deep.equal(['a', 'b', 'a', 'b']);
  });

  it('needs at most 150 bytes of memory per event', async function () {
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
