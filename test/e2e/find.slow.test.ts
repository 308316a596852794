import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, utimesSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

import { BIN, cleanEnv, emptyHome, jsonOf, steward } from '../helpers/cli';

const SIZE = Number(process.env['STEWARD_FIND_MB'] ?? 64) * 1_000_000;
const FILE = 4_000_000;

describe('steward find (built)', function () {
  this.timeout(300_000);
  let home: ReturnType<typeof emptyHome>;
  beforeEach(() => (home = emptyHome()));
  afterEach(() => home.remove());

  const line = (session: number, text: string): string =>
    `${JSON.stringify({
      ...{ type: 'user', timestamp: '2026-11-20T10:00:00.000Z', sessionId: `s${session}` },
      ...{ cwd: home.path, message: { content: text } },
    })}\n`;

  /** Writes transcripts; each seventh has the word in its middle. */
  function transcripts(): number[] {
    const folder = join(home.path, '.claude', 'projects', 'shop');
    mkdirSync(folder, { recursive: true });
    const hits: number[] = [];
    for (let session = 0; session * FILE < SIZE; session += 1) {
      const filler = line(session, 'the queue is empty, and the payment is retried. '.repeat(400));
      const fd = openSync(join(folder, `s${session}.jsonl`), 'w');
      writeSync(fd, filler.repeat(FILE / 2 / filler.length));
      if (session % 7 === 0) hits.push(session);
      if (session % 7 === 0) writeSync(fd, line(session, 'We chose the Zebrafish.'));
      writeSync(fd, filler.repeat(FILE / 2 / filler.length));
      closeSync(fd);
    }
    return hits;
  }

  it('finds all of the known hits in many transcripts', async () => {
    const hits = transcripts();
    const found = jsonOf(
      await steward(['find', 'zebrafish', '--limit', '500', '--json'], { home: home.path }),
    );
    const { rows, notes } = found as { rows: { session: string }[]; notes: string[] };
    expect(rows.map(({ session }) => session)).to.have.members(hits.map((session) => `s${session}`));
    expect(notes).to.deep.equal([]);
    const none = await steward(['find', 'zebra'], { home: home.path });
    expect([none.stdout, none.code]).to.deep.equal(['No session found. Only whole words match.\n', 5]);
  });

  it('does not ask who wrote a path', async () => {
    const { code, stderr } = await steward(['find', 'zebrafish', '--files', '--by', 'you']);
    expect(code).to.equal(2);
    expect(stderr).to.include('--by cannot be combined with --files.');
  });

  it('finds only what is newer than --since', async () => {
    const folder = join(home.path, '.claude', 'projects', 'shop');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 's1.jsonl'), line(1, 'We chose the Zebrafish.'));
    const codes = ['2026-11-20', '2026-11-21'].map(async (day) => {
      return (await steward(['find', 'zebrafish', '--since', day], { home: home.path })).code;
    });
    expect(await Promise.all(codes)).to.deep.equal([0, 5]);
  });

  it('keeps what it found when you press Ctrl-C, and ends', async () => {
    const folder = join(home.path, '.claude', 'projects', 'shop');
    mkdirSync(folder, { recursive: true });
    const text = 'the payment is retried. '.repeat(10);
    for (let session = 0; session < 3000; session += 1) {
      const path = join(folder, `s${session}.jsonl`);
      writeFileSync(path, line(session, text));
      // A session is printed when only older files are left.
      utimesSync(path, 1, 1);
    }
    const args = [BIN, 'find', 'payment', '--limit', '10000'];
    const child = spawn(process.execPath, args, { env: cleanEnv(home.path) });
    let [said, printed] = ['', ''];
    child.stderr.setEncoding('utf8').on('data', (more: string) => (said += more));
    child.stdout.setEncoding('utf8');
    // The pipe holds less than all sessions, so the search can't end before the signal.
    child.stdout.once('readable', () => {
      child.kill('SIGINT');
      child.stdout.on('data', (more: string) => (printed += more));
    });
    const [code] = (await once(child, 'close')) as [number];
    // A slow machine says first that it searches.
    expect([code, said.endsWith('Stopped before everything was searched.\n')]).to.deep.equal([0, true]);
    expect(printed.match(/claude --resume s\d+\n/g)).to.have.length.within(1, 2999);
  });
});
