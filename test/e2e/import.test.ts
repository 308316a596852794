import { expect } from 'chai';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

import { emptyHome, jsonOf, steward } from '../helpers/cli';
import { snapshot } from '../helpers/scratch';

interface Report {
  imported: number;
  items: { kind: string; from: string; to: string; state: string; why: string | null }[];
}

const EVENT = '{"ts":"2026-11-18T09:00:00Z","type":"app-focus","source":"app-focus","app":"Vim"}\n';

describe('steward init --import (built)', function () {
  this.timeout(120_000);
  let home: ReturnType<typeof emptyHome>;
  beforeEach(() => (home = emptyHome()));
  afterEach(() => home.remove());

  const old = (...names: string[]): string => join(home.path, '.old', ...names);
  const area = (...names: string[]): string => join(home.path, '.steward', ...names);
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  };
  const run = (...flags: string[]) => steward(['init', '--import', old(), ...flags], { home: home.path });
  const report = async (...flags: string[]): Promise<Report> => {
    const result = await run('--json', ...flags);
    expect(result.code, result.stderr).to.equal(0);
    return jsonOf(result) as Report;
  };

  beforeEach(() => {
    write(old('USER', 'sense', 'events', '2026-11-18.jsonl'), EVENT);
    write(old('USER', 'sense', 'events', '2026-11-19.jsonl'), 'no event\n');
    write(old('USER', 'sense', 'daily', '2026-11-18.json'), '{"day":"2026-11-18"}');
    write(
      old('USER', 'sense', 'config.json'),
      '{"enabled":true,"pollIntervalSec":60,"repos":["/src/app"],"retentionDays":"x"}',
    );
    write(old('USER', 'work', 'work_repo.json'), '{"repo":"ann/work","privacy":{"verifiedPrivate":true}}');
    write(old('USER', 'work', 'config.yaml'), 'WORK:\n  CAPTURE_NATIVE: false\n');
    write(old('USER', 'work', 'customers', 'goals.md'), '## Active Goals\n- **G9**: secret\n');
    write(old('USER', 'pronunciations.json'), '{"Kubernetes":"koober netties"}');
    write(old('USER', 'GOALS.md'), '# Mine\n## Active Goals\n- **G1**: write\n');
    write(old('USER', 'PROJECTS.md'), '| **Site** | `~/site` | x |\n');
    write(old('MEMORY', 'site-redesign', 'ISA.md'), '---\ntask: Redesign\nphase: execute\n---\nbody\n');
    write(old('MEMORY', 'site-redesign', 'deep', 'notes.txt'), 'notes');
    write(old('MEMORY', 'Bad Name', 'ISA.md'), '---\ntask: x\n---\n');
    write(old('agents', 'ada.md'), '---\nname: Ada\nrole: architecture lead\n---\nI am Ada.\n');
    write(old('knowledge', 'people', 'ann.md'), '# Ann\n');
    symlinkSync('/etc/passwd', old('knowledge', 'people', 'link.md'));
    utimesSync(old('MEMORY', 'site-redesign', 'ISA.md'), 1_700_000_000, 1_700_000_000);
  });

  it('lists in a dry run what it would import, and writes nothing', async () => {
    const before = snapshot(old());
    const { items } = await report('--dry-run');
    const found = items.filter(({ state }) => state === 'new').map(({ kind }) => kind);
    expect([...new Set(found)]).to.deep.equal(
      [
        'agents',
        'goals',
        'knowledge',
        'pronunciations',
        'projects',
        'sense events',
        'sense settings',
        'sessions',
        'work settings',
      ].sort((a, b) => order(items, a) - order(items, b)),
    );
    expect(
      items
        .filter(({ state }) => state === 'unfit')
        .map(({ why }) => why)
        .join('\n'),
    )
      .to.include('contains no valid events')
      .and.include('it will be rebuilt from')
      .and.include('invalid slug')
      .and.include('sense.retentionDays')
      .and.include('symbolic link');
    expect(JSON.stringify(items)).to.not.include('customers');
    expect(snapshot(old())).to.deep.equal(before);
    expect(existsSync(area())).to.equal(false);
  });

  it('asks before it copies, and needs --yes without a terminal', async () => {
    const result = await run();
    expect(result.code).to.equal(2);
    expect(result.stderr).to.include('--yes');
    expect(result.stdout).to.match(/sessions +1 +0 +0 +1/);
    expect(existsSync(area())).to.equal(false);
  });

  it('copies new files, leaves the originals, and imports nothing twice', async () => {
    const before = snapshot(old());
    const first = await report('--yes');
    expect(first.imported).to.be.greaterThan(8);
    expect(readFileSync(area('sense', 'events', '2026-11-18.jsonl'), 'utf8')).to.equal(EVENT);
    expect(readFileSync(area('goals', 'goals.md'), 'utf8')).to.include('G1');
    expect(readFileSync(area('sessions', 'site-redesign', 'deep', 'notes.txt'), 'utf8')).to.equal('notes');
    expect(statSync(area('sessions', 'site-redesign', 'ISA.md')).mtimeMs).to.equal(1_700_000_000_000);
    expect(readdirSync(area('knowledge', 'people'))).to.deep.equal(['ann.md']);
    const config = readFileSync(area('config.yaml'), 'utf8');
    expect(config).to.match(/\nsense:\n  pollIntervalSec: 60\n  repos:\n    - \/src\/app\n/);
    expect(existsSync(area('sense', 'config.json'))).to.equal(false);
    const work = jsonOf(await steward(['work', 'status', '--json'], { home: home.path }));
    expect(work).to.deep.include({ repo: 'ann/work', captureNative: false });
    expect(work, 'privacy has to be seen anew').to.have.nested.property('privacy.state', 'unverified');
    expect(
      (await steward(['sense', 'rollup', '2026-11-18', '--json'], { home: home.path })).stdout,
    ).to.include('Vim');
    expect(snapshot(old())).to.deep.equal(before);
    const second = await report('--yes');
    expect(second.imported).to.equal(0);
    expect(second.items.filter(({ state }) => state === 'new')).to.deep.equal([]);
  });

  it('overwrites nothing, and reports different files as conflicts', async () => {
    await report('--yes');
    write(area('goals', 'goals.md'), '## Active Goals\n- **G1**: mine\n');
    write(area('sessions', 'site-redesign', 'deep', 'notes.txt'), 'mine');
    await steward(['config', 'set', 'sense.pollIntervalSec', '90'], { home: home.path });
    const mine = snapshot(area(), ['state']);
    const result = await run('--yes');
    expect(result.stdout)
      .to.include(`${old('USER', 'GOALS.md')}\n`)
      .and.include('sense.pollIntervalSec in');
    expect(snapshot(area(), ['state'])).to.deep.equal(mine);
  });

  it('completes an interrupted import', async () => {
    await report('--yes');
    const whole = snapshot(area('sessions'));
    cpSync(area('sessions', 'site-redesign'), area('sessions', '.site-redesign.0123456789ab.import'), {
      recursive: true,
    });
    await steward(['sessions', 'forget', 'site-redesign'], { home: home.path });
    const { rmSync } = await import('node:fs');
    rmSync(area('sessions', 'site-redesign'), { recursive: true });
    expect((await report('--yes')).imported).to.equal(1);
    expect(snapshot(area('sessions'))).to.deep.equal(whole);
  });

  it('refuses a path that is not a folder, and its own folder', async () => {
    const none = await steward(['init', '--import', '/nowhere'], { home: home.path });
    expect([none.code, none.stderr]).to.deep.equal([
      5,
      'Folder /nowhere not found.\nUse the folder of the system that you are importing from.\n',
    ]);
    mkdirSync(area());
    expect((await steward(['init', '--import', area()], { home: home.path })).code).to.equal(2);
    expect((await steward(['init', '--dry-run'], { home: home.path })).code).to.equal(2);
  });
});

function order(items: Report['items'], kind: string): number {
  return items.findIndex((item) => item.kind === kind && item.state === 'new');
}
