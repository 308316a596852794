import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';

import { emptyHome, steward } from '../helpers/cli';
import { writeMutatedTree } from '../helpers/exchange-tree';
import { campaign } from '../helpers/random';

const deep = (depth: number, open: string, end: string): string =>
  `{"format":1,"é":${open.repeat(depth)}1${end.repeat(depth)}}`;
const DAY = new Date().toISOString().slice(0, 10);

/** The worst files that another machine can leave, by the name of the file. */
const DAMAGE: readonly Readonly<Record<string, string>>[] = [
  { [`daily/${DAY}.json`]: deep(4000, '[', ']'), [`usage/${DAY}.json`]: deep(4000, '{"ü":', '}') },
  { [`sessions/${DAY}.jsonl`]: `{"id":"${'\\u001b'.repeat(1_300_000)}"}\n` },
  { daily: 'a file', sessions: 'a file', usage: 'a file' },
  { [`daily/${DAY}.json`]: 'x'.repeat(9 * 1024 * 1024) },
  { [`daily/${DAY}.json`]: `{"format":1,"record":{"date":"${DAY}","totalMinutes":1e308},"spans":[],"commits":[]}` },
  { [`daily/${DAY}.json`]: '{"format":1,"record":', 'told.jsonl': '\0'.repeat(5000) },
]; // prettier-ignore

describe('commands beside damaged files of other machines (built)', function () {
  this.timeout(600_000);
  const home = emptyHome();
  const folder = mkdtempSync(join(tmpdir(), 'steward-exchange-'));
  after(() => {
    home.remove();
    rmSync(folder, { recursive: true, force: true });
  });
  const idOf = (i: number): string => `dddddddddd${String(i).padStart(2, '0')}`;

  it('cost a row in the status, never a command', async () => {
    const run = (...args: string[]) => steward(args, { home: home.path });
    for (const args of [
      ['sense', 'capture'],
      ['sync', 'setup', '--create', folder],
    ])
      expect((await run(...args)).code).to.equal(0);
    const at = new Date().toISOString();
    const info = { format: 1, timezone: 'UTC', version: '1.0.0', lastInput: null };
    for (const [i, files] of DAMAGE.entries()) {
      const own = join(folder, 'machines', idOf(i));
      const head = { ...info, id: idOf(i), name: `machine ${i}`, publishedAt: `${at.slice(0, 16)}Z` };
      for (const [name, text] of Object.entries({ 'machine.json': JSON.stringify(head), ...files })) {
        mkdirSync(dirname(join(own, name)), { recursive: true });
        writeFileSync(join(own, name), text);
      }
    }
    const random = campaign('damaged trees');
    for (let i = 0; i < 4; i += 1) writeMutatedTree(folder, idOf(DAMAGE.length + i), random);
    const commands = [
      ...[['sense', 'today'], ['time'], ['usage'], ['week'], ['standup'], ['status'], ['sync', 'status']],
      ...[
        ['sync', 'setup', '--create', folder],
        ['sense', 'capture'],
        ['doctor', 'sync'],
      ],
    ];
    for (const args of commands) {
      const { code, stdout, stderr } = await run(...args);
      // Some commands report findings by their exit code; none fails.
      expect([0, 6], `${args.join(' ')}: ${stdout}${stderr}`).to.include(code);
      expect(`${stdout}${stderr}`, args.join(' ')).to.not.match(/Infinity|NaN|bug in steward|\u001b\[2J/);
    }
    const { stdout } = await run('sync', 'status');
    for (const name of ['daily', 'sessions', 'usage']) expect(stdout).to.include(`${idOf(2)}/${name}`);
    for (let i = 0; i < DAMAGE.length; i += 1) {
      const { code, stdout: out, stderr } = await run('sync', 'forget', idOf(i), '--yes');
      expect(code, `${idOf(i)}: ${out}${stderr}`).to.equal(0);
    }
  });
});
